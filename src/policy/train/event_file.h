// TensorBoard's event files: numbers by name and step, in protobuf messages (Event, Summary), framed as TFRecord frames
// them. docs/policy_training.md says what of the format is written.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gemmsmith {

struct Scalar {
  std::string name;
  double value = 0;  // written in single precision, as the format has it
};

struct ScalarsOfStep {
  int64_t step = 0;
  double unix_seconds = 0;
  std::vector<Scalar> scalars;
};

// The first event of a file: the version of its events.
std::string EncodeFirstEvent(double unix_seconds);
std::string EncodeEvent(const ScalarsOfStep& scalars);

// CRC-32C (Castagnoli), rotated and shifted, so that a checksum over data with checksums stays useful.
uint32_t MaskedCrc32c(std::string_view bytes);

// The events of a file's sound beginning; nothing behind the first one that is cut off or damaged.
struct FoundEvent {
  int64_t step = 0;  // 0 of the first event, which has no scalars
  double unix_seconds = 0;
  size_t end = 0;  // byte behind the event
};
std::vector<FoundEvent> FindEvents(std::string_view file);

}  // namespace gemmsmith
