// RankedPlans() of program/space.h: millions of combinations, so first the axes that make the time (the geometry), and
// only the best of those with the others.
#include <algorithm>
#include <cstdlib>

#include "program/axes.h"
#include "program/cost.h"
#include "program/space.h"
#include "program/wgmma_family.h"

namespace gemmsmith {

namespace {

struct PricedPlan {
  double time_ns = 0;
  Plan plan;
  auto operator<=>(const PricedPlan&) const = default;
};

// The best `limit` plans of a family's geometries; secondary axes stand at values that every geometry can take.
class CheapestGeometries {
 public:
  explicit CheapestGeometries(size_t limit) : limit_(limit) {}
  bool WouldTake(double time_ns) const { return heap_.size() < limit_ || time_ns <= heap_.front().time_ns; }
  void Add(const PricedPlan& priced) {
    if (heap_.size() == limit_ && !(priced < heap_.front())) return;
    heap_.push_back(priced);
    std::push_heap(heap_.begin(), heap_.end());
    if (heap_.size() <= limit_) return;
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
  }
  std::vector<PricedPlan> Sorted() && {
    std::sort_heap(heap_.begin(), heap_.end());
    return std::move(heap_);
  }

 private:
  size_t limit_;
  std::vector<PricedPlan> heap_;
};

// f32 sums that no thread has registers for.
constexpr int kMostSums = 255;
// Swapped roles are searched where they save so great a share of the tiles. The roles themselves are worth 2 to 4 % at
// most (best of bare kernels with either, H200, 2026-11-21), so nearly equal plans would only fill the space.
constexpr double kSwappingSaves = 0.1;

bool HasStages(const Family& family) { return family.IndexOf("stages") >= 0; }

// Plans without fixed dimensions share kernels from shape to shape, and compiling is what a search waits for: a
// staged kernel takes 0.15 s and more and gains 2 to 5 % from known dimensions, a direct one takes half of that and
// gains up to a quarter.
int UsualFixed(const Family& family) {
  const auto values = family.parameters[size_t(family.IndexOf("fixed"))].values;
  return HasStages(family) ? values.front() : values.back();
}

// The latest: its chained time is measured with the same kernel. Where chained launches are unknown, none.
int UsualTrigger(const Device& device) {
  return int(device.compute_capability() >= 90 ? Trigger::kLate : Trigger::kNone);
}

bool IsSecondary(const Parameter& parameter) {
  return parameter.name == "store" || parameter.name == "trigger" || parameter.name == "raster" ||
         parameter.name == "ctas" || parameter.name == "finish" || parameter.name == "stream" ||
         parameter.name == "keep" || parameter.name == "fixed" || !parameter.is_told();
}

// What the space needs to know of a family: which axes wait for the second pass, and which beginnings of a plan no
// values of the later axes can make legal or worth a look.
class FamilySpace {
 public:
  FamilySpace(const Family& family, const Gemm& gemm, const Device& device)
      : family_(family), gemm_(gemm), device_(device), staged_(HasStages(family)) {
    for (size_t axis = 0; axis < family.parameters.size(); ++axis)
      (IsSecondary(family.parameters[axis]) ? secondary_ : geometry_).push_back(axis);
    tile_m_ = family.IndexOf("tile_m"), tile_n_ = family.IndexOf("tile_n"), split_ = family.IndexOf("split");
    reduction_ = family.IndexOf("reduction"), raster_ = family.IndexOf("raster"), fixed_ = family.IndexOf("fixed");
    trigger_ = family.IndexOf("trigger"), stages_ = family.IndexOf("stages"), step_k_ = family.IndexOf("step_k");
    warpgroups_ = family.IndexOf("warpgroups"), roles_ = family.IndexOf("roles");
    schedule_ = family.IndexOf("schedule"), store_ = family.IndexOf("store"), finish_ = family.IndexOf("finish");
    keep_ = family.IndexOf("keep"), ctas_ = family.IndexOf("ctas");
    cluster_m_ = family.IndexOf("cluster_m"), cluster_n_ = family.IndexOf("cluster_n");
    usual_fixed_ = UsualFixed(family), usual_trigger_ = UsualTrigger(device);
  }

  void OfferGeometries(CheapestGeometries& cheapest) const {
    Plan plan{family_.id};
    for (const size_t axis : secondary_) plan.values[axis] = family_.parameters[axis].values.front();
    plan.values[fixed_] = usual_fixed_;
    plan.values[trigger_] = usual_trigger_;
    Descend(plan, 0, cheapest);
  }

  enum class Width { kOne, kAll };
  // The geometry with its fastest secondary values, or with all of them.
  void Expand(const Plan& geometry, Width width, std::vector<PricedPlan>& plans) const {
    const size_t first = plans.size();
    ExpandFrom(geometry, 0, plans);
    if (width != Width::kOne || plans.size() == first) return;
    plans[first] = *std::min_element(plans.begin() + long(first), plans.end());
    plans.resize(first + 1);
  }

 private:
  void Descend(Plan& plan, size_t depth, CheapestGeometries& cheapest) const {
    if (depth == geometry_.size()) return Offer(plan, cheapest);
    const size_t axis = geometry_[depth];
    for (const int value : family_.parameters[axis].told_values()) {
      plan.values[axis] = value;
      if (MayBecomeLegal(plan, int(axis))) Descend(plan, depth + 1, cheapest);
    }
  }

  void Offer(const Plan& plan, CheapestGeometries& cheapest) const {
    // Priced with a raster that suits most, the better store and the better finish, so that geometries compete by
    // themselves.
    Plan priced = plan, legal = plan;
    if (raster_ >= 0) priced.values[raster_] = 8;
    double best_ns = 0;
    for (const int finish : Finishes(plan))
      for (const int store : ValuesOf(store_)) {
        for (Plan* variant : {&priced, &legal}) {
          if (store_ >= 0) variant->values[store_] = store;
          if (finish_ >= 0) variant->values[finish_] = finish;
        }
        const double time_ns = PriceIfTaken(priced, legal, cheapest);
        if (time_ns > 0 && (best_ns == 0 || time_ns < best_ns)) best_ns = time_ns;
      }
    if (best_ns > 0) cheapest.Add({best_ns, plan});
  }

  // Warpgroups that share no tile cannot end one in turn.
  std::span<const int> Finishes(const Plan& plan) const {
    const bool share_tiles =
        finish_ >= 0 && plan.values[warpgroups_] > 1 && plan.values[schedule_] != int(Schedule::kPingPong);
    return ValuesOf(finish_).first(share_tiles ? ValuesOf(finish_).size() : 1);
  }

  // As much of a streamed operand as is predicted to pay best.
  int BestKeep(const Plan& plan) const {
    if (WgmmaPlan(plan).stream == Stream::kNone) return 0;
    const auto with = [&](int keep) {
      Plan next = plan;
      next.values[keep_] = keep;
      return PredictTimeNs(next, gemm_, device_);
    };
    return *std::ranges::min_element(family_.parameters[size_t(keep_)].told_values(), {}, with);
  }

  // One value, to be ignored, of an axis that the family lacks.
  std::span<const int> ValuesOf(int axis) const {
    static constexpr int kNone[] = {0};
    return axis < 0 ? std::span<const int>(kNone) : family_.parameters[axis].values;
  }

  // 0 for what is too slow, or illegal.
  double PriceIfTaken(const Plan& priced, const Plan& legal, const CheapestGeometries& cheapest) const {
    const double time_ns = PredictTimeNs(priced, gemm_, device_);
    return cheapest.WouldTake(time_ns) && IsLegal(legal, gemm_, device_) ? time_ns : 0;
  }

  bool MayBecomeLegal(const Plan& plan, int last_axis) const {
    const auto value = [&plan](int axis) { return plan.values[axis]; };
    if (last_axis == reduction_)
      return value(split_) > 1 || value(reduction_) == family_.parameters[reduction_].values.front();
    if (!staged_) return true;
    const bool is_swapped = Roles(value(roles_)) == Roles::kSwapped;
    if (last_axis == roles_)
      return is_swapped ? SwappingMayPay(value(tile_m_), value(tile_n_)) : value(tile_m_) % 64 == 0;
    const auto schedule = Schedule(value(schedule_));
    const bool is_persistent = schedule != Schedule::kOneTile;
    if (last_axis == schedule_) return !is_persistent || ManyTiles(value(tile_m_), value(tile_n_));
    if (last_axis == warpgroups_) {
      const bool take_turns = schedule == Schedule::kPingPong;
      const int sharing = take_turns ? 1 : value(warpgroups_);
      const int sums = value(tile_m_) * value(tile_n_) / (128 * sharing);
      const int sum_rows = value(is_swapped ? tile_n_ : tile_m_);
      return (!take_turns || value(warpgroups_) == 2) && sum_rows % (64 * sharing) == 0 && sums < kMostSums;
    }
    if (last_axis == stages_) {
      const int64_t stage_bytes = int64_t(2) * (value(tile_m_) + value(tile_n_)) * value(step_k_);
      if (is_persistent && value(stages_) == 0) return false;
      return value(stages_) * stage_bytes <= device_.smem_bytes_per_block;
    }
    if (last_axis == cluster_n_) return value(cluster_m_) * value(cluster_n_) <= 4;
    if (last_axis == split_) {
      const int steps = CeilDivide(gemm_.shape.k, value(step_k_));
      if (is_persistent) return value(split_) == 1;
      return steps >= value(split_) && CeilDivide(steps, value(split_)) >= value(stages_);
    }
    return true;
  }

  // Straight roles have the same instructions with the mirrored tile, and as wide ones with the same tile where it is
  // no taller than wide.
  bool SwappingMayPay(int tile_m, int tile_n) const {
    if (tile_n % 64 != 0 || (tile_m % 64 == 0 && tile_m <= tile_n)) return false;
    return Tiles(tile_m, tile_n) <= (1 - kSwappingSaves) * Tiles(tile_n, tile_m);
  }
  double Tiles(int tile_m, int tile_n) const {
    return double(CeilDivide(gemm_.shape.m, tile_m)) * CeilDivide(gemm_.shape.n, tile_n);
  }

  // More than multiprocessors, even where clusters round them up.
  bool ManyTiles(int tile_m, int tile_n) const {
    const int64_t rows = CeilDivide(gemm_.shape.m, tile_m) + 3, columns = CeilDivide(gemm_.shape.n, tile_n) + 3;
    return rows * columns > device_.multiprocessors;
  }

  void ExpandFrom(const Plan& plan, size_t depth, std::vector<PricedPlan>& plans) const {
    if (depth == secondary_.size()) {
      if (IsLegal(plan, gemm_, device_)) plans.push_back({PredictTimeNs(plan, gemm_, device_), plan});
      return;
    }
    const int axis = int(secondary_[depth]);
    const int best_keep = axis == keep_ ? BestKeep(plan) : 0;
    for (const int value : axis == finish_ ? Finishes(plan) : ValuesOf(axis)) {
      if (!IsUsual(axis, value) || (axis == keep_ && value != 0 && value != best_keep)) continue;
      Plan next = plan;
      next.values[axis] = value;
      ExpandFrom(next, depth + 1, plans);
    }
  }

  // The other triggers, dimensions, places, walks and shares of lines are those of twins, which the fastest bring into
  // the heat.
  bool IsUsual(int axis, int value) const {
    const Parameter& parameter = family_.parameters[size_t(axis)];
    if (!parameter.is_told()) return value == parameter.default_value;
    if (axis == ctas_) return parameter.ToldValue(value) == value;
    if (axis == trigger_) return value == usual_trigger_;
    if (axis == fixed_) return value == usual_fixed_;
    return true;
  }

  const Family& family_;
  const Gemm& gemm_;
  const Device& device_;
  const bool staged_;  // a family with a ring of stages
  std::vector<size_t> geometry_, secondary_;
  int tile_m_, tile_n_, roles_, split_, reduction_, raster_, fixed_, trigger_, stages_, step_k_, warpgroups_, schedule_,
      store_, finish_, keep_, ctas_, cluster_m_, cluster_n_;  // -1 where the family has no such axis
  int usual_fixed_, usual_trigger_;
};

// So many of the best geometries get all secondary values; doubled until there are enough plans.
constexpr size_t kWide = 128;

std::vector<PricedPlan> ExpandAll(const std::vector<FamilySpace>& spaces, const std::vector<PricedPlan>& geometries,
                                  size_t wide) {
  std::vector<PricedPlan> plans;
  for (size_t rank = 0; rank < geometries.size(); ++rank) {
    const FamilySpace::Width width = rank < wide ? FamilySpace::Width::kAll : FamilySpace::Width::kOne;
    spaces[size_t(geometries[rank].plan.family)].Expand(geometries[rank].plan, width, plans);
  }
  return plans;
}

}  // namespace

Plan UsualForm(Plan plan, const Device& device) {
  const Family& family = GetFamily(plan.family);
  if (plan.family == FamilyId::kWgmma && WgmmaPlan(plan).turns_back() && WgmmaPlan(plan).store == Store::kBoxesFirstOut)
    plan.Set("store", int(Store::kBoxes));  // onward only where C is most of what is moved
  // Launches that alternate keep another share than launches that are alike.
  if (const int keep = family.IndexOf("keep"); keep >= 0)
    plan.values[size_t(keep)] =
        WgmmaPlan(plan).alternates() ? 0 : family.parameters[size_t(keep)].ToldValue(plan.values[size_t(keep)]);
  if (const int ctas = family.IndexOf("ctas"); ctas >= 0)
    plan.values[size_t(ctas)] = family.parameters[size_t(ctas)].ToldValue(plan.values[size_t(ctas)]);
  plan.Set("fixed", UsualFixed(family));
  plan.Set("trigger", UsualTrigger(device));
  for (size_t axis = family.ToldCount(); axis < family.parameters.size(); ++axis)
    plan.values[axis] = family.parameters[axis].default_value;
  return plan;
}

Plan GeometryOf(const Plan& plan) {
  Plan geometry = plan;
  const std::span<const Parameter> parameters = GetFamily(plan.family).parameters;
  for (size_t axis = 0; axis < parameters.size(); ++axis)
    if (IsSecondary(parameters[axis])) geometry.values[axis] = parameters[axis].values.front();
  return geometry;
}

std::vector<Plan> RankedPlans(const Gemm& gemm, const Device& device, size_t limit) {
  if (!Problems(gemm).empty() || limit == 0) return {};
  std::vector<FamilySpace> spaces;
  CheapestGeometries cheapest(limit);
  for (const Family& family : Families()) spaces.emplace_back(family, gemm, device).OfferGeometries(cheapest);
  const std::vector<PricedPlan> geometries = std::move(cheapest).Sorted();
  std::vector<PricedPlan> priced;
  for (size_t scale = 1;; scale *= 2) {
    priced = ExpandAll(spaces, geometries, scale * kWide);
    if (priced.size() >= limit || scale * kWide >= geometries.size()) break;
  }
  std::sort(priced.begin(), priced.end());
  if (priced.size() > limit) priced.resize(limit);
  std::vector<Plan> plans;
  for (const PricedPlan& one : priced) plans.push_back(one.plan);
  return plans;
}

}  // namespace gemmsmith
