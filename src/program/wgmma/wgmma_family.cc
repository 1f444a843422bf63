#include "program/wgmma/wgmma_family.h"

#include "program/wgmma/suggestion.h"
#include "program/wgmma/variants.h"
#include "program/wgmma/wgmma_cost.h"
#include "program/wgmma/wgmma_launch.h"
#include "program/wgmma/wgmma_legality.h"
#include "program/wgmma/wgmma_plan.h"
#include "program/wgmma/wgmma_space.h"
#include "program/wgmma/wgmma_techniques.h"
#include "program/wgmma/wide_tiles.h"

namespace gemmsmith {

namespace {

// Groups of clusters along m change nothing where the tiles make one row, one column or one group.
bool RasterHasSay(const WgmmaPlan& plan, const Shape& shape) {
  const int tiles_m = CeilDivide(shape.m, plan.tile_m), tiles_n = CeilDivide(shape.n, plan.tile_n);
  if (tiles_m <= plan.cluster_m || tiles_n <= plan.cluster_n) return false;
  return plan.raster <= kAlongN || plan.raster * plan.cluster_m < tiles_m;
}

class Wgmma : public Family {
 public:
  Wgmma() : Family(FamilyId::kWgmma, "wgmma", "TMA to shared memory to wgmma (Hopper only)", WgmmaAxes()) {}

  void Check(const Plan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) const override {
    CheckWgmma(WgmmaPlan(plan), gemm, device, reasons);
  }
  void Advise(const Plan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) const override {
    AdviseWgmma(WgmmaPlan(plan), gemm, device, reasons);
    const Plan canonical = Canonical(plan, gemm);
    for (const WgmmaAxis::Index axis : {WgmmaAxis::kReduction, WgmmaAxis::kRaster, WgmmaAxis::kCtas})
      if (canonical.values[axis] != plan.values[axis])
        reasons.Add("{}={} makes the same kernel", axes[axis].name, axes[axis].Print(canonical.values[axis]));
  }
  Plan Canonical(const Plan& plan, const Gemm& gemm) const override {
    const WgmmaPlan read(plan);
    Plan canonical = plan;
    if (read.split == 1) canonical.values[WgmmaAxis::kReduction] = int(SplitReduction::kAdd);
    if (!read.is_persistent()) canonical.values[WgmmaAxis::kCtas] = int(Ctas::kAll);
    if (!RasterHasSay(read, gemm.shape)) canonical.values[WgmmaAxis::kRaster] = kAlongM;
    return canonical;
  }

  Launch LaunchFor(const Plan& plan, const Gemm& gemm) const override { return LaunchWgmma(WgmmaPlan(plan), gemm); }
  KernelText TextOf(const Plan& plan, const Gemm& gemm) const override {
    const WgmmaPlan read(plan);
    std::string config = WgmmaConfigText(read, gemm);
    if (read.is_persistent())
      return {"gemm_persistent.cuh", "launch_persistent.cuh", "gemmsmith::PersistentKernel", std::move(config),
              read.MovesRegisters()};
    return {"gemm_wgmma.cuh", "launch_wgmma.cuh", "gemmsmith::WgmmaKernel", std::move(config)};
  }

  double PredictTimeNs(const Plan& plan, const Gemm& gemm, const Device& device) const override {
    return WgmmaTimeNs(WgmmaPlan(plan), gemm, device);
  }

  bool MayBecomeWorthTrying(const Plan& plan, size_t last_axis, const Gemm& gemm, const Device& device) const override {
    return MayBecomeWorthTryingWgmma(plan, last_axis, gemm, device);
  }
  std::vector<PricedForm> PricedForms(const Plan& geometry) const override { return PricedFormsOfWgmma(geometry); }
  // A search waits for compilation. Without fixed dimensions shapes share kernels; known dimensions gain 2 to 5 %.
  FixedDimensions ScreenedFixed() const override { return FixedDimensions::kNone; }
  std::vector<Plan> Variants(const Plan& plan, const Gemm& gemm, const Device& device,
                             const RaceOccasion& occasion) const override {
    const std::optional<Plan> variant = occasion.kind == RaceOccasion::Kind::kPowerCapped
                                            ? SquarerRaster(plan, gemm, device)
                                            : ShorterRing(plan, gemm, occasion.most_smem_bytes);
    return variant ? std::vector{*variant} : std::vector<Plan>{};
  }
  std::vector<Plan> LongCallOpenings(const Gemm& gemm, const Device& device, size_t count) const override {
    return WideTiles(gemm, device, count);
  }
  std::optional<Plan> PlanLike(const KernelSuggestion& suggestion, const Gemm& gemm,
                               const Device& device) const override {
    return WgmmaPlanLike(suggestion, gemm, device);
  }
  double Unlikeness(const Plan& first, const Plan& second) const override { return WgmmaUnlikeness(first, second); }

  TileShape TileOf(const Plan& plan) const override {
    return {plan.values[WgmmaAxis::kTileM], plan.values[WgmmaAxis::kTileN]};
  }
  ComputedExtent ComputedBy(const Plan& plan, const Shape& shape) const override {
    const WgmmaPlan read(plan);
    return {read.TilesM(shape) * read.tile_m, read.TilesN(shape) * read.tile_n,
            CeilDivide(shape.k, read.step_k) * read.step_k};
  }
  bool HasSay(size_t axis, const Plan& plan) const override {
    const WgmmaPlan read(plan);
    return axis == WgmmaAxis::kReduction ? read.split > 1 : axis != WgmmaAxis::kCtas || read.is_persistent();
  }
  std::span<const Technique> techniques() const override { return WgmmaTechniques(); }
};

}  // namespace

const Family& WgmmaFamily() {
  static const Wgmma family;
  return family;
}

}  // namespace gemmsmith
