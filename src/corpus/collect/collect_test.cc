#include "corpus/collect/collect.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "corpus/collect/example_archives.h"
#include "corpus/collect/plain_text.h"
#include "corpus/collect/source_files.h"
#include "corpus/snippet.h"
#include "corpus/text_shards.h"

namespace gemmsmith {
namespace {

namespace fs = std::filesystem;

const std::string kMitTag = "// SPDX-License-Identifier: MIT\n";

class CollectTest : public testing::Test {
 protected:
  fs::path Path(const std::string& name) const { return folder_.path() / name; }
  void Write(const std::string& name, const std::string& content) const {
    fs::create_directories(Path(name).parent_path());
    std::ofstream(Path(name), std::ios::binary) << content;
  }
  Result<CollectSummary> Collect(std::vector<std::string> sources, const std::string& output = "out") {
    CollectOptions options{.sources = {}, .licenses = *LicenseChoice::Parse("permissive"), .shard_texts = 3};
    for (const std::string& source : sources) options.sources.push_back(Path(source));
    left_out_.clear();
    return CollectTexts(options, Path(output),
                        {.stop = stop_,
                         .watch = [&](int64_t texts) { kept_ = texts; },
                         .left_out = [&](std::string why) { left_out_.push_back(std::move(why)); }});
  }
  std::vector<Snippet> TextsIn(const std::string& output) const {
    std::vector<Snippet> texts;
    const std::vector<fs::path> shards = *TextShardsAt(Path(output));
    for (const fs::path& path : shards) {
      const SnippetShard shard = *ReadSnippets(path);
      texts.insert(texts.end(), shard.snippets.begin(), shard.snippets.end());
    }
    return texts;
  }
  std::vector<std::string> PathsIn(const std::string& output) const {
    std::vector<std::string> paths;
    for (const Snippet& snippet : TextsIn(output)) paths.push_back(snippet.path);
    return paths;
  }
  // Ten different files of a free tree.
  void WriteTree() const {
    Write("tree/LICENSE", "Permission is hereby granted, free of charge");
    for (int i = 0; i < 10; ++i)
      Write("tree/src/" + std::string(1, char('a' + i)) + ".cu", "int x" + std::to_string(i));
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("collect");
  std::function<bool()> stop_;
  int64_t kept_ = 0;
  std::vector<std::string> left_out_;
};

TEST_F(CollectTest, FilesKeepOriginAndLicence) {
  WriteTree();
  Write("tree/page.md", "# A page\n");
  Write("tree/other.py", "import x");
  Write("tree/nvidia.h", "// NOTICE TO LICENSEE:\n");
  const Result<CollectSummary> summary = Collect({"tree"});
  ASSERT_TRUE(summary.ok()) << summary.status().message();
  EXPECT_EQ(summary->texts, 11);
  EXPECT_EQ(summary->refused, (std::map<std::string, int64_t>{{"LicenseRef-NVIDIA", 1}}));
  const std::vector<Snippet> texts = TextsIn("out");
  ASSERT_EQ(texts.size(), 11u);
  EXPECT_EQ(texts[0].path, "page.md");
  EXPECT_EQ(texts[1].path, "src/a.cu");
  EXPECT_EQ(texts[1].source, "tree");
  EXPECT_EQ(texts[1].license, "MIT");
  EXPECT_EQ(texts[1].text, "int x0");
}

TEST_F(CollectTest, ArchivesAndTreesOfArchives) {
  const ExampleFiles files = {{"p/a.cu", "int a;"},
                              {"p/b.h", "int b;"},
                              {"p-1.dist-info/METADATA", "License: BSD-3-Clause\n"},
                              {"p-1.dist-info/RECORD", "p/a.cu,,\np/b.h,,\n"}};
  Write("wheels/p.whl", ExampleZip(files));
  Write("wheels/q.tar.gz", Gzipped(ExampleTar({{"q/a.cu", "int q;"}, {"q/LICENSE", "Apache License, Version 2.0"}})));
  ASSERT_EQ(Collect({"wheels"})->texts, 3);
  EXPECT_EQ(TextsIn("out")[0].license, "BSD-3-Clause");
  EXPECT_EQ(TextsIn("out")[2].license, "Apache-2.0");
  EXPECT_EQ(TextsIn("out")[2].source, "q.tar.gz");
}

TEST_F(CollectTest, NothingStandsTwice) {
  WriteTree();
  Write("tree/src/copy.cu", "int x3");
  EXPECT_EQ(Collect({"tree", "tree"})->duplicates, 12);
  const Result<CollectSummary> again = Collect({"tree"});
  EXPECT_EQ(again->texts, 10);
  EXPECT_EQ(again->found, 10);
  EXPECT_EQ(again->duplicates, 1);
}

TEST_F(CollectTest, AStoppedRunGoesOn) {
  WriteTree();
  stop_ = [&] { return kept_ == 5; };
  EXPECT_EQ(Collect({"tree"})->texts, 5);
  stop_ = nullptr;
  const Result<CollectSummary> rest = Collect({"tree"});
  EXPECT_EQ(rest->found, 5);
  EXPECT_EQ(rest->texts, 10);
  ASSERT_TRUE(Collect({"tree"}, "whole").ok());
  EXPECT_EQ(PathsIn("out"), PathsIn("whole"));
}

// Ctrl-C is heeded in the search for licences, and among files that are not collected.
TEST_F(CollectTest, AStopWaitsForNoCollectedFile) {
  ExampleFiles files;
  for (int i = 0; i < 10; ++i) files.emplace_back("a" + std::to_string(i) + ".py", "x");
  files.emplace_back("z.cu", kMitTag);
  for (const auto& [name, content] : files) Write("tree/" + name, content);
  Write("a.zip", ExampleZip(files));
  Write("a.tar", ExampleTar(files));
  for (const char* source : {"tree", "a.zip", "a.tar"}) {
    int asked = 0;
    stop_ = [&] { return ++asked > 3; };
    EXPECT_EQ(Collect({source}, std::string("out_") + source)->texts, 0) << source;
    EXPECT_EQ(asked, 4) << source;
    EXPECT_TRUE(left_out_.empty()) << left_out_[0];
  }
}

TEST_F(CollectTest, AMissingShardIsNoticedBeforeOthersAreOverwritten) {
  WriteTree();
  ASSERT_TRUE(Collect({"tree"}).ok());
  fs::remove(Path("out") / TextShardName(1));
  const std::vector<std::string> before = PathsIn("out");
  const Status status = Collect({"tree"}).status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("texts_00001.jsonl is missing, and texts_00002.jsonl is there"), std::string::npos);
  EXPECT_EQ(PathsIn("out"), before);
}

TEST_F(CollectTest, FurtherSourcesAddTheirs) {
  WriteTree();
  ASSERT_TRUE(Collect({"tree"}).ok());
  Write("more/a.cu", kMitTag);
  EXPECT_EQ(Collect({"more"})->texts, 11);
}

TEST_F(CollectTest, OtherLicencesNeedAnotherFolder) {
  WriteTree();
  ASSERT_TRUE(Collect({"tree"}).ok());
  const Status status =
      CollectTexts({.sources = {Path("tree")}, .licenses = *LicenseChoice::Parse("unknown")}, Path("out"), {}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("is of other texts (corpus collect --licenses permissive)"), std::string::npos);
}

TEST_F(CollectTest, HostileFilesCostOneLineEach) {
  WriteTree();
  Write("tree/big.cu", kMitTag + std::string(3 << 20, 'x'));
  Write("tree/binary.cu", kMitTag + std::string(1, '\0'));
  Write("tree/cut.whl", ExampleZip({{"a.cu", kMitTag}}).substr(0, 40));
  Write("tree/evil.zip", ExampleZip({{"../../etc/evil.cu", kMitTag}, {"/abs.cu", kMitTag}, {"fine.cu", kMitTag}}));
  Write("tree/latin.cu", kMitTag + "// \xa9 " + std::string(100, 'x'));
  fs::create_directory_symlink(Path("tree"), Path("tree/loop"));
  fs::create_symlink("/etc/passwd", Path("tree/passwd.h"));
  const Result<CollectSummary> summary = Collect({"tree"});
  ASSERT_TRUE(summary.ok()) << summary.status().message();
  EXPECT_EQ(summary->texts, 12);
  EXPECT_EQ(summary->left_out, 4);
  EXPECT_EQ(summary->unread, 1);
  ASSERT_EQ(left_out_.size(), 5u);
  const char* const kParts[] = {"big.cu: 3,145,760 bytes, and 2,097,152 are the most", "binary.cu: no text",
                                "cut.whl: no zip, or one without its end: load it again",
                                "evil.zip: '../../etc/evil.cu' leads out of the archive",
                                "evil.zip: '/abs.cu' leads out of the archive"};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_NE(left_out_[i].find(kParts[i]), std::string::npos) << left_out_[i];
    EXPECT_EQ(left_out_[i].find('\n'), std::string::npos);
  }
  EXPECT_NE(TextsIn("out").back().path, "passwd.h");
}

// A file of 200 MB that takes no room on the disk.
TEST_F(CollectTest, AHugeFileIsNotRead) {
  WriteTree();
  Write("tree/huge.cu", "");
  fs::resize_file(Path("tree/huge.cu"), 200 << 20);
  EXPECT_EQ(Collect({"tree"})->texts, 10);
  ASSERT_EQ(left_out_.size(), 1u);
  EXPECT_NE(left_out_[0].find("huge.cu: 209,715,200 bytes"), std::string::npos);
}

TEST_F(CollectTest, AHugeMetadataIsNotRead) {
  Write("tree/p/a.cu", "int a;");
  Write("tree/p-1.dist-info/METADATA", "License: MIT\n\n");
  Write("tree/p-1.dist-info/RECORD", "p/a.cu,,\n");
  EXPECT_EQ(Collect({"tree"}, "small")->texts, 1);
  fs::resize_file(Path("tree/p-1.dist-info/METADATA"), 200 << 20);
  EXPECT_EQ(Collect({"tree"})->refused, (std::map<std::string, int64_t>{{"unknown", 1}}));
}

TEST_F(CollectTest, ManyHalfPackagesAreNotAllKept) {
  ExampleFiles files = {{"p/a.cu", "int a;"}};
  const std::string metadata = "License: MIT\n\n" + std::string(2'000'000, ' ');
  for (int i = 0; i < 9; ++i) files.emplace_back("p" + std::to_string(i) + "-1.dist-info/METADATA", metadata);
  files.emplace_back("p0-1.dist-info/RECORD", "p/a.cu,,\n");
  Write("many.zip", ExampleZip(files));
  const Result<CollectSummary> summary = Collect({"many.zip"});
  EXPECT_EQ(summary->texts, 1);
  EXPECT_EQ(summary->unread, 1);
  ASSERT_EQ(left_out_.size(), 1u);
  EXPECT_NE(left_out_[0].find("over 16,777,216 bytes of METADATA and RECORD without the other"), std::string::npos);
}

TEST_F(CollectTest, MissingAndStrangeSourcesAreErrors) {
  EXPECT_EQ(Collect({"none"}).status().code(), StatusCode::kNotFound);
  Write("notes.txt", "x");
  EXPECT_EQ(Collect({"notes.txt"}).status().code(), StatusCode::kInvalidArgument);
  Write("page.html", "<p>x");
  EXPECT_TRUE(Collect({"page.html"}).ok());
}

TEST_F(CollectTest, OneWritesAtATime) {
  WriteTree();
  const Result<FileLock> other = FileLock::TryAcquire(Path("out/.lock"));
  ASSERT_TRUE(other.ok());
  const Status status = Collect({"tree"}).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("is held by process"), std::string::npos);
}

// The limit of a file's size stands for a full disk: a write ends in the middle.
TEST_F(CollectTest, AFullDiskLosesNothing) {
  WriteTree();
  ASSERT_TRUE(Collect({"tree"}).ok());
  const std::vector<std::string> before = PathsIn("out");
  Write("more/a.cu", kMitTag + std::string(100000, 'x'));
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{50000, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = Collect({"more"}).status();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(status.code(), StatusCode::kIoError);
  EXPECT_EQ(PathsIn("out"), before);
  EXPECT_EQ(Collect({"more"})->texts, 11);
}

TEST(PlainTextTest, RepairsAndRefuses) {
  EXPECT_EQ(PlainText("\xef\xbb\xbf"
                      "a\r\nb\rc"),
            "a\nb\nc");
  EXPECT_EQ(PlainText("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  const std::string text(100, 'x');
  EXPECT_EQ(PlainText(text + "\xff"), text + "\xef\xbf\xbd");
  EXPECT_EQ(PlainText(text + "\xed\xa0\x80"), text + "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(PlainText(text + "\xe2\x82"), text + "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(PlainText("ab\xff"), std::nullopt);
  EXPECT_EQ(PlainText(std::string("a\0b", 3)), std::nullopt);
}

}  // namespace
}  // namespace gemmsmith
