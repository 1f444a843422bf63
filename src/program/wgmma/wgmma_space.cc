#include "program/wgmma/wgmma_space.h"

#include <algorithm>

#include "program/wgmma/wgmma_plan.h"

namespace gemmsmith {

namespace {

// f32 sums that no thread has registers for.
constexpr int kTooManySums = 255;
// Swapped roles are searched where they save this share of the tiles. The roles themselves are worth 2 to 4 %, so nearly
// equal plans would fill the space.
constexpr double kSwappingSaves = 0.1;
constexpr int kUsualRaster = 8;

double Tiles(int tile_m, int tile_n, const Shape& shape) {
  return double(CeilDivide(shape.m, tile_m)) * CeilDivide(shape.n, tile_n);
}

// Straight roles have the same instructions with the mirrored tile, and as wide ones with the same tile where it is no
// taller than wide.
bool SwappingMayPay(const WgmmaPlan& plan, const Shape& shape) {
  if (plan.tile_n % 64 != 0 || (plan.tile_m % 64 == 0 && plan.tile_m <= plan.tile_n)) return false;
  return Tiles(plan.tile_m, plan.tile_n, shape) <= (1 - kSwappingSaves) * Tiles(plan.tile_n, plan.tile_m, shape);
}

// More tiles than multiprocessors, even where clusters round them up.
bool HasManyTiles(const WgmmaPlan& plan, const Shape& shape, const Device& device) {
  const int64_t rows = CeilDivide(shape.m, plan.tile_m) + 3, columns = CeilDivide(shape.n, plan.tile_n) + 3;
  return rows * columns > device.multiprocessors;
}

bool WarpgroupsCanShare(const WgmmaPlan& plan) {
  if (plan.schedule == Schedule::kPingPong && plan.warpgroups != 2) return false;
  const int sums = plan.tile_m * plan.tile_n / (128 * plan.team());
  return plan.sum_rows() % (64 * plan.team()) == 0 && sums < kTooManySums;
}

bool StagesFit(const WgmmaPlan& plan, const Device& device) {
  if (plan.is_persistent() && !plan.is_ring()) return false;
  return int64_t(plan.stages) * plan.StageBytes() <= device.smem_bytes_per_block;
}

bool SplitFits(const WgmmaPlan& plan, const Shape& shape) {
  if (plan.is_persistent()) return plan.split == 1;
  return CeilDivide(shape.k, plan.step_k) >= plan.split && plan.Steps(shape) >= plan.stages;
}

}  // namespace

bool MayBecomeWorthTryingWgmma(const Plan& plan, size_t last_axis, const Gemm& gemm, const Device& device) {
  const WgmmaPlan read(plan);
  switch (last_axis) {
    case WgmmaAxis::kRolesOfOperands:
      return read.is_swapped() ? SwappingMayPay(read, gemm.shape) : read.tile_m % 64 == 0;
    case WgmmaAxis::kSchedule:
      return !read.is_persistent() || HasManyTiles(read, gemm.shape, device);
    case WgmmaAxis::kWarpgroups:
      return WarpgroupsCanShare(read);
    case WgmmaAxis::kStages:
      return StagesFit(read, device);
    case WgmmaAxis::kClusterN:
      return read.cluster_size() <= 4;
    case WgmmaAxis::kSplit:
      return SplitFits(read, gemm.shape);
    case WgmmaAxis::kReduction:
      return read.split > 1 || read.reduction == SplitReduction::kAdd;
    default:
      return true;
  }
}

std::vector<PricedForm> PricedFormsOfWgmma(const Plan& geometry) {
  const WgmmaPlan read(geometry);
  const int finishes = read.team() > 1 ? 2 : 1;
  std::vector<PricedForm> forms;
  for (int finish = 0; finish < finishes; ++finish)
    for (const Store store : {Store::kRows, Store::kTma, Store::kTmaFirstOut}) {
      PricedForm form{geometry, geometry};
      for (Plan* plan : {&form.priced, &form.legal}) {
        plan->values[WgmmaAxis::kStore] = int(store);
        plan->values[WgmmaAxis::kFinish] = finish;
      }
      form.priced.values[WgmmaAxis::kRaster] = kUsualRaster;
      forms.push_back(form);
    }
  return forms;
}

}  // namespace gemmsmith
