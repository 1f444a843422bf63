#include "evaluate/isolate/disturbance.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "compile/facts.h"
#include "evaluate/verify/harness_text.h"

namespace gemmsmith {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;
#include "evaluate/isolate/keystream.cuh"

// The test vector that the authors of the cipher published.
TEST(Keystream, IsSpeck) {
  const Key key = {{0x03020100, 0x0b0a0908, 0x13121110, 0x1b1a1918}};
  EXPECT_EQ(KeystreamAt(RoundKeysOf(key), 0x3b7265747475432d), 0x8c6fa548454e028bu);
}

MatrixView Rows(int64_t rows, int64_t columns) {
  return {.data = nullptr, .lines = rows, .line_length = columns, .stride = columns};
}

TEST(Disturbance, KernelsCompileForHopper) {
  const Result<std::unique_ptr<Compiler>> compiler = MakeNvrtcCompiler();
  if (!compiler.ok()) GTEST_SKIP() << compiler.status().message();
  const Result<Compilation> compilation =
      (*compiler)->Compile({std::string(DisturbText()), "disturb_expect"}, "sm_90a");
  ASSERT_TRUE(compilation.ok()) << compilation.status().message();
  ASSERT_TRUE(compilation->succeeded) << compilation->log;
  const auto kernels = ReadAllCodeFacts(compilation->binary.cubin);
  ASSERT_TRUE(kernels.ok()) << kernels.status().message();
  int seen = 0;
  for (const KernelFacts& kernel : *kernels) {
    // What a source has left in shared memory must lie there still when its next call comes.
    EXPECT_EQ(kernel.facts.static_smem_bytes, 0) << kernel.name;
    ++seen;
  }
  EXPECT_EQ(seen, 5);
}

MatrixView Columns(int64_t rows, int64_t columns) {
  return {.data = nullptr, .lines = columns, .line_length = rows, .stride = rows, .lines_are_rows = 0};
}

TEST(Disturbance, StepsStayWithinTheMatricesAndChangeNoElementTwice) {
  Random random(5);
  for (const auto& [m, n, k] : {std::tuple{64, 128, 256}, {1, 1, 1}, {3, 2, 2}})
    for (bool is_transposed : {false, true}) {
      const MatrixView a = is_transposed ? Columns(m, k) : Rows(m, k);
      const MatrixView b = is_transposed ? Columns(k, n) : Rows(k, n);
      for (const DisturbedStep& step : DrawDisturbances(a, b, Rows(m, n), 50, random)) {
        std::set<int64_t> a_patched, b_patched;
        for (const DisturbedPlace& p : step) {
          EXPECT_LT(p.row, m);
          EXPECT_LT(p.column, n);
          EXPECT_EQ(p.sample, int64_t(p.row) * n + p.column);
          const int64_t a_at = is_transposed ? int64_t(p.a_depth) * m + p.row : int64_t(p.row) * k + p.a_depth;
          const int64_t b_at = is_transposed ? int64_t(p.column) * k + p.b_depth : int64_t(p.b_depth) * n + p.column;
          EXPECT_TRUE(p.a_patch < 0 || (p.a_patch == a_at && a_patched.insert(a_at).second));
          EXPECT_TRUE(p.b_patch < 0 || (p.b_patch == b_at && b_patched.insert(b_at).second));
        }
      }
    }
}

std::vector<DisturbedStep> StepsOfSquares(int count) {
  Random random(5);
  return DrawDisturbances(Rows(64, 64), Rows(64, 64), Rows(64, 64), count, random);
}

TEST(Disturbance, TheLastStepLeavesTheInputsAsTheyWere) {
  for (const int count : {1, 2, 9}) {
    const std::vector<DisturbedStep> steps = StepsOfSquares(count);
    for (const DisturbedPlace& place : steps.back()) {
      EXPECT_TRUE(place.a_patch == -1 && place.b_patch == -1);
      EXPECT_TRUE(place.signs == 0 && place.is_renewal == 1);
    }
  }
}

TEST(Disturbance, ARenewalAlwaysBringsOtherInputsAndTellsNoEnd) {
  Random random(5);
  const std::vector<DisturbedStep> steps = DrawRenewals(300, Rows(64, 128), random);
  EXPECT_EQ(steps.size(), size_t(kMaxDisturbedSteps));
  uint32_t before = 0;
  int at_first = 0;
  std::set<int64_t> samples;
  for (const DisturbedStep& step : steps) {
    EXPECT_NE(step[0].signs, before);
    before = step[0].signs;
    at_first += before == 0;
    for (const DisturbedPlace& place : step) {
      EXPECT_TRUE(place.is_renewal == 1 && place.a_patch == -1 && place.signs == before);
      EXPECT_EQ(place.sample, place.row * 128 + place.column);
      samples.insert(place.sample);
    }
  }
  EXPECT_GT(samples.size(), size_t(64 * 128 / 2));
  EXPECT_TRUE(at_first > 10 && at_first < kMaxDisturbedSteps / 32)
      << at_first << ": who keeps that product gains no more";
}

TEST(Disturbance, NoTwoRenewalsBringTheSameInputsButThoseOfTheBeginning) {
  Random random(6);
  std::set<uint32_t> seen;
  for (const DisturbedStep& step : DrawRenewals(7, Rows(64, 128), random))
    EXPECT_TRUE(step[0].signs == 0 || seen.insert(step[0].signs).second) << step[0].signs;
}

TEST(Disturbance, BehindTheLastCallTheInputsAreThoseOfTheBeginning) {
  Random random(7);
  for (size_t calls = 1; calls < 100; ++calls) {
    const std::vector<DisturbedStep> steps = DrawRenewals(calls, Rows(64, 128), random);
    EXPECT_EQ(steps[calls - 1][0].signs, 0u);
    EXPECT_TRUE(calls == 1 || steps[calls - 2][0].signs != 0) << calls;
  }
}

// Restoring eight elements and turning signs at once would race.
TEST(Disturbance, OtherStepsChangeElementsAndLeaveTheSigns) {
  const std::vector<DisturbedStep> steps = StepsOfSquares(50);
  int renewals = 0;
  uint32_t signs = 0;
  for (const DisturbedStep& step : steps) {
    renewals += int(step[0].is_renewal);
    for (const DisturbedPlace& place : step) {
      EXPECT_EQ(place.is_renewal, step[0].is_renewal);
      EXPECT_EQ(place.signs, step[0].signs);
      EXPECT_TRUE(place.is_renewal == 0 || place.a_patch == -1);
    }
    if (step[0].is_renewal == 0) {
      EXPECT_EQ(step[0].signs, signs);
      EXPECT_GE(step[0].a_patch, 0);
    }
    signs = step[0].signs;
  }
  EXPECT_TRUE(renewals > 10 && renewals < 40) << renewals;
}

TEST(Disturbance, HiddenStepsTellNothingWithoutTheKeyAndEverythingWithIt) {
  Random random(8);
  const std::vector<DisturbedStep> steps = StepsOfSquares(50);
  const DisturbanceKey key = DrawKey(random);
  const std::vector<DisturbedStep> hidden = Hidden(steps, key);
  const std::vector<DisturbedStep> revealed = Hidden(hidden, key);
  const std::vector<DisturbedStep> guessed = Hidden(hidden, DrawKey(random));
  int alike = 0, guessed_alike = 0;
  for (size_t i = 0; i < steps.size(); ++i)
    for (size_t p = 0; p < steps[i].size(); ++p) {
      EXPECT_EQ(revealed[i][p].sample, steps[i][p].sample);
      EXPECT_EQ(revealed[i][p].is_renewal, steps[i][p].is_renewal);
      alike += hidden[i][p].row == steps[i][p].row;
      guessed_alike += guessed[i][p].row == steps[i][p].row;
    }
  EXPECT_LT(alike, 3);
  EXPECT_LT(guessed_alike, 3);
  EXPECT_EQ(Hidden(steps, kOpenKey)[7][1].sample, steps[7][1].sample);
  EXPECT_NE(hidden[0][0].row ^ steps[0][0].row, hidden[0][1].row ^ steps[0][1].row) << "one word for all places";
}

TEST(Disturbance, ValuesAreLargeInBothTypes) {
  Random random(6);
  for (ElementType type : {ElementType::kF16, ElementType::kBf16}) {
    MatrixView matrix = Rows(64, 64);
    matrix.type = type;
    const std::vector<DisturbedStep> steps = DrawDisturbances(matrix, matrix, matrix, 20, random);
    for (const DisturbedStep& step : steps)
      for (const uint32_t bits : {step[0].a_bits, step[0].b_bits}) {
        EXPECT_LT(bits, 1u << 16);
        EXPECT_EQ(type == ElementType::kF16 ? bits >> 10 & 31 : bits >> 7 & 255,
                  type == ElementType::kF16 ? 17u : 129u);
      }
  }
}

TEST(Disturbance, WhatACallDidNotDoIsTold) {
  std::vector<DisturbedAnswer> answers(3 * kDisturbedPlaces, DisturbedAnswer{2, 2.01f});
  EXPECT_EQ(WrongAnswer(answers, {.fixed = 0.01f, .share = 0.005f}), "");
  answers[kDisturbedPlaces + 3].got = 5;
  EXPECT_EQ(WrongAnswer(answers, {.fixed = 0.01f, .share = 0.005f}),
            "call 2 of 3 did not work on the inputs of its moment: got 5, expected 2.01");
  answers[1].got = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(WrongAnswer(answers, {.fixed = 0.01f, .share = 0.005f}), "call 1 of 3 left an element of C as it was");
}

TEST(Disturbance, MemoryHoldsEveryStep) {
  static_assert(sizeof(DisturbedPlace) == 56);
  static_assert(sizeof(DisturbanceMemory::State) == 40);
  static_assert(sizeof(DisturbanceMemory::State) <= DisturbanceMemory::kPlacesAt);
}

}  // namespace
}  // namespace gemmsmith
