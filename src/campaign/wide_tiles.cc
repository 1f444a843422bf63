#include "campaign/wide_tiles.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "campaign/twins.h"
#include "program/launch.h"
#include "program/legality.h"
#include "program/wgmma_family.h"

namespace gemmsmith {

namespace {

constexpr int kLeastK = 8192;
// The longest products, on most of which a plan that shares what whole turns leave over, or another wide one, is the
// fastest (docs/lab/retired.md).
constexpr int kLeastKOfLongest = 4096;
constexpr double kFewestProductsOfLongest = 1ll << 38;
constexpr int kMostStages = 5, kLeastStages = 3;

struct Tile {
  int m, n;
  Schedule schedule;
  int warpgroups;
  Ctas ctas = Ctas::kAll;
};

std::vector<Tile> Tiles() {
  std::vector<Tile> tiles = {{128, 256, Schedule::kCooperative, 2},
                             {256, 128, Schedule::kCooperative, 2},
                             {192, 256, Schedule::kUnaided, 3},
                             {256, 216, Schedule::kUnaided, 2}};
  for (int n = 160; n <= 208; n += 8) tiles.push_back({256, n, Schedule::kCooperative, 2});
  for (Tile tile : std::vector(tiles))
    if (tile.schedule == Schedule::kCooperative) tile.ctas = Ctas::kShared, tiles.push_back(tile);
  return tiles;
}

// What the logarithm of speed loses, beside the squarest waves without a cluster: a regression over 1,952 plans of 364
// settled races with K of 8192 and more and calls of 0.25 ms and more (H200, November 2026), 1/128 element more for
// each product, 1/128 column less of an instruction, what the last wave leaves idle, columns that fill no whole lines,
// a third warpgroup, no producer. Of 119 pairs of races that it had not seen, by 0.4 % and more apart, it told 101
// right.
constexpr double kElement = 0.059, kColumn = 0.014, kIdle = 0.45, kOddColumns = 0.006, kThird = 0.008, kUnaided = 0.005;

// Handing over the sums of shared tiles takes some 8 us, where a nanosecond makes 6.6e5 operations.
constexpr double kSharing = 8000 * 6.6e5;

double TurnsOf(const WgmmaPlan& plan, const Shape& shape, const Device& device) {
  const int64_t tiles = int64_t(plan.TilesM(shape)) * plan.TilesN(shape);
  const std::optional<int> rest = plan.shares_rest()
                                      ? SharedRestSteps(tiles, plan.Steps(shape), plan.step_k, device.multiprocessors)
                                      : std::nullopt;
  if (!rest) return double((tiles + device.multiprocessors - 1) / device.multiprocessors);
  return double(tiles / device.multiprocessors) + double(*rest) / plan.Steps(shape);
}

double LossOf(const Plan& plan, const Tile& tile, const Gemm& gemm, const Device& device) {
  const Shape& shape = gemm.shape;
  const double busy = TurnsOf(WgmmaPlan(plan), shape, device) * device.multiprocessors * tile.m * tile.n;
  const double idle = std::log(busy / (double(shape.m) * shape.n));
  const double sharing = tile.ctas == Ctas::kShared ? kSharing / (2 * shape.Volume()) : 0;
  return sharing + kElement * 128 * (1.0 / tile.m + 1.0 / tile.n) + kColumn * 128 / tile.n + kIdle * idle +
         kOddColumns * (tile.n % 64 != 0) + kThird * (tile.warpgroups == 3) +
         kUnaided * (tile.schedule == Schedule::kUnaided);
}

// With as many stages as there is room for.
std::optional<Plan> PlanOf(const Tile& tile, const Gemm& gemm, const Device& device) {
  Plan plan = DefaultPlan(FamilyId::kWgmma);
  plan.Set("tile_m", tile.m), plan.Set("tile_n", tile.n);
  plan.Set("schedule", int(tile.schedule)), plan.Set("warpgroups", tile.warpgroups), plan.Set("ctas", int(tile.ctas));
  plan.Set("store", int(Store::kBoxes)), plan.Set("trigger", int(Trigger::kLate)), plan.Set("finish", 1);
  for (int stages = kMostStages; stages >= kLeastStages; --stages) {
    plan.Set("stages", stages);
    if (IsLegal(plan, gemm, device)) return SquareTwin(plan, gemm, device).value_or(plan);
  }
  return std::nullopt;
}

}  // namespace

std::vector<Plan> WideTiles(const Gemm& gemm, const Device& device, size_t count) {
  const bool is_long = gemm.shape.k >= kLeastKOfLongest && gemm.shape.Volume() >= kFewestProductsOfLongest;
  std::vector<std::pair<double, Plan>> whole, shared;
  for (const Tile& tile : Tiles()) {
    const bool is_shared = tile.ctas == Ctas::kShared;
    if (!is_long && (is_shared || gemm.shape.k < kLeastK)) continue;
    if (const std::optional<Plan> plan = PlanOf(tile, gemm, device))
      (is_shared ? shared : whole).emplace_back(LossOf(*plan, tile, gemm, device), *plan);
  }
  std::vector<std::pair<double, Plan>> found;
  for (auto* kind : {&whole, &shared}) {
    std::ranges::sort(*kind);
    found.insert(found.end(), kind->begin(), kind->begin() + ptrdiff_t(std::min(count, kind->size())));
  }
  std::ranges::sort(found);
  std::vector<Plan> plans;
  for (const auto& [loss, plan] : found) plans.push_back(plan);
  return plans;
}

}  // namespace gemmsmith
