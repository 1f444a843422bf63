#include "agents/best_kernels.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "archive/example_trials.h"
#include "archive/replay.h"
#include "base/files.h"

namespace gemmsmith {
namespace {

constexpr Gemm kGemm{.shape = {256, 256, 512}};

Trial Timed(TrialSubject subject, double ns, Protocol protocol, const std::string& campaign = "judge") {
  Trial trial{.gemm = kGemm, .subject = std::move(subject), .campaign = campaign};
  trial.outcome.kind = OutcomeKind::kMeasured;
  trial.outcome.protocol = protocol;
  trial.outcome.timings = {{.contender = "ours", .clock = Clock::kDeviceCold, .median_ns = ns}};
  trial.setting.device_key = "h200";
  return trial;
}

class BestKernelsTest : public testing::Test {
 protected:
  nlohmann::ordered_json Best(const std::vector<Trial>& trials, const Catalogue* catalogue = nullptr) {
    EXPECT_TRUE(archive_->Add(trials).ok());
    return *BestKernels(kGemm, *FindDevice("h200"), *archive_, catalogue, 3);
  }

  TemporaryFolder folder_ = *TemporaryFolder::Create("gemmsmith-best-kernels-test");
  const std::unique_ptr<Archive> archive_ = *Archive::Open(folder_.path() / "archive.sqlite");
};

TEST_F(BestKernelsTest, EachSubjectOnceTheMostCarefulFirst) {
  const RecordedSource source{"mine", std::string(32, 'a')};
  const auto best = Best({Timed(ExamplePlan(1), 900, Protocol::kScreen), Timed(source, 1000, Protocol::kScreen),
                          Timed(source, 1100, Protocol::kShort), Timed(ExamplePlan(2), 1500, Protocol::kShort)});
  ASSERT_EQ(best["archive"].size(), 3u);
  EXPECT_EQ(best["archive"][0]["subject"], "source mine " + source.hash);
  EXPECT_EQ(best["archive"][0]["time_us"], 1.1);
  EXPECT_EQ(best["archive"][1]["subject"], Print(ExamplePlan(2)));
  EXPECT_EQ(best["archive"][2]["protocol"], "screen");
  EXPECT_TRUE(best["catalogue"].is_null());
}

TEST_F(BestKernelsTest, ReplaysOtherDevicesAndFailuresDoNotCount) {
  Trial elsewhere = Timed(ExamplePlan(1), 900, Protocol::kShort), wrong = Timed(ExamplePlan(2), 1, Protocol::kShort);
  elsewhere.setting.device_key = "l40s";
  wrong.outcome.kind = OutcomeKind::kWrong;
  EXPECT_TRUE(Best({elsewhere, wrong,
                    Timed(ExamplePlan(3), 800, Protocol::kShort, std::string(kReplayPrefix) + "x")})["archive"]
                  .empty());
}

TEST_F(BestKernelsTest, TheCatalogueHasItsOwnEntryOrTheNearest) {
  Catalogue catalogue("h200");
  catalogue.Put({.gemm = {.shape = {512, 256, 512}},
                 .plan = DefaultPlan(FamilyId::kDirect),
                 .times = {{.mode = "device_cold", .ns = 2000, .speed_up = 1.5}}});
  EXPECT_EQ(Best({}, &catalogue)["catalogue"]["is_own"], false);
  catalogue.Put({.gemm = kGemm,
                 .plan = DefaultPlan(FamilyId::kDirect),
                 .times = {{.mode = "device_cold", .ns = 1000, .speed_up = 1.25}}});
  const auto entry = Best({}, &catalogue)["catalogue"];
  EXPECT_EQ(entry["is_own"], true);
  EXPECT_EQ(entry["time_us"], 1.0);
  EXPECT_EQ(entry["over_autotuning"], 1.25);
}

}  // namespace
}  // namespace gemmsmith
