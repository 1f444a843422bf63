#include "outcome/baseline_set.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/text.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kDefault = "default", kSharedObjectPrefix = "so:";
// By kind.
constexpr std::string_view kKinds[] = {"cublas", "lt_heuristic", "lt_auto", "torch", "lt_exhaustive", "so"};
static_assert(std::size(kKinds) == size_t(BaselineKind::kSharedObject) + 1);
constexpr Layout kLayouts[] = {kNn, kTn};

std::vector<BaselineId> LibraryIds() {
  std::vector<BaselineId> ids;
  for (int kind = 0; kind < int(BaselineKind::kSharedObject); ++kind)
    for (const Layout& layout : kLayouts) ids.push_back({BaselineKind(kind), layout, ""});
  return ids;
}

std::vector<BaselineId> InBothLayouts(std::initializer_list<BaselineKind> kinds) {
  std::vector<BaselineId> ids;
  for (const Layout& layout : kLayouts)
    for (const BaselineKind kind : kinds) ids.push_back({kind, layout, ""});
  return ids;
}

// Those that a word stands for; none for a word that is unknown.
std::vector<BaselineId> Named(std::string_view word) {
  if (word.starts_with(kSharedObjectPrefix) && word.size() > kSharedObjectPrefix.size())
    return {{BaselineKind::kSharedObject, kTn, std::string(word.substr(kSharedObjectPrefix.size()))}};
  std::vector<BaselineId> ids = LibraryIds();
  std::erase_if(ids, [&](const BaselineId& id) { return word != kKinds[size_t(id.kind)] && word != Name(id); });
  return ids;
}

Status Unknown(std::string_view word) {
  std::vector<std::string> names;
  for (const BaselineId& id : LibraryIds()) names.push_back(Name(id));
  std::vector<std::string_view> known(std::begin(kKinds), std::end(kKinds) - 1);
  known.insert(known.end(), names.begin(), names.end());
  known.push_back(kDefault);
  const std::optional<std::string> nearest = NearestWord(word, known);
  return InvalidArgument(fmt::format(
      "no baseline '{}'{}; there are default, cublas, lt_heuristic, lt_auto, torch, lt_exhaustive (each also "
      "with _nn or _tn) and so:PATH",
      word, nearest ? fmt::format(", did you mean '{}'?", *nearest) : ""));
}

}  // namespace

std::string Name(const BaselineId& id) {
  if (id.kind == BaselineKind::kSharedObject) return fmt::format("{}{}", kSharedObjectPrefix, id.path);
  return fmt::format("{}_{}", kKinds[size_t(id.kind)], Name(id.layout));
}

std::vector<BaselineId> NvidiaBaselineIds() {
  return InBothLayouts({BaselineKind::kLtAuto, BaselineKind::kLtHeuristic, BaselineKind::kCublas});
}

void BaselineSet::Add(const BaselineId& id) {
  if (std::find(named_.begin(), named_.end(), id) == named_.end()) named_.push_back(id);
}

Result<BaselineSet> BaselineSet::Parse(std::string_view text) {
  BaselineSet set;
  set.has_default_ = false;
  for (const std::string_view word : Split(text, ',')) {
    if (word == kDefault) {
      set.has_default_ = true;
      continue;
    }
    const std::vector<BaselineId> ids = Named(word);
    if (ids.empty()) return Unknown(word);
    for (const BaselineId& id : ids) set.Add(id);
  }
  return set;
}

std::string BaselineSet::Print() const {
  std::vector<std::string> words;
  if (has_default_) words.emplace_back(kDefault);
  for (const BaselineId& id : named_) words.push_back(Name(id));
  return Join(words, ",");
}

std::vector<BaselineId> BaselineSet::For(Protocol protocol) const {
  std::vector<BaselineId> ids;
  if (has_default_) ids = IsThorough(protocol) ? NvidiaBaselineIds() : InBothLayouts({BaselineKind::kLtAuto});
  for (const BaselineId& id : named_)
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  return ids;
}

}  // namespace gemmsmith
