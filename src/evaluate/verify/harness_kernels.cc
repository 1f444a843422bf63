#include "evaluate/verify/harness_kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "evaluate/verify/harness_text.h"

namespace gemmsmith {

namespace {

constexpr std::array kEntries = {"harness_fill",          "harness_poison",   "harness_reference",
                                 "harness_gather",        "harness_compare",  "harness_count_broken_canaries",
                                 "harness_count_nonzero", "harness_checksum", "harness_spin"};

// Argument blocks as harness.cu declares them.
struct FillArguments {
  MatrixView matrix;
  uint64_t seed;
  int32_t binary;
  float density;
};
struct PoisonArguments {
  MatrixView matrix;
  uint32_t bits;
};
struct ReferenceArguments {
  MatrixView a, b;
  float* c;
  int64_t m, n, k;
};
struct GatherArguments {
  MatrixView from;
  float* to;
  int64_t rows, columns, row_step, column_step;
};
struct CompareArguments {
  MatrixView c;
  const float* reference;
  float tolerance;
  float exact_below;
  Differences* differences;
};
struct CanaryArguments {
  const uint16_t* allocation;
  int64_t guard;
  int64_t lines, line_length, stride;
  uint64_t* broken;
  uint32_t canary;
};
struct NonZeroArguments {
  const uint32_t* words;
  int64_t count;
  uint64_t* found;
};
struct ChecksumArguments {
  MatrixView matrix;
  uint64_t* sum;
};
struct SpinArguments {
  int64_t cycles;
};

// Enough threads to fill a large GPU; the kernels walk on in steps of the whole grid.
Launch Over(int64_t elements) {
  constexpr int64_t kThreads = 256, kMaxBlocks = 2048;
  Launch launch;
  launch.block.x = kThreads;
  launch.grid.x = uint32_t(std::clamp<int64_t>((elements + kThreads - 1) / kThreads, 1, kMaxBlocks));
  return launch;
}

int64_t ElementCount(const MatrixView& matrix) { return matrix.lines * matrix.line_length; }

}  // namespace

float Differences::MaxAbsError() const { return std::bit_cast<float>(uint32_t(worst >> 32)); }
float Differences::LargestReference() const { return std::bit_cast<float>(largest_reference); }

Result<std::unique_ptr<HarnessKernels>> HarnessKernels::Load(Gpu& gpu, Compiler& compiler) {
  static_assert(kEntries.size() == kKernelCount);
  std::unique_ptr<HarnessKernels> harness(new HarnessKernels(gpu));
  const Source source{std::string(HarnessText()), kEntries[0]};
  ASSIGN_OR_RETURN(const Compilation compilation, compiler.Compile(source, gpu.identity().device.Architecture()));
  GEMMSMITH_CHECK(compilation.succeeded, "our own harness kernels do not compile: {}", compilation.log);
  for (int i = 0; i < kKernelCount; ++i) {
    ASSIGN_OR_RETURN(harness->kernels_[i], gpu.Load(compilation.binary.cubin, kEntries[i], 0));
  }
  ASSIGN_OR_RETURN(harness->report_, gpu.Allocate(sizeof(HarnessReport)));
  return harness;
}

template <class T>
T* HarnessKernels::InReport(T HarnessReport::*field) const {
  const HarnessReport example;
  const auto offset = reinterpret_cast<const char*>(&(example.*field)) - reinterpret_cast<const char*>(&example);
  return reinterpret_cast<T*>(report_.as<char>() + offset);
}

Status HarnessKernels::FillNormal(const MatrixView& matrix, uint64_t seed) {
  return gpu_.Start(kernels_[kFillKernel], Over(ElementCount(matrix)), FillArguments{matrix, seed, 0, 0});
}

Status HarnessKernels::FillBinary(const MatrixView& matrix, uint64_t seed, double density) {
  return gpu_.Start(kernels_[kFillKernel], Over(ElementCount(matrix)), FillArguments{matrix, seed, 1, float(density)});
}

Status HarnessKernels::Poison(const MatrixView& matrix) {
  return gpu_.Start(kernels_[kPoisonKernel], Over(ElementCount(matrix)), PoisonArguments{matrix, kPoison});
}

Status HarnessKernels::Multiply(const MatrixView& a, const MatrixView& b, float* c, int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kTile = 64;
  Launch launch;
  launch.block.x = 256;
  launch.grid.x = uint32_t((m + kTile - 1) / kTile * ((n + kTile - 1) / kTile));
  return gpu_.Start(kernels_[kReferenceKernel], launch, ReferenceArguments{a, b, c, m, n, k});
}

Status HarnessKernels::Gather(const MatrixView& from, float* to, int64_t rows, int64_t columns, int64_t row_step,
                              int64_t column_step) {
  return gpu_.Start(kernels_[kGatherKernel], Over(rows * columns),
                    GatherArguments{from, to, rows, columns, row_step, column_step});
}

Status HarnessKernels::ResetReport() { return gpu_.Fill8(report_.address(), 0, sizeof(HarnessReport)); }

Status HarnessKernels::Compare(const MatrixView& c, const float* reference, float tolerance, float exact_below) {
  return gpu_.Start(kernels_[kCompareKernel], Over(ElementCount(c)),
                    CompareArguments{c, reference, tolerance, exact_below, InReport(&HarnessReport::differences)});
}

Status HarnessKernels::CountBrokenCanaries(const GuardedMatrix& matrix, uint64_t HarnessReport::*counter) {
  const MatrixView& view = matrix.view();
  const int64_t gaps = (view.lines - 1) * (view.stride - view.line_length);
  return gpu_.Start(kernels_[kCanariesKernel], Over(2 * kGuardElements + gaps),
                    CanaryArguments{matrix.allocation(), kGuardElements, view.lines, view.line_length, view.stride,
                                    InReport(counter), kCanary});
}

Status HarnessKernels::CountNonZero(const GuardedWorkspace& workspace) {
  const int64_t words = int64_t(workspace.size_bytes() / 4);
  return gpu_.Start(kernels_[kNonZeroKernel], Over(words),
                    NonZeroArguments{static_cast<const uint32_t*>(workspace.data()), words,
                                     InReport(&HarnessReport::nonzero_workspace)});
}

Status HarnessKernels::Checksum(const MatrixView& matrix, uint64_t HarnessReport::*sum) {
  return gpu_.Start(kernels_[kChecksumKernel], Over(ElementCount(matrix)), ChecksumArguments{matrix, InReport(sum)});
}

Result<HarnessReport> HarnessKernels::ReadReport() {
  RETURN_IF_ERROR(gpu_.Synchronize());
  uint8_t bytes[sizeof(HarnessReport)];
  RETURN_IF_ERROR(gpu_.CopyToHost(bytes, report_.address()));
  HarnessReport report;
  std::memcpy(static_cast<void*>(&report), bytes, sizeof report);
  return report;
}

Status HarnessKernels::Spin(int64_t cycles) {
  Launch launch;
  launch.block.x = 1;
  return gpu_.Start(kernels_[kSpinKernel], launch, SpinArguments{cycles});
}

}  // namespace gemmsmith
