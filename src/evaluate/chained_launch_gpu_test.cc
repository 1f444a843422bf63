// Chains of launches that overlap: each reads the result of the one before it.
#include <array>

#include "evaluate/pipeline_test_fixture.h"
#include "program/covering.h"
#include "program/family.h"

namespace gemmsmith {
namespace {

// Each launch of a chain multiplies the result of the one before by a matrix that moves every column on by one. An
// element that is read too early, or from a stale cache, ends in the wrong place. Large enough for persistent CTAs with
// tiles of 64 x 128.
class DependentChain {
 public:
  static constexpr int kRows = 1088, kSide = 1024, kLength = 301;

  DependentChain(Gpu& gpu, const Layout& layout) : gpu_(gpu), gemm_{{kRows, kSide, kSide}, {layout}} {}
  const Gemm& gemm() const { return gemm_; }

  Status Prepare(const Launch& launch) {
    std::vector<uint16_t> first(kRows * kSide), moving(kSide * kSide);
    for (int i = 0; i < kRows * kSide; ++i) first[size_t(i)] = ValueAt(i / kSide, i % kSide);
    for (int k = 0; k < kSide; ++k) {
      const int n = (k + 1) % kSide;
      moving[size_t(gemm_.kind.layout.b == Order::kRow ? k * kSide + n : n * kSide + k)] = kOne;
    }
    for (DeviceMemory* side : {&sides_[0], &sides_[1]}) {
      ASSIGN_OR_RETURN(*side, gpu_.Allocate(first.size() * 2));
      RETURN_IF_ERROR(gpu_.CopyToDevice(side->address(), BytesOf(first)));
    }
    ASSIGN_OR_RETURN(moving_, gpu_.Allocate(moving.size() * 2));
    RETURN_IF_ERROR(gpu_.CopyToDevice(moving_.address(), BytesOf(moving)));
    ASSIGN_OR_RETURN(workspace_, gpu_.Allocate(std::max<uint64_t>(launch.workspace_bytes, 16)));
    RETURN_IF_ERROR(gpu_.Fill8(workspace_.address(), 0, workspace_.size_bytes()));
    for (int i = 0; i < 2; ++i) {
      ASSIGN_OR_RETURN(parameters_[size_t(i)],
                       gpu_.ParametersFor(launch, ArgumentsFor(gemm_, sides_[i].as<void>(), moving_.as<void>(),
                                                               sides_[1 - i].as<void>(), workspace_.as<void>())));
    }
    return OkStatus();
  }

  Status Run(const Kernel& kernel, const Launch& launch) {
    for (int i = 0; i < kLength; ++i)
      RETURN_IF_ERROR(gpu_.StartGemm(kernel, launch, parameters_[size_t(i % 2)], Chaining::kProgrammatic));
    return gpu_.Synchronize();
  }

  Result<int> CountMisplaced() {
    std::vector<uint16_t> last(kRows * kSide);
    RETURN_IF_ERROR(
        gpu_.CopyToHost({reinterpret_cast<uint8_t*>(last.data()), last.size() * 2}, sides_[kLength % 2].address()));
    int misplaced = 0;
    for (int i = 0; i < kRows * kSide; ++i) {
      const int from = ((i % kSide - kLength) % kSide + kSide) % kSide;
      misplaced += last[size_t(i)] != ValueAt(i / kSide, from);
    }
    return misplaced;
  }

 private:
  static constexpr uint16_t kOne = 0x3c00;
  // From 1 to below 2: a product with 1 and sums with 0 keep every bit.
  static uint16_t ValueAt(int row, int column) { return uint16_t(kOne + (row * 37 + column) % 1024); }
  static std::span<const uint8_t> BytesOf(const std::vector<uint16_t>& values) {
    return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * 2};
  }

  Gpu& gpu_;
  const Gemm gemm_;
  std::array<DeviceMemory, 2> sides_;
  DeviceMemory moving_, workspace_;
  std::array<GemmParameters, 2> parameters_;
};

class ChainedLaunch : public PipelineGpuTest, public testing::WithParamInterface<Layout> {};

TEST_P(ChainedLaunch, ReadsTheResultOfTheOneBeforeIt) {
  const Layout layout = GetParam();
  const Gemm gemm = DependentChain(*gpu_, layout).gemm();
  std::vector<Pipeline> pipelines;
  for (const Plan& plan : CoveringPlans(gemm, gpu_->identity().device, 7))
    for (const Trigger trigger : {Trigger::kEarly, Trigger::kSoon, Trigger::kLate, Trigger::kLast})
      pipelines.push_back({gemm, WithTrigger(plan, trigger), {}});
  CompileAll(pipelines);
  for (const Pipeline& pipeline : pipelines) {
    SCOPED_TRACE(Print(pipeline.gemm) + " | " + Print(pipeline.plan));
    const Launch launch = LaunchFor(pipeline.plan, gemm);
    const Binary& binary = pipeline.compilation.binary;
    ASSERT_TRUE(pipeline.compilation.succeeded) << pipeline.compilation.log;
    const Result<Kernel> kernel = gpu_->Load(binary.cubin, binary.entry, launch.smem_bytes);
    ASSERT_DONE(kernel);
    DependentChain chain(*gpu_, layout);
    ASSERT_DONE(chain.Prepare(launch));
    const Watchdog watchdog(Print(pipeline.plan));
    ASSERT_DONE(chain.Run(*kernel, launch));
    const Result<int> misplaced = chain.CountMisplaced();
    ASSERT_DONE(misplaced);
    EXPECT_EQ(*misplaced, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Layout, ChainedLaunch, testing::Values(kTn, kNn),
                         [](const testing::TestParamInfo<Layout>& layout) {
                           return layout.param == kTn ? "tn" : "nn";
                         });

}  // namespace
}  // namespace gemmsmith
