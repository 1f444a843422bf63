#include "policy/vocabulary.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "base/text.h"
#include "outcome/outcome.h"
#include "policy/spoken.h"
#include "problem/gemm.h"

namespace gemmsmith {

namespace {

using Words = std::vector<std::string>;

constexpr std::array<std::string_view, kIntegerFieldCount> kIntegerNames = {
    "m", "n", "k", "lda", "ldb", "ldc", "compute", "multiprocessors", "smem_cta", "smem_sm"};
constexpr std::array<std::string_view, kRealFieldCount> kRealNames = {"tflops",     "l2_tbs", "l2_mb",
                                                                      "memory_tbs", "score",  "value"};

Words MarkWords() {
  return {fmt::format("gemmsmith-tokens-{}", kTokenVersion),
          "exemplar",
          "analysis",
          "first",
          "second",
          "neither",
          "candidate",
          "end"};
}

Words DigitWords() {
  Words words;
  for (int digit = 0; digit < 16; ++digit) words.push_back(fmt::format(".{:x}", digit));
  return words;
}

Words LayoutWords() {
  Words words;
  for (const Order a : {Order::kRow, Order::kColumn})
    for (const Order b : {Order::kRow, Order::kColumn}) words.emplace_back(Name(Layout{a, b}));
  return words;
}

Words IntegerWords(std::string_view field) {
  Words words;
  for (int exponent = 0; exponent < kIntegerExponents; ++exponent)
    words.push_back(fmt::format("{}:2^{}", field, exponent));
  return words;
}

Words RealWords(std::string_view field) {
  Words words;
  for (int exponent = kLowestExponent; exponent <= kHighestExponent; ++exponent)
    words.push_back(fmt::format("{}:2^{}", field, exponent));
  words.push_back(fmt::format("{}:0", field));
  return words;
}

Words FamilyWords() {
  Words words;
  for (const Family& family : Families()) words.emplace_back(family.name);
  return words;
}

Words ValueWords(const Family& family, size_t index) {
  const Axis& axis = family.axes[index];
  Words words;
  for (const int value : SpokenValues(family, index))
    words.push_back(fmt::format("{}.{}={}", family.name, axis.name, axis.Print(value)));
  return words;
}

Words KindWords() {
  Words words;
  for (int kind = 0; kind <= int(kLastOutcomeKind); ++kind) words.emplace_back(Name(OutcomeKind(kind)));
  return words;
}

Words GoalWords() {
  Words words;
  for (const int percent : kGoalPercents)
    words.push_back(percent < 0 ? "goal:untimed" : fmt::format("goal:{}%", percent));
  return words;
}

Words CounterWords(std::string_view prefix) {
  Words words;
  for (const CounterDefinition& definition : CounterDefinitions())
    words.push_back(fmt::format("{}:{}", prefix, definition.name));
  return words;
}

Words Prefixed(std::string_view prefix, auto names) {
  Words words;
  for (const auto& name : names) words.push_back(fmt::format("{}:{}", prefix, name));
  return words;
}

}  // namespace

TokenBlock Vocabulary::Add(const Words& words) {
  const TokenBlock block{Token(words_.size()), int(words.size())};
  for (const std::string& word : words) {
    GEMMSMITH_CHECK(tokens_.emplace(word, Token(words_.size())).second, "two words {}", word);
    words_.push_back(word);
  }
  return block;
}

// What is likelier to grow stands further back; every change is another identity all the same.
Vocabulary::Vocabulary() {
  marks = Add(MarkWords());
  digits = Add(DigitWords());
  layouts = Add(LayoutWords());
  types = Add(Prefixed("type", std::array{Name(ScalarType::kF16), Name(ScalarType::kBf16)}));
  accumulations = Add(Prefixed("sum", std::array{Name(Accumulation::kF32), Name(Accumulation::kF16)}));
  for (size_t field = 0; field < integers.size(); ++field) integers[field] = Add(IntegerWords(kIntegerNames[field]));
  for (size_t field = 0; field < reals.size(); ++field) reals[field] = Add(RealWords(kRealNames[field]));
  kinds = Add(KindWords());
  stages = Add(Prefixed("stage", kStages));
  goals = Add(GoalWords());
  counters = Add(CounterWords("counter"));
  higher = Add(CounterWords("higher"));
  lower = Add(CounterWords("lower"));
  families = Add(FamilyWords());
  for (const Family& family : Families()) {
    GEMMSMITH_CHECK(size_t(family.id) == values.size(), "families are not in the order of their ids");
    values.emplace_back();
    for (size_t axis = 0; axis < SpokenAxisCount(family); ++axis)
      values.back().push_back(Add(ValueWords(family, axis)));
  }
  identity_ = fmt::format("tokens {} {}", kTokenVersion, HashBytes(Join(words_, " ")).Hex().substr(0, 12));
}

std::optional<Token> Vocabulary::Find(std::string_view word) const {
  const auto found = tokens_.find(std::string(word));
  if (found == tokens_.end()) return std::nullopt;
  return found->second;
}

const Vocabulary& TokenVocabulary() {
  static const Vocabulary vocabulary;
  return vocabulary;
}

}  // namespace gemmsmith
