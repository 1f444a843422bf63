#include "search/tracing.h"

#include <gtest/gtest.h>

#include "search/recorded_problem.h"

namespace gemmsmith {
namespace {

NamedProposer Search(const std::string& name) {
  return {.name = name, .make = [name](const SearchContext& context) { return MakeProposer(name, context); }};
}

const Recording& TracedRecording() {
  static const auto recording = RecordedProblem(4, [](size_t i) { return MeasuredOutcome(1000 + double(i % 17)); });
  return *recording;
}

std::vector<RecordedCells> Problems() {
  std::vector<RecordedCells> problems;
  problems.emplace_back(TracedRecording(), kRecordedGemm);
  return problems;
}

Traces Trace(const std::vector<NamedProposer>& proposers, const TracingOptions& options) {
  return *TraceProposers(proposers, Problems(), *FindDevice("h200"), options, [](size_t) {});
}

TEST(TracingTest, TheSameSeedGivesTheSameTracesWhoeverElseProposes) {
  const TracingOptions options{.held_out = "512", .seed = 3, .repeats = 4};
  const Traces all = Trace({Search("evolution"), Search("random")}, options),
               alone = Trace({Search("random")}, options);
  EXPECT_EQ(all.proposers[1], alone.proposers[0]);
  EXPECT_EQ(all.problems, alone.problems);
  EXPECT_NE(alone.proposers[0], Trace({Search("random")}, {.seed = 4, .repeats = 4}).proposers[0]);
  EXPECT_NE(alone.Of(alone.proposers[0], 0, 0), alone.Of(alone.proposers[0], 0, 1));
  EXPECT_EQ(alone.Of(alone.proposers[0], 0, 0).size(), kMaxEvaluations);
  EXPECT_EQ(alone.held_out, "512");
}

TEST(TracingTest, AProposerThatCannotBeMadeEndsIt) {
  const NamedProposer none{.name = "none", .make = [](const SearchContext&) -> Result<std::unique_ptr<Proposer>> {
                             return Unavailable("no such library");
                           }};
  const Result<Traces> traces =
      TraceProposers({Search("random"), none}, Problems(), *FindDevice("h200"), {.repeats = 2}, [](size_t) {});
  ASSERT_FALSE(traces.ok());
  EXPECT_EQ(traces.status().message(), "no such library");
}

TEST(TracingTest, ProgressCountsProposersTimesProblems) {
  std::vector<size_t> heard;
  ASSERT_TRUE(TraceProposers({Search("random"), Search("ranked")}, Problems(), *FindDevice("h200"), {.repeats = 2},
                             [&](size_t done) { heard.push_back(done); })
                  .ok());
  EXPECT_EQ(heard, (std::vector<size_t>{1, 2}));
}

}  // namespace
}  // namespace gemmsmith
