// Both libraries against a plain product on the host, with numbers so small that every order of summation is exact.
#include "gpu/cublas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "base/random.h"

namespace gemmsmith {
namespace {

constexpr uint64_t kWorkspaceBytes = 32 << 20;

// f16 and bf16 bits of a small integer.
uint16_t Encode(int value, ScalarType type) {
  const uint32_t bits = std::bit_cast<uint32_t>(float(value));
  if (type == ScalarType::kBf16) return uint16_t(bits >> 16);
  if (value == 0) return 0;
  const uint32_t exponent = (bits >> 23 & 255) - 127 + 15;
  return uint16_t(bits >> 16 & 0x8000) | uint16_t(exponent << 10) | uint16_t(bits >> 13 & 1023);
}

// A matrix in memory as an Operand describes it, integers as elements.
struct HostMatrix {
  Operand operand;
  bool transposed;  // lines are columns
  std::vector<int> values;

  HostMatrix(Operand described, bool lines_are_columns)
      : operand(std::move(described)), transposed(lines_are_columns), values(size_t(operand.SpanBytes() / 2)) {}
  int& At(int64_t row, int64_t column) {
    const int64_t line = transposed ? column : row, place = transposed ? row : column;
    return values[size_t(line * operand.stride + place)];
  }
  std::vector<uint16_t> Encoded() const {
    std::vector<uint16_t> encoded;
    for (const int value : values) encoded.push_back(Encode(value, operand.type));
    return encoded;
  }
};

class CublasTest : public testing::Test {
 protected:
  static constexpr uint16_t kPoison = 0x7bcd;  // a number that no product below has

  void SetUp() override {
    const auto driver = Driver::Open();
    if (!driver.ok()) GTEST_SKIP() << driver.status().message();
    gpu_ = *Gpu::Open(0);
    auto cublas = Cublas::Open();
    ASSERT_TRUE(cublas.ok()) << cublas.status().message();
    cublas_ = *std::move(cublas);
    workspace_ = *gpu_->Allocate(kWorkspaceBytes);
  }
  void TearDown() override { cublas_.reset(); }  // before its context

  void Prepare(const Gemm& gemm) {
    const Task task = MakeTask(gemm);
    HostMatrix a(task.inputs[0], gemm.kind.layout.a == Order::kColumn);
    HostMatrix b(task.inputs[1], gemm.kind.layout.b == Order::kColumn);
    HostMatrix c(task.output, false);
    Random random(7);
    // The gaps between lines hold values too: whoever reads them computes something else.
    for (int& value : a.values) value = int(random.Below(3)) - 1;
    for (int& value : b.values) value = int(random.Below(3)) - 1;
    expected_.assign(c.values.size(), kPoison);
    for (int64_t row = 0; row < gemm.shape.m; ++row)
      for (int64_t column = 0; column < gemm.shape.n; ++column) {
        int sum = 0;
        for (int64_t k = 0; k < gemm.shape.k; ++k) sum += a.At(row, k) * b.At(k, column);
        expected_[size_t(row * task.output.stride + column)] = Encode(sum, gemm.kind.type);
      }
    a_ = Upload(a.Encoded());
    b_ = Upload(b.Encoded());
    c_ = Upload(std::vector<uint16_t>(expected_.size(), kPoison));
  }
  DeviceMemory Upload(const std::vector<uint16_t>& values) {
    DeviceMemory memory = *gpu_->Allocate(values.size() * 2);
    EXPECT_TRUE(
        gpu_->CopyToDevice(memory.address(), {reinterpret_cast<const uint8_t*>(values.data()), values.size() * 2})
            .ok());
    return memory;
  }
  GemmBuffers Buffers() const {
    return {a_.as<void>(), b_.as<void>(), c_.as<void>(), workspace_.as<void>(), kWorkspaceBytes};
  }
  // Compares C, gaps included, and poisons it again.
  void ExpectProduct(const Status& called, const std::string& what) {
    ASSERT_TRUE(called.ok()) << what << ": " << called.message();
    std::vector<uint16_t> got(expected_.size());
    const Status copied = gpu_->CopyToHost({reinterpret_cast<uint8_t*>(got.data()), got.size() * 2}, c_.address());
    ASSERT_TRUE(copied.ok()) << what << ": " << copied.message();
    size_t wrong = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      const bool negative_zero = got[i] == 0x8000 && expected_[i] == 0;
      wrong += got[i] != expected_[i] && !negative_zero;
    }
    EXPECT_EQ(wrong, 0u) << what << ": of " << got.size() << " elements";
    ASSERT_TRUE(gpu_->Fill16(c_.address(), kPoison, got.size()).ok());
  }

  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<Cublas> cublas_;
  DeviceMemory workspace_, a_, b_, c_;
  std::vector<uint16_t> expected_;
};

std::vector<Gemm> TestedGemms(ScalarType type, Accumulation accumulation) {
  std::vector<Gemm> problems;
  for (const Order a : {Order::kRow, Order::kColumn})
    for (const Order b : {Order::kRow, Order::kColumn}) {
      const GemmKind kind{{a, b}, type, accumulation};
      problems.push_back({{64, 128, 192}, kind});
      problems.push_back({{96, 40, 72}, kind, 104, 136, 48});  // padded, still multiples of 8
      problems.push_back({{17, 31, 63}, kind});                // odd and packed
      problems.push_back({{17, 31, 63}, kind, 65, 67, 33});    // odd leading dimensions
      problems.push_back({{1, 1, 1}, kind});
    }
  return problems;
}

struct NumberTypes {
  ScalarType type;
  Accumulation accumulation;
};
class CublasProducts : public CublasTest, public testing::WithParamInterface<NumberTypes> {};

TEST_P(CublasProducts, GemmExIsRightForEveryLayoutAndLeadingDimension) {
  for (const Gemm& gemm : TestedGemms(GetParam().type, GetParam().accumulation)) {
    Prepare(gemm);
    ExpectProduct(cublas_->GemmEx(gemm, Buffers(), gpu_->stream()), Print(gemm));
  }
}

TEST_P(CublasProducts, EveryLtCandidateIsRightForEveryLayoutAndLeadingDimension) {
  int candidates = 0;
  for (const Gemm& gemm : TestedGemms(GetParam().type, GetParam().accumulation)) {
    Prepare(gemm);
    const auto lt = LtGemm::Create(*cublas_, gemm, kWorkspaceBytes, 20);
    ASSERT_TRUE(lt.ok()) << Print(gemm) << ": " << lt.status().message();
    const bool aligned = gemm.AlignmentA() == 8 && gemm.AlignmentB() == 8 && gemm.AlignmentC() == 8;
    EXPECT_TRUE((*lt)->candidate_count() > 0 || !aligned) << Print(gemm);
    for (int i = 0; i < (*lt)->candidate_count(); ++i)
      ExpectProduct((*lt)->Run(i, Buffers(), gpu_->stream()), Print(gemm) + " " + (*lt)->Describe(i));
    candidates += (*lt)->candidate_count();
  }
  EXPECT_GT(candidates, 20);
}

INSTANTIATE_TEST_SUITE_P(, CublasProducts,
                         testing::Values(NumberTypes{ScalarType::kF16, Accumulation::kF32},
                                         NumberTypes{ScalarType::kBf16, Accumulation::kF32},
                                         NumberTypes{ScalarType::kF16, Accumulation::kF16}),
                         [](const auto& tested) {
                           return std::string(Name(tested.param.type)) + "_" +
                                  std::string(Name(tested.param.accumulation));
                         });

TEST_F(CublasTest, F16AccumulationOfBf16IsUnavailable) {
  const Gemm gemm{{16, 16, 16}, {kTn, ScalarType::kBf16, Accumulation::kF16}};
  EXPECT_EQ(cublas_->GemmEx(gemm, {}, gpu_->stream()).code(), StatusCode::kUnavailable);
  EXPECT_EQ(LtGemm::Create(*cublas_, gemm, 0, 8).status().code(), StatusCode::kUnavailable);
}

TEST_F(CublasTest, ADescriptionHasEveryPartInOneWord) {
  const auto lt = LtGemm::Create(*cublas_, {{256, 512, 1024}, {}}, kWorkspaceBytes, 8);
  ASSERT_TRUE(lt.ok()) << lt.status().message();
  ASSERT_GT((*lt)->candidate_count(), 0);
  const std::string words = (*lt)->Describe(0);
  EXPECT_TRUE(words.starts_with("id")) << words;
  EXPECT_EQ(std::count(words.begin(), words.end(), '/'), 7) << words;
  EXPECT_EQ(words.find(' '), std::string::npos) << words;
}

TEST_F(CublasTest, ConfigurationsThatTheLibraryLetsPassAreRight) {
  constexpr int kTries = 20'000, kRuns = 10;
  const Gemm gemm{{256, 256, 512}, {kTn}};
  Prepare(gemm);
  const auto lt = LtGemm::Create(*cublas_, gemm, kWorkspaceBytes, 1);
  ASSERT_TRUE(lt.ok()) << lt.status().message();
  const Result<std::vector<LtCapabilities>> algorithms = (*lt)->Algorithms();
  ASSERT_TRUE(algorithms.ok()) << algorithms.status().message();
  ASSERT_FALSE(algorithms->empty());
  const LtConfigSpace space(*algorithms);
  Random random(1);
  int passed = 0;
  for (int i = 0; i < kTries; ++i) {
    const std::optional<int> added = (*lt)->Add(space.at(random.Below(space.size())));
    if (added && ++passed <= kRuns)
      ExpectProduct((*lt)->Run(*added, Buffers(), gpu_->stream()), (*lt)->Describe(*added));
  }
  fmt::print("{} algorithms, {} configurations without splits, {} of {} passed\n", algorithms->size(), space.size(),
             passed, kTries);
  EXPECT_GT(passed, 0);
}

TEST_F(CublasTest, VersionsAreTold) {
  EXPECT_TRUE(cublas_->Version().starts_with("cublas 13.")) << cublas_->Version();
  EXPECT_NE(cublas_->Version().find("cublaslt 13."), std::string::npos) << cublas_->Version();
}

TEST_F(CublasTest, AWorkspaceShorterThanAskedForIsRefused) {
  const Gemm gemm{{256, 256, 256}, {}};
  Prepare({{64, 64, 64}, {}});
  const auto lt = LtGemm::Create(*cublas_, gemm, kWorkspaceBytes, 4);
  ASSERT_TRUE(lt.ok());
  ASSERT_GT((*lt)->candidate_count(), 0);
  GemmBuffers buffers = Buffers();
  buffers.workspace_bytes = kWorkspaceBytes - 1;
  EXPECT_EQ((*lt)->Run(0, buffers, gpu_->stream()).code(), StatusCode::kInvalidArgument);
}

TEST_F(CublasTest, BothAreCapturedIntoGraphs) {
  const Gemm gemm{{64, 128, 192}, {}};
  Prepare(gemm);
  const auto lt = LtGemm::Create(*cublas_, gemm, kWorkspaceBytes, 4);
  ASSERT_TRUE(lt.ok() && (*lt)->candidate_count() > 0);
  ExpectProduct(cublas_->GemmEx(gemm, Buffers(), gpu_->stream()), "warm GemmEx");
  ExpectProduct((*lt)->Run(0, Buffers(), gpu_->stream()), "warm Lt");
  const auto gemm_ex = gpu_->Capture([&] { return cublas_->GemmEx(gemm, Buffers(), gpu_->stream()); });
  const auto lt_run = gpu_->Capture([&] { return (*lt)->Run(0, Buffers(), gpu_->stream()); });
  ASSERT_TRUE(gemm_ex.ok()) << gemm_ex.status().message();
  ASSERT_TRUE(lt_run.ok()) << lt_run.status().message();
  ExpectProduct(gpu_->Replay(*gemm_ex), "GemmEx from a graph");
  ExpectProduct(gpu_->Replay(*lt_run), "Lt from a graph");
}

}  // namespace
}  // namespace gemmsmith
