#include "tests/layering/layering.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>

namespace gemmsmith {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSource = "src/";
constexpr std::string_view kDevice = "src/device";
constexpr std::string_view kShared = "device/geometry.h";
constexpr std::string_view kPublic = "include/gemmsmith";

// Where a row stands; nullopt for a folder without one.
std::optional<size_t> Rank(const std::vector<LayeringRow>& rows, std::string_view folder) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const LayeringRow& r) { return r.folder == folder; });
  if (row == rows.end()) return std::nullopt;
  return size_t(row - rows.begin());
}

// The row's folder that an include names: "base/status.h" -> "src/base", "gemmsmith/gemmsmith.h" ->
// "include/gemmsmith".
std::string FolderOf(const std::string& included) {
  const std::string first = included.substr(0, included.find('/'));
  return first == "gemmsmith" ? std::string(kPublic) : std::string(kSource) + first;
}

// Why `file` may not include `included`, or nothing.
std::optional<std::string> Objection(const std::vector<LayeringRow>& rows, const LayeringRow& row, const fs::path& file,
                                     const std::string& included, const fs::path& root) {
  const bool bare = included.find('/') == std::string::npos;
  const bool is_of_device = bare && fs::exists(root / kDevice / included);
  if (row.folder == kDevice) {
    if (is_of_device) return std::nullopt;
    return "src/device includes only itself, by bare name";
  }
  if (is_of_device && file.extension() == ".cu") return std::nullopt;  // compiled as emitted sources are
  if (bare || included.find("..") != std::string::npos) return "name the file from src on";
  const std::string target = FolderOf(included);
  if (target == kDevice && file.stem().string().ends_with("_test")) return std::nullopt;
  if (target == kDevice)
    return included == kShared ? std::nullopt : std::optional<std::string>("host code includes device/geometry.h only");
  if (row.folder == kPublic && target != kPublic) return "include/gemmsmith includes nothing of src";
  const std::optional<size_t> rank = Rank(rows, target);
  if (!rank) return target + " is not in the table";
  if (*rank > *Rank(rows, row.folder)) return target + " stands below " + row.folder;
  if (row.forbidden.count(target)) return row.folder + " never includes " + target;
  return std::nullopt;
}

bool IsSourceFile(const fs::path& path) {
  static const std::set<std::string> kExtensions = {".h", ".cc", ".cuh", ".cu", ".hpp", ".cpp", ".inc"};
  return kExtensions.count(path.extension().string()) > 0;
}

void CheckFile(const std::vector<LayeringRow>& rows, const LayeringRow& row, const fs::path& file, const fs::path& root,
               std::vector<std::string>& violations) {
  static const std::regex kInclude(R"re(^\s*#\s*include\s*"([^"]+)")re");
  std::ifstream stream(file);
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    std::smatch match;
    if (!std::regex_search(line, match, kInclude)) continue;
    if (const auto objection = Objection(rows, row, file, match[1], root)) {
      violations.push_back(fs::relative(file, root).string() + ":" + std::to_string(number) + ": includes \"" +
                           match[1].str() + "\": " + *objection);
    }
  }
}

}  // namespace

std::vector<LayeringRow> ParseLayeringTable(std::string_view markdown) {
  static const std::regex kRow(R"(^\| *`([^`]+)` *\|(.*)\|\s*$)");
  static const std::regex kForbidden(R"(never includes (src/[a-z_]+))");
  std::istringstream stream{std::string(markdown)};
  std::string line;
  while (std::getline(stream, line) && !line.starts_with("| folder ")) continue;
  std::getline(stream, line);  // the rule under the heading
  std::vector<LayeringRow> rows;
  for (std::smatch match; std::getline(stream, line) && std::regex_match(line, match, kRow);) {
    LayeringRow row{match[1], {}};
    const std::string words = match[2];
    for (std::sregex_iterator found(words.begin(), words.end(), kForbidden), end; found != end; ++found) {
      row.forbidden.insert((*found)[1]);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> LayeringViolations(const std::vector<LayeringRow>& rows, const fs::path& root) {
  std::vector<std::string> violations;
  for (const LayeringRow& row : rows) {
    if (!fs::is_directory(root / row.folder)) {
      violations.push_back(row.folder + ": in the table, but not a folder");
      continue;
    }
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / row.folder)) {
      if (entry.is_regular_file() && IsSourceFile(entry.path())) CheckFile(rows, row, entry.path(), root, violations);
    }
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(root / "src")) {
    const std::string folder = std::string(kSource) + entry.path().filename().string();
    if (!entry.is_directory()) {
      violations.push_back(folder + ": a file directly in src belongs to no folder of the table");
    } else if (!Rank(rows, folder)) {
      violations.push_back(folder + ": a folder that is not in the table");
    }
  }
  std::sort(violations.begin(), violations.end());
  return violations;
}

}  // namespace gemmsmith
