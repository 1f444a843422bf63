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

// What a file begins with: the version of its events.
std::string EncodeFirstEvent(double unix_seconds);
std::string EncodeEvent(const ScalarsOfStep& scalars);

// CRC-32C (Castagnoli), turned and shifted so that sums of what holds sums stay telling.
uint32_t MaskedCrc32c(std::string_view bytes);

// The events of a file's sound beginning; nothing behind the first one that is cut off or damaged.
struct EventPlace {
  int64_t step = 0;  // 0 of the first event, which has no scalars
  double unix_seconds = 0;
  size_t end = 0;  // byte behind the event
};
std::vector<EventPlace> FindEvents(std::string_view file);

}  // namespace gemmsmith
