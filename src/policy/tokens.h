// The token form of a policy's documents: a problem on a device, earlier plans with their verdicts, an analysis, a
// goal, a plan and its verdict. docs/policy_tokens.md defines the language.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "outcome/outcome.h"
#include "policy/vocabulary.h"
#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

// A device in the language: limits and ceilings without a name, so that a new device is only new numbers.
struct DeviceFacts {
  int compute_capability = 0;
  int multiprocessors = 0;
  int smem_bytes_per_block = 0;
  int smem_bytes_per_multiprocessor = 0;
  double peak_half_tflops = 0, l2_tbs = 0, l2_resident_mb = 0, memory_tbs = 0;
  bool operator==(const DeviceFacts&) const = default;
};
DeviceFacts FactsOf(const Device& device);

// The verdict on a plan.
struct JudgedAs {
  OutcomeKind kind = OutcomeKind::kIllegal;
  std::string stage;            // of kStages; "" where it was measured or verified
  std::optional<double> score;  // floor over time on the leading clock, of what was measured: 1 is a perfect kernel
  std::vector<std::pair<Counter, double>> counters;  // in the order of Counter
  bool operator==(const JudgedAs&) const = default;
};

struct Exemplar {
  Plan plan;
  JudgedAs judged;
  bool operator==(const Exemplar&) const = default;
};

// Which of the first two exemplars is faster, and which of its counters speak for that.
struct Analysis {
  struct Reason {
    Counter counter;
    bool is_higher = false;  // the faster one's
    bool operator==(const Reason&) const = default;
  };
  Mark faster = Mark::kNeither;  // kFirst, kSecond, kNeither
  std::vector<Reason> reasons;
  bool operator==(const Analysis&) const = default;
};

struct Document {
  Gemm gemm;
  DeviceFacts device;
  std::vector<Exemplar> exemplars;
  std::optional<Analysis> analysis;
  std::optional<int> goal;         // an index of kGoalPercents
  std::optional<Plan> candidate;   // nothing: the document ends where a policy is to write one
  std::optional<JudgedAs> judged;  // of the candidate
  bool operator==(const Document&) const = default;
};

// The context of the candidate's plan: the document before it, up to and including the word "candidate".
std::vector<Token> EncodeContext(const Document& document);
// The whole document. A plan of this program's families always has tokens, whatever its values.
std::vector<Token> Encode(const Document& document);
// Gives back what was encoded, reals as Rounded() has them. Refuses anything else in one line that says which word was
// expected where; tokens of another version by their first word.
Result<Document> Decode(std::span<const Token> tokens);
// The document with its reals as the language can say them: 9 significant bits of scores and of a device's ceilings, 5
// of counters. Encode(Rounded(d)) == Encode(d).
Document Rounded(const Document& document);

// A family's word and one for each of its axes that have words, in their order (policy/spoken.h).
std::vector<Token> EncodePlan(const Plan& plan);
Result<Plan> DecodePlan(std::span<const Token> tokens);

// "gemmsmith-tokens-1 tn type:f16 ...", and back.
std::string PrintTokens(std::span<const Token> tokens);
Result<std::vector<Token>> ParseTokens(std::string_view text);

}  // namespace gemmsmith
