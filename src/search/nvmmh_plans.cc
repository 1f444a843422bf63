#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "program/cost.h"
#include "program/legality.h"
#include "program/wgmma_family.h"
#include "search/nvmmh.h"

namespace gemmsmith {

namespace {

double Octaves(int a, int b) { return std::abs(std::log2(double(a) / double(b))); }

// The values of an axis, the nearest to `wanted` by ratio first.
std::vector<int> NearestFirst(std::string_view axis, int wanted) {
  const Family& family = GetFamily(FamilyId::kWgmma);
  const std::span<const int> all = family.parameters[size_t(family.IndexOf(axis))].values;
  std::vector<int> values(all.begin(), all.end());
  std::erase_if(values, [](int value) { return value < 1; });
  std::stable_sort(values.begin(), values.end(),
                   [wanted](int a, int b) { return Octaves(a, wanted) < Octaves(b, wanted); });
  return values;
}

int Nearest(std::string_view axis, int wanted) { return NearestFirst(axis, std::max(wanted, 1)).front(); }

// The nearest one below `limit`, a multiple of `unit`; the least where none is.
int NearestBelow(std::string_view axis, int wanted, int limit, int unit) {
  const std::vector<int> values = NearestFirst(axis, std::max(wanted, 1));
  for (const int value : values)
    if (value < limit && value % unit == 0) return value;
  return *std::min_element(values.begin(), values.end());
}

// A CTA's warps in groups of four: its consumers.
int WarpgroupsOf(const NvmmhConfig& config) {
  const auto along = [](int tile, int warp) { return warp > 0 ? CeilDivide(tile, warp) : 1; };
  const int warps =
      along(config.tile_m, config.warp_m) * along(config.tile_n, config.warp_n) * along(config.tile_k, config.warp_k);
  return std::clamp(warps / 4, 1, 4);
}

// Rows of CTAs that walk along n are our groups along m; we have none along n.
int RasterOf(const NvmmhConfig& config) {
  if (config.along_m) return 0;
  return config.swizzle <= 1 ? 1 : Nearest("raster", config.swizzle);
}

// What stands fast: the tile and how K is divided.
Plan TileOf(const NvmmhConfig& config, const Gemm& gemm) {
  const bool row_major_b = gemm.kind.layout.b == Order::kRow;
  const int unit_n = row_major_b ? 16 : 8;
  Plan plan = DefaultPlan(FamilyId::kWgmma);
  plan.Set("tile_m", NearestBelow("tile_m", config.tile_m, gemm.shape.m + 64, 64));
  plan.Set("tile_n", NearestBelow("tile_n", config.tile_n, gemm.shape.n + unit_n, unit_n));
  plan.Set("step_k", NearestBelow("step_k", config.tile_k, gemm.shape.k + 64, 64));
  const int steps = CeilDivide(gemm.shape.k, plan.Get("step_k"));
  plan.Set("split", NearestBelow("split", config.split, steps + 1, 1));
  plan.Set("trigger", int(Trigger::kLate));
  return plan;
}

// CUTLASS's Hopper kernels are persistent; with one warpgroup a tile two of them take turns. Ours are where it is of
// use.
std::vector<Schedule> SchedulesFor(const Plan& plan, int warpgroups, const Gemm& gemm, const Device& device) {
  const WgmmaPlan tile(plan);
  const bool many = int64_t(tile.TilesM(gemm.shape)) * tile.TilesN(gemm.shape) > device.multiprocessors;
  if (!many || tile.split > 1) return {Schedule::kOneTile};
  if (warpgroups == 1) return {Schedule::kPingPong, Schedule::kCooperative, Schedule::kOneTile};
  return {Schedule::kCooperative, Schedule::kPingPong, Schedule::kOneTile};
}

std::vector<int> WarpgroupsFor(Schedule schedule, int wanted) {
  if (schedule == Schedule::kPingPong) return {2};
  return NearestFirst("warpgroups", wanted);
}

using Cluster = std::array<int, 2>;
std::vector<Cluster> ClustersLike(const NvmmhConfig& config) {
  const int m = Nearest("cluster_m", config.cluster_m), n = Nearest("cluster_n", config.cluster_n);
  std::vector<Cluster> clusters = {{m, n}};
  for (const Cluster& smaller :
       {Cluster{std::min(m, 2), std::min(n, 2)}, Cluster{std::min(m, 2), 1}, Cluster{1, std::min(n, 2)}, Cluster{1, 1}})
    if (std::find(clusters.begin(), clusters.end(), smaller) == clusters.end()) clusters.push_back(smaller);
  return clusters;
}

// The fastest by prediction of the legal ways to reduce and to store.
std::optional<Plan> Completed(Plan plan, const Gemm& gemm, const Device& device) {
  std::optional<Plan> best;
  double best_ns = INFINITY;
  const bool shares_copies = WgmmaPlan(plan).cluster_size() > 1;
  for (const SplitReduction reduction : {SplitReduction::kAdd, SplitReduction::kCluster, SplitReduction::kExchange}) {
    if (reduction == SplitReduction::kCluster && shares_copies) continue;  // the tiles of such a cluster do not
    plan.Set("reduction", int(reduction));
    for (const Store store : {Store::kRows, Store::kBoxes, Store::kBoxesFirstOut}) {
      plan.Set("store", int(store));
      if (!IsLegal(plan, gemm, device)) continue;
      if (const double time_ns = PredictTimeNs(plan, gemm, device); time_ns < best_ns) best = plan, best_ns = time_ns;
    }
  }
  return best;
}

std::optional<Plan> WithStagesAndRaster(Plan plan, const NvmmhConfig& config, const Gemm& gemm, const Device& device) {
  std::vector<int> stage_counts = NearestFirst("stages", std::max(config.stages, 1));
  stage_counts.push_back(0);  // resident: a ring has at least two steps
  for (const int stages : stage_counts)
    for (const int raster : {RasterOf(config), 0}) {
      plan.Set("stages", stages);
      plan.Set("raster", raster);
      if (const std::optional<Plan> legal = Completed(plan, gemm, device)) return legal;
    }
  return std::nullopt;
}

// In the axes that the library names; the tile counts most, then how K is divided.
double Unlikeness(const WgmmaPlan& a, const WgmmaPlan& b) {
  return 8 * (Octaves(a.tile_m, b.tile_m) + Octaves(a.tile_n, b.tile_n)) + 4 * Octaves(a.split, b.split) +
         2 * double(a.is_persistent() != b.is_persistent()) + Octaves(a.cluster_m, b.cluster_m) +
         Octaves(a.cluster_n, b.cluster_n) + double(a.warpgroups != b.warpgroups || a.schedule != b.schedule) +
         Octaves(a.step_k, b.step_k) + 0.25 * std::min(std::abs(a.stages - b.stages), 4) +
         0.125 * double(a.raster != b.raster);
}

}  // namespace

std::optional<Plan> NearestLegalPlan(const NvmmhConfig& config, const Gemm& gemm, const Device& device) {
  Plan plan = TileOf(config, gemm);
  const int warpgroups = WarpgroupsOf(config);
  for (const Schedule schedule : SchedulesFor(plan, warpgroups, gemm, device))
    for (const int count : WarpgroupsFor(schedule, warpgroups))
      for (const Cluster& cluster : ClustersLike(config)) {
        plan.Set("schedule", int(schedule));
        plan.Set("warpgroups", count);
        plan.Set("cluster_m", cluster[0]);
        plan.Set("cluster_n", cluster[1]);
        if (const std::optional<Plan> legal = WithStagesAndRaster(plan, config, gemm, device)) return legal;
      }
  return std::nullopt;
}

std::vector<Plan> NearestLegalPlans(std::span<const NvmmhConfig> configs, const Gemm& gemm, const Device& device) {
  std::vector<Plan> plans;
  for (const NvmmhConfig& config : configs)
    if (const std::optional<Plan> plan = NearestLegalPlan(config, gemm, device);
        plan && std::find(plans.begin(), plans.end(), *plan) == plans.end())
      plans.push_back(*plan);
  return plans;
}

const Plan* NearestOf(std::span<const Plan> plans, const Plan& wanted, const Gemm& gemm, const Device& device) {
  using Rank = std::pair<double, double>;
  const Plan* nearest = nullptr;
  Rank best;
  for (const Plan& plan : plans) {
    if (plan.family != FamilyId::kWgmma) continue;
    const Rank rank{Unlikeness(WgmmaPlan(wanted), WgmmaPlan(plan)), PredictTimeNs(plan, gemm, device)};
    if (nearest == nullptr || rank < best) nearest = &plan, best = rank;
  }
  return nearest;
}

}  // namespace gemmsmith
