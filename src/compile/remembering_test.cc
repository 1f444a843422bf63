#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "compile/compiler.h"

namespace gemmsmith {
namespace {

class CountedCompiler : public Compiler {
 public:
  explicit CountedCompiler(std::atomic<int>& calls) : calls_(calls) {}
  Result<Compilation> Compile(const Source& source, std::string_view architecture) override {
    const int call = ++calls_;
    if (source.text == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (source.text == "broken environment" && call == 1) return IoError("no space");
    Compilation compilation{.succeeded = true, .log = std::string(architecture), .seconds = 0.5};
    compilation.binary.entry = source.entry;
    compilation.binary.cubin.resize(1000, uint8_t(source.text.size()));
    return compilation;
  }
  std::string Identity() const override { return "counting"; }

 private:
  std::atomic<int>& calls_;
};

class RememberingTest : public testing::Test {
 protected:
  std::unique_ptr<Compiler> Open(size_t max_bytes) {
    return MakeRememberingCompiler(std::make_unique<CountedCompiler>(calls_), max_bytes);
  }
  std::atomic<int> calls_ = 0;
};

TEST_F(RememberingTest, TheSecondAnswerIsTheFirstAndCostsNothing) {
  const auto compiler = Open(1 << 20);
  const Compilation first = *compiler->Compile({"text", "entry"}, "sm_90a");
  const Compilation second = *compiler->Compile({"text", "entry"}, "sm_90a");
  EXPECT_EQ(calls_, 1);
  EXPECT_EQ(first.seconds, 0.5);
  EXPECT_FALSE(first.from_cache);
  EXPECT_EQ(second.seconds, 0);
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(second.binary.cubin, first.binary.cubin);
  EXPECT_EQ(second.log, "sm_90a");
  EXPECT_EQ(compiler->Identity(), "counting");
}

TEST_F(RememberingTest, TextEntryAndArchitectureEachMakeAnother) {
  const auto compiler = Open(1 << 20);
  for (const auto& [text, entry, architecture] :
       {std::tuple{"text", "entry", "sm_90a"}, {"texte", "ntry", "sm_90a"}, {"text", "entry", "sm_80"}})
    EXPECT_EQ(compiler->Compile({text, entry}, architecture)->log, architecture);
  EXPECT_EQ(calls_, 3);
}

TEST_F(RememberingTest, ManyThreadsThatAskAtOnceCompileOnce) {
  const auto compiler = Open(1 << 20);
  std::vector<std::future<Result<Compilation>>> asked;
  for (int i = 0; i < 8; ++i)
    asked.push_back(std::async(std::launch::async, [&] { return compiler->Compile({"slow", "entry"}, "sm_90a"); }));
  int compiled = 0;
  for (auto& one : asked) compiled += !one.get()->from_cache;
  EXPECT_EQ(compiled, 1);
  EXPECT_EQ(calls_, 1);
}

TEST_F(RememberingTest, AFailureOfTheWorldIsNotRemembered) {
  const auto compiler = Open(1 << 20);
  EXPECT_EQ(compiler->Compile({"broken environment", "entry"}, "sm_90a").status().message(), "no space");
  EXPECT_TRUE(compiler->Compile({"broken environment", "entry"}, "sm_90a").ok());
}

TEST_F(RememberingTest, TheOneAskedForLongestAgoIsForgottenFirst) {
  const auto compiler = Open(3 * 1400);  // two entries of 1,000 bytes and their facts
  const auto ask = [&](const char* text) { return compiler->Compile({text, "entry"}, "sm_90a")->from_cache; };
  EXPECT_FALSE(ask("a"));
  EXPECT_FALSE(ask("b"));
  EXPECT_TRUE(ask("a"));
  for (const char* text : {"c", "d"}) EXPECT_FALSE(ask(text));
  EXPECT_TRUE(ask("d"));
  EXPECT_FALSE(ask("b"));
}

TEST_F(RememberingTest, WithoutRoomItStillAnswers) {
  const auto compiler = Open(0);
  EXPECT_EQ(compiler->Compile({"text", "entry"}, "sm_90a")->binary.cubin.size(), 1000u);
  EXPECT_FALSE(compiler->Compile({"text", "entry"}, "sm_90a")->from_cache);
}

}  // namespace
}  // namespace gemmsmith
