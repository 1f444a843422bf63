#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "archive/segment.h"
#include "base/files.h"
#include "catalogue/catalogue.h"
#include "catalogue/kernel_file.h"
#include "certify/certificate_journal.h"
#include "program/family.h"
#include "tests/end_to_end/program.h"

namespace gemmsmith {
namespace {

const Gemm kGemm{{256, 512, 4096}, {kTn}};
const Plan kPlan = *ParsePlan("wgmma tile_m=64 tile_n=64 warpgroups=1 fixed=all");

class CatalogueTest : public testing::Test {
 protected:
  std::string File(const Plan& plan, const std::optional<Gemm>& also = std::nullopt) {
    Catalogue catalogue("h200");
    catalogue.Put({.gemm = kGemm,
                   .plan = plan,
                   .date = "2026-11-22",
                   .harness = "gemmsmith 0.1.0 abc",
                   .times = {{"device", 5000, {4900, 5100}, 1.25, {1.2, 1.3}}}});
    if (also)
      catalogue.Put({*also,
                     plan,
                     Proof::kTested,
                     "2026-11-22",
                     "gemmsmith 0.1.0 abc",
                     {{"device", 5000, {4900, 5100}, 1.5, {1.4, 1.6}}}});
    return home.File("h200.catalogue", catalogue.Print());
  }

  Home home;
};

TEST_F(CatalogueTest, ItsKernelsAreCompiledIntoOneFile) {
  const std::string kernels = home.Path("h200.kernels");
  const Finished built = home.Run({"catalogue", "build", File(kPlan), "-o", kernels});
  ASSERT_EQ(built.exit_code, 0) << built.error;
  const Result<KernelFile> file = KernelFile::Read(kernels);
  ASSERT_TRUE(file.ok()) << file.status().message();
  const KernelFile::Kernel* const kernel = file->Find(kGemm, kPlan);
  ASSERT_NE(kernel, nullptr);
  const std::string cubin = *file->CubinOf(*kernel);
  EXPECT_EQ(cubin.substr(1, 3), "ELF");
  EXPECT_NE(cubin.find(kernel->entry), std::string::npos);
}

// Each text of the chosen plan is compiled by the real compiler.
TEST_F(CatalogueTest, PlansChosenForAnyShapeAreCompiledAlong) {
  const std::string catalogue = File(kPlan), kernels = home.Path("h200.kernels");
  const Finished chosen = home.Run({"catalogue", "general", catalogue, "--count", "2"});
  ASSERT_EQ(chosen.exit_code, 0) << chosen.error;
  const std::string plans = home.File("general.plans", chosen.out);
  const Finished built = home.Run({"catalogue", "build", catalogue, "--general", plans, "-o", kernels});
  ASSERT_EQ(built.exit_code, 0) << built.error;
  EXPECT_NE(built.out.find("and any other by 1 plan in"), std::string::npos) << built.out;
  const Result<KernelFile> file = KernelFile::Read(kernels);
  ASSERT_TRUE(file.ok()) << file.status().message();
  const std::set<uint32_t>& general = file->general().at(WithFixed(kPlan, FixedDimensions::kNone));
  EXPECT_EQ(general.size(), 8u) << "four storage orders of two types";
  for (const uint32_t number : general) EXPECT_EQ(file->CubinOf(file->kernels()[number])->substr(1, 3), "ELF");
  ExpectOneError(home.Run({"catalogue", "build", catalogue, "--general", catalogue, "-o", kernels}), 2,
                 "a plan starts with its family");
}

TEST_F(CatalogueTest, WhatCannotShipEndsTheBuildAndLeavesNoFile) {
  Plan illegal = kPlan;
  illegal.Set("split", 32), illegal.Set("step_k", 256);
  const std::string kernels = home.Path("h200.kernels");
  const Finished built = home.Run({"catalogue", "build", File(illegal), "-o", kernels});
  EXPECT_EQ(built.exit_code, 2) << built.error;
  EXPECT_NE(built.error.find("256x512x4096"), std::string::npos) << built.error;
  EXPECT_FALSE(std::filesystem::exists(kernels));
}

TEST_F(CatalogueTest, IsShownByClassAndSearchedByProblem) {
  const std::string file = File(kPlan);
  const Finished shown = home.Run({"catalogue", "show", file});
  ASSERT_EQ(shown.exit_code, 0) << shown.error;
  EXPECT_NE(shown.out.find("splitk tn"), std::string::npos) << shown.out;
  const Gemm f16_sums{kGemm.shape, {kTn, ScalarType::kF16, Accumulation::kF16}};
  const Finished both = home.Run({"catalogue", "show", File(kPlan, f16_sums)});
  EXPECT_NE(both.out.find("f16, f16 sums  splitk tn             1           1.500x"), std::string::npos) << both.out;
  ASSERT_EQ(File(kPlan), file);
  EXPECT_EQ(Parsed(home.Run({"catalogue", "show", file, "--json"}).out)["entries"].size(), 1u);
  const nlohmann::json own = Parsed(home.Run({"catalogue", "find", file, "256x512x4096", "--json"}).out);
  EXPECT_EQ(own["own"], true);
  EXPECT_EQ(own["modes"]["device"]["speed_up"], 1.25);
  const nlohmann::json near = Parsed(home.Run({"catalogue", "find", file, "300x500x5000", "--json"}).out);
  EXPECT_EQ(near["own"], false);
  EXPECT_EQ(near["problem"], Print(kGemm));
  EXPECT_EQ(home.Run({"catalogue", "find", file, "256x512x4096", "--type", "bf16"}).exit_code, 3);
  EXPECT_EQ(home.Run({"catalogue", "show", home.Path("none")}).exit_code, 3);
}

// In a race in which AutoTuning took 6 us; on 27 November 2026.
Trial Raced(const Plan& plan, double time_ns) {
  Trial trial;
  trial.gemm = kGemm;
  trial.subject = SubjectOf(plan);
  trial.setting.device_key = "h200";
  trial.campaign = "again";
  trial.unix_ms = 1'795'780'000'000;
  trial.outcome.kind = OutcomeKind::kMeasured;
  trial.outcome.protocol = Protocol::kShort;
  trial.outcome.timings = {
      {.contender = "ours", .clock = Clock::kDevice, .median_ns = time_ns, .interval = {time_ns - 9, time_ns + 9}}};
  const double ratio = 6000 / time_ns;
  for (const char* name : {"lt_auto_nn", "lt_auto_tn"})
    trial.outcome.comparisons.push_back(
        {.baseline = name, .ratio = {.median = ratio, .interval = {ratio - 0.1, ratio + 0.1}}});
  return trial;
}

TEST_F(CatalogueTest, RecordedRacesDecideOnItsEntries) {
  const Plan faster = *ParsePlan("wgmma tile_m=64 tile_n=128 warpgroups=1 fixed=all");
  const std::string races =
      home.File("races.jsonl", ToJsonLine(Raced(kPlan, 5000)) + "\n" + ToJsonLine(Raced(faster, 4000)) + "\n");
  const std::string file = File(kPlan);
  const Finished decided = home.Run({"catalogue", "settle", file, races});
  EXPECT_EQ(decided.exit_code, 0) << decided.error;
  EXPECT_NE(decided.out.find("replaced   gemm 256x512x4096 tn f16 f32  wgmma tile_m=64 tile_n=128 "), std::string::npos)
      << decided.out;
  EXPECT_NE(decided.out.find("+25.0 % over the standing one\n0 entered, 1 replaced, 0 stands"), std::string::npos)
      << decided.out;
  EXPECT_EQ(Catalogue::Read(file)->Find(kGemm)->date, "2026-11-27T11:46:40.000Z");
  const std::string bytes = *ReadFile(file);
  const nlohmann::json again = Parsed(home.Run({"catalogue", "settle", file, races, "--json"}).out);
  EXPECT_EQ(again["command"], "catalogue settle");
  EXPECT_EQ(again["races"], 1);
  EXPECT_EQ(again["known"], 1);
  EXPECT_EQ(again["promotions"].size(), 0u);

  Trial screened = Raced(kPlan, 3000);
  screened.outcome.protocol = Protocol::kScreen;
  const std::string screening = home.File("screening.jsonl", ToJsonLine(screened) + "\n");
  ExpectOneError(home.Run({"catalogue", "settle", file, screening}), 3,
                 "no race of the short or long protocol on h200");
  ExpectOneError(home.Run({"catalogue", "settle", home.Path("none.catalogue"), races}), 3, "none.catalogue");
  ExpectOneError(home.Run({"catalogue", "settle", file, file}), 2, "is no record");
  EXPECT_EQ(*ReadFile(file), bytes);
  EXPECT_FALSE(std::filesystem::exists(home.Path("none.catalogue")));
}

TEST_F(CatalogueTest, StandsBesideWhatWasMeasuredOfItSince) {
  Trial trial = Raced(kPlan, 4000);
  const std::string records = home.File("again.jsonl", ToJsonLine(trial) + "\n");
  const std::string file = File(kPlan);
  const Finished text = home.Run({"catalogue", "compare", file, records});
  ASSERT_EQ(text.exit_code, 0) << text.error;
  EXPECT_NE(text.out.find("1 of 1 entries measured again"), std::string::npos) << text.out;
  const nlohmann::json device =
      Parsed(home.Run({"catalogue", "compare", file, records, "--json"}).out)["modes"]["device"];
  EXPECT_EQ(device["time"]["geomean"], 0.8);
  EXPECT_EQ(device["speed_up"]["max"], 1.2);

  trial.outcome = {};
  trial.outcome.kind = OutcomeKind::kWrong;
  trial.outcome.reason = "test binary: all are wrong";
  trial.outcome.protocol = Protocol::kShort;
  trial.unix_ms = 2;
  const std::string wrong = home.File("wrong.jsonl", ToJsonLine(trial) + "\n");
  const Finished refused = home.Run({"catalogue", "compare", file, wrong});
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_NE(refused.out.find("256x512x4096 tn f16 f32: wrong: test binary: all are wrong"), std::string::npos);

  const Finished nothing = home.Run({"catalogue", "compare", File(*ParsePlan("wgmma")), records});
  EXPECT_EQ(nothing.exit_code, 3);
  EXPECT_NE(nothing.error.find("holds no race of an entry"), std::string::npos) << nothing.error;
}

TEST_F(CatalogueTest, JournalsOfOtherMachinesProveItsEntries) {
  const std::string file = File(kPlan);
  Certificate certificate{
      .problem = Print(kGemm), .plan = Print(kPlan), .device = "h200", .harness = "gemmsmith 0.1.0 abc"};
  certificate.outcome = Name(OutcomeKind::kVerified), certificate.memchecked = true;
  Certificate of_another_device = certificate;
  of_another_device.device = "h100", of_another_device.outcome = Name(OutcomeKind::kWrong);
  const std::string here = home.File("here", Print(certificate) + "\n"),
                    there = home.File("there", Print(of_another_device) + "\n");

  const Finished proven = home.Run({"catalogue", "prove", file, here, there});
  EXPECT_EQ(proven.exit_code, 0) << proven.error;
  EXPECT_EQ(proven.out, file + ": 1 kernel proven further, 0 withdrawn, by 2 certificates\n");
  EXPECT_EQ(Catalogue::Read(file)->Find(kGemm)->proof, Proof::kMemchecked);
  const nlohmann::json again = Parsed(home.Run({"catalogue", "prove", file, here, "--json"}).out);
  EXPECT_EQ(again["certificates"], 1);
  EXPECT_EQ(again["raised"], 0);

  const std::string bytes = *ReadFile(file);
  ExpectOneError(home.Run({"catalogue", "prove", file, here, home.Path("nothing")}), 3, "nothing");
  ExpectOneError(home.Run({"catalogue", "prove", file, file}), 1, file);
  ExpectOneError(home.Run({"catalogue", "prove", home.Path("none.catalogue"), here}), 3, "none.catalogue");
  ExpectOneError(home.Run({"catalogue", "prove", file}), 2, "FILE");
  EXPECT_EQ(*ReadFile(file), bytes);
}

// On no GPU: only who would be judged.
TEST_F(CatalogueTest, WhoIsProvenAsFarAlreadyIsNotJudgedAgain) {
  Catalogue catalogue("h200");
  for (const auto& [k, proof] : {std::pair(64, Proof::kTested), {128, Proof::kCertified}, {256, Proof::kMemchecked}})
    catalogue.Put({.gemm = {{64, 64, k}, {kTn}},
                   .plan = kPlan,
                   .proof = proof,
                   .date = "2026-11-22",
                   .harness = "gemmsmith 0.1.0 abc",
                   .times = {{"device", 5000, {4900, 5100}, 1.25, {1.2, 1.3}}}});
  const std::string file = home.File("h200.catalogue", catalogue.Print());
  const auto error_of = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"verify", "--catalogue", file, "--device", "gpu:99"});
    const Finished finished = home.Run(words);
    EXPECT_EQ(finished.exit_code, 3) << finished.error;
    return finished.error;
  };
  EXPECT_NE(error_of({}).find("h200.catalogue: certified already: 2 kernels; --again judges them, too"),
            std::string::npos);
  EXPECT_NE(error_of({"--memcheck"}).find("h200.catalogue: memchecked already: 1 kernel;"), std::string::npos);
  EXPECT_EQ(error_of({"--memcheck", "--again"}).find("already"), std::string::npos);
}

}  // namespace
}  // namespace gemmsmith
