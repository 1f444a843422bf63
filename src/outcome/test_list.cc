#include "outcome/test_list.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kInputKinds[] = {"normal",  "binary",  "dense_binary", "cancellation",
                                            "special", "uniform", "other_normal"};
static_assert(std::size(kInputKinds) == size_t(kLastInputKind) + 1);

constexpr std::string_view kTests[] = {"binary",  "relative", "cancellation",     "chain",  "dense_binary",
                                       "uniform", "special",  "baseline_bounded", "repeat", "certified"};
static_assert(std::size(kTests) == size_t(kLastTestId) + 1);

constexpr TestPlan kPlans[] = {
    {TestId::kBinary, InputKind::kBinary, true},
    {TestId::kRelative, InputKind::kNormal, true},
    {TestId::kCancellation, InputKind::kCancellation, true},
    {TestId::kChain, InputKind::kNormal, true},  // and the binary ones
    {TestId::kDenseBinary, InputKind::kDenseBinary, false},
    {TestId::kUniform, InputKind::kUniform, false},  // and the binary ones
    {TestId::kSpecial, InputKind::kSpecial, false},
    {TestId::kBaselineBounded, InputKind::kNormal, false},
    {TestId::kRepeat, InputKind::kOtherNormal, false},  // and the normal ones
    {TestId::kCertified, InputKind::kNormal, false},
};
static_assert(std::size(kPlans) == size_t(kLastTestId) + 1);

// Sums of f16 need not cancel exactly. Sums of positive numbers are honestly off where an addend is less than a unit in
// the last place of the sum. That holds for 16 products of uniform numbers above a K. A sum of ones stands still above
// 2048 if it takes them one by one.
bool MakesSense(TestId test, const Gemm& gemm) {
  constexpr int kLongestUniformSumOfF16 = 16384, kLongestBinarySumOfF16 = 2048;
  if (gemm.kind.accumulation == Accumulation::kF32) return true;
  switch (test) {
    case TestId::kCancellation:
      return false;
    case TestId::kUniform:
      return gemm.shape.k <= kLongestUniformSumOfF16;
    case TestId::kDenseBinary:
      return gemm.shape.k <= kLongestBinarySumOfF16;
    default:
      return true;
  }
}

}  // namespace

std::string_view Name(InputKind kind) { return kInputKinds[size_t(kind)]; }

bool IsRounded(InputKind kind) {
  return kind == InputKind::kNormal || kind == InputKind::kUniform || kind == InputKind::kOtherNormal;
}

std::string_view Name(TestId test) { return kTests[size_t(test)]; }

std::optional<TestId> ParseTestId(std::string_view name) {
  const auto found = std::find(std::begin(kTests), std::end(kTests), name);
  if (found == std::end(kTests)) return std::nullopt;
  return TestId(found - std::begin(kTests));
}

std::optional<TestSet> TestSet::FromBits(uint32_t bits) {
  if (bits >= 2 * Bit(kLastTestId)) return std::nullopt;
  TestSet set;
  set.bits_ = bits;
  return set;
}

TestSet TestSet::All() { return *FromBits(2 * Bit(kLastTestId) - 1); }

Result<TestSet> ParseTestSet(std::string_view text) {
  TestSet set;
  for (const std::string_view word : Split(text, ',')) {
    const std::optional<TestId> test = ParseTestId(word);
    if (!test) {
      std::vector<std::string> names(std::begin(kTests), std::end(kTests));
      return InvalidArgument(fmt::format("'{}' is no test; there are {}", word, Join(names, ", ")));
    }
    set.Add(*test);
  }
  return set;
}

std::vector<TestPlan> TestsFor(const Gemm& gemm, bool everything, TestSet wanted) {
  std::vector<TestPlan> tests;
  for (const TestPlan& plan : kPlans) {
    const bool is_due = wanted.Has(plan.id) && (everything || plan.in_every_protocol);
    if (is_due && MakesSense(plan.id, gemm)) tests.push_back(plan);
  }
  return tests;
}

std::vector<InputKind> InputsOf(std::span<const TestPlan> tests) {
  std::vector<InputKind> kinds = {InputKind::kNormal};
  const auto add = [&](InputKind kind) {
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  };
  for (const TestPlan& test : tests) {
    add(test.inputs);
    if (test.id == TestId::kChain || test.id == TestId::kUniform) add(InputKind::kBinary);
  }
  return kinds;
}

}  // namespace gemmsmith
