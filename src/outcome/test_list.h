// Which correctness tests there are and which of them run when. docs/measuring.md says the same in words.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "problem/gemm.h"

namespace gemmsmith {

// The values of A and B; docs/measuring.md says what each kind is for.
enum class InputKind { kNormal, kBinary, kDenseBinary, kCancellation, kSpecial, kUniform, kOtherNormal };
inline constexpr InputKind kLastInputKind = InputKind::kOtherNormal;
std::string_view Name(InputKind kind);  // "normal", "binary", ... "other_normal"
// Random numbers whose products and sums are rounded: bounds hold for them, not equality.
bool IsRounded(InputKind kind);

enum class TestId : uint8_t {
  kBinary,
  kRelative,
  kCancellation,
  kChain,
  kDenseBinary,
  kUniform,
  kSpecial,
  kBaselineBounded,
  kRepeat,
  kCertified,
};
inline constexpr TestId kLastTestId = TestId::kCertified;
std::string_view Name(TestId test);  // "binary", ... "repeat", "certified"
std::optional<TestId> ParseTestId(std::string_view name);

class TestSet {
 public:
  constexpr TestSet() = default;
  // Nothing for bits that stand for no test.
  static std::optional<TestSet> FromBits(uint32_t bits);
  static TestSet All();
  void Add(TestId test) { bits_ |= Bit(test); }
  bool Has(TestId test) const { return (bits_ & Bit(test)) != 0; }
  bool empty() const { return bits_ == 0; }
  uint32_t bits() const { return bits_; }
  bool operator==(const TestSet&) const = default;

 private:
  static constexpr uint32_t Bit(TestId test) { return uint32_t{1} << int(test); }
  uint32_t bits_ = 0;
};
// "cancellation,repeat", or the reason why it is none.
Result<TestSet> ParseTestSet(std::string_view text);

struct TestPlan {
  TestId id;
  InputKind inputs;
  bool in_every_protocol;  // else only where everything is tested
};

// In the order in which they run: what is cheap and finds most comes first. A test that makes no sense for the problem
// (cancellation where the accumulator is f16 by contract) is left out.
std::vector<TestPlan> TestsFor(const Gemm& gemm, bool everything, TestSet wanted = TestSet::All());
// All inputs that these tests read, the normal ones, which are timed, in any case.
std::vector<InputKind> InputsOf(std::span<const TestPlan> tests);

}  // namespace gemmsmith
