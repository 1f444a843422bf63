#include "program/wgmma/suggestion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "program/cost.h"
#include "program/legality.h"
#include "program/wgmma/wgmma_plan.h"

namespace gemmsmith {

namespace {

double Octaves(int a, int b) { return std::abs(std::log2(double(a) / double(b))); }

// The values of an axis, the nearest to `wanted` by ratio first.
std::vector<int> NearestFirst(WgmmaAxis::Index axis, int wanted) {
  const std::span<const int> all = WgmmaAxes()[axis].live_values();
  std::vector<int> values(all.begin(), all.end());
  std::erase_if(values, [](int value) { return value < 1; });
  std::stable_sort(values.begin(), values.end(),
                   [wanted](int a, int b) { return Octaves(a, wanted) < Octaves(b, wanted); });
  return values;
}

int Nearest(WgmmaAxis::Index axis, int wanted) { return NearestFirst(axis, std::max(wanted, 1)).front(); }

// The nearest one below `limit`, a multiple of `unit`; the least where none is.
int NearestBelow(WgmmaAxis::Index axis, int wanted, int limit, int unit) {
  const std::vector<int> values = NearestFirst(axis, std::max(wanted, 1));
  for (const int value : values)
    if (value < limit && value % unit == 0) return value;
  return *std::min_element(values.begin(), values.end());
}

// A CTA's warps in groups of four: its consumers.
int WarpgroupsOf(const KernelSuggestion& suggestion) {
  const auto along = [](int tile, int warp) { return warp > 0 ? CeilDivide(tile, warp) : 1; };
  const int warps =
      along(suggestion.tile_m, suggestion.warp_m) * along(suggestion.tile_n, suggestion.warp_n) * along(suggestion.tile_k, suggestion.warp_k);
  return std::clamp(warps / 4, 1, 4);
}

// Rows of CTAs that walk along n are our groups along m; we have none along n.
int RasterOf(const KernelSuggestion& suggestion) {
  if (suggestion.along_m) return 0;
  return suggestion.swizzle <= 1 ? 1 : Nearest(WgmmaAxis::kRaster, suggestion.swizzle);
}

// What stands fast: the tile and how K is divided.
Plan TileOf(const KernelSuggestion& suggestion, const Gemm& gemm) {
  const bool row_major_b = gemm.kind.layout.b == Order::kRow;
  const int unit_n = row_major_b ? 16 : 8;
  Plan plan = DefaultPlan(FamilyId::kWgmma);
  plan.values[WgmmaAxis::kTileM] = NearestBelow(WgmmaAxis::kTileM, suggestion.tile_m, gemm.shape.m + 64, 64);
  plan.values[WgmmaAxis::kTileN] = NearestBelow(WgmmaAxis::kTileN, suggestion.tile_n, gemm.shape.n + unit_n, unit_n);
  plan.values[WgmmaAxis::kStepK] = NearestBelow(WgmmaAxis::kStepK, suggestion.tile_k, gemm.shape.k + 64, 64);
  const int steps = CeilDivide(gemm.shape.k, plan.values[WgmmaAxis::kStepK]);
  plan.values[WgmmaAxis::kSplit] = NearestBelow(WgmmaAxis::kSplit, suggestion.split, steps + 1, 1);
  plan.values[WgmmaAxis::kTrigger] = int(Trigger::kLate);
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
  return NearestFirst(WgmmaAxis::kWarpgroups, wanted);
}

using Cluster = std::array<int, 2>;
std::vector<Cluster> ClustersLike(const KernelSuggestion& suggestion) {
  const int m = Nearest(WgmmaAxis::kClusterM, suggestion.cluster_m), n = Nearest(WgmmaAxis::kClusterN, suggestion.cluster_n);
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
    plan.values[WgmmaAxis::kReduction] = int(reduction);
    for (const Store store : {Store::kRows, Store::kTma, Store::kTmaFirstOut}) {
      plan.values[WgmmaAxis::kStore] = int(store);
      if (!IsWorthTrying(plan, gemm, device)) continue;
      if (const double time_ns = PredictTimeNs(plan, gemm, device); time_ns < best_ns) best = plan, best_ns = time_ns;
    }
  }
  return best;
}

std::optional<Plan> WithStagesAndRaster(Plan plan, const KernelSuggestion& suggestion, const Gemm& gemm, const Device& device) {
  std::vector<int> stage_counts = NearestFirst(WgmmaAxis::kStages, std::max(suggestion.stages, 1));
  stage_counts.push_back(0);  // resident: a ring has at least two steps
  for (const int stages : stage_counts)
    for (const int raster : {RasterOf(suggestion), 0}) {
      plan.values[WgmmaAxis::kStages] = stages;
      plan.values[WgmmaAxis::kRaster] = raster;
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

std::optional<Plan> WgmmaPlanLike(const KernelSuggestion& suggestion, const Gemm& gemm, const Device& device) {
  Plan plan = TileOf(suggestion, gemm);
  const int warpgroups = WarpgroupsOf(suggestion);
  for (const Schedule schedule : SchedulesFor(plan, warpgroups, gemm, device))
    for (const int count : WarpgroupsFor(schedule, warpgroups))
      for (const Cluster& cluster : ClustersLike(suggestion)) {
        plan.values[WgmmaAxis::kSchedule] = int(schedule);
        plan.values[WgmmaAxis::kWarpgroups] = count;
        plan.values[WgmmaAxis::kClusterM] = cluster[0];
        plan.values[WgmmaAxis::kClusterN] = cluster[1];
        if (const std::optional<Plan> legal = WithStagesAndRaster(plan, suggestion, gemm, device)) return legal;
      }
  return std::nullopt;
}

double WgmmaUnlikeness(const Plan& first, const Plan& second) {
  return Unlikeness(WgmmaPlan(first), WgmmaPlan(second));
}

}  // namespace gemmsmith
