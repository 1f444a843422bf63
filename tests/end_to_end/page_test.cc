// The page that `report --html` writes: by its text, and in a browser where there is one.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/end_to_end/browser.h"
#include "tests/end_to_end/program.h"

namespace gemmsmith {
namespace {

const std::string kSmall = GEMMSMITH_DATA "/h200/baselines";
const std::string kWholeGrid = GEMMSMITH_DATA "/h200/paper1000";
constexpr size_t kLargestPage = 5'000'000;

nlohmann::json DataOf(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const size_t at = page.find(begin) + begin.size();
  return Parsed(page.substr(at, page.find("</script>", at) - at));
}

// What wins and clear wins a column's verdicts add up to.
std::pair<int, int> WinsOf(const nlohmann::json& verdicts) {
  int wins = 0, clear = 0;
  for (const nlohmann::json& verdict : verdicts) {
    if (verdict.is_null()) continue;
    wins += verdict > 0;
    clear += verdict == 2;
  }
  return {wins, clear};
}

class PageTest : public testing::Test {
 protected:
  std::string PageOf(const Words& words) const {
    Words all = {"report", "--html", path_};
    all.insert(all.end(), words.begin(), words.end());
    const Finished finished = home.Run(all);
    EXPECT_EQ(finished.exit_code, 0) << finished.error;
    EXPECT_NE(finished.out.find(path_), std::string::npos) << finished.out;
    return ReadFile(path_).ok() ? *ReadFile(path_) : "";
  }

  // What a user without an archive gets.
  std::string PageOfShippedRecords() const {
    std::filesystem::create_directories(home.Path("records"));
    std::filesystem::create_directory_symlink(GEMMSMITH_DATA "/h200", home.Path("records/h200"));
    return PageOf({});
  }

  Home home;
  const std::string path_ = home.Path("page.html");
};

TEST_F(PageTest, LoadsNothingFromElsewhere) {
  const std::string page = PageOf({kSmall});
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  for (const char* load : {" src=", "@import", "url(", "<iframe", "<object", "<embed"})
    EXPECT_EQ(page.find(load), std::string::npos) << load;
  EXPECT_EQ(Occurrences(page, "<link"), 1);
  EXPECT_EQ(Occurrences(page, "<link rel=\"icon\" href=\"data:,\">"), 1);
  // Names of namespaces, and where the plotting library comes from in its first line.
  const int names = Occurrences(page, "http://www.w3.org/") + Occurrences(page, "https://d3js.org");
  EXPECT_EQ(Occurrences(page, "http://") + Occurrences(page, "https://"), names);
}

TEST_F(PageTest, CarriesTheLicenceOfWhatItDrawsWith) {
  EXPECT_NE(PageOf({kSmall}).find("Redistribution and use in source and binary forms"), std::string::npos);
}

TEST_F(PageTest, HoldsWhatTheRecordHolds) {
  const nlohmann::json data = DataOf(PageOf({kSmall}));
  const nlohmann::json report = Parsed(home.Run({"report", kSmall, "--json"}).out);
  EXPECT_EQ(data["report"], report);
  EXPECT_EQ(data["shapes"]["m"].size(), report["shapes"]);
  for (const auto& [mode, rows] : report["modes"].items()) {
    for (const auto& [name, statistics] : rows.items()) {
      const auto [wins, clear] = WinsOf(data["modes"][mode]["rows"][name]["verdict"]);
      EXPECT_EQ(wins, statistics["wins"]) << mode << " " << name;
      EXPECT_EQ(clear, statistics["clear_wins"]) << mode << " " << name;
    }
  }
}

TEST_F(PageTest, OfTheWholeGridIsSmall) {
  const std::string page = PageOf({kWholeGrid});
  EXPECT_LT(page.size(), kLargestPage);
  const nlohmann::json data = DataOf(page);
  EXPECT_EQ(data["shapes"]["m"].size(), 1000u);
  EXPECT_TRUE(data["history"]["shape"].empty());
}

TEST_F(PageTest, OfTheShippedSearchesIsSmallAndWhole) {
  const std::string page = PageOfShippedRecords();
  EXPECT_LT(page.size(), kLargestPage);
  const nlohmann::json data = DataOf(page);
  EXPECT_EQ(data["shapes"]["m"].size(), 1000u);
  EXPECT_EQ(data["class_table"]["rows"].size(), 7u);
  EXPECT_EQ(data["history"]["protocol"], "screen");
  EXPECT_GT(data["report"]["dispatched"]["products"], 1000);
}

TEST_F(PageTest, NeedsNothingToCompare) {
  std::vector<Trial> trials = MadeUpTrials({64, 64, 64}, 10, kTn);
  for (Trial& trial : trials) {
    trial.outcome.comparisons.clear();
    std::erase_if(trial.outcome.timings, [](const Timing& timing) { return timing.contender != "ours"; });
  }
  const std::string lines = home.File("ours.jsonl", JsonLines(trials));
  const nlohmann::json data = DataOf(PageOf({lines}));
  EXPECT_TRUE(data["report"].is_null());
  EXPECT_EQ(data["history"]["candidates"], nlohmann::json::array({10}));
  ExpectOneError(home.Run({"report", lines, "--html", path_, "--against", "lt_auto_max"}), 3, "no baseline");
}

TEST_F(PageTest, WrongWordsAndFullDisksAreOneLine) {
  ExpectOneError(home.Run({"report", kSmall, "--html", path_, "--summary"}), 2, "leave out");
  ExpectOneError(home.Run({"report", kSmall, "--html", path_, "--output", path_}), 2, "leave out");
  ExpectOneError(home.Run({"report", kSmall, "--html", "/proc/nothing/page.html"}), 1, "/proc/nothing");
}

class BrowserTest : public PageTest {
 protected:
  void SetUp() override {
    if (!Browser::Find()) GTEST_SKIP() << Browser::kLacking;
  }

  std::string Drawn(const std::string& fragment) const {
    return Browser::Find()->Drawn(home, "file://" + path_ + fragment);
  }
  // With a reader's script behind the page's own.
  std::string DrawnFor(const std::string& page, const std::string& reader) const {
    return Browser::Find()->Drawn(home, "file://" + home.File("read.html", page + "<script>" + reader + "</script>"));
  }
};

// Clicks every head of the tables, those of the summary too; the root element tells how many titles repeat, and how
// many clicks went astray.
constexpr const char* kSorter = R"js(
let repeated = 0, astray = 0;
for (const row of document.querySelectorAll("#summary thead tr, #tables thead tr")) {
  const titles = [...row.cells].map((head) => head.textContent);
  repeated += titles.length - new Set(titles).size;
  for (const head of row.cells) {
    head.querySelector("button").click();
    astray += head.ariaSort === null || row.querySelectorAll("[aria-sort]").length !== 1;
  }
}
Object.assign(document.documentElement.dataset, {repeated, astray});
)js";

// Writes into the shapes' filter; the root element tells whether all spellings showed the same rows, and not every row.
constexpr const char* kFilterer = R"js(
const filter = document.querySelector("#shapes input");
const trouble = () => document.querySelector("#shapes .trouble").textContent;
function shownBy(text) {
  filter.value = text;
  filter.dispatchEvent(new Event("input"));
  return [...document.querySelectorAll("#shapes tbody tr:not([hidden])")].map((row) => row.cells[0].textContent).join();
}
const mostK = Math.max(...shapes.map((shape) => shape.k));
const all = shownBy(""), plain = shownBy(`k>=${mostK}`);
const spellings = [`k >= ${mostK}`, `K>=${mostK}.0`, `k>= ${mostK / 1000}e3`, `k >=${mostK} volume > 1E0`];
document.documentElement.dataset.same =
  String(plain !== "" && plain !== all && spellings.every((text) => shownBy(text) === plain && trouble() === ""));
document.documentElement.dataset.none = String(shownBy("m>0 k!=64") === "");
)js";

TEST_F(BrowserTest, DrawsEverySection) {
  const nlohmann::json data = DataOf(PageOf({kSmall}));
  const std::string page = Drawn("");
  ExpectDrawn(page);
  for (const char* section :
       {"summary", "figure1", "figure3", "heat", "roofline", "search", "patterns", "tables", "shapes"})
    EXPECT_EQ(Occurrences(page, "<section id=\"" + std::string(section) + "\""), 1) << section;
  EXPECT_GT(Occurrences(page, "<tr"), int(data["shapes"]["m"].size()));
  EXPECT_GT(Occurrences(page, "<circle"), int(data["shapes"]["m"].size()));
  EXPECT_NE(page.find("Not measured in these records"), std::string::npos);
}

TEST_F(BrowserTest, DrawsThePageOfAShape) {
  const nlohmann::json shapes = DataOf(PageOf({kSmall}))["shapes"];
  const std::string name = shapes["m"][0].dump() + "x" + shapes["n"][0].dump() + "x" + shapes["k"][0].dump();
  const std::string page = Drawn("#" + name);
  ExpectDrawn(page);
  EXPECT_NE(page.find("<h2>" + name + "</h2>"), std::string::npos);
  EXPECT_NE(page.find("Speed-ups"), std::string::npos);
  EXPECT_NE(page.find("clock of the GPU"), std::string::npos);
}

TEST_F(BrowserTest, SortsByTheColumnThatIsClicked) {
  const std::string page = DrawnFor(PageOf({kWholeGrid}), kSorter);
  ExpectDrawn(page);
  EXPECT_NE(page.find("data-repeated="), std::string::npos);
  EXPECT_EQ(page.find("data-repeated=\"0\""), std::string::npos) << "no title stands twice in a table";
  EXPECT_NE(page.find("data-astray=\"0\""), std::string::npos);
}

TEST_F(BrowserTest, LeavesOutIntervalsWhereNoneIsKnown) {
  PageOf({kSmall});
  EXPECT_EQ(Occurrences(Drawn(""), ">95 % interval<"), 1) << "of the shapes";
  PageOf({kWholeGrid});
  EXPECT_EQ(Occurrences(Drawn(""), ">95 % interval<"), 2) << "and of AutoTuning's slower choices";
}

TEST_F(BrowserTest, ReadsComparisonsOrSaysThatItCannot) {
  const std::string page = DrawnFor(PageOf({kSmall}), kFilterer);
  ExpectDrawn(page);
  EXPECT_NE(page.find("data-same=\"true\""), std::string::npos);
  EXPECT_NE(page.find("data-none=\"true\""), std::string::npos);
  EXPECT_NE(page.find("cannot read 'k!=64'; write m, n, k, volume or speedup with"), std::string::npos);
}

TEST_F(BrowserTest, SaysWhichShapeWasNotMeasured) {
  PageOf({kSmall});
  const std::string said = "12288x12288x16384 was not measured";
  const std::string unmeasured = Drawn("#12288x12288x16384");
  ExpectDrawn(unmeasured);
  EXPECT_NE(unmeasured.find(said), std::string::npos);
  for (const char* fragment : {"#%E0%A4%A", "#nothing"}) {
    const std::string page = Drawn(fragment);
    ExpectDrawn(page);
    EXPECT_EQ(page.find("was not measured"), std::string::npos) << fragment;
    EXPECT_EQ(Occurrences(page, "<section id=\"summary\""), 1) << fragment;
  }
}

TEST_F(BrowserTest, SaysWhatRecordsLack) {
  PageOf({home.File("trials.jsonl", JsonLines(MadeUpTrials({64, 64, 64}, 2, kTn)))});
  const std::string page = Drawn("");
  ExpectDrawn(page);
  EXPECT_NE(page.find("so there is no search to draw"), std::string::npos);
  EXPECT_NE(page.find("Nothing here is strong enough for a sentence"), std::string::npos);
}

TEST_F(BrowserTest, DrawsThePatternsOfTheRecordedSpace) {
  const nlohmann::json patterns = DataOf(PageOf({GEMMSMITH_DATA "/h200", "--shapes", "all"}))["patterns"];
  const std::string page = Drawn("");
  ExpectDrawn(page);
  EXPECT_FALSE(patterns["sentences"].empty());
  EXPECT_EQ(Occurrences(page, "<li>"), int(patterns["sentences"].size()));
  EXPECT_NE(page.find("wgmma tile_n over"), std::string::npos);
  EXPECT_NE(page.find("aria-label=\"what techniques are worth\""), std::string::npos);
}

// Chooses every clock in the dark; the root element tells whether that is darker, and how many marks of Figure 3 lie
// beside it.
constexpr const char* kChooser = R"js(
const brightness = () => getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).slice(0, 3).reduce((a, b) => a + +b, 0);
const buttonNamed = (name) => [...document.querySelectorAll("#controls button")].find((button) => button.textContent === name);
const light = brightness();
buttonNamed("dark").click();
const darker = light - brightness();
let beside = 0, drawn = 0;
for (const mode of modes) {
  buttonNamed(mode).click();
  const frame = document.querySelector("#figure3 svg").getBoundingClientRect();
  for (const mark of document.querySelectorAll("#figure3 svg circle")) {
    const box = mark.getBoundingClientRect();
    ++drawn;
    beside += box.right > frame.right || box.left < frame.left || box.top < frame.top || box.bottom > frame.bottom;
  }
}
Object.assign(document.documentElement.dataset, {darker: darker > 200, beside, drawn: drawn > 3000});
)js";

TEST_F(BrowserTest, DrawsTheShippedSearchesOnEveryClockAndInTheDark) {
  const std::string page = DrawnFor(PageOfShippedRecords(), kChooser);
  ExpectDrawn(page);
  EXPECT_NE(page.find("data-darker=\"true\""), std::string::npos);
  EXPECT_NE(page.find("data-drawn=\"true\""), std::string::npos);
  EXPECT_NE(page.find("data-beside=\"0\""), std::string::npos) << page.substr(page.find("data-beside"), 30);
  EXPECT_NE(page.find("has in a later one, over 1,"), std::string::npos);
  EXPECT_NE(page.find("over the floor, in the mean: ours 1."), std::string::npos);
}

TEST_F(BrowserTest, Prints) {
  PageOf({kSmall});
  const std::string pdf = Browser::Find()->Printed(home, "file://" + path_);
  EXPECT_TRUE(pdf.starts_with("%PDF-")) << pdf.substr(0, 20);
  EXPECT_GE(Occurrences(pdf, "/Type /Page\n"), 3);
}

TEST_F(BrowserTest, DrawsTheWholeGrid) {
  PageOf({kWholeGrid});
  const std::string page = Drawn("");
  ExpectDrawn(page);
  EXPECT_NE(page.find("No patterns to tell: no plan of ours"), std::string::npos);
  EXPECT_GE(Occurrences(page, "<tr"), 1000);
}

}  // namespace
}  // namespace gemmsmith
