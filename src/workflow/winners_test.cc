#include "workflow/winners.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/files.h"
#include "workflow/shipped_data.h"

namespace gemmsmith {
namespace {

TEST(NeighbourWinnersIn, ACataloguesKernelsAreTriedOnTheDevicesOfItsArchitecture) {
  const Result<TemporaryFolder> folder = TemporaryFolder::Create("winners");
  ASSERT_TRUE(folder.ok());
  const std::vector<std::filesystem::path> catalogues = {folder->path() / "h200.catalogue"};
  const Gemm gemm{{256, 512, 4096}, {kTn}};
  const Plan plan = RankedPlans(gemm, *FindDevice("h200"), 1).front();
  ASSERT_TRUE(WriteFileAtomic(catalogues[0], "gemmsmith-catalogue 1 h200\n" + Print(gemm) + "\t" + Print(plan) +
                                                 "\ttested\t2026-11-22\tgemmsmith 0.1.0\tdevice 10 9 11 1.2 1.1 1.3\n")
                  .ok());
  for (const char* const key : {"h200", "h100"}) {
    const Device device = *FindDevice(key);
    const Result<NeighbourWinners> winners = NeighbourWinnersIn(catalogues, device);
    ASSERT_TRUE(winners.ok()) << winners.status().message();
    EXPECT_EQ(winners->OfItself(gemm, device), plan) << key;
  }
  EXPECT_TRUE(NeighbourWinnersIn(catalogues, *FindDevice("a100"))->empty());
}

TEST(ShippedCatalogues, HaveAKernelForEveryProblemOfTheGrid) {
  const Device device = *FindDevice("h200");
  const Result<NeighbourWinners> winners = NeighbourWinnersIn(ShippedCatalogues(), device);
  ASSERT_TRUE(winners.ok()) << winners.status().message();
  for (const Shape& shape : {Shape{64, 64, 64}, {16384, 16384, 16384}, {64, 16384, 512}})
    EXPECT_TRUE(winners->OfItself({shape, {kNn}}, device)) << Print(shape);
}

}  // namespace
}  // namespace gemmsmith
