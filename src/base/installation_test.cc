#include "base/installation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/files.h"
#include "base/scoped_variable.h"

namespace gemmsmith {
namespace {

namespace fs = std::filesystem;

class InstallationTest : public testing::Test {
 protected:
  InstallationTest() : folder_(TemporaryFolder::Create("installation").value()) {
    for (const char* part : {"lib", "lib64", "bin"}) fs::create_directory(folder_.path() / part);
  }
  void Write(const fs::path& name, const std::string& text, fs::perms mode) {
    std::ofstream(folder_.path() / name) << text;
    fs::permissions(folder_.path() / name, mode);
  }
  TemporaryFolder folder_;
  ScopedVariable gemmsmith_cuda_{"GEMMSMITH_CUDA", folder_.path().c_str()};
  ScopedVariable cuda_home_{"CUDA_HOME", nullptr};
  ScopedVariable cuda_path_{"CUDA_PATH", nullptr};
};

TEST_F(InstallationTest, EnvironmentComesBeforeTheSetUpAndTheUsualPlace) {
  ScopedVariable cuda_home("CUDA_HOME", "/one");
  ScopedVariable cuda_path("CUDA_PATH", "/two");
  const std::vector<fs::path> folders = ToolkitFolders();
  ASSERT_GE(folders.size(), 4u);
  EXPECT_EQ(folders[0], folder_.path());
  EXPECT_EQ(folders[1], "/one");
  EXPECT_EQ(folders[2], "/two");
  EXPECT_EQ(folders[3], GEMMSMITH_CUDA_FOUND_ROOT);
  EXPECT_EQ(folders.back(), "/usr/local/cuda");
}

TEST_F(InstallationTest, AFolderNamedTwiceIsListedOnceAndAnEmptyVariableNotAtAll) {
  ScopedVariable cuda_home("CUDA_HOME", folder_.path().c_str());
  ScopedVariable cuda_path("CUDA_PATH", "");
  const std::vector<fs::path> folders = ToolkitFolders();
  EXPECT_EQ(std::count(folders.begin(), folders.end(), folder_.path()), 1);
  EXPECT_EQ(std::count(folders.begin(), folders.end(), fs::path()), 0);
}

TEST_F(InstallationTest, AMissingLibraryIsUnavailableAndSaysWhereItLookedAndWhatToDo) {
  const Result<void*> library = OpenLibrary("libgemmsmith-no-such-library.so.13");
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.status().code(), StatusCode::kUnavailable);
  const std::string& message = library.status().message();
  EXPECT_NE(message.find("libgemmsmith-no-such-library.so.13"), std::string::npos) << message;
  EXPECT_NE(message.find(folder_.path().string()), std::string::npos) << message;
  EXPECT_NE(message.find("GEMMSMITH_CUDA"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST_F(InstallationTest, ADamagedLibraryIsUnavailableAndNamed) {
  Write("lib/libbroken.so.13",
        "\x7f"
        "ELF, but not really",
        fs::perms::owner_all);
  const Result<void*> library = OpenLibrary("libbroken.so.13");
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(library.status().message().find((folder_.path() / "lib/libbroken.so.13").string()), std::string::npos);
}

TEST_F(InstallationTest, WhatNoToolkitHasIsFoundWhereTheLoaderLooks) {
  const Result<void*> library = OpenLibrary("libm.so.6");
  ASSERT_TRUE(library.ok()) << library.status().message();
  EXPECT_NE(*library, nullptr);
}

TEST_F(InstallationTest, ACompanionThatDoesNotOpenDoesNotHideTheLibrary) {
  for (const char* usual : {"/lib/x86_64-linux-gnu/libm.so.6", "/usr/lib/libm.so.6"}) {
    std::error_code error;
    if (fs::copy_file(usual, folder_.path() / "lib/libwhole.so.13", error)) break;
  }
  if (!fs::exists(folder_.path() / "lib/libwhole.so.13")) GTEST_SKIP() << "no libm.so.6 in the usual places";
  Write("lib/libwhole-part.so.13.0", "rubbish", fs::perms::owner_all);
  EXPECT_TRUE(OpenLibrary("libwhole.so.13").ok());
}

TEST_F(InstallationTest, AProgramOfTheToolkitComesBeforeOneOnPath) {
  Write("bin/sh", "#!/bin/sh\n", fs::perms::owner_all);
  EXPECT_EQ(FindProgram("sh"), folder_.path() / "bin/sh");
}

TEST_F(InstallationTest, AFileThatMayNotRunIsNoProgram) {
  Write("bin/sh", "#!/bin/sh\n", fs::perms::owner_read | fs::perms::owner_write);
  ScopedVariable path("PATH", "/bin");
  EXPECT_EQ(FindProgram("sh"), "/bin/sh");
}

TEST_F(InstallationTest, AProgramThatIsNowhereIsNotFound) {
  EXPECT_EQ(FindProgram("gemmsmith-no-such-program"), std::nullopt);
  ScopedVariable path("PATH", "::");
  EXPECT_EQ(FindProgram("gemmsmith-no-such-program"), std::nullopt);
}

}  // namespace
}  // namespace gemmsmith
