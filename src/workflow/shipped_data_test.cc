#include "workflow/shipped_data.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "policy/model.h"

namespace gemmsmith {
namespace {

class ShippedData : public testing::Test {
 protected:
  ShippedData() { ::setenv("GEMMSMITH_RECORDS", GEMMSMITH_SOURCE_DIR "/data", 1); }
  ~ShippedData() override { ::unsetenv("GEMMSMITH_RECORDS"); }
};

TEST_F(ShippedData, ThePolicyLoadsAndHasAtMostTenMebibytes) {
  const Result<std::filesystem::path> weights = ShippedPolicy("--weights FILE");
  ASSERT_TRUE(weights.ok()) << weights.status().message();
  EXPECT_LE(std::filesystem::file_size(*weights), 10u << 20);
  EXPECT_TRUE(ReadModel(*weights).ok());
  EXPECT_TRUE(std::filesystem::exists(weights->parent_path() / "model_card.md"));
}

TEST_F(ShippedData, ThePolicyNamesTheDevicesOfItsTraining) {
  const Result<std::filesystem::path> weights = ShippedPolicy("--weights FILE");
  ASSERT_TRUE(weights.ok()) << weights.status().message();
  EXPECT_TRUE(WasTrainedOn(*weights, "h200"));
  EXPECT_FALSE(WasTrainedOn(*weights, "h20"));
  EXPECT_FALSE(WasTrainedOn("elsewhere/weights.safetensors", "h200"));
}

TEST_F(ShippedData, ASearchOnAGpuHasTheSpaceItsDenseBlockAndTheSearchesOfItsDevice) {
  const Result<Experience> along = ExperienceOnGpu({}, "h200", {});
  ASSERT_TRUE(along.ok()) << along.status().message();
  const Result<std::shared_ptr<const Recording>> space = LoadRecording("h200");
  ASSERT_TRUE(space.ok()) << space.status().message();
  const Result<Experience> of_space = ExperienceOfReplay({}, **space, {});
  ASSERT_TRUE(of_space.ok());
  EXPECT_FALSE(of_space->empty());
  EXPECT_NE(along->Fingerprint(), of_space->Fingerprint());
  EXPECT_FALSE(along->empty());
  const Result<std::vector<std::filesystem::path>> searches = StandingRecords("h200");
  ASSERT_TRUE(searches.ok()) << searches.status().message();
  const std::filesystem::path h200 = GEMMSMITH_SOURCE_DIR "/data/h200";
  const Result<Experience> named = ExperienceNamed(std::vector<RecordSource>{{h200}, *searches, {h200 / "dense"}}, {});
  ASSERT_TRUE(named.ok()) << named.status().message();
  EXPECT_EQ(named->Fingerprint(), along->Fingerprint());
  const Result<Experience> less = ExperienceOnGpu({}, "h200", StandardHeldOut());
  ASSERT_TRUE(less.ok()) << less.status().message();
  EXPECT_FALSE(less->empty());
  EXPECT_NE(less->Fingerprint(), along->Fingerprint());
}

TEST_F(ShippedData, ASpaceWithoutStandingSearchesIsOneSource) {
  const std::filesystem::path block = GEMMSMITH_SOURCE_DIR "/data/h200/dense", h200 = GEMMSMITH_SOURCE_DIR "/data/h200";
  EXPECT_EQ(*SpaceAndSearches({.key = "h200", .path = block}), (std::vector<RecordSource>{{block}}));
  EXPECT_EQ(*SpaceAndSearches({.key = "h200", .path = h200}),
            (std::vector<RecordSource>{{h200}, *StandingRecords("h200")}));
  EXPECT_EQ(SpaceAndSearches({.key = "h200", .path = h200, .has_segments = false})->size(), 1u);
}

TEST_F(ShippedData, ADeviceThatWasNotRecordedHasNoExperienceAndNoneIsNone) {
  const std::vector<RecordSource> none_named;
  for (const Result<Experience>& none : {ExperienceOnGpu({}, "l40s", {}), ExperienceOnGpu(none_named, "h200", {}),
                                         ExperienceNamed({}, {}), ExperienceNamed(none_named, {})}) {
    ASSERT_TRUE(none.ok()) << none.status().message();
    EXPECT_TRUE(none->empty());
  }
}

TEST_F(ShippedData, NamedRecordsMustHoldATimedPlan) {
  const std::string space = GEMMSMITH_SOURCE_DIR "/data/h200/space-4.gsr";
  const std::vector<RecordSource> named = {{space}};
  EXPECT_TRUE(ExperienceNamed(named, {}).ok());
  const Result<HeldOut> all = ParseHeldOut("64,128,256,512,1024,2048,4096,8192,12288,16384,offgrid");
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(ExperienceNamed(named, *all).status().message(),
            "--experience has no timed plan of a shape that is not held out");
}

}  // namespace
}  // namespace gemmsmith
