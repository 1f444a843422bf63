// Tokenizer files of any bytes: refused in one line, or a tokenizer that prints and encodes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "corpus/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gemmsmith;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<Tokenizer> tokenizer = ParseTokenizer(text);
  if (!tokenizer.ok()) {
    GEMMSMITH_CHECK(tokenizer.status().message().find('\n') == std::string::npos, "{}", tokenizer.status().message());
    return 0;
  }
  GEMMSMITH_CHECK(*ParseTokenizer(PrintTokenizer(*tokenizer)) == *tokenizer, "{} words", tokenizer->words());
  GEMMSMITH_CHECK(tokenizer->Decode(tokenizer->Encode(text)) == text, "{} bytes", size);
  return 0;
}
