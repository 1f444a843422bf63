// The judge's self-test as far as it comes without a GPU: wrong cases are told first.
#include <gtest/gtest.h>

#include "tests/end_to_end/program.h"

namespace gemmsmith {
namespace {

TEST(SelfTestWords, AWrongHeaderIsNamedWithFileAndLine) {
  const Home home;
  const std::string file = home.File("cases/mine.cu", "// fault: sleeps\n// expect: sleepy\n// shape: 64x64x64\n");
  ExpectOneError(home.Run({"verify", "--self-test", "--cases", home.Path("cases")}), 2,
                 "cases/mine.cu:2: 'sleepy' is no outcome");
}

TEST(SelfTestWords, AFolderWithoutCasesIsNamed) {
  const Home home;
  ExpectOneError(home.Run({"verify", "--self-test", "--cases", home.Path("nowhere")}), 3, "nowhere");
}

TEST(SelfTestWords, APartWithoutCasesIsNamed) {
  ExpectOneError(Home().Run({"verify", "--self-test", "--only", "no_such_case"}), 3, "'no_such_case'");
}

TEST(SelfTestWords, ARecordingTestsNothing) {
  ExpectOneError(Home().Run({"verify", "--self-test", "--device", "h200"}), 3, "needs a GPU");
}

}  // namespace
}  // namespace gemmsmith
