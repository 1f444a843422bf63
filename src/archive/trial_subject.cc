#include "archive/trial_subject.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"

namespace gemmsmith {
namespace {

constexpr std::string_view kSource = "source", kNobody = "none";
constexpr size_t kHashDigits = 32;

bool SplitsAWord(char c) { return c == ' ' || IsControl(c); }

bool IsHash(std::string_view text) {
  return text.size() == kHashDigits &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

struct Printer {
  std::string operator()(const Plan& plan) const { return Print(plan); }
  std::string operator()(const RecordedSource& source) const {
    return fmt::format("{} {} {}", kSource, source.name, source.hash);
  }
  std::string operator()(const Nobody&) const { return std::string(kNobody); }
};

}  // namespace

TrialSubject SubjectOf(const Subject& subject) {
  if (const Plan* plan = std::get_if<Plan>(&subject)) return *plan;
  const FreeForm& source = std::get<FreeForm>(subject);
  std::string name = source.name.empty() ? "unnamed" : source.name;
  std::replace_if(name.begin(), name.end(), SplitsAWord, '_');
  return RecordedSource{std::move(name), HashBytes(source.text).Hex()};
}

std::string Print(const TrialSubject& subject) { return std::visit(Printer(), subject); }

bool IsPlanText(std::string_view text) { return text != kNobody && !text.starts_with("source "); }

Result<TrialSubject> ParseTrialSubject(std::string_view text) {
  if (text == kNobody) return TrialSubject(Nobody());
  const std::vector<std::string_view> words = SplitWords(text);
  if (words.empty() || words[0] != kSource) {
    ASSIGN_OR_RETURN(const Plan plan, ParsePlan(text));
    return TrialSubject(plan);
  }
  if (words.size() != 3 || !IsHash(words[2]))
    return InvalidArgument(fmt::format("'{}' is not 'source NAME HASH' with 32 hexadecimal digits", text));
  return TrialSubject(RecordedSource{std::string(words[1]), std::string(words[2])});
}

}  // namespace gemmsmith
