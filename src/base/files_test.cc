#include "base/files.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

namespace gemmsmith {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  fs::path Path(std::string_view name) const { return folder_.path() / name; }
  size_t EntryCount() const {
    return size_t(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  TemporaryFolder folder_ = *TemporaryFolder::Create("gemmsmith-files-test");
};

// Files may not grow past `bytes` while this lives: the nearest to a full disk that needs no disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  sighandler_t handler_;
};

TEST_F(Files, WhatIsWrittenIsRead) {
  const std::string content("a\0b\n", 4);
  ASSERT_TRUE(WriteFileAtomic(Path("x"), content).ok());
  EXPECT_EQ(*ReadFile(Path("x")), content);
  ASSERT_TRUE(WriteFileAtomic(Path("x"), "shorter").ok());
  EXPECT_EQ(*ReadFile(Path("x")), "shorter");
  EXPECT_EQ(EntryCount(), 1u) << "no temporary file is left";
}

TEST_F(Files, WhatIsLargerThanAGibibyteIsNotRead) {
  constexpr off_t kGibibyte = off_t{1} << 30;
  ASSERT_TRUE(WriteFileAtomic(Path("x"), "").ok());
  ASSERT_EQ(::truncate(Path("x").c_str(), kGibibyte + 1), 0);
  EXPECT_EQ(ReadFile(Path("x")).status().message(), "cannot read " + Path("x").string() + ": larger than 1 GiB");
}

TEST_F(Files, WhatCannotBeLookedAtIsNotCalledAbsent) {
  ASSERT_TRUE(WriteFileAtomic(Path("x"), "").ok());
  EXPECT_TRUE(*Exists(Path("x")));
  EXPECT_FALSE(*Exists(Path("y")));
  EXPECT_EQ(Exists(Path("x") / "y" / "z").ok(), true) << "a file is no folder, so nothing is in it";
  EXPECT_EQ(Exists(Path(std::string(300, 'x'))).status().code(), StatusCode::kIoError) << "no name is that long";
}

TEST_F(Files, MissingFoldersAreCreated) {
  ASSERT_TRUE(WriteFileAtomic(Path("a/b/c"), "deep").ok());
  EXPECT_EQ(*ReadFile(Path("a/b/c")), "deep");
}

TEST_F(Files, AFailedWriteLeavesTheOldContentAndNoTemporaryFile) {
  ASSERT_TRUE(WriteFileAtomic(Path("x"), "old").ok());
  {
    FileSizeLimit limit(4096);
    const Status status = WriteFileAtomic(Path("x"), std::string(1 << 20, 'n'));
    EXPECT_EQ(status.code(), StatusCode::kIoError);
    EXPECT_NE(status.message().find("cannot write"), std::string::npos) << status.message();
  }
  EXPECT_EQ(*ReadFile(Path("x")), "old");
  EXPECT_EQ(EntryCount(), 1u);
}

TEST_F(Files, ASymbolicLinkStaysALink) {
  ASSERT_TRUE(WriteFileAtomic(Path("target"), "old").ok());
  fs::create_symlink("target", Path("link"));
  ASSERT_TRUE(WriteFileAtomic(Path("link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(*ReadFile(Path("target")), "new");
}

TEST_F(Files, ADeviceIsWrittenThroughAndNeverReplaced) {
  EXPECT_TRUE(WriteFileAtomic("/dev/null", "gone").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const Status full = WriteFileAtomic("/dev/full", "too much");
  EXPECT_EQ(full.code(), StatusCode::kIoError);
  EXPECT_NE(full.message().find("No space left"), std::string::npos) << full.message();
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(Files, FailuresNameThePathAndTheReason) {
  const Status missing = ReadFile(Path("missing")).status();
  EXPECT_EQ(missing.code(), StatusCode::kNotFound);
  EXPECT_NE(missing.message().find(Path("missing").string()), std::string::npos);
  EXPECT_EQ(ReadFile(folder_.path()).status().code(), StatusCode::kIoError) << "a folder is no file";
  EXPECT_EQ(WriteFileAtomic(folder_.path(), "x").code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(WriteFileAtomic(Path("file"), "x").ok());
  EXPECT_EQ(WriteFileAtomic(Path("file/below"), "x").code(), StatusCode::kIoError);
}

TEST_F(Files, ConcurrentWritersLeaveOneWholeFile) {
  std::vector<std::thread> writers;
  for (char letter = 'a'; letter < 'e'; ++letter)
    writers.emplace_back([&, letter] {
      for (int round = 0; round < 5; ++round) EXPECT_TRUE(WriteFileAtomic(Path("x"), std::string(9999, letter)).ok());
    });
  for (std::thread& writer : writers) writer.join();
  const std::string content = *ReadFile(Path("x"));
  EXPECT_EQ(content, std::string(9999, content.at(0)));
  EXPECT_EQ(EntryCount(), 1u);
}

TEST_F(Files, ATemporaryFolderIsPrivateAndGoesWithItsScope) {
  fs::path path;
  {
    TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-gone");
    TemporaryFolder moved = std::move(folder);
    path = moved.path();
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    ASSERT_TRUE(WriteFileAtomic(path / "deep/file", "x").ok());
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(Files, ALockIsExclusiveAndNamesItsHolder) {
  {
    FileLock held = *FileLock::TryAcquire(Path("gpu.lock"));
    const Status refused = FileLock::TryAcquire(Path("gpu.lock")).status();
    EXPECT_EQ(refused.code(), StatusCode::kUnavailable);
    EXPECT_NE(refused.message().find("held by process " + std::to_string(::getpid()) + " ("), std::string::npos)
        << refused.message();
    EXPECT_EQ(refused.message().find('\n'), std::string::npos);
  }
  EXPECT_TRUE(FileLock::TryAcquire(Path("gpu.lock")).ok());
}

TEST_F(Files, AcquireWaitsUntilTheHolderLetsGo) {
  auto held = std::make_unique<FileLock>(*FileLock::Acquire(Path("lock")));
  std::atomic<bool> released = false;
  std::thread waiter([&] {
    Result<FileLock> lock = FileLock::Acquire(Path("lock"));
    EXPECT_TRUE(lock.ok());
    EXPECT_TRUE(released);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  released = true;
  held.reset();
  waiter.join();
}

TEST_F(Files, ALockOfAKilledProcessIsFree) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    Result<FileLock> lock = FileLock::TryAcquire(Path("lock"));
    (void)!::write(ready[1], lock.ok() ? "y" : "n", 1);
    ::pause();
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_FALSE(FileLock::TryAcquire(Path("lock")).ok());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(FileLock::TryAcquire(Path("lock")).ok());
  ::close(ready[0]), ::close(ready[1]);
}

TEST(Home, FollowsTheEnvironmentInItsOrder) {
  const std::string old_home = ::getenv("HOME") ? ::getenv("HOME") : "";
  ::setenv("GEMMSMITH_HOME", "/a", 1), ::setenv("XDG_DATA_HOME", "/b", 1), ::setenv("HOME", "/c", 1);
  EXPECT_EQ(HomeFolder(), "/a");
  ::setenv("GEMMSMITH_HOME", "", 1);
  EXPECT_EQ(HomeFolder(), "/b/gemmsmith");
  ::unsetenv("XDG_DATA_HOME");
  EXPECT_EQ(HomeFolder(), "/c/.local/share/gemmsmith");
  ::unsetenv("HOME");
  EXPECT_TRUE(HomeFolder().is_absolute());
  ::unsetenv("GEMMSMITH_HOME");
  ::setenv("HOME", old_home.c_str(), 1);
}

TEST(WriteFileAtomic, TakesABareNameInTheCurrentFolder) {
  const TemporaryFolder folder = *TemporaryFolder::Create("bare_name");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const Status written = WriteFileAtomic("bare.txt", "content");
  std::filesystem::current_path(before);
  EXPECT_TRUE(written.ok()) << written.message();
  EXPECT_EQ(*ReadFile(folder.path() / "bare.txt"), "content");
}

}  // namespace
}  // namespace gemmsmith
