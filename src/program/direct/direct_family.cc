#include "program/direct/direct_family.h"

#include <algorithm>

#include "program/config_text.h"
#include "program/direct/direct_cost.h"
#include "program/direct/direct_legality.h"
#include "program/direct/direct_plan.h"

namespace gemmsmith {

namespace {

uint32_t TilesM(const DirectPlan& plan, const Shape& shape) { return uint32_t(CeilDivide(shape.m, plan.tile_m)); }
uint32_t TilesN(const DirectPlan& plan, const Shape& shape) { return uint32_t(CeilDivide(shape.n, plan.tile_n)); }

// Accesses are as wide as the problem's leading dimensions allow.
std::string ConfigOf(const DirectPlan& plan, const Gemm& gemm) {
  const bool all = plan.fixed == FixedDimensions::kAll, k = all || plan.fixed == FixedDimensions::kK;
  const bool row_major_b = gemm.kind.layout.b == Order::kRow;
  ConfigText text;
  text.AddKind(gemm.kind);
  text.Add("kTileM", plan.tile_m);
  text.Add("kTileN", plan.tile_n);
  text.Add("kWarpsM", plan.warps_m);
  text.Add("kWarpsN", plan.warps_n);
  text.Add("kWarpsK", plan.warps_k);
  text.Add("kChunks", plan.chunks);
  text.Add("kTrigger", plan.trigger);
  text.Add("kLoadVector", std::min(gemm.AlignmentA(), gemm.AlignmentB()));
  text.Add("kStoreVector", gemm.AlignmentC());
  text.AddShape(gemm.shape, plan.fixed);
  text.Add("kFixedLdA", k ? gemm.LeadingA() : 0);
  text.Add("kFixedLdB", (row_major_b ? all : k) ? gemm.LeadingB() : 0);
  text.Add("kFixedLdC", all ? gemm.LeadingC() : 0);
  return std::move(text).Take();
}

const Technique kTechniques[] = {
    {"split",
     "a split K",
     "a whole K",
     {"split", "reduction"},
     [](const Plan& plan) { return std::optional(DirectPlan(plan).split > 1); }},
    {"fixed",
     "fixed dimensions",
     "run-time dimensions",
     {"fixed"},
     [](const Plan& plan) { return std::optional(DirectPlan(plan).fixed != FixedDimensions::kNone); }},
};

class Direct : public Family {
 public:
  Direct()
      : Family(FamilyId::kDirect, "direct", "global memory to register fragments to mma.sync, without staging",
               DirectAxes()) {}

  void Check(const Plan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) const override {
    CheckDirect(DirectPlan(plan), gemm, device, reasons);
  }
  void Advise(const Plan& plan, const Gemm& gemm, const Device&, Reasons& reasons) const override {
    AdviseDirect(DirectPlan(plan), gemm, reasons);
  }
  Plan Canonical(const Plan& plan, const Gemm&) const override { return plan; }

  Launch LaunchFor(const Plan& plan, const Gemm& gemm) const override {
    const DirectPlan direct(plan);
    Launch launch;
    launch.grid = {TilesM(direct, gemm.shape), TilesN(direct, gemm.shape)};
    launch.block = {uint32_t(direct.threads())};
    launch.smem_bytes = direct.SmemBytes();
    launch.chainable = direct.trigger != Trigger::kNone;
    launch.type = gemm.kind.type;
    return launch;
  }
  KernelText TextOf(const Plan& plan, const Gemm& gemm) const override {
    return {"gemm_direct.cuh", "launch_direct.cuh", "gemmsmith::DirectKernel", ConfigOf(DirectPlan(plan), gemm)};
  }

  double PredictTimeNs(const Plan& plan, const Gemm& gemm, const Device& device) const override {
    return DirectTimeNs(DirectPlan(plan), gemm, device);
  }

  bool MayBecomeWorthTrying(const Plan&, size_t, const Gemm&, const Device&) const override { return true; }
  // Direct kernels compile in half the time of wgmma kernels and gain up to a quarter from known dimensions.
  FixedDimensions ScreenedFixed() const override { return FixedDimensions::kAll; }

  TileShape TileOf(const Plan& plan) const override { return {DirectPlan(plan).tile_m, DirectPlan(plan).tile_n}; }
  ComputedExtent ComputedBy(const Plan& plan, const Shape& shape) const override {
    const DirectPlan direct(plan);
    return {int(TilesM(direct, shape)) * direct.tile_m, int(TilesN(direct, shape)) * direct.tile_n,
            CeilDivide(shape.k, kDirectChunkK) * kDirectChunkK};
  }
  bool HasSay(size_t axis, const Plan& plan) const override {
    return axes[axis].name != "reduction" || DirectPlan(plan).split > 1;
  }
  std::span<const Technique> techniques() const override { return kTechniques; }
};

}  // namespace

const Family& DirectFamily() {
  static const Direct family;
  return family;
}

}  // namespace gemmsmith
