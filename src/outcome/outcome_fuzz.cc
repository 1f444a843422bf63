// Any bytes, as of a broken worker or a damaged record: no crash, and a decoded outcome encodes to bytes that decode to
// the same.
#include "base/check.h"
#include "outcome/outcome.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const gemmsmith::Result<gemmsmith::Outcome> outcome = gemmsmith::DecodeOutcome(bytes);
  if (!outcome.ok()) return 0;
  const std::string encoded = gemmsmith::EncodeOutcome(*outcome);
  GEMMSMITH_CHECK(gemmsmith::EncodeOutcome(*gemmsmith::DecodeOutcome(encoded)) == encoded, "{} bytes", size);
  return 0;
}
