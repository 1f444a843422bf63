// A Task is what the evaluator judges: named inputs, one output, a reference, a tolerance, a call signature, a floor.
// Gemm (problem/gemm.h) is the first instance; nothing that works on a Task knows what it computes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "problem/device_model.h"

namespace gemmsmith {

enum class ScalarType : uint8_t { kF16, kBf16 };
std::string_view Name(ScalarType type);  // "f16", "bf16"
inline int ByteSize(ScalarType) { return 2; }

// A matrix in memory: `lines` contiguous runs of `line_length` elements, `stride` elements apart (stride >=
// line_length). Elements between the runs belong to somebody else: never written, and never read.
struct Operand {
  std::string name;
  ScalarType type = ScalarType::kF16;
  int64_t lines = 0;
  int64_t line_length = 0;
  int64_t stride = 0;

  int64_t ElementCount() const { return lines * line_length; }
  // From the first element to the last one, gaps included.
  int64_t SpanBytes() const { return ((lines - 1) * stride + line_length) * ByteSize(type); }
  bool operator==(const Operand&) const = default;
};

// How many roundings an output element has seen; decides which errors are honest.
struct Tolerance {
  int64_t reduction_length = 0;  // products summed into one element
  bool wide_accumulator = true;  // f32; false: f16
};

// Which function pointer or kernel arguments a candidate takes. One today.
enum class CallSignature : uint8_t { kGemm };

struct Task {
  std::string key;  // canonical text, the name of the task in every record
  std::vector<Operand> inputs;
  Operand output;
  Tolerance tolerance;
  CallSignature signature = CallSignature::kGemm;
  double flops = 0;
  double bytes = 0;  // each input read once, the output written once
  // No correct kernel can be faster on this device than about this: arithmetic, bytes and launch.
  double FloorNs(const Device& device) const;
};

}  // namespace gemmsmith
