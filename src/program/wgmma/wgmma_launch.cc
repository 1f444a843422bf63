#include "program/wgmma/wgmma_launch.h"

#include <utility>

#include "program/config_text.h"
#include "program/wgmma/staged_operand.h"

namespace gemmsmith {

namespace {

TensorMap MapOf(const StagedOperand& operand, bool is_streamed) {
  TensorMap map;
  map.matrix = operand.matrix;
  map.fetch_bytes = uint32_t(FetchBytes(is_streamed, 2.0 * double(operand.inner_extent) * double(operand.line_extent)));
  map.swizzle_bytes = uint32_t(operand.width) * 2;
  const uint64_t line_bytes = operand.leading * 2;
  if (operand.Depth() > 1) {
    const uint64_t width = uint64_t(operand.width);
    map.rank = 3;
    map.extent = {width, operand.line_extent, operand.inner_extent / width};
    map.stride_bytes = {line_bytes, width * 2};
    map.box = {uint32_t(operand.width), uint32_t(operand.lines), uint32_t(operand.Depth())};
  } else {
    map.extent = {operand.inner_extent, operand.line_extent};
    map.stride_bytes = {line_bytes};
    map.box = {uint32_t(operand.width), uint32_t(operand.LinesOfSlice())};
  }
  return map;
}

// C in boxes of StoredWidth() columns: 16 rows of a warp, in persistent kernels 64 of a warpgroup, with swapped roles
// all rows.
TensorMap MapOfC(const WgmmaPlan& plan, const Gemm& gemm) {
  const int width = plan.BoxWidth();
  const int rows = BoxRows(plan.is_swapped(), plan.schedule, plan.tile_m);
  TensorMap map;
  map.matrix = TensorMap::Matrix::kC;
  map.swizzle_bytes = uint32_t(SwizzleBytes(width));
  map.extent = {uint64_t(gemm.shape.n), uint64_t(gemm.shape.m)};
  map.stride_bytes = {uint64_t(gemm.LeadingC()) * 2};
  map.box = {uint32_t(width), uint32_t(rows)};
  return map;
}

}  // namespace

Launch LaunchWgmma(const WgmmaPlan& plan, const Gemm& gemm) {
  const uint32_t tiles_m = uint32_t(plan.TilesM(gemm.shape)), tiles_n = uint32_t(plan.TilesN(gemm.shape));
  const uint32_t cluster_m = uint32_t(plan.cluster_m), cluster_n = uint32_t(plan.cluster_n);
  const uint32_t splits = uint32_t(plan.split);
  Launch launch;
  launch.fills_gpu = plan.is_persistent();
  launch.even_waves = plan.even_waves();
  if (plan.is_persistent()) {
    launch.grid = {tiles_m * tiles_n};
    launch.cluster = {cluster_m * cluster_n};
  } else if (plan.raster == kAlongM) {
    launch.grid = {tiles_m, tiles_n, splits};
    launch.cluster = {cluster_m, cluster_n};
  } else if (plan.raster == kAlongN) {
    launch.grid = {tiles_n, tiles_m, splits};
    launch.cluster = {cluster_n, cluster_m};
  } else {
    launch.grid = {tiles_m * tiles_n, 1, splits};
    launch.cluster = {cluster_m * cluster_n};
  }
  if (plan.splits_are_cluster()) launch.cluster.z = splits;
  launch.block = {uint32_t(plan.threads())};
  launch.smem_bytes = uint32_t(plan.SmemBytes(gemm.shape));
  if (const int slots = SplitSlots(plan.split == 1 ? SplitReduction::kNone : plan.reduction, plan.split); slots > 0)
    launch.workspace_bytes =
        SplitWorkspaceBytes(uint64_t(tiles_m) * tiles_n, uint64_t(slots) * plan.tile_m * plan.tile_n);
  launch.is_cooperative = plan.splits_exchange();
  launch.chainable = plan.trigger != Trigger::kNone;
  launch.deterministic = plan.split == 1 || plan.stores_shares();
  launch.type = gemm.kind.type;
  launch.maps = {MapOf(OperandA(plan, gemm), plan.stream == Stream::kA),
                 MapOf(OperandB(plan, gemm), plan.stream == Stream::kB)};
  if (plan.stores_by_tma()) launch.maps.push_back(MapOfC(plan, gemm));
  return launch;
}

std::string WgmmaConfigText(const WgmmaPlan& plan, const Gemm& gemm) {
  ConfigText text;
  text.AddKind(gemm.kind);
  text.Add("kColumnMajorA", gemm.kind.layout.a == Order::kColumn);
  text.Add("kTileM", plan.tile_m);
  text.Add("kTileN", plan.tile_n);
  text.Add("kSwapped", plan.is_swapped());
  text.Add("kSchedule", plan.schedule);
  text.Add("kWarpgroups", plan.warpgroups);
  text.Add("kStepK", plan.step_k);
  text.Add("kStages", plan.stages);
  text.Add("kClusterM", plan.sharing_m());
  text.Add("kClusterN", plan.sharing_n());
  text.Add("kGroupM", plan.cluster_m / plan.sharing_m());
  text.Add("kGroupN", plan.cluster_n / plan.sharing_n());
  text.Add("kStaggerSteps", plan.StaggerSteps());
  text.Add("kTrigger", plan.trigger);
  text.Add("kRaster", plan.raster);
  text.Add("kStoresByTma", plan.stores_by_tma());
  text.Add("kEvictsStoresFirst", plan.store == Store::kTmaFirstOut);
  text.Add("kStoreVector", gemm.AlignmentC());
  text.Add("kDepthA", OperandA(plan, gemm).Depth());
  text.Add("kDepthB", OperandB(plan, gemm).Depth());
  text.Add("kStreamsA", plan.stream == Stream::kA);
  text.Add("kStreamsB", plan.stream == Stream::kB);
  if (plan.is_persistent()) {
    text.Add("kProducerRegisters", plan.ProducerRegisters());
    text.Add("kConsumerRegisters", plan.ConsumerRegisters());
    text.Add("kStagedBlocks", plan.StagedBlocks());
    text.Add("kHasStoreWarp", plan.HasStoreWarp());
    text.Add("kEvenWaves", plan.even_waves());
  } else {
    text.Add("kConstantB", gemm.kind.constant_b);
    text.Add("kSplit", plan.split);
    text.Add("kReduction", plan.split == 1 ? SplitReduction::kNone : plan.reduction);
    text.Add("kStagingInStages", plan.StagingInStages(gemm.shape));
  }
  text.AddShape(gemm.shape, plan.fixed);
  text.Add("kFixedLdC", plan.fixed == FixedDimensions::kAll ? gemm.LeadingC() : 0);
  return std::move(text).Take();
}

}  // namespace gemmsmith
