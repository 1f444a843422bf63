// The words of the token language and their numbers. docs/policy_tokens.md lists them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "outcome/counters.h"
#include "program/plan.h"

namespace gemmsmith {

using Token = uint16_t;

// Raised when the same words mean something else, or stand elsewhere in a document.
inline constexpr int kTokenVersion = 1;

// Words that stand for themselves.
enum class Mark : uint8_t { kBegin, kExemplar, kAnalysis, kFirst, kSecond, kNeither, kCandidate, kEnd };

// Whole numbers: from 1 to 2^31 - 1, exact.
enum class IntegerField : uint8_t { kM, kN, kK, kLda, kLdb, kLdc, kCompute, kMultiprocessors, kSmemCta, kSmemSm };
inline constexpr int kIntegerFieldCount = int(IntegerField::kSmemSm) + 1;
inline constexpr int kIntegerExponents = 31;  // 2^0 to 2^30

// Numbers that are rounded: 0, or from 2^-20 up.
enum class RealField : uint8_t { kTflops, kL2Tbs, kL2Mb, kMemoryTbs, kScore, kCounter };
inline constexpr int kRealFieldCount = int(RealField::kCounter) + 1;
inline constexpr int kLowestExponent = -20, kHighestExponent = 43;
inline constexpr int kRealExponents = kHighestExponent - kLowestExponent + 1;

// How a candidate did beside the best that is known for its problem: classes by the lowest ratio of best to own time,
// in percent. The first one is for those without a time.
inline constexpr std::array<int, 9> kGoalPercents = {-1, 0, 25, 50, 70, 80, 90, 95, 98};

inline constexpr std::array<std::string_view, 9> kStages = {
    "check", "compile", "screening", "resources", "launch", "correctness", "honesty", "timing", "other"};

// A run of neighbouring tokens.
struct TokenBlock {
  Token first = 0;
  int count = 0;

  Token operator[](int index) const {
    GEMMSMITH_CHECK(index >= 0 && index < count, "word {} of {}", index, count);
    return Token(first + index);
  }
  bool Has(Token token) const { return token >= first && token < first + count; }
  int IndexOf(Token token) const { return token - first; }
};

class Vocabulary {
 public:
  Vocabulary();

  size_t size() const { return words_.size(); }
  const std::string& Word(Token token) const { return words_[token]; }  // CHECKs nothing; token < size()
  std::optional<Token> Find(std::string_view word) const;
  // "tokens 1 0123456789ab": the version and a hash of all words. A model that was trained under another identity reads
  // other words.
  const std::string& identity() const { return identity_; }

  Token operator[](Mark mark) const { return marks[int(mark)]; }
  const TokenBlock& Integers(IntegerField field) const { return integers[size_t(field)]; }
  const TokenBlock& Reals(RealField field) const { return reals[size_t(field)]; }  // exponents, then zero
  const TokenBlock& Values(FamilyId family, size_t axis) const { return values[size_t(family)][axis]; }

  TokenBlock marks, digits, layouts, types, accumulations, families, kinds, stages, goals, counters;
  TokenBlock higher, lower;  // by counter: what an analysis names
  std::array<TokenBlock, kIntegerFieldCount> integers;
  std::array<TokenBlock, kRealFieldCount> reals;
  std::vector<std::vector<TokenBlock>> values;  // by family and axis that is told, in the order of its values

 private:
  TokenBlock Add(const std::vector<std::string>& words);
  std::vector<std::string> words_;
  std::unordered_map<std::string, Token> tokens_;
  std::string identity_;
};

// The one there is, made from the families and counters of this program.
const Vocabulary& TokenVocabulary();

}  // namespace gemmsmith
