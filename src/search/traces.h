// Who proposed which recorded plan when: what a comparison of proposers is scored from again. docs/compare.md is the
// format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "problem/gemm.h"

namespace gemmsmith {

// Evaluations of which a comparison speaks.
inline constexpr size_t kMaxEvaluations = 64;
inline constexpr uint32_t kMaxRepeats = 10'000;

using Trace = std::vector<uint16_t>;  // cells of one problem in the order of their proposal, each at most once

struct TracedProblem {
  Gemm gemm;
  uint16_t cells = 0;        // RecordedCells of it
  uint64_t fingerprint = 0;  // of these
  bool operator==(const TracedProblem&) const = default;
};

struct TracedProposer {
  std::string name;           // "local", "policy"
  std::string origin;         // of a policy, which weights; else empty
  std::vector<Trace> traces;  // problem by problem, of each every repeat
  bool operator==(const TracedProposer&) const = default;
};

struct Traces {
  std::string held_out;  // by what rule the problems were kept out of training
  uint64_t seed = 0;
  uint32_t repeats = 0;
  uint32_t batch = 0;  // plans under way at once, at most
  std::vector<TracedProblem> problems;
  std::vector<TracedProposer> proposers;

  const Trace& Of(const TracedProposer& proposer, size_t problem, size_t repeat) const {
    return proposer.traces[problem * repeats + repeat];
  }
  bool operator==(const Traces&) const = default;
};

std::string EncodeTraces(const Traces& traces);
// Refuses what is truncated, damaged, newer, or no trace of such problems, by name of what is wrong.
Result<Traces> DecodeTraces(std::string_view bytes);
// Contenders of several files beside each other. InvalidArgument unless problems, repeats, batch, seed and rule are the
// same and every proposer is in one file only.
Result<Traces> JoinTraces(std::vector<Traces> parts);

}  // namespace gemmsmith
