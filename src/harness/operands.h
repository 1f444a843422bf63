// Matrices in device memory, each in an allocation of its own, with canaries before, after and between its lines.
#pragma once

#include "gpu/gpu.h"
#include "problem/task.h"

namespace gemmsmith {

// A NaN in f16 and in bf16, so that whoever reads what belongs to nobody spoils the result.
inline constexpr uint16_t kCanary = 0xffa5;
// A NaN too, but another: what outputs hold before a call.
inline constexpr uint16_t kPoison = 0x7fff;
// Before the elements and after them.
inline constexpr uint64_t kGuardBytes = uint64_t{256} << 10;

// As elements.cuh declares it.
enum class ElementType : int32_t { kF16 = 0, kBf16 = 1, kF32 = 2 };
struct MatrixView {
  void* data = nullptr;
  int64_t lines = 0, line_length = 0, stride = 0;
  int32_t lines_are_rows = 1;
  ElementType type = ElementType::kF16;
};

class GuardedMatrix {
 public:
  // Canaries everywhere, also where the elements will be.
  static Result<GuardedMatrix> Create(Gpu& gpu, const Operand& operand, bool lines_are_rows);
  // In memory of another owner, which outlives it. `pattern` is not 0: the canaries are values that follow from it,
  // which HarnessKernels::Paint() writes to the last byte.
  static GuardedMatrix Over(CUdeviceptr memory, uint64_t bytes, const Operand& operand, bool lines_are_rows,
                            uint64_t data_at, uint64_t pattern);

  void* data() const { return view_.data; }
  const MatrixView& view() const { return view_; }
  const uint16_t* allocation() const { return reinterpret_cast<const uint16_t*>(address_); }
  uint64_t pattern() const { return pattern_; }  // 0: every canary is kCanary
  uint64_t size_bytes() const { return size_bytes_; }
  int64_t SpanBytes() const { return SpanElements() * 2; }
  // Canaries before the elements, and behind them.
  int64_t guard_elements() const { return guard_elements_; }
  int64_t elements_behind() const { return int64_t(size_bytes_ / 2) - guard_elements_ - SpanElements(); }
  // Every byte becomes kCanary: the elements must be filled again.
  Status PaintCanaries(Gpu& gpu) const;

  static uint64_t AllocationBytes(const Operand& operand);

 private:
  // From the first element to the last one, gaps included.
  int64_t SpanElements() const { return (view_.lines - 1) * view_.stride + view_.line_length; }

  DeviceMemory memory_;  // empty where it belongs to somebody else
  CUdeviceptr address_ = 0;
  uint64_t size_bytes_ = 0;
  MatrixView view_;
  int64_t guard_elements_ = 0;
  uint64_t pattern_ = 0;
};

// Zeroed bytes between canaries, at least as many as asked for.
class GuardedWorkspace {
 public:
  static Result<GuardedWorkspace> Create(Gpu& gpu, uint64_t bytes);
  // As GuardedMatrix::Over(), in AllocationBytes() of memory. Neither painted nor zeroed.
  static GuardedWorkspace Over(CUdeviceptr memory, uint64_t bytes, uint64_t pattern);
  static uint64_t SizeFor(uint64_t bytes);
  static uint64_t AllocationBytes(uint64_t bytes);

  void* data() const { return matrix_.data(); }
  uint64_t size_bytes() const { return uint64_t(matrix_.view().line_length) * 2; }
  const GuardedMatrix& matrix() const { return matrix_; }
  // Canaries and zeros as new.
  Status Restore(Gpu& gpu) const;

 private:
  GuardedMatrix matrix_;
};

}  // namespace gemmsmith
