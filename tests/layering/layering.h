// The order of folders, as the table of docs/design.md section 1 states it, and what in a source tree breaks it.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gemmsmith {

struct LayeringRow {
  std::string folder;               // "src/base", "include/gemmsmith"
  std::set<std::string> forbidden;  // folders above that the row says it "never includes"
};

// The rows of the first Markdown table whose heading is "folder", in order.
std::vector<LayeringRow> ParseLayeringTable(std::string_view markdown);

// One line a violation, with file and line number; empty where the tree keeps to the rows:
// - what a file of src includes in quotes stands in its own folder or one above it, named from src on
// ("base/status.h");
// - files of src/device include only files of src/device, by bare name, and nobody else includes those;
// - files of include/gemmsmith include nothing of src;
// - every folder of src has a row, and every row a folder.
std::vector<std::string> LayeringViolations(const std::vector<LayeringRow>& rows, const std::filesystem::path& root);

}  // namespace gemmsmith
