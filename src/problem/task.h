// The matrices, the arithmetic and the traffic of a problem, and the floor of its time. Gemm (problem/gemm.h) is the
// only problem today: reference, tests and launches take a Gemm, not a Task.
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
// line_length). The elements between the runs are not the operand's: they are never read and never written.
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

struct Task {
  std::vector<Operand> inputs;
  Operand output;
  double flops = 0;
  double bytes = 0;  // each input read once, the output written once
  // The time that arithmetic, bytes or the launch take at least on this device: a correct kernel takes about as long or
  // longer.
  double FloorNs(const Device& device) const;
  // The same where every input comes from memory, as on the ring: L2 holds none when the call begins.
  double ColdFloorNs(const Device& device) const;
};

}  // namespace gemmsmith
