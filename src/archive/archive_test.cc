#include "archive/archive.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <thread>

#include "archive/example_trials.h"
#include "base/files.h"

namespace gemmsmith {
namespace {

namespace fs = std::filesystem;

std::string Hex(std::string_view bytes) {
  std::string hex;
  for (const char byte : bytes) hex += fmt::format("{:02x}", uint8_t(byte));
  return hex;
}

class ArchiveTest : public ::testing::Test {
 protected:
  fs::path path() const { return folder_.path() / "deep/archive.sqlite"; }
  std::unique_ptr<Archive> Open() const {
    Result<std::unique_ptr<Archive>> archive = Archive::Open(path());
    EXPECT_TRUE(archive.ok()) << archive.status().message();
    return *std::move(archive);
  }
  // Runs SQL on the file, as a person with a SQL shell would.
  void Sql(const std::string& statement) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(database, statement.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
    sqlite3_close(database);
  }

  TemporaryFolder folder_ = *TemporaryFolder::Create("gemmsmith-archive-test");
};

TEST_F(ArchiveTest, WhatIsStoredIsLoadedExactlyAndInOrder) {
  const std::vector<Trial> trials = ExampleTrials(100);
  {
    auto archive = Open();
    for (const Trial& trial : trials) ASSERT_TRUE(archive->Add(trial).ok());
    EXPECT_EQ(*archive->Load({}), trials);
  }
  EXPECT_EQ(*Open()->Load({}), trials) << "reopened";
}

TEST_F(ArchiveTest, ASecondTrialOfACellIsANoOp) {
  auto archive = Open();
  const Trial first = ExampleTrial(0);
  Trial second = first;
  second.seed = 99;
  second.outcome.reason = "another";
  ASSERT_TRUE(archive->Add(first).ok());
  ASSERT_TRUE(archive->Add(second).ok());
  EXPECT_EQ(*archive->Load({}), std::vector<Trial>{first});
  second.outcome.protocol = Protocol::kShort;
  ASSERT_TRUE(archive->Add(second).ok());
  second.campaign = "other";
  ASSERT_TRUE(archive->Add(second).ok());
  EXPECT_EQ(archive->Load({})->size(), 3u);
}

TEST_F(ArchiveTest, TrialsOfARangeOfNumbersMakeUpTheWhole) {
  auto archive = Open();
  EXPECT_EQ(*archive->LastTrial(), 0);
  const std::vector<Trial> trials = ExampleTrials(30);
  ASSERT_TRUE(archive->Add(std::span(trials).first(20)).ok());
  const int64_t seen = *archive->LastTrial();
  ASSERT_TRUE(Open()->Add(trials).ok()) << "by another connection";
  const int64_t last = *archive->LastTrial();
  ASSERT_GT(last, seen);
  std::vector<Trial> all = *archive->Load({.up_to = seen});
  EXPECT_EQ(all.size(), 20u);
  const std::vector<Trial> rest = *archive->Load({.after = seen, .up_to = last});
  all.insert(all.end(), rest.begin(), rest.end());
  EXPECT_EQ(all, trials);
  EXPECT_TRUE(archive->Load({.campaign = "nobody's", .after = 0})->empty());
  EXPECT_TRUE(archive->Load({.after = last})->empty());
}

TEST_F(ArchiveTest, AListIsStoredInOrderAndRepeatsAreNoOps) {
  auto archive = Open();
  std::vector<Trial> trials = ExampleTrials(20);
  ASSERT_TRUE(archive->Add(std::span(trials).first(5)).ok());
  trials.push_back(trials[7]);
  ASSERT_TRUE(archive->Add(trials).ok());
  ASSERT_TRUE(archive->Add(std::span<const Trial>()).ok());
  trials.pop_back();
  EXPECT_EQ(*archive->Load({}), trials);
}

TEST_F(ArchiveTest, AListIsStoredWholeOrNotAtAll) {
  auto archive = Open();
  ASSERT_TRUE(archive->Add(ExampleTrial(0)).ok());
  Sql("CREATE TRIGGER refuse BEFORE INSERT ON trial WHEN NEW.unix_ms = 7 BEGIN SELECT RAISE(ABORT, 'seven'); END");
  std::vector<Trial> trials = ExampleTrials(6);
  trials[4].unix_ms = 7;
  EXPECT_FALSE(archive->Add(trials).ok());
  EXPECT_EQ(archive->Load({})->size(), 1u);
  trials[4].unix_ms = 8;
  EXPECT_TRUE(archive->Add(trials).ok());
  EXPECT_EQ(*archive->Load({}), trials);
}

TEST_F(ArchiveTest, OneCellMayHaveATrialInEveryProtocol) {
  auto archive = Open();
  for (const Protocol protocol : {Protocol::kScreen, Protocol::kHeat, Protocol::kShort, Protocol::kHeat}) {
    Trial trial = ExampleTrial(0);
    trial.outcome.protocol = protocol;
    ASSERT_TRUE(archive->Add(trial).ok());
  }
  EXPECT_EQ(archive->Load({})->size(), 3u);
  EXPECT_EQ(archive->Load({.protocol = Protocol::kHeat})->size(), 1u);
}

TEST_F(ArchiveTest, CountsByProblemWhatTheFilterLeaves) {
  auto archive = Open();
  std::map<Gemm, int64_t> expected;
  for (int i = 0; i < 150; ++i) {
    Trial trial = ExampleTrial(i);
    trial.campaign = i % 2 == 0 ? "even" : "odd";
    trial.outcome.protocol = i % 3 == 0 ? Protocol::kShort : Protocol::kScreen;
    ASSERT_TRUE(archive->Add(trial).ok());
    if (i % 2 == 0 && i % 3 != 0) ++expected[trial.gemm];
  }
  EXPECT_EQ(*archive->CountByProblem({.campaign = "even", .protocol = Protocol::kScreen}), expected);
  EXPECT_TRUE(archive->CountByProblem({.campaign = "none"})->empty());
}

TEST_F(ArchiveTest, FiltersNarrowTogether) {
  auto archive = Open();
  for (int i = 0; i < 8; ++i) {
    Trial trial = ExampleTrial(i % 4);
    trial.campaign = i < 4 ? "a" : "b";
    trial.outcome.protocol = i % 2 == 0 ? Protocol::kScreen : Protocol::kShort;
    trial.setting.device_key = i % 4 < 2 ? "h200" : "h100";
    ASSERT_TRUE(archive->Add(trial).ok());
  }
  EXPECT_EQ(archive->Load({.campaign = "a"})->size(), 4u);
  EXPECT_EQ(archive->Load({.device_key = "h100"})->size(), 4u);
  EXPECT_EQ(archive->Load({.protocol = Protocol::kShort})->size(), 4u);
  EXPECT_EQ(archive->Load({.gemm = ExampleGemm(3)})->size(), 2u);
  EXPECT_EQ(archive->Load({.campaign = "a", .gemm = ExampleGemm(3)})->size(), 1u);
  EXPECT_EQ(archive->Load({.campaign = "a", .gemm = ExampleGemm(3), .device_key = "h200"})->size(), 0u);
  EXPECT_EQ(archive->Load({.campaign = "a' OR 1"})->size(), 0u);
}

TEST_F(ArchiveTest, StatsAgreeWithTheTrialsThemselves) {
  auto archive = Open();
  EXPECT_EQ(*archive->Stats(), ArchiveStats());
  std::vector<Trial> trials = ExampleTrials(70);
  trials.erase(trials.begin() + 62);
  for (const Trial& trial : trials) ASSERT_TRUE(archive->Add(trial).ok());
  const ArchiveStats stats = *archive->Stats();
  EXPECT_EQ(stats, StatsOf(trials));
  EXPECT_EQ(stats.trials, 69);
  EXPECT_EQ(stats.problems, 60);
  EXPECT_EQ(stats.plans, 2);
  EXPECT_EQ(stats.missing_cells, 120 - 69);
  EXPECT_EQ(stats.settings.size(), 2u);
  EXPECT_EQ(stats.first_unix_ms, trials.front().unix_ms);
  EXPECT_EQ(stats.last_unix_ms, trials.back().unix_ms);
}

TEST_F(ArchiveTest, PeopleCanAskItInSql) {
  auto archive = Open();
  for (const Trial& trial : ExampleTrials(30)) ASSERT_TRUE(archive->Add(trial).ok());
  Sql("CREATE TEMP TABLE t AS SELECT problem.text, subject.text, kind, time_ns, reason, device_key FROM trial"
      " JOIN problem ON problem.id = problem_id JOIN subject ON subject.id = subject_id JOIN setting ON setting.id = "
      "setting_id"
      " WHERE kind = 'measured' AND time_ns > 0");
}

TEST_F(ArchiveTest, ADanglingReferenceIsRefusedByTheDatabase) {
  Open();
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
  sqlite3_exec(database, "PRAGMA foreign_keys = ON", nullptr, nullptr, nullptr);
  EXPECT_NE(
      sqlite3_exec(database, "INSERT INTO trial VALUES (1, 'c', 7, 7, 7, 'screen', 0, 0, 'illegal', NULL, '', x'')",
                   nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(database);
}

TEST_F(ArchiveTest, ManyWritersAtOnceLoseNothing) {
  auto first = Open(), second = Open();
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer)
    writers.emplace_back([&, writer] {
      for (int i = 0; i < 10; ++i) {
        const Status status = (writer % 2 == 0 ? first : second)->Add(ExampleTrial(writer * 10 + i));
        EXPECT_TRUE(status.ok()) << status.message();
      }
    });
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(first->Load({})->size(), 40u);
}

TEST_F(ArchiveTest, ManyMayCreateItAtOnce) {
  std::vector<std::thread> openers;
  for (int i = 0; i < 8; ++i)
    openers.emplace_back([&] {
      const auto archive = Archive::Open(path());
      EXPECT_TRUE(archive.ok()) << archive.status().message();
    });
  for (std::thread& opener : openers) opener.join();
  EXPECT_TRUE(Open()->Add(ExampleTrial(0)).ok());
}

// The tables of the first version of this program.
constexpr const char* kSchemaOne = R"sql(
CREATE TABLE setting (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, device_key TEXT NOT NULL,
  device_name TEXT NOT NULL, gpu_uuid TEXT NOT NULL, driver TEXT NOT NULL, toolchain TEXT NOT NULL,
  libraries TEXT NOT NULL, harness TEXT NOT NULL);
CREATE TABLE problem (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE plan (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE trial (id INTEGER PRIMARY KEY, campaign TEXT NOT NULL,
  problem_id INTEGER NOT NULL REFERENCES problem (id), plan_id INTEGER NOT NULL REFERENCES plan (id),
  setting_id INTEGER NOT NULL REFERENCES setting (id), protocol TEXT NOT NULL, seed INTEGER NOT NULL,
  unix_ms INTEGER NOT NULL, kind TEXT NOT NULL, time_ns REAL, reason TEXT NOT NULL, outcome BLOB NOT NULL,
  UNIQUE (campaign, problem_id, plan_id, protocol));
PRAGMA application_id = 0x67656d6d; PRAGMA user_version = 1;
)sql";

TEST_F(ArchiveTest, AnArchiveOfTheFirstSchemaIsBroughtUpToDateWithItsTrials) {
  const Trial old = ExampleTrial(0);
  fs::create_directories(path().parent_path());
  Sql(kSchemaOne);
  Sql(fmt::format(
      "INSERT INTO setting VALUES (1, 'h', '{}', '{}', '{}', '{}', '{}', '{}', '{}');"
      "INSERT INTO problem VALUES (1, '{}'); INSERT INTO plan VALUES (1, '{}')",
      old.setting.device_key, old.setting.device_name, old.setting.gpu_uuid, old.setting.driver, old.setting.toolchain,
      old.setting.libraries, old.setting.harness, Print(old.gemm), Print(old.plan())));
  Sql(fmt::format("INSERT INTO trial VALUES (1, '{}', 1, 1, 1, 'screen', {}, {}, 'measured', NULL, '', x'{}')",
                  old.campaign, int64_t(old.seed), old.unix_ms, Hex(EncodeOutcome(old.outcome))));
  for (int opening = 0; opening < 2; ++opening) {
    const auto archive = Open();
    EXPECT_EQ(*archive->Load({}), std::vector<Trial>{old});
    EXPECT_TRUE(archive->Add(old).ok()) << "known: stored once";
    EXPECT_EQ(archive->Load({})->size(), 1u);
  }
  auto archive = Open();
  ASSERT_TRUE(archive->Add(ExampleTrial(1)).ok());
  EXPECT_EQ(archive->Load({})->size(), 2u);
}

TEST_F(ArchiveTest, TrialsOfSourcesAndOfNobodyAreKeptBesideThoseOfPlans) {
  Trial plan = ExampleTrial(0), source = plan, nobody = plan;
  source.subject = SubjectOf(FreeForm{"fast.cu", "text"});
  nobody.subject = Nobody();
  auto archive = Open();
  ASSERT_TRUE(archive->Add(std::vector{plan, source, nobody, nobody}).ok());
  EXPECT_EQ(*archive->Load({}), (std::vector{plan, source, nobody}));
  EXPECT_EQ(archive->Stats()->trials, 3);
  EXPECT_EQ(archive->Stats()->plans, 1);
  EXPECT_EQ(archive->Stats()->missing_cells, 0);
}

TEST_F(ArchiveTest, ANewerSchemaAndAForeignDatabaseAreRefusedByName) {
  Open();
  Sql("PRAGMA user_version = 9");
  const Status newer = Archive::Open(path()).status();
  EXPECT_EQ(newer.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(newer.message().find("has schema 9, this program knows 2"), std::string::npos) << newer.message();
  Sql("PRAGMA application_id = 5");
  const Status foreign = Archive::Open(path()).status();
  EXPECT_EQ(foreign.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(foreign.message().find("another program"), std::string::npos) << foreign.message();
}

TEST_F(ArchiveTest, AFileThatIsNoDatabaseIsDataLossWithWhatToDo) {
  ASSERT_TRUE(WriteFileAtomic(path(), std::string(5000, 'x')).ok());
  const Status status = Archive::Open(path()).status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("move it away"), std::string::npos) << status.message();
  EXPECT_EQ(status.message().find('\n'), std::string::npos);
  EXPECT_EQ(*ReadFile(path()), std::string(5000, 'x')) << "left as it is";
}

TEST_F(ArchiveTest, ADamagedOutcomeIsDataLossThatNamesTheTrial) {
  auto archive = Open();
  for (const Trial& trial : ExampleTrials(3)) ASSERT_TRUE(archive->Add(trial).ok());
  Sql("UPDATE trial SET outcome = substr(outcome, 1, 40) WHERE id = 2");
  const Status status = archive->Load({}).status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("trial 2 cannot be read"), std::string::npos) << status.message();
}

TEST_F(ArchiveTest, APlanThisProgramDoesNotKnowIsDataLossInWords) {
  auto archive = Open();
  ASSERT_TRUE(archive->Add(ExampleTrial(0)).ok());
  Sql("UPDATE subject SET text = 'quantum depth=3'");
  const Status status = archive->Load({}).status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("quantum"), std::string::npos) << status.message();
}

// SQLite would write files into the archive's folder. A user who may not write there looks the same.
TEST_F(ArchiveTest, WhatCannotBeWrittenIsReadAsItStands) {
  const std::vector<Trial> trials = ExampleTrials(10);
  ASSERT_TRUE(Open()->Add(trials).ok());
  fs::create_directory(path().string() + "-wal");
  EXPECT_EQ(Archive::Open(path()).status().code(), StatusCode::kIoError);
  const Result<std::unique_ptr<Archive>> archive = Archive::OpenToRead(path());
  ASSERT_TRUE(archive.ok()) << archive.status().message();
  EXPECT_EQ((*archive)->Load({})->size(), trials.size());
  EXPECT_EQ((*archive)->Add(ExampleTrial(11)).code(), StatusCode::kIoError);
}

TEST_F(ArchiveTest, WhatOnlyALogHoldsIsNotReadWithoutIt) {
  ASSERT_TRUE(Open()->Add(ExampleTrial(0)).ok());
  const fs::path shared = path().string() + "-shm", log = path().string() + "-wal";
  ASSERT_TRUE(WriteFileAtomic(log, std::string(100, 'x')).ok());
  fs::create_directory(shared);
  const Status status = Archive::OpenToRead(path()).status();
  EXPECT_EQ(status.code(), StatusCode::kIoError);
  EXPECT_NE(status.message().find("-wal"), std::string::npos) << status.message();
}

TEST_F(ArchiveTest, WhoReadsAnEmptyFileMakesNoArchiveOfIt) {
  ASSERT_TRUE(WriteFileAtomic(path(), "").ok());
  EXPECT_EQ(Archive::OpenToRead(path()).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(fs::file_size(path()), 0u);
  EXPECT_TRUE(Archive::Open(path()).ok());
}

TEST_F(ArchiveTest, NamesThatMeanMoreToSqliteAreNamesOfFiles) {
  const fs::path here = fs::current_path();
  fs::create_directories(path().parent_path());
  fs::current_path(path().parent_path());
  for (const char* name : {":memory:", "file:x?mode=memory", "a%20b#c"}) {
    ASSERT_TRUE((*Archive::Open(name))->Add(ExampleTrial(0)).ok()) << name;
    EXPECT_TRUE(fs::is_regular_file(name)) << name;
    EXPECT_EQ((*Archive::OpenToRead(name))->Load({})->size(), 1u) << name;
    fs::create_directory(name + std::string("-wal"));
    EXPECT_EQ((*Archive::OpenToRead(name))->Load({})->size(), 1u) << name;
  }
  fs::current_path(here);
}

TEST_F(ArchiveTest, AFolderInItsPlaceIsAnErrorOfTheWorld) {
  fs::create_directories(path());
  EXPECT_EQ(Archive::Open(path()).status().code(), StatusCode::kIoError);
  EXPECT_FALSE(Archive::Open("/dev/null/archive").ok());
}

// No file may grow: as near to a full disk as a test gets without a disk of its own.
TEST_F(ArchiveTest, WhenNothingCanBeWrittenTheTrialIsRefusedAndTheArchiveGoesOn) {
  auto archive = Open();
  ASSERT_TRUE(archive->Add(ExampleTrial(0)).ok());
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit none = {1000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &none);
  const Status refused = archive->Add(ExampleTrial(1));
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(refused.code(), StatusCode::kIoError) << refused.message();
  EXPECT_EQ(archive->Load({})->size(), 1u);
  EXPECT_TRUE(archive->Add(ExampleTrial(1)).ok());
  EXPECT_EQ(*archive->Load({}), ExampleTrials(2));
}

}  // namespace
}  // namespace gemmsmith
