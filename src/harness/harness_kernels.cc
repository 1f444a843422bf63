#include "harness/harness_kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "harness/harness_text.h"
#include "harness/ring_kernels.h"

namespace gemmsmith {

namespace {

constexpr std::array kEntries = {"harness_fill",    "harness_poison", "harness_reference", "harness_gather",
                                 "harness_inspect", "harness_spin",   "harness_paint",     "harness_write_late"};

// Argument blocks as harness.cu declares them.
struct FillArguments {
  MatrixView matrix;
  uint64_t seed;
  uint64_t seed_of_b;
  Filling filling;
  float parameter;
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
// Those of the inspection say by themselves that there is nothing to look at.
struct CompareArguments {
  MatrixView c;
  const float* reference = nullptr;
  Acceptance acceptance;
  Differences* differences = nullptr;
};
struct ChecksumArguments {
  MatrixView matrix;
  uint64_t* sum = nullptr;
};
struct CanaryArguments {
  const uint16_t* allocation = nullptr;
  int64_t before = 0, behind = 0;
  int64_t lines = 1, line_length = 0, stride = 0;
  uint64_t* broken = nullptr;
  uint64_t pattern = 0;
  uint32_t canary = kCanary;
};
struct NonZeroArguments {
  const uint32_t* words = nullptr;
  int64_t count = 0;
  uint64_t* found = nullptr;
};
struct InspectArguments {
  CompareArguments c;
  ChecksumArguments a_sum, b_sum;
  CanaryArguments a_canaries, b_canaries, c_canaries, workspace_canaries;
  NonZeroArguments workspace;
};
constexpr uint32_t kInspectParts = 8;
struct SpinArguments {
  int64_t cycles;
};
struct PaintArguments {
  uint16_t* allocation;
  int64_t count;
  uint64_t pattern;
};
struct LateCopy {
  const void* from;
  void* to;
  int64_t count;
};
struct LateArguments {
  std::array<LateCopy, 2> copies;  // of no elements where there is one matrix
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

CanaryArguments CanariesOf(const GuardedMatrix& matrix, uint64_t* broken) {
  const MatrixView& view = matrix.view();
  return {matrix.allocation(),
          matrix.guard_elements(),
          matrix.elements_behind(),
          view.lines,
          view.line_length,
          view.stride,
          broken,
          matrix.pattern()};
}

int64_t CountOf(const CanaryArguments& canaries) {
  return canaries.before + canaries.behind + (canaries.lines - 1) * (canaries.stride - canaries.line_length);
}

// As many blocks for each part as the largest one can use, up to what the largest GPU holds at once.
Launch OverParts(const InspectArguments& arguments) {
  constexpr uint32_t kMaxBlocks = 1056;
  const int64_t most =
      std::max({ElementCount(arguments.c.c), ElementCount(arguments.a_sum.matrix), ElementCount(arguments.b_sum.matrix),
                CountOf(arguments.a_canaries), CountOf(arguments.b_canaries), CountOf(arguments.c_canaries),
                CountOf(arguments.workspace_canaries), arguments.workspace.count});
  Launch launch = Over(most);
  launch.grid.x = std::min(launch.grid.x, kMaxBlocks);
  launch.grid.y = kInspectParts;
  return launch;
}

}  // namespace

Acceptance Acceptance::Within(double max_abs_error) const {
  Acceptance within = *this;
  if (max_abs_error > 0) within.most = float(max_abs_error);
  return within;
}

float Differences::MaxAbsError() const { return std::bit_cast<float>(uint32_t(worst >> 32)); }
float Differences::LargestReference() const { return std::bit_cast<float>(largest_reference); }

HarnessKernels::HarnessKernels(Gpu& gpu) : gpu_(gpu) {}
HarnessKernels::~HarnessKernels() = default;

Result<std::unique_ptr<HarnessKernels>> HarnessKernels::Load(Gpu& gpu, Compiler& compiler) {
  static_assert(kEntries.size() == kKernelCount);
  std::unique_ptr<HarnessKernels> harness(new HarnessKernels(gpu));
  const Source source{std::string(HarnessText()), kEntries[0]};
  ASSIGN_OR_RETURN(Compilation compilation, compiler.Compile(source, gpu.identity().device.Architecture()));
  GEMMSMITH_CHECK(compilation.succeeded, "our own harness kernels do not compile: {}", compilation.log);
  for (int i = 0; i < kKernelCount; ++i) {
    ASSIGN_OR_RETURN(harness->kernels_[i], gpu.Load(compilation.binary.cubin, kEntries[i], 0));
  }
  ASSIGN_OR_RETURN(harness->report_, gpu.Allocate(sizeof(HarnessReport)));
  ASSIGN_OR_RETURN(harness->report_on_host_, gpu.AllocateOnHost(sizeof(HarnessReport)));
  harness->cubin_ = std::move(compilation.binary.cubin);
  return harness;
}

Result<const RingKernels*> HarnessKernels::Ring() {
  if (ring_ == nullptr) {
    ASSIGN_OR_RETURN(RingKernels ring, RingKernels::Load(gpu_, cubin_));
    ring_ = std::make_unique<const RingKernels>(std::move(ring));
  }
  return ring_.get();
}

template <class T>
T* HarnessKernels::InReport(T HarnessReport::*field) const {
  const HarnessReport example;
  const auto offset = reinterpret_cast<const char*>(&(example.*field)) - reinterpret_cast<const char*>(&example);
  return reinterpret_cast<T*>(report_.as<char>() + offset);
}

Status HarnessKernels::Fill(const MatrixView& matrix, Filling filling, uint64_t seed, const FillDetails& details) {
  return gpu_.Start(kernels_[kFillKernel], Over(ElementCount(matrix)),
                    FillArguments{matrix, seed, details.seed_of_b, filling, float(details.parameter)});
}

Status HarnessKernels::Poison(const MatrixView& matrix) {
  return gpu_.Start(kernels_[kPoisonKernel], Over(ElementCount(matrix)), PoisonArguments{matrix, kPoison});
}

Status HarnessKernels::Paint(const GuardedMatrix& matrix) {
  GEMMSMITH_CHECK(matrix.pattern() != 0, "a matrix whose canaries are all the same");
  const auto count = int64_t(matrix.size_bytes() / 2);
  return gpu_.Start(kernels_[kPaintKernel], Over(count),
                    PaintArguments{const_cast<uint16_t*>(matrix.allocation()), count, matrix.pattern()});
}

// Few blocks: what begins behind them finds room.
Status HarnessKernels::WriteLate(std::span<const ElementCopy> copies) {
  LateArguments arguments{.copies = {}, .cycles = 40'000};
  GEMMSMITH_CHECK(copies.size() <= arguments.copies.size(), "{} matrices at once", copies.size());
  for (size_t i = 0; i < copies.size(); ++i)
    arguments.copies[i] = {copies[i].from->data(), copies[i].to->data(), copies[i].to->SpanBytes() / 2};
  Launch launch;
  launch.block.x = 512;
  launch.grid.x = 64;
  return gpu_.Start(kernels_[kLateKernel], launch, arguments);
}

Status HarnessKernels::Multiply(const MatrixView& a, const MatrixView& b, float* c, int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kTileRows = 64, kTileColumns = 128;  // as harness.cu has them
  Launch launch;
  launch.block.x = 256;
  launch.grid.x = uint32_t((m + kTileRows - 1) / kTileRows * ((n + kTileColumns - 1) / kTileColumns));
  return gpu_.Start(kernels_[kReferenceKernel], launch, ReferenceArguments{a, b, c, m, n, k});
}

Status HarnessKernels::Gather(const MatrixView& from, float* to, int64_t rows, int64_t columns, int64_t row_step,
                              int64_t column_step) {
  return gpu_.Start(kernels_[kGatherKernel], Over(rows * columns),
                    GatherArguments{from, to, rows, columns, row_step, column_step});
}

Status HarnessKernels::ResetReport() { return gpu_.Fill8(report_.address(), 0, sizeof(HarnessReport)); }

Status HarnessKernels::Inspect(const Inspection& wanted) {
  InspectArguments arguments;
  if (wanted.reference != nullptr)
    arguments.c = {wanted.c->view(), wanted.reference, wanted.acceptance, InReport(&HarnessReport::differences)};
  if (wanted.a != nullptr) {
    arguments.a_sum = {wanted.a->view(), InReport(&HarnessReport::checksum_a)};
    arguments.a_canaries = CanariesOf(*wanted.a, InReport(&HarnessReport::broken_a));
  }
  if (wanted.b != nullptr) {
    arguments.b_sum = {wanted.b->view(), InReport(&HarnessReport::checksum_b)};
    arguments.b_canaries = CanariesOf(*wanted.b, InReport(&HarnessReport::broken_b));
  }
  if (wanted.c != nullptr) arguments.c_canaries = CanariesOf(*wanted.c, InReport(&HarnessReport::broken_c));
  if (wanted.workspace != nullptr) {
    arguments.workspace_canaries = CanariesOf(wanted.workspace->matrix(), InReport(&HarnessReport::broken_workspace));
    arguments.workspace = {static_cast<const uint32_t*>(wanted.workspace->data()),
                           int64_t(wanted.workspace->size_bytes() / 4), InReport(&HarnessReport::nonzero_workspace)};
  }
  return gpu_.Start(kernels_[kInspectKernel], OverParts(arguments), arguments);
}

Status HarnessKernels::Compare(const MatrixView& c, const float* reference, const Acceptance& acceptance) {
  InspectArguments arguments;
  arguments.c = {c, reference, acceptance, InReport(&HarnessReport::differences)};
  return gpu_.Start(kernels_[kInspectKernel], OverParts(arguments), arguments);
}

Result<HarnessReport> HarnessKernels::ReadReport() {
  const std::span<uint8_t> bytes = report_on_host_.bytes();
  RETURN_IF_ERROR(gpu_.CopyToHost(bytes, report_.address()));  // waits for all that is on the stream
  HarnessReport report;
  std::memcpy(static_cast<void*>(&report), bytes.data(), sizeof report);
  return report;
}

Status HarnessKernels::Spin(int64_t cycles) {
  Launch launch;
  launch.block.x = 1;
  return gpu_.Start(kernels_[kSpinKernel], launch, SpinArguments{cycles});
}

}  // namespace gemmsmith
