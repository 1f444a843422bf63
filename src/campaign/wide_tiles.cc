#include "campaign/wide_tiles.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "campaign/twins.h"
#include "program/legality.h"
#include "program/wgmma_family.h"

namespace gemmsmith {

namespace {

constexpr int kLeastK = 8192;
constexpr int kMostStages = 5, kLeastStages = 3;

struct Tile {
  int m, n;
  Schedule schedule;
  int warpgroups;
};

std::vector<Tile> Tiles() {
  std::vector<Tile> tiles = {{128, 256, Schedule::kCooperative, 2},
                             {256, 128, Schedule::kCooperative, 2},
                             {192, 256, Schedule::kUnaided, 3},
                             {256, 216, Schedule::kUnaided, 2}};
  for (int n = 160; n <= 208; n += 8) tiles.push_back({256, n, Schedule::kCooperative, 2});
  return tiles;
}

// What the logarithm of speed loses, beside the squarest waves without a cluster: a regression over 1,952 plans of 364
// settled races with K of 8192 and more and calls of 0.25 ms and more (H200, November 2026), 1/128 element more for
// each product, 1/128 column less of an instruction, what the last wave leaves idle, columns that fill no whole lines,
// a third warpgroup, no producer. Of 119 pairs of races that it had not seen, by 0.4 % and more apart, it told 101
// right.
constexpr double kElement = 0.059, kColumn = 0.014, kIdle = 0.45, kOddColumns = 0.006, kThird = 0.008, kUnaided = 0.005;

double LossOf(const Tile& tile, const Shape& shape, const Device& device) {
  const double tiles = double(CeilDivide(shape.m, tile.m)) * CeilDivide(shape.n, tile.n);
  const double places = std::ceil(tiles / device.multiprocessors) * device.multiprocessors;
  const double idle = std::log(places * tile.m * tile.n / (double(shape.m) * shape.n));
  return kElement * 128 * (1.0 / tile.m + 1.0 / tile.n) + kColumn * 128 / tile.n + kIdle * idle +
         kOddColumns * (tile.n % 64 != 0) + kThird * (tile.warpgroups == 3) +
         kUnaided * (tile.schedule == Schedule::kUnaided);
}

// With as many stages as there is room for.
std::optional<Plan> PlanOf(const Tile& tile, const Gemm& gemm, const Device& device) {
  Plan plan = DefaultPlan(FamilyId::kWgmma);
  plan.Set("tile_m", tile.m), plan.Set("tile_n", tile.n);
  plan.Set("schedule", int(tile.schedule)), plan.Set("warpgroups", tile.warpgroups);
  plan.Set("store", int(Store::kBoxes)), plan.Set("trigger", int(Trigger::kLate)), plan.Set("finish", 1);
  for (int stages = kMostStages; stages >= kLeastStages; --stages) {
    plan.Set("stages", stages);
    if (IsLegal(plan, gemm, device)) return SquareTwin(plan, gemm, device).value_or(plan);
  }
  return std::nullopt;
}

}  // namespace

std::vector<Plan> WideTiles(const Gemm& gemm, const Device& device, size_t count) {
  if (gemm.shape.k < kLeastK) return {};
  std::vector<std::pair<double, Plan>> found;
  for (const Tile& tile : Tiles())
    if (const std::optional<Plan> plan = PlanOf(tile, gemm, device))
      found.emplace_back(LossOf(tile, gemm.shape, device), *plan);
  std::ranges::sort(found);
  found.resize(std::min(count, found.size()));
  std::vector<Plan> plans;
  for (const auto& [loss, plan] : found) plans.push_back(plan);
  return plans;
}

}  // namespace gemmsmith
