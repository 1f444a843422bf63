#include "corpus/text_samples.h"

#include <gtest/gtest.h>

#include "base/files.h"

namespace gemmsmith {
namespace {

TEST(TextSamples, AreReadAsTheyWereWritten) {
  const TemporaryFolder folder = *TemporaryFolder::Create("text-samples");
  const std::vector<TextSample> samples = {{"int a;\n", {{64, 128, 256}, {}}, 3, -0.5, true},
                                           {"int b", {{8, 8, 8}, {.layout = kTn}}, 2, -1.25, false}};
  ASSERT_TRUE(WriteSamples(samples, folder.path()).ok());
  const Result<std::vector<TextSample>> read = ReadSamples(folder.path());
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, samples);
}

TEST(TextSamples, DamageIsNamedWithItsLine) {
  const TemporaryFolder folder = *TemporaryFolder::Create("text-samples");
  ASSERT_TRUE(
      WriteSamples({{"a", {{8, 8, 8}, {}}, 1, -1, true}, {"b", {{8, 8, 8}, {}}, 1, -1, true}}, folder.path()).ok());
  const std::filesystem::path lines = folder.path() / "samples.jsonl";
  const std::string whole = *ReadFile(lines);
  ASSERT_TRUE(WriteFileAtomic(lines, whole.substr(0, whole.size() - 5)).ok());
  EXPECT_NE(ReadSamples(folder.path()).status().message().find("samples.jsonl:2: the line is no JSON object"),
            std::string::npos);
  ASSERT_TRUE(WriteFileAtomic(lines, whole).ok());
  std::filesystem::remove(folder.path() / SampleFile(1));
  EXPECT_NE(ReadSamples(folder.path()).status().message().find("kernel_00001.cu"), std::string::npos);
  EXPECT_EQ(ReadSamples(folder.path() / "none").status().code(), StatusCode::kNotFound);
}

TEST(TextSamples, AFailedRunLeavesNoListOfAnEarlierOne) {
  const TemporaryFolder folder = *TemporaryFolder::Create("text-samples");
  const std::vector<TextSample> before(2, {"a", {{8, 8, 8}, {}}, 1, -1, true});
  ASSERT_TRUE(WriteSamples(before, folder.path()).ok());
  std::filesystem::remove(folder.path() / SampleFile(1));
  std::filesystem::create_directories(folder.path() / SampleFile(1) / "in the way");
  EXPECT_FALSE(WriteSamples(std::vector<TextSample>(2, {"b", {{16, 16, 16}, {}}, 1, -1, true}), folder.path()).ok());
  EXPECT_EQ(ReadSamples(folder.path()).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(WriteSamples({}, folder.path() / "new").ok());
}

}  // namespace
}  // namespace gemmsmith
