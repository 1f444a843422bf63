#include "campaign/compile_ahead.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "campaign/fakes.h"
#include "program/emit.h"

namespace gemmsmith {
namespace {

constexpr std::chrono::milliseconds kLong{20000}, kMoment{20};

EvaluationRequest RequestFor(const Plan& plan, const Gemm& gemm = SomeGemm()) { return {{.gemm = gemm}, plan}; }

// Compiles nothing until it is opened.
class Gate {
 public:
  Status Pass() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(opened_.wait_for(lock, kLong, [this] { return open_; }));
    return OkStatus();
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

class CompileAheadTest : public testing::Test {
 protected:
  std::vector<CompileAhead::List> TakeAll(CompileAhead& ahead, size_t most) {
    std::vector<CompileAhead::List> lists;
    while (ahead.pending() > 0) {
      lists.push_back(*ahead.Take(most, kLong));
      EXPECT_FALSE(lists.back().candidates.empty());
    }
    return lists;
  }
  const std::vector<Plan> plans = SomePlans(40);
  FakeCompiler compiler;
};

TEST_F(CompileAheadTest, WhatWasAddedTogetherIsTakenTogetherWhenTheLastOneIsReady) {
  Gate gate;
  const std::string late = Emit(plans[2], SomeGemm()).text;
  compiler.before = [&](const Source& source) { return source.text == late ? gate.Pass() : OkStatus(); };
  CompileAhead ahead(SomeDevice(), &compiler, 4);
  ahead.AddTogether(3, {RequestFor(plans[0]), RequestFor(plans[1]), RequestFor(plans[2])});
  EXPECT_EQ(ahead.pending(), 3u);
  EXPECT_TRUE(ahead.Take(8, kMoment)->candidates.empty());
  ahead.Add(4, RequestFor(plans[3]));
  EXPECT_TRUE(ahead.Take(8, kMoment, 3)->candidates.empty()) << "of a turn behind the last one that is wanted";
  EXPECT_EQ(ahead.Take(8, kLong)->turn, 4u);
  gate.Open();
  const Result<CompileAhead::List> list = ahead.Take(2, kLong);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->turn, 3u);
  ASSERT_EQ(list->candidates.size(), 3u) << "however many are asked for";
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(list->candidates[i].request.plan(), plans[i]);
  EXPECT_EQ(ahead.pending(), 0u);
  ahead.Add(3, RequestFor(plans[4]));
  EXPECT_EQ(ahead.Take(8, kLong)->candidates.size(), 1u) << "the turn is one like any other again";
}

TEST_F(CompileAheadTest, WithoutACompilerEverythingIsReadyInTheOrderOfTurns) {
  CompileAhead ahead(SomeDevice(), nullptr, 0);
  EXPECT_EQ(ahead.window(), kListSize);
  for (size_t i = 0; i < 6; ++i) ahead.Add(i % 2, RequestFor(plans[i]));
  const std::vector<CompileAhead::List> lists = TakeAll(ahead, 2);
  ASSERT_EQ(lists.size(), 4u);
  EXPECT_EQ(lists[0].turn, 0u);
  EXPECT_EQ(lists[0].candidates[1].request.plan(), plans[2]);
  EXPECT_EQ(lists[1].candidates.size(), 1u);
  EXPECT_EQ(lists[3].turn, 1u);
}

TEST_F(CompileAheadTest, WhatWasAddedLaterForAnEarlierTurnGoesBefore) {
  Gate gate;
  compiler.before = [&](const Source&) { return gate.Pass(); };
  CompileAhead ahead(SomeDevice(), &compiler, 1);
  for (size_t i = 0; i < 4; ++i) ahead.Add(7, RequestFor(plans[i]));
  for (size_t i = 4; i < 8; ++i) ahead.Add(3, RequestFor(plans[i]));
  gate.Open();
  int of_seven_before_three = 0, of_three = 0;
  for (const CompileAhead::List& list : TakeAll(ahead, 1)) {
    of_three += list.turn == 3;
    if (list.turn == 7 && of_three < 4) ++of_seven_before_three;
  }
  EXPECT_LE(of_seven_before_three, 1) << "only the one whose compilation had begun";
}

TEST_F(CompileAheadTest, NothingReadyInTimeIsAnEmptyList) {
  Gate gate;
  compiler.before = [&](const Source&) { return gate.Pass(); };
  CompileAhead ahead(SomeDevice(), &compiler, 2);
  ahead.Add(0, RequestFor(plans[0]));
  EXPECT_TRUE(ahead.Take(16, kMoment)->candidates.empty());
  gate.Open();
  EXPECT_EQ(ahead.Take(16, kLong)->candidates.size(), 1u);
}

TEST_F(CompileAheadTest, WhatIsNeededNowGoesBeforeAllThatWaits) {
  CompileAhead ahead(SomeDevice(), &compiler, 2);
  for (size_t i = 0; i < 30; ++i) ahead.Add(0, RequestFor(plans[i]));
  const std::vector<EvaluationRequest> now = {RequestFor(plans[31]), RequestFor(plans[30]), RequestFor(plans[5])};
  const std::vector<Candidate> candidates = *ahead.PrepareNow(now);
  ASSERT_EQ(candidates.size(), now.size());
  for (size_t i = 0; i < now.size(); ++i) {
    EXPECT_EQ(candidates[i].request.plan(), now[i].plan());
    EXPECT_TRUE(candidates[i].prepared.compilation.succeeded);
  }
  EXPECT_EQ(ahead.pending(), 30u);
  size_t taken = 0;
  for (const CompileAhead::List& list : TakeAll(ahead, 16)) taken += list.candidates.size();
  EXPECT_EQ(taken, 30u);
}

TEST_F(CompileAheadTest, WhatIsForgottenNeverComesNotEvenFromUnderWay) {
  Gate gate;
  compiler.before = [&](const Source&) { return gate.Pass(); };
  CompileAhead ahead(SomeDevice(), &compiler, 2);
  for (size_t i = 0; i < 10; ++i) ahead.Add(i < 5 ? 0 : 1, RequestFor(plans[i]));
  for (int i = 0; i < 2000 && compiler.calls < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ahead.Forget(0);
  EXPECT_EQ(ahead.pending(), 5u);
  gate.Open();
  for (const CompileAhead::List& list : TakeAll(ahead, 16)) EXPECT_EQ(list.turn, 1u);
}

TEST_F(CompileAheadTest, AFailingWorldIsAStatus) {
  compiler.before = [](const Source&) { return Unavailable("no toolchain"); };
  CompileAhead ahead(SomeDevice(), &compiler, 2);
  ahead.Add(0, RequestFor(plans[0]));
  EXPECT_EQ(ahead.Take(16, kLong).status().message(), "no toolchain");
  EXPECT_EQ(ahead.PrepareNow({RequestFor(plans[1])}).status().message(), "no toolchain");
}

// Plans without fixed dimensions have one text for many problems.
TEST_F(CompileAheadTest, ATextOfSeveralProblemsIsCompiledOnce) {
  const auto counted = std::make_shared<std::atomic<int>>(0);
  class Counting : public FakeCompiler {
   public:
    explicit Counting(std::shared_ptr<std::atomic<int>> count) : count_(std::move(count)) {}
    Result<Compilation> Compile(const Source& source, std::string_view architecture) override {
      ++*count_;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return FakeCompiler::Compile(source, architecture);
    }

   private:
    std::shared_ptr<std::atomic<int>> count_;
  };
  const auto remembering = MakeRememberingCompiler(std::make_unique<Counting>(counted), 1 << 20);
  std::set<std::string> texts;
  size_t candidates = 0;
  {
    CompileAhead ahead(SomeDevice(), remembering.get(), 4);
    for (const char* text : {"direct tile_n=8 fixed=none", "direct tile_n=16 fixed=none", "direct fixed=all"}) {
      const Plan plan = *ParsePlan(text);
      for (const int k : {512, 1024, 4096}) {
        const Gemm gemm = SomeGemm(k);
        if (!Check(plan, gemm, SomeDevice()).empty()) continue;
        ++candidates;
        texts.insert(Emit(plan, gemm).text);
        ahead.Add(size_t(k), RequestFor(plan, gemm));
      }
    }
    TakeAll(ahead, 16);
  }
  EXPECT_LT(texts.size(), candidates) << "the plans show nothing";
  EXPECT_EQ(*counted, int(texts.size()));
}

}  // namespace
}  // namespace gemmsmith
