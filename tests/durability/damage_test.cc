// Files cut anywhere and disks that are full: one clear failure, no crash, no invented trial.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "archive/archive.h"
#include "archive/example_trials.h"
#include "archive/segment.h"
#include "base/files.h"
#include "base/random.h"

namespace gemmsmith {
namespace {

namespace fs = std::filesystem;

Status LoadAll(const fs::path& path, std::vector<Trial>& trials) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Archive> archive, Archive::Open(path));
  ASSIGN_OR_RETURN(trials, archive->Load({}));
  return OkStatus();
}

TEST(Damage, ATruncatedArchiveIsDataLoss) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-damage");
  const fs::path whole = folder.path() / "whole.sqlite", cut = folder.path() / "cut.sqlite";
  {
    const auto archive = *Archive::Open(whole);
    for (const Trial& trial : ExampleTrials(40)) ASSERT_TRUE(archive->Add(trial).ok());
  }
  const std::string content = *ReadFile(whole);
  Random random(3);
  std::vector<size_t> lengths = {
      1, 15, 16, 99, 100, 511, 512, 4095, 4096, 4097, content.size() - 4096, content.size() - 1};
  for (int i = 0; i < 100; ++i) lengths.push_back(1 + random.Below(content.size() - 1));
  for (size_t length : lengths) {
    ASSERT_TRUE(WriteFileAtomic(cut, content.substr(0, length)).ok());
    std::vector<Trial> trials;
    const Status status = LoadAll(cut, trials);
    EXPECT_EQ(status.code(), StatusCode::kDataLoss) << length << ": " << status.message();
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
  }
}

TEST(Damage, ChangedBytesOfAnArchiveNeverCrash) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-damage");
  const fs::path path = folder.path() / "archive.sqlite";
  {
    const auto archive = *Archive::Open(path);
    for (const Trial& trial : ExampleTrials(10)) ASSERT_TRUE(archive->Add(trial).ok());
  }
  const std::string content = *ReadFile(path);
  Random random(4);
  for (int round = 0; round < 200; ++round) {
    std::string changed = content;
    for (int i = 0; i < 20; ++i) changed[random.Below(changed.size())] = char(random.Below(256));
    ASSERT_TRUE(WriteFileAtomic(path, changed).ok());
    std::vector<Trial> trials;
    const Status status = LoadAll(path, trials);
    EXPECT_EQ(status.message().empty(), status.ok());
    EXPECT_LE(trials.size(), 10u);
  }
}

TEST(Damage, ASegmentCutAnywhereIsRefused) {
  const std::string segment = EncodeSegments(ExampleTrials(40))[0];
  for (size_t length = 0; length < segment.size(); ++length)
    ASSERT_FALSE(DecodeSegment(std::string_view(segment).substr(0, length)).ok()) << length;
}

enum Ending { kPassed = 0, kNoMount = 10, kNeverFull, kWrongStatus, kLostTrials, kUnusable };

// In a child with a file system of its own, too small for what is written.
Ending FillTheDisk(const fs::path& mount_point) {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tmpfs", mount_point.c_str(), "tmpfs", 0, "size=512k") != 0)
    return kNoMount;
  const fs::path ballast = mount_point / "ballast";
  if (!WriteFileAtomic(ballast, std::string(200 << 10, 'x')).ok()) return kNoMount;
  const auto archive = *Archive::Open(mount_point / "archive.sqlite");
  int stored = 0;
  Status status = OkStatus();
  for (; stored < 5000 && status.ok(); ++stored) status = archive->Add(ExampleTrial(stored));
  if (status.ok()) return kNeverFull;
  --stored;
  std::fprintf(stderr, "after %d trials: %s\n", stored, status.message().c_str());
  if (status.code() != StatusCode::kIoError) return kWrongStatus;
  if (const auto trials = archive->Load({}); !trials.ok() || *trials != ExampleTrials(stored)) return kLostTrials;
  fs::remove(ballast);
  if (!archive->Add(ExampleTrial(stored)).ok()) return kUnusable;
  const auto trials = archive->Load({});
  return trials.ok() && *trials == ExampleTrials(stored + 1) ? kPassed : kUnusable;
}

TEST(Damage, AFullDiskRefusesTheTrialAndTheArchiveGoesOnOnceThereIsSpace) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-full");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(FillTheDisk(folder.path()));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoMount) GTEST_SKIP() << "no right to mount a small file system here";
  EXPECT_EQ(WEXITSTATUS(status), kPassed);
}

}  // namespace
}  // namespace gemmsmith
