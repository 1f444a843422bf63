#include "tests/end_to_end/browser.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/subprocess.h"

namespace gemmsmith {
namespace {

bool Starts(const std::string& program) {
  const Result<ProcessResult> result = RunProcess({program, "--version"}, std::chrono::seconds(30));
  return result.ok() && result->exit_code == 0;
}

std::string WithoutScripts(std::string page) {
  for (size_t at = page.find("<script"); at != std::string::npos; at = page.find("<script"))
    page.erase(at, page.find("</script>", at) + 9 - at);
  return page;
}

}  // namespace

std::optional<Browser> Browser::Find() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
    if (Starts(name)) return Browser(name);
  return std::nullopt;
}

std::string Browser::Drawn(const Home& home, const std::string& address) const {
  return WithoutScripts(ShownIn(home, "--dump-dom \"$2\" > \"$3\"", address));
}

std::string Browser::Printed(const Home& home, const std::string& address) const {
  return ShownIn(home, "--no-pdf-header-footer --print-to-pdf=\"$3\" \"$2\"", address);
}

// Through a file: RunProcess keeps a megabyte.
std::string Browser::ShownIn(const Home& home, const std::string& how, const std::string& address) const {
  const std::string file = home.Path("shown");
  const std::string command =
      "exec \"$0\" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \"$1\" "
      "--virtual-time-budget=10000 --window-size=1300,900 " +
      how;
  const Result<ProcessResult> result =
      RunProcess({"sh", "-c", command, program_, "--user-data-dir=" + home.Path("profile").string(), address, file},
                 std::chrono::seconds(90));
  EXPECT_TRUE(result.ok() && result->exit_code == 0) << result->output;
  return ReadFile(file).ok() ? *ReadFile(file) : "";
}

int Occurrences(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

void ExpectDrawn(const std::string& page) {
  EXPECT_NE(page.find("data-drawn-ms"), std::string::npos) << "the last line of the script was not reached";
  EXPECT_EQ(page.find("could not be drawn"), std::string::npos) << page.substr(page.find("could not be drawn"), 300);
  EXPECT_EQ(page.find("NaN"), std::string::npos);
  EXPECT_EQ(page.find("undefined"), std::string::npos);
}

}  // namespace gemmsmith
