#include "evaluate/time/cold.h"

#include <algorithm>

namespace gemmsmith {

namespace {

constexpr uint64_t kMaxSets = 64;
constexpr uint64_t kAlignment = 256;

uint64_t SpanBytes(const MatrixView& view) {
  return uint64_t((view.lines - 1) * view.stride + view.line_length) * sizeof(uint16_t);
}

}  // namespace

ColdPlan ColdPlan::For(uint64_t set_bytes, uint64_t l2_bytes) {
  const uint64_t enough = 2 * l2_bytes / std::max<uint64_t>(set_bytes, 1) + 1;
  const uint64_t sets = std::clamp<uint64_t>(enough, 2, kMaxSets);
  return {int(sets), sets < enough};
}

Result<MatrixCopies> MatrixCopies::Create(Gpu& gpu, const GuardedMatrix& original, int sets) {
  MatrixCopies copies;
  copies.original_ = &original;
  copies.sets_ = sets;
  copies.step_bytes_ = (SpanBytes(original.view()) + kAlignment - 1) / kAlignment * kAlignment;
  ASSIGN_OR_RETURN(copies.memory_, gpu.Allocate(uint64_t(sets - 1) * copies.step_bytes_));
  RETURN_IF_ERROR(copies.Refresh(gpu));
  return copies;
}

void* MatrixCopies::at(int set) const {
  return set == 0 ? original_->data() : memory_.as<char>() + uint64_t(set - 1) * step_bytes_;
}

Status MatrixCopies::Refresh(Gpu& gpu) const {
  const auto address = [](const void* pointer) { return CUdeviceptr(reinterpret_cast<uintptr_t>(pointer)); };
  for (int set = 1; set < sets_; ++set)
    RETURN_IF_ERROR(gpu.Copy(address(at(set)), address(original_->data()), SpanBytes(original_->view())));
  return OkStatus();
}

Result<Sweep> Sweep::Create(Gpu& gpu, uint64_t l2_bytes) {
  constexpr int64_t kLine = 8192;
  const int64_t lines = int64_t(2 * l2_bytes / (kLine * sizeof(uint16_t))) + 1;
  Sweep sweep;
  ASSIGN_OR_RETURN(sweep.matrix_, GuardedMatrix::Create(gpu, {"sweep", ScalarType::kF16, lines, kLine, kLine}, true));
  return sweep;
}

}  // namespace gemmsmith
