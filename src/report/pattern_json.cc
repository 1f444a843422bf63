#include "report/pattern_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/pattern_sentences.h"
#include "report/selection_facts.h"
#include "report/sheet.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

Json OrNull(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

Json CountsJson(const Tally& tally) {
  Json json = Json::object();
  for (const auto& [value, count] : tally.counts) json[value.text] = count;
  return json;
}

Json JsonOf(const Octave& octave) {
  const Label& most = octave.values.Most();
  return {{"log2_low", octave.low},
          {"log2_high", octave.high},
          {"winners", octave.values.winners},
          {"median", octave.median},
          {"most", most.order[0]},
          {"most_share", octave.values.ShareOf(most)},
          {"counts", CountsJson(octave.values)}};
}

Json JsonOf(const AxisPattern& pattern) {
  Json correlation = Json::object(), octaves = Json::array();
  for (const Extent extent : kExtents)
    correlation[std::string(Name(extent))] = OrNull(pattern.correlation[size_t(extent)]);
  for (const Octave& octave : pattern.octaves) octaves.push_back(JsonOf(octave));
  return {{"family", pattern.family},
          {"axis", pattern.axis},
          {"winners", pattern.winners},
          {"correlation", correlation},
          {"follows", pattern.follows ? Json(Name(*pattern.follows)) : Json()},
          {"octaves", octaves}};
}

Json JsonOf(const FamilyExtents& extents) {
  return {{"family", extents.family}, {"winners", extents.winners}, {"correlation_mn_k", OrNull(extents.mn_with_k)}};
}

Json JsonOf(const std::vector<Tally>& tallies) {
  Json json = Json::array();
  for (const Tally& tally : tallies)
    json.push_back({{"group", tally.group},
                    {"winners", tally.winners},
                    {"unopposed", tally.unopposed},
                    {"counts", CountsJson(tally)}});
  return json;
}

Json JsonOf(const ChoicePattern& pattern) {
  Json values = Json::array();
  for (const ChoiceValue& choice : pattern.values)
    values.push_back({{"value", choice.value.text},
                      {"winners", pattern.all.CountOf(choice.value)},
                      {"correlation_mnk", OrNull(choice.correlation)}});
  return {{"family", pattern.family},
          {"choice", pattern.choice},
          {"winners", pattern.all.winners},
          {"values", values},
          {"by_class", JsonOf(pattern.by_class)},
          {"by_log2_mnk", JsonOf(pattern.by_size)}};
}

Json JsonOf(const RaggedRow& row) {
  return {{"group", row.group},
          {"winners", row.winners},
          {"ragged", row.ragged},
          {"ragged_m", row.ragged_m},
          {"ragged_n", row.ragged_n},
          {"ragged_k", row.ragged_k},
          {"padding", row.padding.empty() ? Json() : JsonOf(SummaryOf(row.padding))}};
}

Json JsonOf(const TechniqueRow& row) {
  Json twins;
  if (row.twins) {
    twins = {{"pairs", row.twins->count}, {"problems", row.problems_with_twins}};
    twins.update(JsonOf(*row.twins));
  }
  Json json = {{"technique", row.technique->name},  {"with", row.technique->with},
               {"without", row.technique->without}, {"group", row.group},
               {"problems", row.ratio.count},       {"best_of_all", row.best},
               {"plans_with", row.plans_with},      {"plans_without", row.plans_without}};
  json.update(JsonOf(row.ratio));
  json["twins"] = std::move(twins);
  return json;
}

template <class T>
Json ListOf(const std::vector<T>& items) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(JsonOf(item));
  return list;
}

Json Rules() {
  return {{"fewest", kMinToSpeak},         {"correlation", kMinCorrelation}, {"fewest_at_an_end", kMinAtAnEnd},
          {"class_share", kMinClassShare}, {"class_lead", kMinClassLead},    {"difference", kMinDifference},
          {"fewest_plans", kMinPlans},     {"ragged_share", kMinRaggedShare}};
}

// A line of the one table for all: fields that a number lacks are empty.
struct PatternLine {
  std::string_view table;
  std::string family, name, value, by, group;
  int count = 0, of = 0;
  std::optional<double> number;
  std::optional<RatioSummary> ratio;

  std::string Print() const {
    return fmt::format("{},{},{},{},{},{},{},{},{},{}\n", table, family, name, CsvField(value), by, group, count, of,
                       number ? fmt::format("{}", *number) : "", ratio ? CsvFields(*ratio) : ",,,,,,,");
  }
};

std::string CsvOf(const AxisPattern& pattern) {
  std::string text;
  for (const Extent extent : kExtents)
    text += PatternLine{.table = "correlation",
                        .family = pattern.family,
                        .name = pattern.axis,
                        .by = std::string(Name(extent)),
                        .group = kAllGroups,
                        .count = pattern.winners,
                        .of = pattern.winners,
                        .number = pattern.correlation[size_t(extent)]}
                .Print();
  for (const Octave& octave : pattern.octaves)
    for (const auto& [value, count] : octave.values.counts)
      text += PatternLine{.table = "octave",
                          .family = pattern.family,
                          .name = pattern.axis,
                          .value = value.text,
                          .by = std::string(Name(*pattern.follows)),
                          .group = octave.values.group,
                          .count = count,
                          .of = octave.values.winners,
                          .number = octave.values.ShareOf(value)}
                  .Print();
  return text;
}

std::string CsvOf(const ChoicePattern& pattern, std::string_view by, const std::vector<Tally>& tallies) {
  std::string text;
  for (const Tally& tally : tallies)
    for (const auto& [value, count] : tally.counts)
      text += PatternLine{.table = "share",
                          .family = pattern.family,
                          .name = pattern.choice,
                          .value = value.text,
                          .by = std::string(by),
                          .group = tally.group,
                          .count = count,
                          .of = tally.winners,
                          .number = tally.ShareOf(value)}
                  .Print();
  return text;
}

std::string CsvOf(const RaggedRow& row) {
  std::string text;
  const auto add = [&](std::string_view name, int count, std::optional<RatioSummary> padding) {
    text += PatternLine{.table = "ragged",
                        .name = std::string(name),
                        .by = "class",
                        .group = row.group,
                        .count = count,
                        .of = row.winners,
                        .number = double(count) / row.winners,
                        .ratio = padding}
                .Print();
  };
  add("any", row.ragged, row.padding.empty() ? std::nullopt : std::optional(SummaryOf(row.padding)));
  add("m", row.ragged_m, std::nullopt);
  add("n", row.ragged_n, std::nullopt);
  add("k", row.ragged_k, std::nullopt);
  return text;
}

std::string CsvOf(const TechniqueRow& row) {
  const std::string name(row.technique->name);
  std::string text = PatternLine{.table = "technique",
                                 .name = name,
                                 .by = "class",
                                 .group = row.group,
                                 .count = row.best,
                                 .of = row.ratio.count,
                                 .ratio = row.ratio}
                         .Print();
  if (!row.twins) return text;
  return text + PatternLine{.table = "twins",
                            .name = name,
                            .by = "class",
                            .group = row.group,
                            .count = row.twins->count,
                            .of = row.problems_with_twins,
                            .ratio = row.twins}
                    .Print();
}

}  // namespace

Json PatternsJson(const Patterns& patterns, const std::string& source) {
  Json sentences = Json::array();
  for (const PatternSentence& sentence : patterns.sentences)
    sentences.push_back({{"part", sentence.part}, {"about", sentence.about}, {"text", sentence.text}});
  Json json = {{"command", "report"}, {"part", "patterns"}, {"source", source}};
  json.update(JsonFacts(patterns.selection));
  json.update({{"shapes", patterns.shapes},
               {"winners", patterns.winners},
               {"source_winners", patterns.source_winners},
               {"unopposed", patterns.unopposed},
               {"median_plans", patterns.median_plans},
               {"rules", Rules()},
               {"sentences", sentences},
               {"axes", ListOf(patterns.axes)},
               {"extents", ListOf(patterns.extents)},
               {"choices", ListOf(patterns.choices)},
               {"ragged", ListOf(patterns.ragged)},
               {"techniques", ListOf(patterns.techniques)}});
  return json;
}

std::string PatternsCsv(const Patterns& patterns) {
  std::string text = fmt::format("table,family,name,value,by,group,count,of,number,{}\n", kRatioSummaryCsvHeader);
  for (const AxisPattern& pattern : patterns.axes) text += CsvOf(pattern);
  for (const ChoicePattern& pattern : patterns.choices)
    text += CsvOf(pattern, "class", pattern.by_class) + CsvOf(pattern, "log2_mnk", pattern.by_size);
  for (const RaggedRow& row : patterns.ragged) text += CsvOf(row);
  for (const TechniqueRow& row : patterns.techniques) text += CsvOf(row);
  for (const PatternSentence& sentence : patterns.sentences)
    text += PatternLine{.table = "sentence", .name = CsvField(sentence.about), .value = sentence.text}.Print();
  return text;
}

}  // namespace gemmsmith
