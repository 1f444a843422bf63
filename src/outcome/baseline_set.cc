#include "outcome/baseline_set.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kDefault = "default", kSharedObjectPrefix = "so:";
// By kind.
constexpr std::string_view kKinds[] = {"cublas", "lt_heuristic", "lt_auto", "torch", "lt_exhaustive", "so"};
static_assert(std::size(kKinds) == size_t(BaselineKind::kSharedObject) + 1);

// A caller may store weights in either order of B, so nn and tn are rivals. A column-major A is a caller's given.
std::vector<Layout> LayoutsBeside(const Layout& layout) {
  return layout.a == Order::kRow ? std::vector{kNn, kTn} : std::vector{layout};
}

std::vector<BaselineId> Beside(const Layout& candidate, std::initializer_list<BaselineKind> kinds) {
  std::vector<BaselineId> ids;
  for (const Layout& layout : LayoutsBeside(candidate))
    for (const BaselineKind kind : kinds) ids.push_back({kind, layout, ""});
  return ids;
}

Status Unknown(std::string_view word) {
  std::vector<std::string> names;
  for (int kind = 0; kind < int(BaselineKind::kSharedObject); ++kind)
    for (const Layout& layout : kLayouts) names.push_back(Name({BaselineKind(kind), layout, ""}));
  std::vector<std::string_view> known(std::begin(kKinds), std::end(kKinds) - 1);
  known.insert(known.end(), names.begin(), names.end());
  known.push_back(kDefault);
  const std::optional<std::string> nearest = NearestWord(word, known);
  return InvalidArgument(fmt::format(
      "no baseline '{}'{}; there are default, cublas, lt_heuristic, lt_auto, torch, lt_exhaustive (each also "
      "with _nn, _tn, _col-row or _col-col) and so:PATH",
      word, nearest ? fmt::format(", did you mean '{}'?", *nearest) : ""));
}

}  // namespace

std::string Name(const BaselineId& id) {
  if (id.kind == BaselineKind::kSharedObject) return fmt::format("{}{}", kSharedObjectPrefix, id.path);
  return fmt::format("{}_{}", kKinds[size_t(id.kind)], Name(id.layout));
}

std::string_view FamilyOf(std::string_view name) {
  const size_t last = name.rfind('_');
  return last != name.npos && ParseLayout(name.substr(last + 1)).ok() ? name.substr(0, last) : name;
}

std::vector<BaselineId> NvidiaBaselineIds(const Layout& layout) {
  return Beside(layout, {BaselineKind::kLtAuto, BaselineKind::kLtHeuristic, BaselineKind::kCublas});
}

std::optional<BaselineSet::Word> BaselineSet::ReadWord(std::string_view text) {
  if (text.starts_with(kSharedObjectPrefix) && text.size() > kSharedObjectPrefix.size())
    return Word{BaselineKind::kSharedObject, {}, std::string(text.substr(kSharedObjectPrefix.size()))};
  const std::string_view family = FamilyOf(text);
  for (int kind = 0; kind < int(BaselineKind::kSharedObject); ++kind) {
    if (family != kKinds[kind]) continue;
    Word word{BaselineKind(kind), {}, ""};
    if (family.size() < text.size()) word.layout = *ParseLayout(text.substr(family.size() + 1));
    return word;
  }
  return std::nullopt;
}

Result<BaselineSet> BaselineSet::Parse(std::string_view text) {
  BaselineSet set;
  set.has_default_ = false;
  for (const std::string_view part : Split(text, ',')) {
    if (part == kDefault) {
      set.has_default_ = true;
      continue;
    }
    const std::optional<Word> word = ReadWord(part);
    if (!word) return Unknown(part);
    if (std::ranges::find(set.named_, *word) == set.named_.end()) set.named_.push_back(*word);
  }
  return set;
}

std::string BaselineSet::Print() const {
  std::vector<std::string> words;
  if (has_default_) words.emplace_back(kDefault);
  for (const auto& [kind, layout, path] : named_)
    words.push_back(layout || kind == BaselineKind::kSharedObject ? Name({kind, layout.value_or(kTn), path})
                                                                  : std::string(kKinds[size_t(kind)]));
  return Join(words, ",");
}

std::vector<BaselineId> BaselineSet::For(Protocol protocol, const Layout& layout) const {
  std::vector<BaselineId> all;
  if (has_default_) all = IsThorough(protocol) ? NvidiaBaselineIds(layout) : Beside(layout, {BaselineKind::kLtAuto});
  for (const Word& word : named_) {
    const bool is_kind = !word.layout && word.kind != BaselineKind::kSharedObject;
    const std::vector<BaselineId> ids = is_kind
                                            ? Beside(layout, {word.kind})
                                            : std::vector{BaselineId{word.kind, word.layout.value_or(kTn), word.path}};
    all.insert(all.end(), ids.begin(), ids.end());
  }
  std::vector<BaselineId> once;
  for (const BaselineId& id : all)
    if (std::ranges::find(once, id) == once.end()) once.push_back(id);
  return once;
}

}  // namespace gemmsmith
