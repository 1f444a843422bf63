// What bench says before it takes a GPU; the measuring itself is tested beside RunBench.
#include <gtest/gtest.h>

#include "tests/end_to_end/program.h"

namespace gemmsmith {
namespace {

class BenchWordsTest : public testing::Test {
 protected:
  Finished Bench(Words words) const {
    words.insert(words.begin(), {"bench", "--archive", home.Path("archive.sqlite")});
    return home.Run(words);
  }
  Home home;
};

TEST_F(BenchWordsTest, WrongWordsNameTheRightOnes) {
  ExpectOneError(Bench({}), 2, "--shapes");
  ExpectOneError(Bench({"--shapes", "paper1000/tinny"}), 2, "paper1000/tiny");
  const std::string shape = "64x64x64";
  ExpectOneError(Bench({"--shapes", shape, "--contenders", "bst"}), 2, "did you mean 'best'");
  ExpectOneError(Bench({"--shapes", shape, "--contenders", "best,lt_atuo"}), 2, "did you mean 'lt_auto'");
  ExpectOneError(Bench({"--shapes", shape, "--contenders", "best,flatt"}), 2, "did you mean 'flat'");
  ExpectOneError(Bench({"--shapes", shape, "--contenders", "plan:direct tile=1"}), 2, "tile");
  ExpectOneError(Bench({"--shapes", shape, "--contenders", "file:none.cu"}), 2, "none.cu");
  const std::string folder = home.File("none.gsr", "");
  ExpectOneError(Bench({"--shapes", shape, "--contenders", "best:" + folder + "+none.gsr"}), 2,
                 "there is no 'none.gsr'");
  ExpectOneError(Bench({"--shapes", shape, "--contenders", "best:"}), 2, "there is no ''");
  ExpectOneError(Bench({"--shapes", shape, "--modes", "device,offlin"}), 2, "did you mean 'offline'");
  ExpectOneError(Bench({"--shapes", shape, "--layouts", "tt"}), 2, "layout");
  ExpectOneError(Bench({"--shapes", shape, "--device", "h200"}), 2, "a GPU measures");
  ExpectOneError(Bench({"--shapes", shape, "--output", "x.csv"}), 2, ".gsr");
}

TEST_F(BenchWordsTest, AFileOfPlansIsReadToTheLineThatIsWrong) {
  const std::string plans = home.File("plans", "# plans\ndirect\ngemm 64x64x64 tn f16 f32 | direct nonsense=1\n");
  ExpectOneError(Bench({"--shapes", "64x64x64", "--contenders", "plans:" + plans}), 2, plans + ":3: ");
  const std::string none = home.File("none", "# nothing\n");
  ExpectOneError(Bench({"--shapes", "64x64x64", "--contenders", "plans:" + none}), 2, "holds no plan");
}

TEST_F(BenchWordsTest, WithoutTheGpuItSaysWhatLacksAndMakesNothing) {
  const Finished finished = Bench({"--shapes", "64x64x64,paper1000/tiny", "--device", "gpu:1023"});
  ExpectOneError(finished, 3, "");
  EXPECT_TRUE(finished.error.find("driver") != std::string::npos || finished.error.find("GPU") != std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(home.Path("archive.sqlite")));
}

}  // namespace
}  // namespace gemmsmith
