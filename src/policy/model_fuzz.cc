// Files of weights of any bytes: refused, or read without a word out of place.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "policy/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gemmsmith;
  const Result<SafeTensors> file = DecodeSafeTensors({reinterpret_cast<const char*>(data), size});
  if (!file.ok()) {
    GEMMSMITH_CHECK(file.status().message().find('\n') == std::string::npos, "{}", file.status().message());
    return 0;
  }
  for (const auto& [name, tensor] : file->tensors) {
    int64_t count = 1;
    for (const int64_t dimension : tensor.shape) count *= dimension;
    GEMMSMITH_CHECK(size_t(count) == tensor.values.size(), "{} of {}", tensor.values.size(), count);
  }
  return 0;
}
