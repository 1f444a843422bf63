#include "report/pattern_sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace gemmsmith {
namespace {

using Sentences = std::vector<PatternSentence>;

std::string_view ExtentText(Extent extent) {
  constexpr std::string_view kTexts[] = {"m", "n", "k", "m n", "m n k"};
  return kTexts[size_t(extent)];
}

bool IsCorrelation(const std::optional<double>& correlation, int winners) {
  return correlation && winners >= kMinToSpeak && std::fabs(*correlation) >= kMinCorrelation;
}

// The first and the last group with enough winners to quote; nothing where they are one.
template <class Group, class TallyOf>
std::optional<std::pair<const Group*, const Group*>> EndsOf(const std::vector<Group>& groups, TallyOf tally_of) {
  const auto is_large = [&](const Group& group) { return tally_of(group).winners >= kMinAtAnEnd; };
  const auto first = std::find_if(groups.begin(), groups.end(), is_large);
  const auto last = std::find_if(groups.rbegin(), groups.rend(), is_large);
  if (first == groups.end() || &*first == &*last) return std::nullopt;
  return std::pair(&*first, &*last);
}

std::string EndText(const Octave& octave, Extent extent) {
  const Label& most = octave.values.Most();
  const bool is_product = extent == Extent::kMN || extent == Extent::kMNK;
  return fmt::format("{} with {} from {} ({} of {})", most.text, ExtentText(extent),
                     is_product ? fmt::format("2^{}", octave.low) : fmt::format("{}", int64_t{1} << octave.low),
                     octave.values.CountOf(most), octave.values.winners);
}

void AddAxis(const AxisPattern& pattern, Sentences& sentences) {
  if (!pattern.follows || !IsCorrelation(pattern.Correlation(), pattern.winners)) return;
  const Extent extent = *pattern.follows;
  std::string text = fmt::format("{} of {} {} with {}: rank correlation {:+.2f} over {}", pattern.axis, pattern.family,
                                 pattern.Correlation() > 0 ? "grows" : "falls", ExtentText(extent),
                                 pattern.Correlation(), Plural(pattern.winners, "winner"));
  const auto ends = EndsOf(pattern.octaves, [](const Octave& octave) -> const Tally& { return octave.values; });
  if (ends && ends->first->values.Most() != ends->second->values.Most())
    text += fmt::format("; most often {} and {}", EndText(*ends->first, extent), EndText(*ends->second, extent));
  sentences.push_back({"numbers", pattern.family + " " + pattern.axis, text + "."});
}

// Where the extents of the winners go together, what follows one of them seems to follow the other.
void AddExtents(const FamilyExtents& extents, Sentences& sentences) {
  if (!IsCorrelation(extents.mn_with_k, extents.winners)) return;
  sentences.push_back({"numbers", extents.family + " winners",
                       fmt::format("Of the {} {} winners m n itself {} with k (rank correlation {:+.2f}): what follows "
                                   "one of them seems to follow the other.",
                                   CountText(extents.winners), extents.family,
                                   *extents.mn_with_k > 0 ? "grows" : "falls", *extents.mn_with_k)});
}

std::string PercentText(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string ValueText(const ChoicePattern& pattern, const Label& value) {
  if (pattern.choice == "family") return value.text;
  return fmt::format("{}={}", pattern.choice, value.text);
}

std::string WhoText(const ChoicePattern& pattern) {
  return pattern.choice == "family" ? "winners" : fmt::format("{} winners", pattern.family);
}

// What was never tried did not lose.
bool HadAChoice(const Tally& tally) { return tally.winners - tally.unopposed >= kMinOpposed * tally.winners; }

// The winners of all other groups.
Tally Others(const Tally& all, const Tally& group) {
  Tally others{.winners = all.winners - group.winners, .unopposed = all.unopposed - group.unopposed};
  for (const auto& [value, count] : all.counts) others.counts[value] = count - group.CountOf(value);
  return others;
}

void AddTrends(const ChoicePattern& pattern, Sentences& sentences) {
  if (!HadAChoice(pattern.all)) return;
  const bool is_one_or_other = pattern.values.size() == 2;
  const auto ends = EndsOf(pattern.by_size, [](const Tally& tally) -> const Tally& { return tally; });
  for (const ChoiceValue& choice : pattern.values) {
    // Of two values one falls as the other one grows.
    if (!IsCorrelation(choice.correlation, pattern.all.winners) || (is_one_or_other && *choice.correlation < 0))
      continue;
    std::string text =
        fmt::format("The larger m n k, the {} {} have {}: rank correlation {:+.2f} over {}",
                    *choice.correlation > 0 ? "more" : "fewer", WhoText(pattern), ValueText(pattern, choice.value),
                    *choice.correlation, Plural(pattern.all.winners, "winner"));
    if (pattern.all.unopposed > 0)
      text += fmt::format(", for {} of which nothing else was timed", CountText(pattern.all.unopposed));
    if (ends && HadAChoice(*ends->first) && HadAChoice(*ends->second))
      text += fmt::format("; {} of the {} with log2(m n k) from {}, {} of the {} from {}",
                          PercentText(ends->first->ShareOf(choice.value)), ends->first->winners, ends->first->group,
                          PercentText(ends->second->ShareOf(choice.value)), ends->second->winners, ends->second->group);
    sentences.push_back({"choices", pattern.family + " " + pattern.choice, text + "."});
  }
}

void AddClasses(const ChoicePattern& pattern, Sentences& sentences) {
  for (const Tally& of_class : pattern.by_class) {
    const Label& value = of_class.Most();
    const Tally others = Others(pattern.all, of_class);
    if (of_class.winners < kMinToSpeak || others.winners < kMinToSpeak) continue;
    if (!HadAChoice(of_class) || !HadAChoice(others)) continue;
    const double share = of_class.ShareOf(value), elsewhere = others.ShareOf(value);
    if (share < kMinClassShare || share - elsewhere < kMinClassLead) continue;
    std::string text = fmt::format("On {} {} have {} in {} of {} cases ({}), elsewhere in {}", of_class.group,
                                   WhoText(pattern), ValueText(pattern, value), of_class.CountOf(value),
                                   of_class.winners, PercentText(share), PercentText(elsewhere));
    if (of_class.unopposed + others.unopposed > 0)
      text += fmt::format("; nothing else was timed for {} of these {} and {} of the {} elsewhere", of_class.unopposed,
                          of_class.winners, CountText(others.unopposed), CountText(others.winners));
    sentences.push_back(
        {"choices", fmt::format("{} {}, {}", pattern.family, pattern.choice, of_class.group), text + "."});
  }
}

void AddRagged(const RaggedRow& row, Sentences& sentences) {
  if (row.winners < kMinToSpeak || row.ragged < kMinRaggedShare * row.winners) return;
  const RatioSummary padding = SummaryOf(row.padding);
  sentences.push_back(
      {"padding", "ragged tiles, " + row.group,
       fmt::format("{} {} of the {} winners ({}) have ragged tiles, and compute {:.2f} times what is useful "
                   "(geometric mean; at most {:.2f}).",
                   row.group == kAllGroups ? "Of all classes" : "On " + row.group, row.ragged, row.winners,
                   PercentText(double(row.ragged) / row.winners), padding.geomean, padding.highest)});
}

bool LiesBelow(const RatioSummary& ratio) { return ratio.median <= 1 - kMinDifference && ratio.q75 < 1; }
bool LiesAbove(const RatioSummary& ratio) { return ratio.median >= 1 + kMinDifference && ratio.q25 > 1; }

bool HasManyTwins(const TechniqueRow& row) { return row.twins && row.twins->count >= kMinToSpeak; }

// Off 1 beyond chance of selection: with enough problems, enough plans on either side, and twins that do not deny it.
bool IsDifference(const TechniqueRow& row) {
  if (row.ratio.count < kMinToSpeak || std::min(row.plans_with, row.plans_without) < kMinPlans) return false;
  if (!LiesBelow(row.ratio) && !LiesAbove(row.ratio)) return false;
  if (!HasManyTwins(row)) return true;
  return LiesBelow(row.ratio) ? row.twins->median <= 1 - kMinDifference : row.twins->median >= 1 + kMinDifference;
}

void AddTechnique(const TechniqueRow& row, Sentences& sentences) {
  if (!IsDifference(row)) return;
  const ComparedTechnique& technique = *row.technique;
  std::string text = fmt::format(
      "{} the best plan with {} takes {:.2f} of the time of the best with {} ({}, middle half {:.2f} to {:.2f}), "
      "and is the fastest of all on {}",
      row.group == kAllGroups ? "Over all classes" : "On " + row.group, technique.with, row.ratio.median,
      technique.without, Plural(row.ratio.count, "problem"), row.ratio.q25, row.ratio.q75, row.best);
  if (HasManyTwins(row))
    text += fmt::format("; {} of plans that differ in nothing else: {:.2f}", Plural(row.twins->count, "pair"),
                        row.twins->median);
  sentences.push_back({"techniques", fmt::format("{}, {}", technique.name, row.group), text + "."});
}

}  // namespace

std::vector<PatternSentence> SentencesOf(const Patterns& patterns) {
  Sentences sentences;
  for (const AxisPattern& pattern : patterns.axes) AddAxis(pattern, sentences);
  for (const FamilyExtents& extents : patterns.extents) AddExtents(extents, sentences);
  for (const ChoicePattern& pattern : patterns.choices) {
    AddTrends(pattern, sentences);
    AddClasses(pattern, sentences);
  }
  for (const RaggedRow& row : patterns.ragged) AddRagged(row, sentences);
  for (const TechniqueRow& row : patterns.techniques) AddTechnique(row, sentences);
  return sentences;
}

}  // namespace gemmsmith
