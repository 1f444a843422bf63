// One owner: only a family's folder names its axes, and only program/families.cc includes a family's folder.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gemmsmith {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFamilyFolders[] = {"src/program/direct/", "src/program/wgmma/"};
constexpr std::string_view kFamilies = "src/program/families.cc";

// A policy's words are older than some values, so their list names axes.
constexpr std::string_view kNamesAxes[] = {"src/device/", "src/policy/spoken.cc"};

struct Exemption {
  std::string_view file, name;
};
constexpr Exemption kExemptions[] = {
    {"src/problem/grids.cc", "store"},  // a class of shapes
};

std::vector<std::string> LinesOf(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The names in an axis table: lines with `.name = "tile_m"`.
std::set<std::string> AxisNames(const fs::path& root) {
  static const std::regex kName(R"re(\.name = "([a-z_]+)")re");
  std::set<std::string> names;
  for (const std::string_view folder : kFamilyFolders)
    for (const fs::directory_entry& entry : fs::directory_iterator(root / folder))
      for (const std::string& line : LinesOf(entry.path()))
        for (std::sregex_iterator found(line.begin(), line.end(), kName), end; found != end; ++found)
          names.insert((*found)[1]);
  return names;
}

// The texts in quotes on a line, up to a comment.
std::vector<std::string> Quoted(const std::string& line) {
  std::vector<std::string> texts;
  size_t begin = std::string::npos;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool is_inside = begin != std::string::npos;
    if (!is_inside && line.compare(i, 2, "//") == 0) break;
    if (is_inside && line[i] == '\\')
      ++i;
    else if (line[i] == '"' && is_inside)
      texts.push_back(line.substr(begin, i - begin)), begin = std::string::npos;
    else if (line[i] == '"')
      begin = i + 1;
  }
  return texts;
}

bool StartsWithAny(std::string_view text, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return text.starts_with(prefix); });
}

// Tests and their fixtures use plans as examples.
bool IsOfTests(const fs::path& path) {
  const std::string stem = path.stem().string();
  return stem.ends_with("_test") || stem.ends_with("_fuzz") || stem.ends_with("_fixture") || stem == "fakes" ||
         stem.starts_with("example_");
}

bool IsExempt(std::string_view file, std::string_view name) {
  return std::ranges::any_of(kExemptions, [&](const Exemption& one) { return one.file == file && one.name == name; });
}

bool IncludesAFamily(const std::string& line) {
  return line.starts_with("#include \"program/direct/") || line.starts_with("#include \"program/wgmma/");
}

// One line a violation: "src/report/page.cc:12: names the axis tile_m".
std::vector<std::string> Violations(const fs::path& root) {
  const std::set<std::string> names = AxisNames(root);
  std::vector<std::string> violations;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "src")) {
    const std::string file = fs::relative(entry.path(), root).generic_string();
    if (!entry.is_regular_file() || IsOfTests(entry.path()) || StartsWithAny(file, kFamilyFolders)) continue;
    int number = 0;
    for (const std::string& line : LinesOf(entry.path())) {
      const std::string place = file + ":" + std::to_string(++number) + ": ";
      if (IncludesAFamily(line) && file != kFamilies) violations.push_back(place + "includes a family");
      if (StartsWithAny(file, kNamesAxes)) continue;
      for (const std::string& text : Quoted(line))
        if (names.contains(text) && !IsExempt(file, text)) violations.push_back(place + "names the axis " + text);
    }
  }
  std::ranges::sort(violations);
  return violations;
}

TEST(AxisNames, AreReadFromBothFamilies) {
  const std::set<std::string> names = AxisNames(GEMMSMITH_SOURCE_DIR);
  EXPECT_GT(names.size(), 20u);
  EXPECT_TRUE(names.contains("warps_k") && names.contains("warpgroups"));
}

TEST(AxisNames, StandInTheirFamilyOnly) {
  std::string all;
  for (const std::string& violation : Violations(GEMMSMITH_SOURCE_DIR)) all += violation + "\n";
  EXPECT_EQ(all, "");
}

TEST(AxisNames, EveryExemptionIsUsed) {
  for (const auto& [file, name] : kExemptions) {
    std::set<std::string> quoted;
    for (const std::string& line : LinesOf(fs::path(GEMMSMITH_SOURCE_DIR) / file))
      for (const std::string& text : Quoted(line)) quoted.insert(text);
    EXPECT_TRUE(quoted.contains(std::string(name))) << file << " does not name " << name;
  }
}

// A small tree with two axes. Each test plants one violation.
class PlantedAxisName : public testing::Test {
 protected:
  PlantedAxisName() : root_(fs::temp_directory_path() / ("axis_names." + std::to_string(getpid()))) {
    fs::remove_all(root_);
    Write("src/program/direct/direct_plan.cc", "{.name = \"chunks\", .role = 1},");
    Write("src/program/wgmma/wgmma_axes.cc", "{.name = \"raster\",");
    Write("src/program/families.cc", "#include \"program/wgmma/wgmma_family.h\"");
    Write("src/report/page.cc", "// \"raster\" in a comment\nPut(\"raster of tiles\");  // chunks \"chunks\"");
    Write("src/report/page_test.cc", "#include \"program/wgmma/wgmma_plan.h\"\nplan.Set(\"raster\", 1);");
    Write("src/policy/spoken.cc", "{\"wgmma\", \"raster\"}");
  }
  ~PlantedAxisName() override { fs::remove_all(root_); }

  void Write(const fs::path& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text << "\n";
  }

  const fs::path root_;
};

TEST_F(PlantedAxisName, NoneIsFoundInACleanTree) { EXPECT_EQ(Violations(root_), std::vector<std::string>()); }

TEST_F(PlantedAxisName, ANameOutsideItsFamilyIsFoundWithItsPlace) {
  Write("src/search/pace.cc", "\nplan.Set(\"n\\\"\", 1), plan.Set(\"chunks\", 2);");
  EXPECT_EQ(Violations(root_), std::vector<std::string>{"src/search/pace.cc:2: names the axis chunks"});
}

TEST_F(PlantedAxisName, AnIncludeOfAFamilyIsFound) {
  Write("src/search/pace.h", "#include \"program/wgmma/wgmma_plan.h\"");
  EXPECT_EQ(Violations(root_), std::vector<std::string>{"src/search/pace.h:1: includes a family"});
}

}  // namespace
}  // namespace gemmsmith
