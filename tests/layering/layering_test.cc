#include "tests/layering/layering.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace gemmsmith {
namespace {

namespace fs = std::filesystem;

std::vector<LayeringRow> DocumentedRows() {
  std::ifstream file(fs::path(GEMMSMITH_SOURCE_DIR) / "docs/design.md");
  std::stringstream text;
  text << file.rdbuf();
  return ParseLayeringTable(text.str());
}

TEST(Layering, TheTableIsReadWhole) {
  const std::vector<LayeringRow> rows = DocumentedRows();
  ASSERT_EQ(rows.size(), 27u);
  EXPECT_EQ(rows.front().folder, "include/gemmsmith");
  EXPECT_EQ(rows[1].folder, "src/base");
  EXPECT_EQ(rows.back().folder, "src/cli");
}

TEST(Layering, TheCodeKeepsToTheTable) {
  std::string all;
  for (const std::string& violation : LayeringViolations(DocumentedRows(), GEMMSMITH_SOURCE_DIR))
    all += violation + "\n";
  EXPECT_EQ(all, "");
}

// A small tree with the rows of kTable, in order; each test plants one violation.
class PlantedViolation : public testing::Test {
 protected:
  static constexpr std::string_view kTable =
      "| folder | holds |\n|---|---|\n| `include/gemmsmith` | public |\n| `src/base` | words |\n"
      "| `src/device` | kernels |\n| `src/compile` | compilers |\n| `src/runtime` | never includes src/compile |\n\n"
      "| folder | another table |\n|---|---|\n| `src/other` | |\n";

  PlantedViolation() : root_(fs::temp_directory_path() / ("layering." + std::to_string(getpid()))) {
    fs::remove_all(root_);
    Write("include/gemmsmith/gemmsmith.h", "#include <vector>");
    Write("src/base/status.h", "");
    Write("src/device/types.cuh", "");
    Write("src/device/mma.cuh", "#include \"types.cuh\"");
    Write("src/compile/compiler.h", "#include \"base/status.h\"\n#include \"compile/binary.h\"\n#include <nvrtc.h>");
    Write("src/runtime/library.cc", "#include \"gemmsmith/gemmsmith.h\"\n  #  include \"base/status.h\"");
  }
  ~PlantedViolation() override { fs::remove_all(root_); }

  void Write(const fs::path& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text << "\n";
  }
  std::vector<std::string> Violations() { return LayeringViolations(ParseLayeringTable(kTable), root_); }
  void ExpectOne(const std::string& expected) {
    const std::vector<std::string> violations = Violations();
    ASSERT_EQ(violations.size(), 1u);
    EXPECT_EQ(violations[0], expected);
  }

  fs::path root_;
};

TEST_F(PlantedViolation, NoneIsFoundInACleanTree) { EXPECT_TRUE(Violations().empty()); }

TEST_F(PlantedViolation, AnIncludeFromBelowIsFoundWithItsPlace) {
  Write("src/base/sub/late.cc", "\n#include \"compile/compiler.h\"");
  ExpectOne("src/base/sub/late.cc:2: includes \"compile/compiler.h\": src/compile stands below src/base");
}

TEST_F(PlantedViolation, AnIncludeThatTheRowForbidsIsFound) {
  Write("src/runtime/jit.h", "#include \"compile/compiler.h\"");
  ExpectOne("src/runtime/jit.h:1: includes \"compile/compiler.h\": src/runtime never includes src/compile");
}

TEST_F(PlantedViolation, HostCodeThatIncludesADeviceHeaderIsFound) {
  Write("src/compile/peek.cc", "#include \"device/types.cuh\"");
  ExpectOne("src/compile/peek.cc:1: includes \"device/types.cuh\": host code includes device/geometry.h only");
}

TEST_F(PlantedViolation, CudaTextsAndTestsMayIncludeDeviceHeaders) {
  Write("src/compile/text.cu", "#include \"types.cuh\"");
  Write("src/compile/types_test.cc", "#include \"device/types.cuh\"");
  EXPECT_TRUE(Violations().empty());
  Write("src/compile/text.cu", "#include \"none.cuh\"");
  ExpectOne("src/compile/text.cu:1: includes \"none.cuh\": name the file from src on");
}

TEST_F(PlantedViolation, ADeviceHeaderThatIncludesHostCodeIsFound) {
  Write("src/device/host.cuh", "#include \"base/status.h\"");
  ExpectOne("src/device/host.cuh:1: includes \"base/status.h\": src/device includes only itself, by bare name");
}

TEST_F(PlantedViolation, APublicHeaderThatIncludesSrcIsFound) {
  Write("include/gemmsmith/leak.h", "#include \"base/status.h\"");
  ExpectOne("include/gemmsmith/leak.h:1: includes \"base/status.h\": include/gemmsmith includes nothing of src");
}

TEST_F(PlantedViolation, APathAroundTheOrderIsFound) {
  Write("src/base/around.h", "#include \"../compile/compiler.h\"");
  Write("src/compile/bare.h", "#include \"compiler.h\"");
  EXPECT_EQ(Violations().size(), 2u);
}

TEST_F(PlantedViolation, AFolderWithoutARowAndARowWithoutAFolderAreFound) {
  fs::create_directories(root_ / "src/attic");
  ExpectOne("src/attic: a folder that is not in the table");
  fs::remove(root_ / "src/attic");
  fs::remove_all(root_ / "src/runtime");
  ExpectOne("src/runtime: in the table, but not a folder");
}

TEST_F(PlantedViolation, AFileOutsideEveryFolderIsFound) {
  Write("src/stray.h", "");
  ExpectOne("src/stray.h: a file directly in src belongs to no folder of the table");
}

}  // namespace
}  // namespace gemmsmith
