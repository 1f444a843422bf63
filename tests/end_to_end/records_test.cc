#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "archive/segment.h"
#include "base/text.h"
#include "tests/end_to_end/program.h"

namespace gemmsmith {
namespace {

constexpr Shape kShape{64, 64, 64};

class RecordsTest : public testing::Test {
 protected:
  Home home;
  std::vector<Trial> trials = MadeUpTrials(kShape, 40, kTn);
  std::string lines = home.File("trials.jsonl", JsonLines(trials));
  std::string archive = home.Path("archive.sqlite");
};

TEST_F(RecordsTest, ImportingTwiceAddsNothing) {
  const Finished first = home.Run({"records", "import", lines, "--archive", archive, "--json"});
  ASSERT_EQ(first.exit_code, 0) << first.error;
  EXPECT_EQ(Parsed(first.out)["added"], trials.size());
  const nlohmann::json second =
      Parsed(home.Run({"records", "import", lines, lines, "--archive", archive, "--json"}).out);
  EXPECT_EQ(second["read"], 2 * trials.size());
  EXPECT_EQ(second["added"], 0);
}

TEST_F(RecordsTest, TrialsSurviveEveryFormat) {
  ASSERT_EQ(home.Run({"records", "import", lines, "--archive", archive}).exit_code, 0);
  for (const char* name : {"copy.gsr", "copy.jsonl"}) {
    ASSERT_EQ(home.Run({"records", "export", "--archive", archive, "-o", home.Path(name)}).exit_code, 0);
    const Result<std::vector<Trial>> copied = ReadRecords(home.Path(name));
    ASSERT_TRUE(copied.ok()) << copied.status().message();
    ASSERT_EQ(copied->size(), trials.size());
    for (size_t i = 0; i < trials.size(); ++i) {
      EXPECT_EQ((*copied)[i].plan(), trials[i].plan());
      EXPECT_EQ((*copied)[i].outcome.kind, trials[i].outcome.kind);
    }
  }
  ASSERT_EQ(home.Run({"records", "export", "--archive", archive, "-o", home.Path("copy.csv")}).exit_code, 0);
  const std::string csv = *ReadFile(home.Path("copy.csv"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), long(trials.size()) + 1);
}

TEST_F(RecordsTest, PairsTellWhatAnAxisIsWorthInEveryForm) {
  const Words words = {"records", "pairs", "finish", GEMMSMITH_DATA "/h200/finish", "--over", "together"};
  const auto run = [&](Words more) {
    more.insert(more.begin(), words.begin(), words.end());
    const Finished finished = home.Run(more);
    EXPECT_EQ(finished.exit_code, 0) << finished.error;
    return finished.out;
  };
  const nlohmann::json json = Parsed(run({"--json"}));
  EXPECT_EQ(json["plans"], 402);
  ASSERT_EQ(json["pairs"].size(), 1u);
  EXPECT_EQ(json["pairs"][0]["pairs"], 180);
  const std::string text = run({"--by", "schedule,tile,stages"});
  EXPECT_NE(text.find("cooperative  128x256"), std::string::npos) << text;
  for (const std::string_view line : Split(text, '\n')) EXPECT_LE(line.size(), 120u) << line;
  EXPECT_TRUE(run({"--format", "csv", "--by", "class"}).starts_with("table,class,value,over,pairs,"));
  EXPECT_NE(run({"--format", "markdown"}).find("| in_turn | together |"), std::string::npos);
}

TEST_F(RecordsTest, PairsOfWrongWordsNameTheRightOnes) {
  ExpectOneError(home.Run({"records", "pairs", "reductoin", lines}), 2, "did you mean 'reduction'");
  ExpectOneError(home.Run({"records", "pairs"}), 2, "records pairs needs AXIS");
  ExpectOneError(home.Run({"records", "pairs", "split", lines, "--by", "clas"}), 2, "did you mean 'class'");
  ExpectOneError(home.Run({"records", "pairs", "split", lines, "--by", "split"}), 2, "no split in common");
  ExpectOneError(home.Run({"records", "pairs", "split", lines, "--clock", "energy"}), 2, "'energy' is no clock");
  ExpectOneError(home.Run({"records", "pairs", "finish", lines}), 3, "differ in finish alone");
}

TEST_F(RecordsTest, WithoutAnArchiveTheShippedSearchesAreCompared) {
  const Home without_archive;
  std::filesystem::create_directories(without_archive.Path("records"));
  std::filesystem::create_directory_symlink(GEMMSMITH_DATA "/h200", without_archive.Path("records/h200"));
  const Words words = {"records", "compare", GEMMSMITH_DATA "/h200/baselines", "--shapes"};
  const auto run = [&](const std::string& shapes) {
    Words all = words;
    all.insert(all.end(), {shapes, "--json"});
    return without_archive.Run(all);
  };
  EXPECT_EQ(Parsed(run("8192x512x4096").out)["shapes"], 1);
  EXPECT_EQ(run("3x3x3").exit_code, 3);
}

TEST_F(RecordsTest, AnotherTableOfTheLibrariesTimesIsCompared) {
  const std::string folder = GEMMSMITH_DATA "/h200/baselines";
  const std::string other = home.File("theirs.csv",
                                      "m,n,k,cublas_nn,heuristic_tn,clock\n"
                                      "64,64,64,2.5,2.5,1980\n"
                                      "8192,512,4096,55.0,54.0,1500\n");
  const Words words = {"records", "compare", other,       folder,
                       "--unit",  "us",      "--columns", "heuristic_tn=lt_heuristic_tn"};
  const Finished text = home.Run(words);
  ASSERT_EQ(text.exit_code, 0) << text.error;
  EXPECT_NE(text.out.find("ignored there: clock"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("lt_heuristic_tn"), std::string::npos) << text.out;
  for (const std::string_view line : Split(text.out, '\n')) EXPECT_LE(line.size(), 120u + folder.size()) << line;
  const nlohmann::json itself = Parsed(home.Run({"records", "compare", folder, folder, "--json"}).out);
  EXPECT_EQ(itself["shapes"], 30);
  EXPECT_EQ(itself["variants"][0]["median"], 1.0);
  ExpectOneError(home.Run({"records", "compare", other, folder}), 2, "say --unit");
  ExpectOneError(home.Run({"records", "compare", home.Path("none.csv"), folder}), 3, "none.csv");
  ExpectOneError(home.Run({"records", "compare", other, folder, "--by", "clas"}), 2, "did you mean 'class'");
  ExpectOneError(home.Run({"records", "compare", other, folder, "--columns", "a"}), 2, "'a' is not THEIRS=OURS");
  ExpectOneError(home.Run({"records", "compare", other, folder, "--clock", "host"}), 3,
                 "no library's time on the host");
  ExpectOneError(home.Run({"records", "compare"}), 2, "records compare needs OTHER");
}

TEST_F(RecordsTest, StatsCountOutcomesAndMissingCells) {
  std::vector<Trial> more = MadeUpTrials({128, 128, 128}, 40, kTn);
  const std::string other = home.File("more.jsonl", JsonLines({more[0]}));
  const nlohmann::json json = Parsed(home.Run({"records", "stats", lines, other, "--json"}).out);
  EXPECT_EQ(json["trials"], trials.size() + 1);
  EXPECT_EQ(json["problems"], 2);
  EXPECT_EQ(json["shapes"], 2);
  EXPECT_EQ(json["cells"].get<int64_t>() - json["missing_cells"].get<int64_t>(), int64_t(trials.size()) + 1);
  int64_t sum = 0;
  for (const nlohmann::json& count : json["outcomes"]) sum += count.get<int64_t>();
  EXPECT_EQ(sum, json["trials"]);
  EXPECT_EQ(json["settings"][0]["device_name"], kMadeUpDevice);
}

TEST_F(RecordsTest, StatsNameDevicesAndDates) {
  const nlohmann::json json = Parsed(home.Run({"records", "stats", lines, "--json"}).out);
  EXPECT_EQ(json["devices"], nlohmann::json::array({kMadeUpDevice}));
  EXPECT_EQ(json["first_date"], "2001-09-09");
  EXPECT_EQ(json["last_date"], "2001-09-09");
  EXPECT_EQ(Parsed(home.Run({"records", "stats", lines, "--shape", "1x1x1", "--json"}).out)["first_date"], nullptr);
}

TEST_F(RecordsTest, ManyTrialsTravelInSeveralSegmentsAndMeetAgain) {
  const std::vector<Trial> of_one = MadeUpTrials({256, 512, 4096}, 4000, kTn);
  std::vector<Trial> many;
  int problems = 0;
  for (int m = 256; many.size() <= kMaxSegmentTrials; m += 256, ++problems)
    for (Trial trial : of_one) trial.gemm.shape.m = m, many.push_back(std::move(trial));
  const std::string all = home.File("many.jsonl", JsonLines(many));
  std::filesystem::create_directories(home.Path("parts"));
  const Finished written = home.Run({"records", "export", all, "-o", home.Path("parts/x.gsr"), "--json"});
  ASSERT_EQ(written.exit_code, 0) << written.error;
  EXPECT_EQ(Parsed(written.out)["files"].size(), 2u);
  // Another file holds a part of them again.
  ASSERT_EQ(home.Run({"records", "export", all, "--shape", "256x512x4096", "-o", home.Path("parts/y.gsr")}).exit_code,
            0);
  const Finished merged = home.Run({"records", "import", home.Path("parts"), "--archive", archive, "--json"});
  ASSERT_EQ(merged.exit_code, 0) << merged.error;
  EXPECT_EQ(Parsed(merged.out)["read"], many.size() + of_one.size());
  EXPECT_EQ(Parsed(merged.out)["added"], many.size());
  const nlohmann::json stats = Parsed(home.Run({"records", "stats", home.Path("parts"), "--json"}).out);
  EXPECT_EQ(stats["problems"], problems);
  EXPECT_EQ(stats["trials"], many.size() + of_one.size());
}

TEST_F(RecordsTest, ASegmentThatALongerExportMayHaveLeftIsSaidAndStays) {
  std::filesystem::create_directories(home.Path("parts"));
  const std::string other = home.File("parts/x-2.gsr", EncodeSegments(trials).front());
  const Finished finished = home.Run({"records", "export", lines, "-o", home.Path("parts/x.gsr")});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_NE(finished.error.find("x-2.gsr stands there"), std::string::npos) << finished.error;
  EXPECT_TRUE(std::filesystem::exists(other));
  EXPECT_EQ(home.Run({"records", "export", lines, "-o", home.Path("parts/y.gsr")}).error, "");
}

TEST_F(RecordsTest, AnExportOfNothingLeavesWhatIsThere) {
  for (const char* name : {"x.gsr", "x.jsonl", "x.csv"}) {
    const std::string output = home.File(name, "before");
    ExpectOneError(home.Run({"records", "export", lines, "--shape", "1x1x1", "-o", output}), 3, name);
    EXPECT_EQ(*ReadFile(output), "before");
  }
}

TEST_F(RecordsTest, AnAnswerNeverReplacesAnArchive) {
  ASSERT_EQ(home.Run({"records", "import", lines, "--archive", archive}).exit_code, 0);
  for (const char* option : {"-o", "--html"})
    ExpectOneError(home.Run({"report", "--archive", archive, "--shapes", "all", option, archive}), 2, "archive.sqlite");
  EXPECT_EQ(Parsed(home.Run({"records", "stats", "--archive", archive, "--json"}).out)["trials"], trials.size());
}

TEST_F(RecordsTest, MessagesThatNobodyReadsEndNothing) {
  const auto code = [&](const Words& words) { return Home::Wait(home.Start(words, "/dev/null", "/dev/full")); };
  EXPECT_EQ(code({"records", "list", home.Path("nothing.gsr")}), 3);
  EXPECT_EQ(code({"no such verb"}), 2);
  EXPECT_EQ(code({"records", "import", lines, "--archive", archive}), 0);
}

TEST_F(RecordsTest, OptionsThatDoNotApplyAreSaid) {
  ExpectOneError(home.Run({"records", "export", lines, "--rounded", "-o", home.Path("x.csv")}), 2, "--rounded");
  ExpectOneError(home.Run({"records", "compare", lines, lines, "--unit", "us"}), 2, "--unit");
  ExpectOneError(home.Run({"verify", "direct", "64x64x64", "--seeds", "3"}), 2, "--self-test");
  ExpectOneError(home.Run({"verify", "--self-test", "--winners"}), 2, "--self-test");
  ExpectOneError(home.Run({"optimize", "64x64x64", "--layout", "nn,both"}), 2, "'both' stands alone");
}

TEST_F(RecordsTest, WhatCannotBeLookedAtIsNotCalledMissing) {
  const std::string name = home.Path(std::string(300, 'a'));
  for (const Words& words :
       {Words{"records", "list", name + ".gsr"}, Words{"catalogue", "show", name},
        Words{"records", "list", "--archive", name}, Words{"report", "--live", "0", "--archive", name}})
    ExpectOneError(home.Run(words), 1, "File name too long");
  ExpectOneError(home.Run({"report", "--shapes", name}), 2, "File name too long");
}

TEST_F(RecordsTest, ListSelects) {
  const nlohmann::json json =
      Parsed(home.Run({"records", "list", lines, "--outcome", "wrong", "--count", "2", "--json"}).out);
  EXPECT_LE(json["trials"].size(), 2u);
  for (const nlohmann::json& trial : json["trials"]) EXPECT_EQ(trial["outcome"], "wrong");
  const auto matching = [&](const std::string& protocol) {
    return Parsed(home.Run({"records", "list", lines, "--protocol", protocol, "--json"}).out)["matching"];
  };
  EXPECT_EQ(matching("screen"), trials.size());
  EXPECT_EQ(matching("short"), 0);
  EXPECT_EQ(Parsed(home.Run({"records", "list", lines, "--shape", "1x1x1", "--json"}).out)["matching"], 0);
}

TEST_F(RecordsTest, MissingThingsAreNamedWithExitThree) {
  ExpectOneError(home.Run({"records", "stats", "--archive", archive}), 3, archive);
  ExpectOneError(home.Run({"records", "import", home.Path("nothing.gsr")}), 3, "nothing.gsr");
}

TEST_F(RecordsTest, DamagedFilesAddNothingAndAreNamed) {
  const std::string segment = EncodeSegments(trials).front();
  const std::string whole = JsonLines(trials);
  std::string flipped = segment;
  flipped[flipped.size() / 2] = char(flipped[flipped.size() / 2] ^ 0x20);
  const std::vector<std::pair<std::string, std::string>> files = {
      {"empty.gsr", ""},
      {"garbage.gsr", std::string(1000, '\x7f')},
      {"short.gsr", segment.substr(0, segment.size() - 1)},
      {"half.gsr", segment.substr(0, segment.size() / 2)},
      {"flipped.gsr", flipped},
      {"cut.jsonl", whole.substr(0, whole.size() - 20)},
      {"garbage.jsonl", "\xff\xfe{]\n"},
      {"other.jsonl", "{\"a\": 1}\n"},
      {"nested.jsonl", std::string(100000, '[') + "\n"},
  };
  for (const auto& [name, content] : files) {
    const Finished finished = home.Run({"records", "import", lines, home.File(name, content), "--archive", archive});
    EXPECT_TRUE(finished.exit_code == 1 || finished.exit_code == 2) << name << " " << finished.exit_code;
    ExpectOneError(finished, finished.exit_code, name);
    EXPECT_FALSE(std::filesystem::exists(archive)) << name << " was imported in part";
  }
}

TEST_F(RecordsTest, AnArchiveThatIsNoneIsRefused) {
  const std::string garbage = home.File("garbage.sqlite", std::string(5000, 'x'));
  const Finished finished = home.Run({"records", "import", lines, "--archive", garbage});
  ExpectOneError(finished, finished.exit_code, "garbage.sqlite");
  EXPECT_NE(finished.exit_code, 0);
  EXPECT_EQ(*ReadFile(garbage), std::string(5000, 'x')) << "overwrote a file that was not its own";
  EXPECT_NE(home.Run({"records", "stats", "--archive", home.Path("")}).exit_code, 0);
}

TEST_F(RecordsTest, AReaderWhoHasSeenEnoughIsNoError) {
  const std::string pipe = home.Path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::thread reader([&] {
    const int fd = open(pipe.c_str(), O_RDONLY);  // waits for the program to open it, too
    close(fd);
  });
  const Finished finished = home.Run({"records", "list", lines, "--json"}, pipe);
  reader.join();
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.error, "");
}

TEST_F(RecordsTest, AFullDiskLosesNothingThatWasThere) {
  ExpectOneError(home.Run({"records", "list", lines, "--json"}, "/dev/full"), 1, "No space left");
  const std::string disk = home.Path("disk");
  std::filesystem::create_directories(disk);
  if (geteuid() != 0 || mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=192k") != 0) {
    GTEST_SKIP() << "a small disk can be mounted by root only";
  }
  const std::string on_disk = disk + "/archive.sqlite";
  const std::string many = home.File("many.jsonl", JsonLines(MadeUpTrials({256, 512, 4096}, 3000, kTn)));
  const Finished finished = home.Run({"records", "import", many, "--archive", on_disk});
  ExpectOneError(finished, 1, "archive.sqlite");
  ExpectOneError(home.Run({"records", "export", many, "-o", disk + "/all.jsonl"}), 1, "No space left");
  EXPECT_FALSE(std::filesystem::exists(disk + "/all.jsonl"));
  umount(disk.c_str());
}

TEST_F(RecordsTest, MeasuringWithoutAGpuNamesWhatIsMissing) {
  const Finished finished =
      home.Run({"records", "measure", "--shapes", "offgrid", "--plans", "all", "-o", home.Path("x.gsr")});
  if (finished.exit_code == 0) GTEST_SKIP() << "there is a GPU";
  ExpectOneError(finished, 3, "");
  ExpectOneError(
      home.Run({"records", "measure", "--shapes", "nowhere.txt", "--plans", "all", "-o", home.Path("x.gsr")}), 3,
      "nowhere.txt");
  EXPECT_EQ(home.Run({"records", "measure", "--shapes", "offgrid", "--plans", "all", "--device", "h200", "-o",
                      home.Path("x.gsr")})
                .exit_code,
            2);
}

}  // namespace
}  // namespace gemmsmith
