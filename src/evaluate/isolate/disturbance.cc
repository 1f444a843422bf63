#include "evaluate/isolate/disturbance.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "evaluate/verify/harness_text.h"

namespace gemmsmith {

namespace {

using u32 = uint32_t;
using u64 = uint64_t;
#include "evaluate/isolate/keystream.cuh"

struct DisturbArguments {
  void *a, *b, *c;
  CUdeviceptr state, places, samples;
  DisturbanceKey key;
};
struct RenewArguments {
  void *a, *b, *c;
  int64_t a_count, b_count, c_count;
  CUdeviceptr state, places;
  uint32_t poison, is_sham;
  DisturbanceKey key;
};
struct SpinArguments {
  int64_t cycles;
};
struct PauseArguments {
  int64_t ns;
};
struct ExpectArguments {
  MatrixView a, b;
  int64_t k;
  CUdeviceptr places, samples, answers;
  uint32_t steps, unused;
};

int64_t OffsetOf(const MatrixView& matrix, int64_t row, int64_t column) {
  return matrix.lines_are_rows ? row * matrix.stride + column : column * matrix.stride + row;
}
int64_t RowsOf(const MatrixView& matrix) { return matrix.lines_are_rows ? matrix.lines : matrix.line_length; }
int64_t ColumnsOf(const MatrixView& matrix) { return matrix.lines_are_rows ? matrix.line_length : matrix.lines; }

void DrawSample(const MatrixView& c, DisturbedPlace& place, Random& random) {
  place.row = int32_t(random.Below(uint64_t(RowsOf(c))));
  place.column = int32_t(random.Below(uint64_t(ColumnsOf(c))));
  place.sample = OffsetOf(c, place.row, place.column);
}

// Magnitude 4 to 8, either sign: far from normal inputs, so that the output shows the change.
uint32_t LargeValue(ElementType type, Random& random) {
  const uint32_t mantissa_bits = type == ElementType::kBf16 ? 7 : 10, exponent = type == ElementType::kBf16 ? 129 : 17;
  return uint32_t(random.Below(2) << 15 | exponent << mantissa_bits | random.Below(uint64_t{1} << mantissa_bits));
}

std::span<const uint8_t> BytesOf(const auto& items) {
  return {reinterpret_cast<const uint8_t*>(items.data()), items.size() * sizeof(items[0])};
}

}  // namespace

std::vector<DisturbedStep> DrawDisturbances(const MatrixView& a, const MatrixView& b, const MatrixView& c, int steps,
                                            Random& random) {
  GEMMSMITH_CHECK(steps >= 1 && steps <= kMaxDisturbedSteps, "{} steps", steps);
  std::vector<DisturbedStep> drawn{size_t(steps)};
  const auto below = [&](int64_t bound) { return int32_t(random.Below(uint64_t(bound))); };
  uint32_t signs = 0;
  for (DisturbedStep& step : drawn) {
    std::set<int64_t> a_taken, b_taken;  // an element that changed twice could not be restored
    const bool is_last = &step == &drawn.back();
    const bool is_renewal = is_last || random.Below(2) == 0;
    if (is_renewal) signs = is_last ? 0 : uint32_t(random.Next()) | 1;
    for (DisturbedPlace& place : step) {
      DrawSample(c, place, random);
      place.a_depth = below(ColumnsOf(a));
      place.b_depth = below(ColumnsOf(a));
      place.a_bits = LargeValue(a.type, random);
      place.b_bits = LargeValue(b.type, random);
      const int64_t a_patch = OffsetOf(a, place.row, place.a_depth), b_patch = OffsetOf(b, place.b_depth, place.column);
      if (!is_renewal && a_taken.insert(a_patch).second) place.a_patch = a_patch;
      if (!is_renewal && b_taken.insert(b_patch).second) place.b_patch = b_patch;
      place.signs = signs;
      place.is_renewal = is_renewal ? 1 : 0;
    }
  }
  return drawn;
}

// A source that keeps the product of the one content that returns saves as large a share of its time. (With every
// fourth, calls that were skipped elsewhere as often agreed with that in every comparison.)
constexpr uint64_t kStepsToTheFirstContent = 63;

std::vector<DisturbedStep> DrawRenewals(size_t calls, const MatrixView& c, Random& random) {
  GEMMSMITH_CHECK(calls >= 1 && calls <= size_t(kMaxDisturbedSteps), "renewals of {} calls", calls);
  std::vector<DisturbedStep> drawn;
  uint32_t signs = 0;
  while (drawn.size() < size_t(kMaxDisturbedSteps)) {
    const size_t call = drawn.size() + 1;
    const bool is_by_chance = signs != 0 && call + 1 != calls && random.Below(kStepsToTheFirstContent) == 0;
    signs = call == calls || is_by_chance ? 0 : uint32_t(random.Next()) | 1;
    DisturbedStep& step = drawn.emplace_back();
    for (DisturbedPlace& place : step) {
      place.signs = signs;
      place.is_renewal = 1;
      DrawSample(c, place, random);
    }
  }
  return drawn;
}

DisturbanceKey DrawKey(Random& random) {
  DisturbanceKey key;
  for (uint32_t& word : key) word = uint32_t(random.Next() >> 32);
  return key;
}

std::vector<DisturbedStep> Hidden(std::span<const DisturbedStep> steps, const DisturbanceKey& key) {
  using Words = std::array<uint64_t, sizeof(DisturbedPlace) / sizeof(uint64_t)>;
  std::vector<DisturbedStep> hidden(steps.begin(), steps.end());
  if (key == kOpenKey) return hidden;
  const RoundKeys keys = RoundKeysOf(std::bit_cast<Key>(key));
  uint64_t at = 0;
  for (DisturbedStep& step : hidden)
    for (DisturbedPlace& place : step) {
      auto words = std::bit_cast<Words>(place);
      for (uint64_t& word : words) word ^= KeystreamAt(keys, at++);
      place = std::bit_cast<DisturbedPlace>(words);
    }
  return hidden;
}

std::string WrongAnswer(std::span<const DisturbedAnswer> answers, const Acceptance& acceptance) {
  const size_t calls = answers.size() / kDisturbedPlaces;
  for (size_t i = 0; i < answers.size(); ++i) {
    const auto& [got, expected] = answers[i];
    if (std::abs(got - expected) <= acceptance.At(expected)) continue;
    const size_t call = i / kDisturbedPlaces + 1;
    if (std::isnan(got)) return fmt::format("call {} of {} left an element of C as it was", call, calls);
    return fmt::format("call {} of {} did not work on the inputs of its moment: got {}, expected {}", call, calls, got,
                       expected);
  }
  return "";
}

Result<DisturbingKernels> DisturbingKernels::Load(Gpu& gpu, std::span<const uint8_t> cubin) {
  DisturbingKernels kernels(gpu);
  ASSIGN_OR_RETURN(kernels.disturb_, gpu.Load(cubin, "disturb", 0));
  ASSIGN_OR_RETURN(kernels.renew_, gpu.Load(cubin, "disturb_renew", 0));
  ASSIGN_OR_RETURN(kernels.spin_, gpu.Load(cubin, "disturb_spin", 0));
  ASSIGN_OR_RETURN(kernels.pause_, gpu.Load(cubin, "disturb_pause", 0));
  return kernels;
}

namespace {

DisturbArguments SmallStep(const DisturbedMatrices& matrices, CUdeviceptr memory, const DisturbanceKey& key) {
  return {matrices.a,
          matrices.b,
          matrices.c,
          memory,
          memory + DisturbanceMemory::kPlacesAt,
          memory + DisturbanceMemory::kSamplesAt,
          key};
}

RenewArguments Renewal(const DisturbedMatrices& matrices, CUdeviceptr memory, const DisturbanceKey& key) {
  const auto [m, n, k] = matrices.shape;
  return {matrices.a,
          matrices.b,
          matrices.c,
          int64_t(m) * k,
          int64_t(k) * n,
          int64_t(m) * n,
          memory,
          memory + DisturbanceMemory::kPlacesAt,
          kPoison,
          uint32_t(matrices.is_sham),
          key};
}

Launch LaunchOf(const RenewArguments& renewal) {
  constexpr int64_t kElementsOfABlock = 8 * 256, kMaxBlocks = 1056;
  const int64_t most = std::max({renewal.a_count, renewal.b_count, renewal.c_count});
  Launch launch;
  launch.block.x = 256;
  launch.grid.x = uint32_t(std::clamp<int64_t>(most / kElementsOfABlock, 1, kMaxBlocks));
  return launch;
}

}  // namespace

Status DisturbingKernels::Disturb(const DisturbedMatrices& matrices, CUdeviceptr memory, const DisturbanceKey& key) {
  Launch small;
  small.block.x = kDisturbedPlaces;
  RETURN_IF_ERROR(gpu_->Start(disturb_, small, SmallStep(matrices, memory, key)));
  const RenewArguments renewal = Renewal(matrices, memory, key);
  return gpu_->Start(renew_, LaunchOf(renewal), renewal);
}

Status DisturbingKernels::SetKey(const Graph& graph, const DisturbedMatrices& matrices, CUdeviceptr memory,
                                 const DisturbanceKey& key) {
  RETURN_IF_ERROR(gpu_->ReplaceArgument(graph, disturb_, SmallStep(matrices, memory, key)));
  return gpu_->ReplaceArgument(graph, renew_, Renewal(matrices, memory, key));
}

Status DisturbingKernels::Spin(int64_t cycles) {
  Launch launch;
  launch.block.x = 1;
  return gpu_->Start(spin_, launch, SpinArguments{cycles});
}

Status DisturbingKernels::Pause(int64_t ns) {
  Launch launch;
  launch.block.x = 1;
  return gpu_->Start(pause_, launch, PauseArguments{ns});
}

Status DisturbingKernels::SetPause(const Graph& graph, int64_t ns) {
  return gpu_->ReplaceArgument(graph, pause_, PauseArguments{ns});
}

Result<DisturbanceJudge> DisturbanceJudge::Create(Gpu& gpu, Compiler& compiler) {
  DisturbanceJudge judge(gpu);
  ASSIGN_OR_RETURN(const Compilation compilation, compiler.Compile({std::string(DisturbText()), "disturb_expect"},
                                                                   gpu.identity().device.Architecture()));
  GEMMSMITH_CHECK(compilation.succeeded, "our own disturbing kernels do not compile: {}", compilation.log);
  judge.cubin_ = compilation.binary.cubin;
  ASSIGN_OR_RETURN(judge.kernels_, DisturbingKernels::Load(gpu, judge.cubin_));
  ASSIGN_OR_RETURN(judge.expect_, gpu.Load(judge.cubin_, "disturb_expect", 0));
  ASSIGN_OR_RETURN(judge.places_, gpu.Allocate(kMaxDisturbedSteps * sizeof(DisturbedStep)));
  ASSIGN_OR_RETURN(judge.answers_, gpu.Allocate(kMaxDisturbedSteps * kDisturbedPlaces * sizeof(DisturbedAnswer)));
  return judge;
}

Status DisturbanceJudge::Prepare(std::span<const DisturbedStep> steps, CUdeviceptr memory, const DisturbanceKey& key) {
  GEMMSMITH_CHECK(steps.size() <= kMaxDisturbedSteps, "{} steps", steps.size());
  steps_ = steps.size();
  RETURN_IF_ERROR(gpu_->CopyToDevice(places_.address(), BytesOf(steps)));
  RETURN_IF_ERROR(gpu_->CopyToDevice(memory + DisturbanceMemory::kPlacesAt, BytesOf(Hidden(steps, key))));
  const std::array<DisturbanceMemory::State, 1> state = {{{.next = 0, .steps = uint32_t(steps.size())}}};
  RETURN_IF_ERROR(gpu_->CopyToDevice(memory, BytesOf(state)));
  // Samples that nobody took are NaN.
  return gpu_->Fill16(memory + DisturbanceMemory::kSamplesAt, kPoison, steps.size() * kDisturbedPlaces);
}

Result<std::vector<DisturbedAnswer>> DisturbanceJudge::Collect(const Inputs& inputs, int64_t k, CUdeviceptr memory,
                                                               size_t steps) {
  GEMMSMITH_CHECK(steps >= 1 && steps <= steps_, "{} steps of {}", steps, steps_);
  std::vector<DisturbedAnswer> answers(steps * kDisturbedPlaces);
  Launch launch;
  launch.block.x = 256;
  launch.grid.x = uint32_t(std::clamp<size_t>(answers.size() / 8, 1, 1056));
  RETURN_IF_ERROR(
      gpu_->Start(expect_, launch,
                  ExpectArguments{inputs.a->view(), inputs.b->view(), k, places_.address(),
                                  memory + DisturbanceMemory::kSamplesAt, answers_.address(), uint32_t(steps), 0}));
  RETURN_IF_ERROR(gpu_->CopyToHost(
      {reinterpret_cast<uint8_t*>(answers.data()), answers.size() * sizeof(DisturbedAnswer)}, answers_.address()));
  return answers;
}

}  // namespace gemmsmith
