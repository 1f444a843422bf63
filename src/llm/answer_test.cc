#include "llm/answer.h"

#include <gtest/gtest.h>

#include <vector>

namespace gemmsmith {
namespace {

const std::vector<std::string> kShown = {"int a;\nint b;\nint a2;\n", "int b;\nint c;\nint b;\n"};

std::string WhyNot(std::string_view text) {
  const Result<WrittenAnswer> answer = ReadAnswer(text, kShown);
  return answer.ok() ? "" : answer.status().message();
}

TEST(WrittenAnswer, AWholeFileHasThreeParts) {
  const Result<WrittenAnswer> answer = ReadAnswer(
      "## Performance analysis\nKernel 1 is faster.\n\n## Design\nMore stages.\n## Code\n```cuda\n"
      "#include <mma.h>\nextern \"C\" const char gemmsmith_descriptor_v1[] = \"x\";\n```\nDone.\n",
      kShown);
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(answer->analysis, "Kernel 1 is faster.");
  EXPECT_EQ(answer->design, "More stages.");
  EXPECT_EQ(answer->source, "#include <mma.h>\nextern \"C\" const char gemmsmith_descriptor_v1[] = \"x\";\n");
  EXPECT_EQ(answer->edits, 0);
}

TEST(WrittenAnswer, ThoughtsBeforeTheAnswerAreLeftOut) {
  const Result<WrittenAnswer> answer = ReadAnswer(
      "<think>```\ngemmsmith_descriptor_v1 first\n```</think>\n```\ngemmsmith_descriptor_v1 second\n```\n", kShown);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->source, "gemmsmith_descriptor_v1 second\n");
}

TEST(WrittenAnswer, TheLastWholeFileCounts) {
  const Result<WrittenAnswer> answer =
      ReadAnswer("```\ngemmsmith_descriptor_v1 1\n```\n```\ngemmsmith_descriptor_v1 2\n```\n```\nls\n```\n", kShown);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->source, "gemmsmith_descriptor_v1 2\n");
}

TEST(WrittenAnswer, EditsAreOfTheFirstKernelUnlessAnotherIsNamed) {
  const std::string edit = "<<<<<<< SEARCH\nint b;\n=======\nlong b;\n>>>>>>> REPLACE\n";
  EXPECT_EQ(ReadAnswer(edit, kShown)->source, "int a;\nlong b;\nint a2;\n");
  EXPECT_EQ(ReadAnswer("Edits of kernel 2\n<<<<<<< SEARCH\nint c;\n=======\n>>>>>>> REPLACE\n", kShown)->source,
            "int b;\nint b;\n");
  EXPECT_EQ(ReadAnswer(edit + edit, kShown).status().message(),
            "edit 2 searches for lines that the kernel does not have: \"int b;\"");
}

TEST(WrittenAnswer, WhatCannotBeReadSaysWhy) {
  EXPECT_EQ(WhyNot(""), "there is no code between lines of ```, and no edit");
  EXPECT_EQ(WhyNot("```\nint x;\n```\n"),
            "no code between lines of ``` defines gemmsmith_descriptor_v1, and there is no edit");
  EXPECT_EQ(WhyNot("```\ngemmsmith_descriptor_v1"), "the code does not end with a line of ```");
  EXPECT_EQ(WhyNot("<<<<<<< SEARCH\nint a;\n"), "the last edit does not end with >>>>>>> REPLACE");
  EXPECT_EQ(WhyNot("<<<<<<< SEARCH\nint a;\n>>>>>>> REPLACE\n"),
            ">>>>>>> REPLACE without <<<<<<< SEARCH and ======= before it");
  EXPECT_EQ(WhyNot("<<<<<<< SEARCH\n\n=======\nint d;\n>>>>>>> REPLACE\n"), "edit 1 searches for nothing");
  EXPECT_EQ(WhyNot("Edits of kernel 2\n<<<<<<< SEARCH\nint b;\n=======\n>>>>>>> REPLACE\n"),
            "edit 1 searches for lines that the kernel has more than once");
  for (const char* number : {"0", "3", "x", "99999999999999999999999"})
    EXPECT_NE(WhyNot(std::string("Edits of kernel ") + number + "\n<<<<<<< SEARCH\nint b;\n=======\n>>>>>>> REPLACE\n")
                  .find("2 were shown"),
              std::string::npos)
        << number;
}

}  // namespace
}  // namespace gemmsmith
