#include "base/companion_library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "base/scoped_variable.h"

namespace gemmsmith {
namespace {

namespace fs = std::filesystem;

fs::path FileOf(void* function) {
  Dl_info info{};
  return dladdr(function, &info) == 0 ? fs::path() : fs::path(info.dli_fname);
}

// The C library stands for one of ours: getpagesize() is its version.
class CompanionLibraryTest : public testing::Test {
 protected:
  CompanionLibraryTest() : folder_(TemporaryFolder::Create("companion").value()) {}

  Status OpenStatus() const { return OpenCompanion::Open(library_).status(); }

  const fs::path c_library_ = FileOf(dlsym(RTLD_DEFAULT, "getpagesize"));
  TemporaryFolder folder_;
  ScopedVariable variable_{"GEMMSMITH_TEST_COMPANION", c_library_.c_str()};
  ScopedVariable root_{"GEMMSMITH_TEST_ROOT", nullptr};
  CompanionLibrary library_{.file = "libgemmsmith_test.so",
                            .variable = "GEMMSMITH_TEST_COMPANION",
                            .purpose = "what tests need",
                            .tool = "tools/test_companion",
                            .version_name = "getpagesize",
                            .version = ::getpagesize(),
                            .root_variable = "GEMMSMITH_TEST_ROOT",
                            .root_file = "lib/libroot.so"};
};

TEST_F(CompanionLibraryTest, WhatTheVariableNamesComesFirstThenThePlacesAboutTheProgram) {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  const std::vector<std::string> about = {folder / "libgemmsmith_test.so", folder / "lib/libgemmsmith_test.so",
                                          folder.parent_path() / "lib/libgemmsmith_test.so"};
  std::vector<std::string> all = {c_library_.string()};
  all.insert(all.end(), about.begin(), about.end());
  EXPECT_EQ(PathsOf(library_), all);
  const ScopedVariable empty("GEMMSMITH_TEST_COMPANION", "");
  EXPECT_EQ(PathsOf(library_), about);
}

TEST_F(CompanionLibraryTest, ItsFunctionsAreFoundByTheirNames) {
  Result<OpenCompanion> companion = OpenCompanion::Open(library_);
  ASSERT_TRUE(companion.ok()) << companion.status().message();
  decltype(&::getpid) process = nullptr;
  companion->Find(process, "getpid");
  ASSERT_TRUE(companion->FoundAll().ok());
  EXPECT_EQ(process(), ::getpid());
  companion->Find(process, "gemmsmith_no_such_function");
  EXPECT_EQ(process, nullptr);
  EXPECT_EQ(companion->FoundAll().message(),
            "libgemmsmith_test.so is of another version; build it again with tools/test_companion");
}

TEST_F(CompanionLibraryTest, WhereItIsNotItSaysWhereItLookedAndWhatToRun) {
  const fs::path nowhere = folder_.path() / "nowhere.so";
  const ScopedVariable variable("GEMMSMITH_TEST_COMPANION", nowhere.c_str());
  const Status status = OpenStatus();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_TRUE(status.message().starts_with("what tests need was not built here (looked for " + nowhere.string()))
      << status.message();
  EXPECT_TRUE(status.message().ends_with("; run tools/test_companion")) << status.message();
}

TEST_F(CompanionLibraryTest, ADamagedOneIsNamed) {
  const fs::path damaged = folder_.path() / "damaged.so";
  std::ofstream(damaged) << "no library";
  const ScopedVariable variable("GEMMSMITH_TEST_COMPANION", damaged.c_str());
  const Status status = OpenStatus();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_TRUE(status.message().starts_with(damaged.string() + " does not load: ")) << status.message();
  EXPECT_TRUE(status.message().ends_with("; build it again with tools/test_companion")) << status.message();
}

TEST_F(CompanionLibraryTest, OneOfAnotherVersionIsRefused) {
  const std::string refusal = "libgemmsmith_test.so is of another version; build it again with tools/test_companion";
  library_.version += 1;
  EXPECT_EQ(OpenStatus().message(), refusal);
  library_.version_name = "gemmsmith_no_such_function";
  EXPECT_EQ(OpenStatus().message(), refusal);
}

TEST_F(CompanionLibraryTest, WhatItStandsOnIsOpenedFromTheFolderThatTheUserNames) {
  const fs::path root_file = folder_.path() / library_.root_file;
  fs::create_directory(root_file.parent_path());
  fs::copy_file(FileOf(dlsym(RTLD_DEFAULT, "cos")), root_file);
  const auto is_open = [&] { return dlopen(root_file.c_str(), RTLD_NOW | RTLD_NOLOAD) != nullptr; };
  const ScopedVariable root("GEMMSMITH_TEST_ROOT", folder_.path().c_str());
  EXPECT_FALSE(is_open());
  EXPECT_TRUE(OpenStatus().ok());
  EXPECT_TRUE(is_open());
}

TEST_F(CompanionLibraryTest, ARootThatDoesNotOpenIsLeftToTheLibraryToMiss) {
  const ScopedVariable root("GEMMSMITH_TEST_ROOT", "/nowhere");
  EXPECT_TRUE(OpenStatus().ok());
}

}  // namespace
}  // namespace gemmsmith
