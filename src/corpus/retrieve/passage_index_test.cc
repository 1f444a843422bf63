#include "corpus/retrieve/passage_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/files.h"
#include "base/text.h"
#include "corpus/clean/clean.h"
#include "corpus/retrieve/search_terms.h"

namespace gemmsmith {
namespace {

namespace fs = std::filesystem;

using Terms = std::vector<std::string>;

TEST(SearchTermsTest, IdentifiersAreCut) {
  EXPECT_EQ(SearchTerms("loadTile_async"), (Terms{"load", "til", "async", "loadtile_async"}));
  EXPECT_EQ(SearchTerms("HTTPServer, sm_90a"), (Terms{"http", "server", "httpserver", "sm", "90a", "sm_90a"}));
  EXPECT_EQ(SearchTerms("cp.async __syncthreads()"), (Terms{"cp", "async", "syncthread"}));
}

TEST(SearchTermsTest, EndingsAndSilentWordsDoNotCount) {
  EXPECT_EQ(SearchTerms("how are kernels compiled"), SearchTerms("a kernel to compile"));
  EXPECT_EQ(SearchTerms("stopping"), SearchTerms("stopped"));
  EXPECT_EQ(SearchTerms("entries"), SearchTerms("entry"));
  EXPECT_NE(SearchTerms("bus"), SearchTerms("bu"));
  EXPECT_TRUE(SearchTerms(" ,;  ").empty());
}

std::vector<uint32_t> Found(const PassageIndex& index, const char* question, size_t count) {
  std::vector<uint32_t> passages;
  for (const PassageIndex::Hit& hit : index.Find(question, count, [](uint32_t) { return true; }))
    passages.push_back(hit.passage);
  return passages;
}

TEST(PassageIndexTest, RareWordsAndTitlesCountMost) {
  PassageIndex index;
  index.Add("", "a kernel that copies a tile");
  index.Add("", "a kernel that adds");
  index.Add("reduction", "a kernel");
  index.Add("", "a reduction of a kernel, and much else that is said here at length about it");
  EXPECT_EQ(Found(index, "tile kernel", 1), (std::vector<uint32_t>{0}));
  EXPECT_EQ(Found(index, "reduction", 4), (std::vector<uint32_t>{2, 3}));
  EXPECT_TRUE(Found(index, "nothing of it", 4).empty());
  EXPECT_EQ(index.Find("kernel", 4, [](uint32_t passage) { return passage == 1; }).size(), 1u);
}

TEST(PassageIndexTest, AnEmptyIndexFindsNothing) { EXPECT_TRUE(Found(PassageIndex(), "kernel", 3).empty()); }

// The sections of this project's pages: "page.md | heading".
class QuestionsTest : public testing::Test {
 protected:
  QuestionsTest() {
    std::set<fs::path> pages;
    for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(GEMMSMITH_SOURCE_DIR) / "docs"))
      if (entry.path().extension() == ".md") pages.insert(entry.path());
    for (const fs::path& page : pages)
      for (const Snippet& section : CutFile({.text = *ReadFile(page), .path = page.filename().string()})) {
        if (section.kind != SnippetKind::kSection) continue;
        index_.Add(section.title, section.text);
        const size_t heading = section.title.rfind(" > ");
        names_.push_back(section.path + " | " + section.title.substr(heading == std::string::npos ? 0 : heading + 3));
      }
  }

  // How many of 50.
  int CountRight(const std::string& file) {
    const std::string text = *ReadFile(fs::path(GEMMSMITH_SOURCE_DIR) / "src/corpus/retrieve" / file);
    int questions = 0, right = 0;
    for (const ListLine& line : ListLines(text)) {
      const size_t bar = line.text.rfind(" | ");
      const std::string wanted(line.text.substr(0, bar)), question(line.text.substr(bar + 3));
      EXPECT_NE(std::ranges::find(names_, wanted), names_.end())
          << file << ":" << line.number << ": no section '" << wanted << "': name the one that answers now";
      const std::vector<uint32_t> found = Found(index_, question.c_str(), 1);
      const bool is_right = !found.empty() && names_[found[0]] == wanted;
      if (!is_right) wrong_ += question + ": " + (found.empty() ? "nothing" : names_[found[0]]) + "\n";
      right += is_right ? 1 : 0;
      ++questions;
    }
    EXPECT_EQ(questions, 50);
    RecordProperty("right", right);
    return right;
  }

  PassageIndex index_;
  std::vector<std::string> names_;
  std::string wrong_;
};

TEST_F(QuestionsTest, FourOfFiveHaveTheirSectionFirst) { EXPECT_GE(CountRight("questions.txt"), 40) << wrong_; }

// Words alone find no more.
TEST_F(QuestionsTest, HalfOfThoseInOtherWordsDo) { EXPECT_GE(CountRight("paraphrases.txt"), 24) << wrong_; }

}  // namespace
}  // namespace gemmsmith
