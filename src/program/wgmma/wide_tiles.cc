#include "program/wgmma/wide_tiles.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "program/legality.h"
#include "program/wgmma/variants.h"
#include "program/wgmma/wgmma_plan.h"

namespace gemmsmith {

namespace {

constexpr int kMinK = 8192, kMinKOfLongest = 4096;
constexpr double kFewestProductsOfLongest = 1ll << 38;
constexpr int kMaxStages = 5, kMinStages = 3;
constexpr int kWarpgroups = 2;

struct Tile {
  int m, n;
};

std::vector<Tile> Tiles() {
  std::vector<Tile> tiles = {{128, 256}, {256, 128}};
  for (int n = 160; n <= 208; n += 8) tiles.push_back({256, n});
  return tiles;
}

// Losses of the logarithm of speed: a regression over 1,952 plans of 364 races in steady state with K of 8192 and more
// (docs/lab/throughput.md). Terms: 1/128 element more a product, 1/128 column less an instruction, idle multiprocessors
// of the last wave, columns that fill no whole lines.
constexpr double kElement = 0.059, kColumn = 0.014, kIdle = 0.45, kOddColumns = 0.006;

double LossOf(const WgmmaPlan& plan, const Gemm& gemm, const Device& device) {
  const Shape& shape = gemm.shape;
  const int64_t waves = (plan.Tiles(shape) + device.multiprocessors - 1) / device.multiprocessors;
  const double busy = double(waves) * device.multiprocessors * plan.tile_m * plan.tile_n;
  const double idle = std::log(busy / (double(shape.m) * shape.n));
  return kElement * 128 * (1.0 / plan.tile_m + 1.0 / plan.tile_n) + kColumn * 128 / plan.tile_n + kIdle * idle +
         kOddColumns * (plan.tile_n % 64 != 0);
}

// With as many stages as there is room for.
std::optional<Plan> PlanOf(const Tile& tile, const Gemm& gemm, const Device& device) {
  Plan plan = DefaultPlan(FamilyId::kWgmma);
  plan.Set("tile_m", tile.m), plan.Set("tile_n", tile.n);
  plan.Set("schedule", int(Schedule::kCooperative)), plan.Set("warpgroups", kWarpgroups);
  plan.Set("store", int(Store::kTma)), plan.Set("trigger", int(Trigger::kLate)), plan.Set("finish", 1);
  for (int stages = kMaxStages; stages >= kMinStages; --stages) {
    plan.Set("stages", stages);
    if (IsWorthTrying(plan, gemm, device)) return SquarerRaster(plan, gemm, device).value_or(plan);
  }
  return std::nullopt;
}

}  // namespace

std::vector<Plan> WideTiles(const Gemm& gemm, const Device& device, size_t count) {
  const bool is_longest = gemm.shape.Volume() >= kFewestProductsOfLongest;
  if (gemm.shape.k < (is_longest ? kMinKOfLongest : kMinK)) return {};
  std::vector<std::pair<double, Plan>> found;
  for (const Tile& tile : Tiles())
    if (const std::optional<Plan> plan = PlanOf(tile, gemm, device))
      found.emplace_back(LossOf(WgmmaPlan(*plan), gemm, device), *plan);
  std::ranges::sort(found);
  found.resize(std::min(found.size(), count));
  std::vector<Plan> plans;
  for (const auto& [loss, plan] : found) plans.push_back(plan);
  return plans;
}

}  // namespace gemmsmith
