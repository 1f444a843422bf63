#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "base/files.h"
#include "compile/compiler.h"

namespace gemmsmith {
namespace {

namespace fs = std::filesystem;

constexpr const char* kText = R"(extern "C" __global__ void one(int* p) { p[0] = 1; })";

const std::vector<uint8_t>& CubinOfOne() {
  static const std::vector<uint8_t> cubin = [] {
    auto compiler = MakeNvrtcCompiler();
    EXPECT_TRUE(compiler.ok()) << compiler.status().message();
    return compiler.ok() ? (*compiler)->Compile({kText, "one"}, "sm_90a")->binary.cubin : std::vector<uint8_t>();
  }();
  return cubin;
}

// Answers at once and counts: texts with "bad" do not compile, those with "broken environment" end in a Status.
class CountingCompiler : public Compiler {
 public:
  explicit CountingCompiler(std::atomic<int>& calls, std::string identity = "counting 1")
      : calls_(calls), identity_(std::move(identity)) {}
  Result<Compilation> Compile(const Source& source, std::string_view) override {
    ++calls_;
    if (source.text.find("broken environment") != std::string::npos) return IoError("no space");
    Compilation compilation;
    compilation.seconds = 0.5;
    compilation.succeeded = source.text.find("bad") == std::string::npos;
    compilation.log = compilation.succeeded ? "a warning" : "error: bad";
    if (compilation.succeeded) compilation.binary = {"one", CubinOfOne(), {}};
    return compilation;
  }
  std::string Identity() const override { return identity_; }

 private:
  std::atomic<int>& calls_;
  std::string identity_;
};

class CacheTest : public testing::Test {
 protected:
  std::unique_ptr<Compiler> Open(std::string identity = "counting 1") {
    return MakeCachedCompiler(std::make_unique<CountingCompiler>(calls_, std::move(identity)), folder_.path());
  }
  std::vector<fs::path> Entries() const {
    std::vector<fs::path> entries;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
      if (entry.is_regular_file()) entries.push_back(entry.path());
    return entries;
  }

  std::atomic<int> calls_ = 0;
  TemporaryFolder folder_ = *TemporaryFolder::Create("gemmsmith-cache-test");
};

TEST_F(CacheTest, TheSecondCallIsAnsweredFromTheFolder) {
  const auto first = Open()->Compile({kText, "one"}, "sm_90a");
  ASSERT_TRUE(first.ok());
  EXPECT_FALSE(first->from_cache);
  const auto second = Open()->Compile({kText, "one"}, "sm_90a");
  ASSERT_TRUE(second.ok());
  EXPECT_TRUE(second->from_cache);
  EXPECT_TRUE(second->succeeded);
  EXPECT_EQ(second->seconds, 0);
  EXPECT_EQ(second->log, "a warning");
  EXPECT_EQ(second->binary.entry, "one");
  EXPECT_EQ(second->binary.cubin, CubinOfOne());
  EXPECT_GT(second->binary.facts.instructions, 0);
  EXPECT_EQ(calls_, 1);
}

TEST_F(CacheTest, FailuresToCompileAreKeptToo) {
  for (int i = 0; i < 3; ++i) {
    const auto compilation = Open()->Compile({"bad", "one"}, "sm_90a");
    ASSERT_TRUE(compilation.ok());
    EXPECT_FALSE(compilation->succeeded);
    EXPECT_EQ(compilation->log, "error: bad");
  }
  EXPECT_EQ(calls_, 1);
}

TEST_F(CacheTest, AFailureOfTheWorldIsNotKept) {
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(Open()->Compile({"broken environment", "one"}, "sm_90a").status().code(), StatusCode::kIoError);
  EXPECT_EQ(calls_, 2);
  EXPECT_TRUE(Entries().empty());
}

TEST_F(CacheTest, EverythingThatChangesTheBinaryChangesTheKey) {
  ASSERT_TRUE(Open()->Compile({kText, "one"}, "sm_90a").ok());
  ASSERT_TRUE(Open()->Compile({std::string(kText) + " ", "one"}, "sm_90a").ok());
  ASSERT_TRUE(Open()->Compile({kText, "other"}, "sm_90a").ok());
  ASSERT_TRUE(Open()->Compile({kText, "one"}, "sm_80").ok());
  ASSERT_TRUE(Open("counting 2")->Compile({kText, "one"}, "sm_90a").ok());
  EXPECT_EQ(calls_, 5);
}

TEST_F(CacheTest, TruncationAtAnyByteIsNoticedAndMended) {
  ASSERT_TRUE(Open()->Compile({kText, "one"}, "sm_90a").ok());
  ASSERT_EQ(Entries().size(), 1u);
  const fs::path path = Entries()[0];
  const std::string whole = *ReadFile(path);
  const auto compiler = Open();
  for (size_t size = 0; size < whole.size(); size += size < 64 ? 1 : 509) {
    fs::resize_file(path, size);
    const int before = calls_;
    const auto compilation = compiler->Compile({kText, "one"}, "sm_90a");
    ASSERT_TRUE(compilation.ok());
    EXPECT_FALSE(compilation->from_cache) << size;
    EXPECT_EQ(compilation->binary.cubin, CubinOfOne());
    EXPECT_EQ(calls_, before + 1);
    ASSERT_EQ(*ReadFile(path), whole) << "not mended after " << size;
  }
}

TEST_F(CacheTest, AnyDamagedByteIsNoticed) {
  ASSERT_TRUE(Open()->Compile({kText, "one"}, "sm_90a").ok());
  const fs::path path = Entries()[0];
  const std::string whole = *ReadFile(path);
  const auto compiler = Open();
  for (size_t at = 0; at < whole.size(); at += at < 64 ? 1 : 509) {
    std::string damaged = whole;
    damaged[at] = char(damaged[at] ^ 0x40);
    ASSERT_TRUE(WriteFileAtomic(path, damaged).ok());
    const auto compilation = compiler->Compile({kText, "one"}, "sm_90a");
    ASSERT_TRUE(compilation.ok());
    EXPECT_FALSE(compilation->from_cache) << at;
  }
}

TEST_F(CacheTest, AnEntryUnderAnotherKeysNameIsNotBelieved) {
  ASSERT_TRUE(Open()->Compile({kText, "one"}, "sm_90a").ok());
  const std::string stranger = *ReadFile(Entries()[0]);
  fs::remove(Entries()[0]);
  ASSERT_TRUE(Open()->Compile({"bad", "one"}, "sm_90a").ok());
  ASSERT_TRUE(WriteFileAtomic(Entries()[0], stranger).ok());
  const auto compilation = Open()->Compile({"bad", "one"}, "sm_90a");
  EXPECT_FALSE(compilation->from_cache);
  EXPECT_FALSE(compilation->succeeded);
}

TEST_F(CacheTest, RacingWritersAllGetTheirBinaryAndLeaveOneEntry) {
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      const auto compiler = Open();
      for (int round = 0; round < 5; ++round) {
        const auto compilation = compiler->Compile({kText, "one"}, round % 2 ? "sm_90a" : "sm_80");
        good += compilation.ok() && compilation->succeeded && compilation->binary.cubin == CubinOfOne();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 40);
  EXPECT_EQ(Entries().size(), 2u);
}

TEST_F(CacheTest, AFullDiskCostsTheEntryOnly) {
  // A file size limit of a few bytes fails each write the way a full disk does.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit tiny = before;
  tiny.rlim_cur = 64;
  const auto compiler = Open();
  static_cast<void>(CubinOfOne());
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tiny), 0);
  const auto compilation = compiler->Compile({kText, "one"}, "sm_90a");
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  ASSERT_TRUE(compilation.ok()) << compilation.status().message();
  EXPECT_TRUE(compilation->succeeded);
  EXPECT_TRUE(Entries().empty());
}

TEST_F(CacheTest, AFolderThatCannotBeMadeCostsTheEntryOnly) {
  const auto compiler = MakeCachedCompiler(std::make_unique<CountingCompiler>(calls_), "/dev/full/cache");
  for (int i = 0; i < 2; ++i) {
    const auto compilation = compiler->Compile({kText, "one"}, "sm_90a");
    ASSERT_TRUE(compilation.ok()) << compilation.status().message();
    EXPECT_TRUE(compilation->succeeded);
    EXPECT_FALSE(compilation->from_cache);
  }
  EXPECT_EQ(calls_, 2);
}

}  // namespace
}  // namespace gemmsmith
