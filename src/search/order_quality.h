// How soon orders of plans come to the fastest that was recorded, by class of shapes: the analytic model's order beside
// that of nvMatmulHeuristics.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "archive/replay.h"
#include "problem/grids.h"
#include "search/nvmmh.h"

namespace gemmsmith {

// Each is an order over the measured plans of one problem, made without a look at their times.
enum class PlanOrder {
  kModel,        // all, by predicted time
  kModelAsMany,  // as many of those as kNvmmh has
  kNvmmh,        // the plan nearest to each of the library's configurations, in its order
  kNvmmhSame,    // only of configurations whose very tile and split was measured
  kWgmmaBest,    // the limit of the two before: the fastest of that family alone
};
std::string_view Name(PlanOrder order);  // "model", "model, as many", "nvmmh", "nvmmh, same tile", "wgmma at best"

// The best of the first so many plans over the best measured.
struct Regret {
  double median = 0, p90 = 0;
  double share_within_2 = 0;  // of problems, that are at most 1.02
};

struct OrderQuality {
  std::optional<ShapeClass> shape_class;  // nothing: all classes
  PlanOrder order;
  int problems = 0;    // for which the order has any plan
  double plans = 0;    // that it has on average, of at most 16
  double exact = 0;    // of nvmmh's: share of configurations whose very tile and split was measured
  Regret at_8, at_16;  // fewer where the order has fewer
};

using AskForConfigs = std::function<Result<std::vector<NvmmhConfig>>(const Gemm& gemm, const Device& device)>;

// Of every problem of the recording with four measured plans or more that the library is asked for (nn or tn, f32
// sums). What `ask` fails with.
Result<std::vector<OrderQuality>> QualitiesOf(const Recording& recording, const AskForConfigs& ask);

}  // namespace gemmsmith
