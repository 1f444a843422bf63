// A kernel family: the one owner of everything that knows its axes by name.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "problem/device_model.h"
#include "problem/gemm.h"
#include "program/launch.h"
#include "program/plan.h"
#include "program/reasons.h"
#include "program/shared_axes.h"

namespace gemmsmith {

// What a family's kernel is made of, for Emit().
struct KernelText {
  std::string_view header;            // of src/device
  std::string_view launcher;          // the host's side of it, for standalone files
  std::string_view kernel;            // the template that runs a Config
  std::string config;                 // "struct Config { ... };"
  bool fills_multiprocessor = false;  // one CTA has all registers: ptxas counts on setmaxnreg only when told so
};

// Rows and columns of C that a CTA computes at a time.
struct TileShape {
  int m = 0, n = 0;
};

// Extents that are computed: whole tiles, whole clusters of them, whole steps of K.
struct ComputedExtent {
  int m = 0, n = 0, k = 0;
};

// A reason to race another form of a plan against it.
struct RaceOccasion {
  enum class Kind {
    kPowerCapped,   // calls so long that traffic through L2 costs power, and power costs clock
    kOverlapsNext,  // a chain: CTAs of the next launch start beside these, in what shared memory they leave
  };
  Kind kind;
  int64_t most_smem_bytes = 0;  // kOverlapsNext
};

// A way of doing things that reports compare with its absence.
struct Technique {
  std::string_view name;                             // "split"
  std::string_view with, without;                    // in sentences: "a split K", "a whole K"
  std::vector<std::string_view> axes;                // pairs of plans differ in these alone
  std::optional<bool> (*is_used)(const Plan& plan);  // nullopt: the plan is on neither side
};

// A kernel configuration in the terms of CUTLASS 3.
struct KernelSuggestion {
  int tile_m = 0, tile_n = 0, tile_k = 0;  // of a CTA
  int warp_m = 0, warp_n = 0, warp_k = 0;  // of a warp: their ratio is the number of warps
  int split = 1;
  int stages = 0;
  int swizzle = 1;       // CTAs in groups of so many rows (along m: columns)
  bool along_m = false;  // neighbouring CTAs lie along m, else along n
  int cluster_m = 1, cluster_n = 1;
};

// A geometry is priced in several forms, so that geometries compete by their best one.
struct PricedForm {
  Plan priced;  // with an order of tiles that suits most problems
  Plan legal;   // the same with an order that every problem allows
};

class Family {
 public:
  Family(FamilyId family, std::string_view its_name, std::string_view its_meaning, std::span<const Axis> its_axes)
      : id(family), name(its_name), meaning(its_meaning), axes(its_axes) {}
  virtual ~Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  const FamilyId id;
  const std::string_view name;
  const std::string_view meaning;
  const std::span<const Axis> axes;

  int IndexOf(std::string_view axis) const;  // -1 when unknown

  // Adds every reason why the kernel cannot run the problem, or could be wrong.
  virtual void Check(const Plan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) const = 0;
  // Adds every reason why a legal plan is not worth a measurement.
  virtual void Advise(const Plan& plan, const Gemm& gemm, const Device& device, Reasons& reasons) const = 0;
  // One plan for all that give the same kernel and the same launch for the problem.
  virtual Plan Canonical(const Plan& plan, const Gemm& gemm) const = 0;

  // For a legal plan.
  virtual Launch LaunchFor(const Plan& plan, const Gemm& gemm) const = 0;
  virtual KernelText TextOf(const Plan& plan, const Gemm& gemm) const = 0;

  // Device time of one call; see program/cost.h.
  virtual double PredictTimeNs(const Plan& plan, const Gemm& gemm, const Device& device) const = 0;

  // ---- searching ----

  // With the axes up to `last_axis` chosen: whether any values of the later ones make the plan legal and worth a look.
  virtual bool MayBecomeWorthTrying(const Plan& plan, size_t last_axis, const Gemm& gemm,
                                    const Device& device) const = 0;
  // For a plan whose geometry is chosen.
  virtual std::vector<PricedForm> PricedForms(const Plan& geometry) const { return {{geometry, geometry}}; }
  // The compile-time dimensions that screening uses.
  virtual FixedDimensions ScreenedFixed() const = 0;
  // Plans worth racing against this one on an occasion.
  virtual std::vector<Plan> Variants(const Plan&, const Gemm&, const Device&, const RaceOccasion&) const { return {}; }
  // Plans for long products that a short search misses, the most promising first.
  virtual std::vector<Plan> LongCallOpenings(const Gemm&, const Device&, size_t) const { return {}; }
  // The legal plan nearest to a suggestion; nullopt where the family has none like it.
  virtual std::optional<Plan> PlanLike(const KernelSuggestion&, const Gemm&, const Device&) const {
    return std::nullopt;
  }
  // How far two plans are apart in the axes that a suggestion names.
  virtual double Unlikeness(const Plan&, const Plan&) const { return 0; }

  // ---- reporting ----

  virtual TileShape TileOf(const Plan& plan) const = 0;
  virtual ComputedExtent ComputedBy(const Plan& plan, const Shape& shape) const = 0;
  // Whether the plan's value on an axis changes its kernel: a reduction only where K is split.
  virtual bool HasSay(size_t axis, const Plan& plan) const = 0;
  virtual std::span<const Technique> techniques() const = 0;
};

// By id.
std::span<const std::reference_wrapper<const Family>> Families();
const Family& GetFamily(FamilyId id);

// Whether one value of the axis is left.
inline bool IsRetired(const Axis& axis) { return axis.live_values().size() == 1; }

// The axis with this role that both families have: kChain or kCompileTime.
size_t AxisWithRole(const Family& family, AxisRole role);
Plan WithTrigger(Plan plan, Trigger trigger);
Plan WithFixed(Plan plan, FixedDimensions fixed);
Trigger TriggerOf(const Plan& plan);

}  // namespace gemmsmith
