#include "campaign/twins.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "program/cost.h"
#include "program/launch.h"
#include "program/legality.h"
#include "program/wgmma_family.h"

namespace gemmsmith {

namespace {

constexpr size_t kFirstRing = 1;  // of the stages, which ascend
// A wave that asks for so much of what another raster's does is worth a twin: the logarithm of speed falls by 0.036
// of the logarithm of what is asked for (1,506 plans of races with calls of more than 0.6 ms, H200, November 2026).
constexpr double kSquarer = 0.95;
// Rows of tiles that a group has at least where tiles go by place (docs/lab/neighbours.md), and the raster of fewer.
constexpr int kPlacedRows = 8, kRasterAlongM = 0;
// With a shorter K a walk back and forth loses (docs/lab/retired.md).
constexpr int kLeastKOfWalk = 2048;

// Launches that alternate are raced with so many of the largest shares of lines that are legal: ten skinny shapes were
// fastest with 19 to 38 MB, seven of them with 34 (H200, November 2026; docs/lab/latency.md).
constexpr size_t kShares = 2;

// The same plan with every value of a parameter of its family, from this one on.
std::vector<Plan> TwinsOn(std::string_view parameter, const Plan& plan, size_t first_value) {
  const Family& family = GetFamily(plan.family);
  const auto axis = size_t(family.IndexOf(parameter));
  std::vector<Plan> twins;
  for (const int value : family.parameters[axis].values.subspan(first_value)) {
    Plan twin = plan;
    twin.values[axis] = value;
    twins.push_back(twin);
  }
  return twins;
}

}  // namespace

Plan With(Plan plan, std::string_view parameter, int value) {
  if (GetFamily(plan.family).IndexOf(parameter) >= 0) plan.Set(parameter, value);
  return plan;
}

std::optional<Plan> PlacedTwin(const Plan& plan, const Shape& shape) {
  if (plan.family != FamilyId::kWgmma || !WgmmaPlan(plan).is_persistent() || !SavesPowerByPlace(shape))
    return std::nullopt;
  const WgmmaPlan read(plan);
  const int group = kPlacedRows / read.cluster_m;
  const Ctas ctas = read.shares_rest() ? Ctas::kShared : Ctas::kAll;
  Plan near = With(With(plan, "place", 1), "ctas", int(ctas));
  if (kPlacedRows >= CeilDivide(shape.m, read.tile_m)) return With(near, "raster", kRasterAlongM);
  if (read.raster < group) near = With(near, "raster", group);
  return near;
}

std::optional<Plan> SquareTwin(const Plan& plan, const Gemm& gemm, const Device& device) {
  if (plan.family != FamilyId::kWgmma || WgmmaPlan(plan).is_placed) return std::nullopt;
  double least = kSquarer * WaveBytes(plan, gemm, device);
  std::optional<Plan> squarest;
  for (const Plan& twin : TwinsOn("raster", plan, 0))
    if (const double bytes = WaveBytes(twin, gemm, device); bytes < least && IsLegal(twin, gemm, device))
      squarest = twin, least = bytes;
  return squarest;
}

std::optional<Plan> BackAndForthTwin(const Plan& plan, const Gemm& gemm, const Device& device) {
  if (plan.family != FamilyId::kWgmma || WgmmaPlan(plan).turns_back()) return std::nullopt;
  if (gemm.shape.k < kLeastKOfWalk) return std::nullopt;
  Plan twin = With(plan, "walk", int(Walk::kBackAndForth));
  if (WgmmaPlan(plan).store == Store::kBoxes) twin = With(twin, "store", int(Store::kBoxesFirstOut));
  if (!IsLegal(twin, gemm, device)) return std::nullopt;
  return twin;
}

std::vector<Plan> AlternatingTwins(const Plan& plan, const Gemm& gemm, const Device& device) {
  if (plan.family != FamilyId::kWgmma || WgmmaPlan(plan).keeps_lines) return {};
  const Stream longer = gemm.shape.m > gemm.shape.n ? Stream::kA : Stream::kB;
  const Plan whole = With(With(With(plan, "walk", int(Walk::kAlternating)), "keep", 0), "kept", 0);
  std::vector<Plan> twins = TwinsOn("keep", With(With(whole, "stream", int(longer)), "kept", 1), 0);
  std::erase_if(twins, [&](const Plan& twin) { return !IsLegal(twin, gemm, device); });
  std::ranges::sort(twins, std::greater(), [&](const Plan& twin) { return WgmmaPlan(twin).keep; });
  twins.resize(std::min(twins.size(), kShares));
  for (const Stream stream : {longer, Stream::kNone})
    if (const Plan none = With(whole, "stream", int(stream)); IsLegal(none, gemm, device)) {
      twins.push_back(none);
      break;
    }
  std::erase(twins, plan);
  return twins;
}

std::optional<Plan> ShortRingTwin(const Plan& plan, const Gemm& gemm, int64_t most_bytes) {
  if (plan.family != FamilyId::kWgmma || most_bytes == 0) return std::nullopt;
  const WgmmaPlan read(plan);
  const auto fits = [&](const Plan& twin) { return int64_t(LaunchFor(twin, gemm).smem_bytes) <= most_bytes; };
  if (read.split == 1 || !read.is_ring() || fits(plan)) return std::nullopt;
  std::optional<Plan> longest;
  for (const Plan& twin : TwinsOn("stages", plan, kFirstRing))
    if (twin.Get("stages") < read.stages && fits(twin)) longest = twin;
  return longest;
}

}  // namespace gemmsmith
