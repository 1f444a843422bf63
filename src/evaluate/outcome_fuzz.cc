// Whatever bytes a broken worker or a damaged record holds: no crash, and what decodes encodes to the same bytes.
#include "base/check.h"
#include "evaluate/outcome.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const gemmsmith::Result<gemmsmith::Outcome> outcome = gemmsmith::DecodeOutcome(bytes);
  if (outcome.ok()) GEMMSMITH_CHECK(gemmsmith::EncodeOutcome(*outcome) == bytes, "{} bytes", size);
  return 0;
}
