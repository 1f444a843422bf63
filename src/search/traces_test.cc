#include "search/traces.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace gemmsmith {
namespace {

Traces SomeTraces() {
  Traces traces{.held_out = "512,offgrid", .seed = 7, .repeats = 2, .batch = 16};
  traces.problems = {{{.shape = {64, 64, 512}}, 300, 0x1234567890abcdef}, {{.shape = {1, 2, 3}}, 3, 5}};
  traces.proposers = {{"random", "", {{299, 0, 256}, {1}, {2, 1, 0}, {}}},
                      {"policy", "weights abc", {{5, 4}, {260}, {0}, {1, 2}}}};
  return traces;
}

TEST(TracesTest, AreReadAsTheyWereWritten) {
  const Result<Traces> read = DecodeTraces(EncodeTraces(SomeTraces()));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, SomeTraces());
  EXPECT_EQ(read->Of(read->proposers[0], 1, 0), (Trace{2, 1, 0}));
}

TEST(TracesTest, TruncationAtEveryByteIsRefused) {
  const std::string bytes = EncodeTraces(SomeTraces());
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(DecodeTraces(bytes.substr(0, size)).ok()) << size;
  EXPECT_FALSE(DecodeTraces(bytes + "x").ok());
}

TEST(TracesTest, DamageOfAnyByteIsRefused) {
  const std::string bytes = EncodeTraces(SomeTraces());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = char(damaged[i] ^ 0x21);
    EXPECT_FALSE(DecodeTraces(damaged).ok()) << i;
  }
}

TEST(TracesTest, RubbishIsRefused) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    std::string rubbish = "GTR\n";
    for (uint64_t size = random.Below(200); size > 0; --size) rubbish += char(random.Next());
    EXPECT_FALSE(DecodeTraces(rubbish).ok());
  }
  EXPECT_EQ(DecodeTraces("GSR\n").status().message(), "not a file of traces");
}

TEST(TracesTest, AnotherFormatIsRefusedByName) {
  std::string bytes = EncodeTraces(SomeTraces());
  bytes[4] = 9;
  EXPECT_EQ(DecodeTraces(bytes).status().message(), "the traces have format 9, this program knows 1: use another one");
}

void ExpectRefused(const Traces& traces) { EXPECT_FALSE(DecodeTraces(EncodeTraces(traces)).ok()); }

TEST(TracesTest, WhatIsNoTraceOfItsProblemsIsRefused) {
  Traces twice = SomeTraces();
  twice.proposers[0].traces[0] = {4, 4};
  ExpectRefused(twice);
  Traces outside = SomeTraces();
  outside.proposers[0].traces[3] = {3};
  ExpectRefused(outside);
  Traces too_long = SomeTraces();
  for (uint16_t i = 0; i <= kMaxEvaluations; ++i) too_long.proposers[0].traces[1].push_back(uint16_t(2 + i));
  ExpectRefused(too_long);
  Traces one_name = SomeTraces();
  one_name.proposers[1].name = "random";
  ExpectRefused(one_name);
  Traces one_problem = SomeTraces();
  one_problem.problems[1].gemm = one_problem.problems[0].gemm;
  ExpectRefused(one_problem);
  Traces no_repeat = SomeTraces();
  no_repeat.repeats = 0, no_repeat.proposers.clear();
  ExpectRefused(no_repeat);
}

TEST(JoinTracesTest, ProposersOfOneComparisonStandBesideEachOther) {
  Traces first = SomeTraces(), second = SomeTraces();
  first.proposers.pop_back();
  second.proposers.erase(second.proposers.begin());
  EXPECT_EQ(*JoinTraces({first, second}), SomeTraces());
  EXPECT_EQ(JoinTraces({first, first}).status().message(), "'random' is in more than one of these traces");
}

TEST(JoinTracesTest, OtherProblemsRecordsRepeatsBatchesSeedsAndRulesAreRefused) {
  Traces first = SomeTraces();
  first.proposers.clear();
  for (const auto& change : std::vector<void (*)(Traces&)>{
           [](Traces& t) { t.problems.pop_back(); }, [](Traces& t) { ++t.problems[0].fingerprint; },
           [](Traces& t) { ++t.repeats; }, [](Traces& t) { ++t.seed; }, [](Traces& t) { ++t.batch; },
           [](Traces& t) { t.held_out = "512"; }}) {
    Traces other = first;
    change(other);
    EXPECT_EQ(JoinTraces({first, other}).status().code(), StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(JoinTraces({first, first}).ok());
}

}  // namespace
}  // namespace gemmsmith
