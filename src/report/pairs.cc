#include "report/pairs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "problem/grids.h"
#include "program/family.h"
#include "report/timed_plans.h"

namespace gemmsmith {
namespace {

using Groups = std::vector<Label>;

Label OfNumber(int number) { return {{number}, fmt::format("{}", number)}; }
Label OfText(std::string_view text) { return {{}, std::string(text)}; }

Label OfTile(const Plan& plan) {
  const TileShape tile = GetFamily(plan.family).TileOf(plan);
  return {{tile.m, tile.n}, fmt::format("{}x{}", tile.m, tile.n)};
}

struct NamedGroup {
  std::string_view name;
  Label (*label)(const RecordKey&, const Plan&);
};

constexpr NamedGroup kNamedGroups[] = {
    {"class",
     [](const RecordKey& key, const Plan&) {
       const ShapeClass shape_class = Classify(key.gemm.shape);
       return Label{{int(shape_class)}, std::string(Name(shape_class))};
     }},
    {"shape",
     [](const RecordKey& key, const Plan&) {
       const Shape& shape = key.gemm.shape;
       return Label{{shape.m, shape.n, shape.k}, Print(shape)};
     }},
    {"m", [](const RecordKey& key, const Plan&) { return OfNumber(key.gemm.shape.m); }},
    {"n", [](const RecordKey& key, const Plan&) { return OfNumber(key.gemm.shape.n); }},
    {"k", [](const RecordKey& key, const Plan&) { return OfNumber(key.gemm.shape.k); }},
    {"layout", [](const RecordKey& key, const Plan&) { return OfText(Name(key.gemm.kind.layout)); }},
    {"type", [](const RecordKey& key, const Plan&) { return OfText(PrintNumberTypes(key.gemm.kind)); }},
    {"protocol", [](const RecordKey& key, const Plan&) { return OfText(Name(key.protocol)); }},
    {"device", [](const RecordKey& key, const Plan&) { return OfText(key.device_key); }},
    {"family", [](const RecordKey&, const Plan& plan) { return OfText(GetFamily(plan.family).name); }},
    {"tile", [](const RecordKey&, const Plan& plan) { return OfTile(plan); }},
};

Label LabelOf(std::string_view group, const RecordKey& key, const Plan& plan) {
  for (const NamedGroup& named : kNamedGroups)
    if (named.name == group) return named.label(key, plan);
  return AxisLabel(plan, group);
}

Groups GroupsOf(const PairOptions& options, const RecordKey& key, const Plan& plan) {
  Groups groups;
  for (const std::string& group : options.by) groups.push_back(LabelOf(group, key, plan));
  return groups;
}

Plan Without(Plan plan, std::string_view axis) {
  plan.values[size_t(GetFamily(plan.family).IndexOf(axis))] = 0;
  return plan;
}

std::map<RecordKey, TrialsByPlan> PlansWithAxis(const std::vector<Trial>& trials, const PairOptions& options) {
  return TimedPlans(trials, options.clock, [&](const Trial& trial) {
    return GetFamily(trial.plan().family).IndexOf(options.axis) >= 0 &&
           (!options.protocol || trial.outcome.protocol == *options.protocol);
  });
}

struct RatioTally {
  std::vector<double> ratios;
  int problems = 0, best = 0;
};
using PairRatios = std::map<std::tuple<Groups, Label, Label>, RatioTally>;
using BestRatios = std::map<std::tuple<Groups, Label>, RatioTally>;

struct TimedValue {
  Label value;
  double time_ns;
};

void AddPairs(const RecordKey& key, const TrialsByPlan& plans, const PairOptions& options, PairRatios& rows) {
  std::map<Plan, std::vector<TimedValue>> siblings;
  for (const auto& [plan, trial] : plans)
    siblings[Without(plan, options.axis)].push_back({AxisLabel(plan, options.axis), TimeNs(*trial, options.clock)});
  std::set<RatioTally*> here;
  for (const auto& [rest, values] : siblings) {
    const Groups groups = GroupsOf(options, key, rest);
    for (const TimedValue& one : values)
      for (const TimedValue& other : values) {
        if (one.value == other.value || (options.over && other.value.text != *options.over)) continue;
        RatioTally& row = rows[{groups, one.value, other.value}];
        row.ratios.push_back(one.time_ns / other.time_ns);
        here.insert(&row);
      }
  }
  for (RatioTally* row : here) ++row->problems;
}

void AddBest(const RecordKey& key, const TrialsByPlan& plans, const PairOptions& options, BestRatios& rows) {
  std::map<Groups, std::map<Label, double>> fastest;
  std::tuple<double, Groups, Label> best_of_all{std::numeric_limits<double>::infinity(), {}, {}};
  for (const auto& [plan, trial] : plans) {
    const Groups groups = GroupsOf(options, key, plan);
    const Label value = AxisLabel(plan, options.axis);
    const double time_ns = TimeNs(*trial, options.clock);
    const auto [known, is_new] = fastest[groups].emplace(value, time_ns);
    if (!is_new) known->second = std::min(known->second, time_ns);
    if (time_ns < std::get<double>(best_of_all)) best_of_all = {time_ns, groups, value};
  }
  for (const auto& [groups, values] : fastest) {
    for (const auto& [value, time_ns] : values) {
      double others_ns = std::numeric_limits<double>::infinity();
      for (const auto& [other, other_ns] : values)
        if (other != value) others_ns = std::min(others_ns, other_ns);
      if (values.size() < 2) continue;
      RatioTally& row = rows[{groups, value}];
      row.ratios.push_back(time_ns / others_ns);
      row.best += std::get<Groups>(best_of_all) == groups && std::get<Label>(best_of_all) == value;
    }
  }
}

Status CheckGroups(const PairOptions& options) {
  const bool of_tile = options.axis.starts_with("tile_");
  for (const std::string& group : options.by)
    if (group == options.axis || (of_tile && group == "tile"))
      return InvalidArgument(fmt::format("pairs that differ in {} have no {} in common", options.axis, group));
  return OkStatus();
}

std::string CountedPlans(const PairTables& tables) {
  return fmt::format("{} on {}", Plural(tables.plans, "timed plan"), Plural(tables.problems, "problem"));
}

// Why there is none, where it is not the records' fault that they hold no pairs.
Status CheckOver(const std::map<RecordKey, TrialsByPlan>& by_key, const PairOptions& options) {
  if (!options.over) return OkStatus();
  std::set<Label> values;
  for (const auto& [key, plans] : by_key)
    for (const auto& [plan, trial] : plans) values.insert(AxisLabel(plan, options.axis));
  std::vector<std::string_view> known;
  for (const Label& value : values) known.push_back(value.text);
  if (known.empty() || std::find(known.begin(), known.end(), *options.over) != known.end()) return OkStatus();
  const std::optional<std::string> nearest = NearestWord(*options.over, known);
  return InvalidArgument(fmt::format(
      "no recorded plan has {}={}; {}", options.axis, *options.over,
      nearest ? fmt::format("did you mean '{}'?", *nearest) : fmt::format("they have {}", fmt::join(known, ", "))));
}

void Describe(const std::map<RecordKey, TrialsByPlan>& by_key, PairTables& tables) {
  std::set<std::string> devices;
  std::set<Protocol> protocols;
  for (const auto& [key, plans] : by_key) {
    protocols.insert(key.protocol);
    tables.plans += int(plans.size());
    ++tables.problems;
    for (const auto& [plan, trial] : plans) {
      devices.insert(trial->setting.device_name);
      tables.first_unix_ms =
          tables.first_unix_ms == 0 ? trial->unix_ms : std::min(tables.first_unix_ms, trial->unix_ms);
      tables.last_unix_ms = std::max(tables.last_unix_ms, trial->unix_ms);
    }
  }
  tables.devices.assign(devices.begin(), devices.end());
  std::vector<Protocol> by_care(protocols.begin(), protocols.end());
  std::sort(by_care.begin(), by_care.end(), [](Protocol a, Protocol b) { return MoreCareful(b, a); });
  for (const Protocol protocol : by_care) tables.protocols.emplace_back(Name(protocol));
}

}  // namespace

Label AxisLabel(const Plan& plan, std::string_view axis) {
  const Family& family = GetFamily(plan.family);
  const int index = family.IndexOf(axis);
  if (index < 0) return {{std::numeric_limits<int>::max()}, "-"};
  const int value = plan.values[size_t(index)];
  return {{value}, family.axes[size_t(index)].Print(value)};
}

const std::vector<std::string_view>& PlanAxes() {
  static const std::vector<std::string_view> axes = [] {
    std::vector<std::string_view> names;
    for (const Family& family : Families())
      for (const Axis& axis : family.axes)
        if (std::find(names.begin(), names.end(), axis.name) == names.end()) names.push_back(axis.name);
    return names;
  }();
  return axes;
}

const std::vector<std::string_view>& PairGroups() {
  static const std::vector<std::string_view> groups = [] {
    std::vector<std::string_view> names;
    for (const NamedGroup& group : kNamedGroups) names.push_back(group.name);
    names.insert(names.end(), PlanAxes().begin(), PlanAxes().end());
    return names;
  }();
  return groups;
}

Result<PairTables> MakePairs(const std::vector<Trial>& trials, const PairOptions& options) {
  RETURN_IF_ERROR(CheckGroups(options));
  const std::map<RecordKey, TrialsByPlan> by_key = PlansWithAxis(trials, options);
  RETURN_IF_ERROR(CheckOver(by_key, options));
  PairTables tables{.options = options};
  Describe(by_key, tables);
  PairRatios pairs;
  BestRatios best;
  for (const auto& [key, plans] : by_key) {
    AddPairs(key, plans, options, pairs);
    AddBest(key, plans, options, best);
  }
  if (pairs.empty())
    return NotFound(fmt::format("no two recorded plans differ in {} alone ({}, {} clock)", options.axis,
                                CountedPlans(tables), Name(options.clock)));
  for (const auto& [key, row] : pairs) {
    const auto& [groups, value, over] = key;
    tables.pairs.push_back({groups, value, over, row.problems, SummaryOf(row.ratios)});
  }
  for (const auto& [key, row] : best) {
    const auto& [groups, value] = key;
    tables.best.push_back({groups, value, row.best, SummaryOf(row.ratios)});
  }
  return tables;
}

}  // namespace gemmsmith
