// Whatever the bytes, the reader of traces answers; what it takes, it reads again as it wrote it.
#include "base/check.h"
#include "search/traces.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gemmsmith;
  const Result<Traces> traces = DecodeTraces(std::string_view(reinterpret_cast<const char*>(data), size));
  if (traces.ok()) GEMMSMITH_CHECK(*DecodeTraces(EncodeTraces(*traces)) == *traces, "traces are read otherwise");
  return 0;
}
