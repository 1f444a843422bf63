#include "corpus/collect/archive_files.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/files.h"
#include "corpus/collect/example_archives.h"

namespace gemmsmith {
namespace {

const ExampleFiles kFiles = {{"a.cu", "first"},
                             {"b/" + std::string(150, 'x') + ".h", std::string(3000, 'y')},
                             {"c/empty.h", ""},
                             {"c/last.cu", "last\n"}};

class ArchiveFilesTest : public testing::Test {
 protected:
  std::filesystem::path Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << bytes;  // without a sync: there are many
    return folder_.path() / name;
  }
  Status Read(const std::string& name, const std::string& bytes) {
    read_.clear();
    return ReadArchive(Write(name, bytes), {.wants = [](const std::string&, uint64_t size) { return size < 1 << 20; },
                                            .read =
                                                [this](const std::string& file, std::string content) {
                                                  read_.emplace_back(file, std::move(content));
                                                  return OkStatus();
                                                }});
  }
  // Every prefix is an error of one line, and what was read before it is sound.
  void ExpectEveryCutIsTold(const std::string& name, const std::string& bytes, size_t step) {
    for (size_t size = 0; size < bytes.size(); size += step) {
      const Status status = Read(name, bytes.substr(0, size));
      EXPECT_EQ(status.code(), StatusCode::kDataLoss) << size;
      EXPECT_EQ(status.message().find('\n'), std::string::npos);
      ASSERT_LE(read_.size(), kFiles.size());
      EXPECT_TRUE(std::equal(read_.begin(), read_.end(), kFiles.begin())) << size;
    }
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("archive_files");
  ExampleFiles read_;
};

TEST_F(ArchiveFilesTest, EveryKindGivesItsFiles) {
  for (const auto& [name, bytes] :
       {std::pair("a.zip", ExampleZip(kFiles)), std::pair("a.whl", ExampleZip(kFiles)),
        std::pair("a.tar", ExampleTar(kFiles)), std::pair("a.tar.gz", Gzipped(ExampleTar(kFiles)))}) {
    const Status status = Read(name, bytes);
    EXPECT_TRUE(status.ok()) << name << ": " << status.message();
    EXPECT_EQ(read_, kFiles) << name;
  }
}

TEST_F(ArchiveFilesTest, NamesByPax) {
  const std::string name = "p/" + std::string(200, 'q') + ".h";
  const std::string body = " path=" + name + "\n";
  const std::string record = std::to_string(body.size() + 3) + body;
  EXPECT_TRUE(
      Read("a.tar", TarBlocks("x", record, 'x') + TarBlocks("p/short", "text", '0') + std::string(1024, '\0')).ok());
  EXPECT_EQ(read_, (ExampleFiles{{name, "text"}}));
}

TEST_F(ArchiveFilesTest, EveryCutIsTold) {
  ExpectEveryCutIsTold("a.zip", ExampleZip(kFiles), 7);
  ExpectEveryCutIsTold("a.tar", ExampleTar(kFiles).substr(0, ExampleTar(kFiles).size() - 1024), 61);
  ExpectEveryCutIsTold("a.tar.gz", Gzipped(ExampleTar(kFiles)), 7);
}

TEST_F(ArchiveFilesTest, ADamagedFileOfAZipIsNamedAndTheOthersAreRead) {
  std::string bytes = ExampleZip(kFiles);
  bytes[bytes.find("first")] = 'F';
  const Status status = Read("a.zip", bytes);
  EXPECT_EQ(status.message(), "a.cu in it is damaged: load it again");
  EXPECT_EQ(read_, ExampleFiles(kFiles.begin() + 1, kFiles.end()));
}

// Whatever byte is flipped, no content is wrong that is not told as damaged.
TEST_F(ArchiveFilesTest, FlippedBytesEndInOneLine) {
  const std::string zip = ExampleZip(kFiles), tar = Gzipped(ExampleTar(kFiles));
  for (size_t i = 0; i < zip.size(); ++i) {
    std::string bytes = zip;
    bytes[i] = char(~bytes[i]);
    EXPECT_EQ(Read("a.zip", bytes).message().find('\n'), std::string::npos) << i;
  }
  for (size_t i = 0; i < tar.size(); ++i) {
    std::string bytes = tar;
    bytes[i] = char(~bytes[i]);
    EXPECT_EQ(Read("a.tar.gz", bytes).message().find('\n'), std::string::npos) << i;
  }
}

TEST_F(ArchiveFilesTest, LinksAreNoFiles) {
  EXPECT_TRUE(Read("a.tar", TarBlocks("evil.h", "", '2') + TarBlocks("a.h", "a", '0') + std::string(1024, '\0')).ok());
  EXPECT_EQ(read_, (ExampleFiles{{"a.h", "a"}}));
}

TEST_F(ArchiveFilesTest, TheReadersFailureEndsTheReading) {
  int files = 0;
  const Status status = ReadArchive(
      Write("a.zip", ExampleZip(kFiles)),
      {.wants = [](const std::string&, uint64_t) { return true; },
       .read = [&](const std::string&, std::string) { return ++files == 2 ? Interrupted("enough") : OkStatus(); }});
  EXPECT_EQ(status.message(), "enough");
  EXPECT_EQ(files, 2);
}

TEST(SafePathTest, LeadsNowhereElse) {
  for (const char* path : {"a.h", "a/b.h", "a/..b/c"}) EXPECT_TRUE(IsSafePath(path)) << path;
  for (const char* path : {"", "/etc/passwd", "../a", "a/../../b", "a//b", "a\\..\\b", "a/..", "a\nb"})
    EXPECT_FALSE(IsSafePath(path)) << path;
}

}  // namespace
}  // namespace gemmsmith
