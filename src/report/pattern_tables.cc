#include "report/pattern_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/pattern_sentences.h"
#include "report/scoreboard.h"
#include "report/selection_facts.h"

namespace gemmsmith {
namespace {

constexpr std::string_view kExtentTitles[] = {"m", "n", "k", "m n", "m n k"};

std::string CountCell(int count) { return fmt::format("{}", count); }
std::string CorrelationCell(const std::optional<double>& correlation) {
  return correlation ? fmt::format("{:+.2f}", *correlation) : "-";
}
std::string PercentCell(double share) { return fmt::format("{:.0f} %", 100 * share); }

Sheet CorrelationSheet(const Patterns& patterns) {
  Sheet sheet{.caption = "How the numbers of winners go with the problem: rank correlations (Spearman)",
              .columns = {{"family", false}, {"axis", false}, {"winners"}}};
  for (const std::string_view title : kExtentTitles) sheet.columns.push_back({std::string(title)});
  sheet.columns.push_back({"follows", false});
  for (const AxisPattern& pattern : patterns.axes) {
    std::vector<std::string> row = {pattern.family, pattern.axis, CountCell(pattern.winners)};
    for (const std::optional<double>& correlation : pattern.correlation) row.push_back(CorrelationCell(correlation));
    const bool follows = pattern.follows && std::fabs(pattern.Correlation()) >= kMinCorrelation;
    row.emplace_back(follows ? kExtentTitles[size_t(*pattern.follows)] : "-");
    sheet.rows.push_back(std::move(row));
  }
  return sheet;
}

// The axes that go with this extent most of all, a column an octave.
Sheet OctaveSheet(const Patterns& patterns, Extent extent) {
  std::vector<const AxisPattern*> axes;
  std::map<int, std::string> octaves;
  const bool is_product = extent == Extent::kMN || extent == Extent::kMNK;
  for (const AxisPattern& pattern : patterns.axes) {
    if (pattern.follows != extent) continue;
    axes.push_back(&pattern);
    for (const Octave& octave : pattern.octaves)
      octaves[octave.low] = is_product ? fmt::format("2^{}", octave.low) : fmt::format("{}", int64_t{1} << octave.low);
  }
  Sheet sheet{.caption = fmt::format("What goes with {} most: the most frequent value and its share, by {} from",
                                     kExtentTitles[size_t(extent)], kExtentTitles[size_t(extent)]),
              .columns = {{"axis", false}}};
  for (const auto& [low, title] : octaves) sheet.columns.push_back({title});
  for (const AxisPattern* pattern : axes) {
    std::vector<std::string> row = {pattern->family + " " + pattern->axis};
    for (const auto& [low, title] : octaves) {
      const auto found = std::find_if(pattern->octaves.begin(), pattern->octaves.end(),
                                      [at = low](const Octave& octave) { return octave.low == at; });
      if (found == pattern->octaves.end()) {
        row.emplace_back("-");
        continue;
      }
      const Label& most = found->values.Most();
      row.push_back(fmt::format("{} {:.0f}%", most.text, 100 * found->values.ShareOf(most)));
    }
    sheet.rows.push_back(std::move(row));
  }
  return sheet;
}

const Tally* Find(const std::vector<Tally>& tallies, const std::string& group) {
  const auto found =
      std::find_if(tallies.begin(), tallies.end(), [&](const Tally& tally) { return tally.group == group; });
  return found == tallies.end() ? nullptr : &*found;
}

// A row a value, a column a group; the groups in the order of the first choice, which all winners have.
Sheet ShareSheet(const Patterns& patterns, const std::string& caption, std::vector<Tally> ChoicePattern::*groups,
                 std::string (*title_of)(const Tally&)) {
  Sheet sheet{.caption = caption, .columns = {{"choice", false}, {"value", false}, {kAllGroups}}};
  const std::vector<Tally>& columns = patterns.choices.front().*groups;
  for (const Tally& column : columns) sheet.columns.push_back({title_of(column)});
  for (const ChoicePattern& pattern : patterns.choices)
    for (const ChoiceValue& choice : pattern.values) {
      std::vector<std::string> row = {pattern.choice == "family" ? "family" : pattern.family + " " + pattern.choice,
                                      choice.value.text, CountCell(pattern.all.CountOf(choice.value))};
      for (const Tally& column : columns) {
        const Tally* tally = Find(pattern.*groups, column.group);
        row.push_back(tally == nullptr ? "-"
                                       : fmt::format("{} {:.0f}%", tally->CountOf(choice.value),
                                                     100 * tally->ShareOf(choice.value)));
      }
      sheet.rows.push_back(std::move(row));
    }
  return sheet;
}

Sheet RaggedSheet(const Patterns& patterns) {
  Sheet sheet{.caption =
                  "Winners whose tiles, clusters or steps do not divide the problem, and what these compute over "
                  "what is useful",
              .columns = {{"class", false},
                          {"winners"},
                          {"ragged"},
                          {"share"},
                          {"in m"},
                          {"in n"},
                          {"in k"},
                          {"geo. mean"},
                          {"median"},
                          {"highest"}}};
  for (const RaggedRow& row : patterns.ragged) {
    std::vector<std::string> cells = {row.group,
                                      CountCell(row.winners),
                                      CountCell(row.ragged),
                                      PercentCell(double(row.ragged) / row.winners),
                                      CountCell(row.ragged_m),
                                      CountCell(row.ragged_n),
                                      CountCell(row.ragged_k)};
    if (row.padding.empty()) {
      cells.insert(cells.end(), 3, "-");
    } else {
      const RatioSummary s = SummaryOf(row.padding);
      cells.insert(cells.end(), {RatioCell(s.geomean), RatioCell(s.median), RatioCell(s.highest)});
    }
    sheet.rows.push_back(std::move(cells));
  }
  return sheet;
}

Sheet TechniqueSheet(const Patterns& patterns) {
  Sheet sheet{.caption =
                  "What techniques are worth: time of the best plan with over that of the best without, and of "
                  "twins that differ in nothing else",
              .columns = {{"with", false},
                          {"without", false},
                          {"class", false},
                          {"problems"},
                          {"fastest"},
                          {"median"},
                          {"25 %"},
                          {"75 %"},
                          {"plans with"},
                          {"without"},
                          {"twins"},
                          {"median"}}};
  for (const TechniqueRow& row : patterns.techniques) {
    const bool is_first = row.group == kAllGroups;
    sheet.rows.push_back({is_first ? std::string(row.technique->with) : "",
                          is_first ? std::string(row.technique->without) : "", row.group, CountCell(row.ratio.count),
                          CountCell(row.best), RatioCell(row.ratio.median), RatioCell(row.ratio.q25),
                          RatioCell(row.ratio.q75), fmt::format("{:.1f}", row.plans_with),
                          fmt::format("{:.1f}", row.plans_without), row.twins ? CountCell(row.twins->count) : "-",
                          row.twins ? RatioCell(row.twins->median) : "-"});
  }
  return sheet;
}

}  // namespace

std::vector<std::string> HeaderLines(const Patterns& patterns) {
  std::vector<std::string> lines = {MeasuredLine(patterns.selection)};
  lines.push_back(fmt::format("{} of {}: of each shape and layout the plan that speaks for it",
                              Plural(patterns.winners, "winner"), Plural(patterns.shapes, "shape")));
  std::string alternatives =
      fmt::format("half of them were the fastest of {:.0f} timed plans or more", patterns.median_plans);
  if (patterns.unopposed > 0)
    alternatives += fmt::format("; {} the only plan timed", Plural(patterns.unopposed, "winner"));
  if (patterns.source_winners > 0)
    alternatives += fmt::format("; {} more are sources, not plans", CountText(patterns.source_winners));
  lines.push_back(alternatives);
  return lines;
}

std::vector<Sheet> SheetsOf(const Patterns& patterns) {
  std::vector<Sheet> sheets = {CorrelationSheet(patterns)};
  for (const Extent extent : kExtents)
    if (Sheet sheet = OctaveSheet(patterns, extent); !sheet.rows.empty()) sheets.push_back(std::move(sheet));
  sheets.push_back(ShareSheet(patterns,
                              "Winners by class: how many have each value, and which share of those that choose",
                              &ChoicePattern::by_class, [](const Tally& tally) { return tally.group; }));
  sheets.push_back(ShareSheet(patterns, fmt::format("Winners by log2(m n k) from ... to below {} more", kBucketWidth),
                              &ChoicePattern::by_size,
                              [](const Tally& tally) { return tally.group.substr(0, tally.group.find(' ')); }));
  sheets.push_back(RaggedSheet(patterns));
  if (!patterns.techniques.empty()) sheets.push_back(TechniqueSheet(patterns));
  return sheets;
}

}  // namespace gemmsmith
