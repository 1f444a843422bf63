#include <algorithm>
#include <cctype>
#include <iterator>
#include <span>

#include "base/lower_case.h"
#include "base/text.h"
#include "corpus/collect/license.h"

namespace gemmsmith {

namespace {

// How packages word licences. All that are found count, but words with `unless` only where no name that begins so was
// found before.
struct PackageWords {
  std::string_view words, name, unless;
};
constexpr PackageWords kPackageWords[] = {
    {kCommonsClauseWords, kCommonsClause, ""},
    {"nvidia", "LicenseRef-NVIDIA", ""},
    {"proprietary", "LicenseRef-proprietary", "LicenseRef-"},
    {"gnu affero general public", "AGPL-3.0", ""},
    {"gnu lesser general public", "LGPL-3.0", ""},
    {"gnu general public", "GPL-3.0", ""},
    {"mozilla public", "MPL-2.0", ""},
    {"apache", "Apache-2.0", ""},
    {"4-clause", "BSD-4-Clause", ""},
    {"original bsd", "BSD-4-Clause", ""},
    {"3-clause", "BSD-3-Clause", ""},
    {"new bsd", "BSD-3-Clause", ""},
    {"2-clause", "BSD-2-Clause", ""},
    {"bsd", "BSD-3-Clause", "BSD-"},
    {"mit license", "MIT", ""},
    {"boost software", "BSL-1.0", ""},
    {"isc license", "ISC", ""},
    {"python software foundation", "PSF-2.0", ""},
    {"unlicense", "Unlicense", ""},
    {"cc0", "CC0-1.0", ""},
};
// Words beside the name of a licence that add nothing to it.
constexpr std::string_view kFillWords[] = {"the", "version", "v2",       "v2.0",       "2",
                                           "2.0", "3",       "modified", "simplified", "revised"};
constexpr std::string_view kFurtherWords = "LicenseRef-further-words";
// A License field of so many words is the text of a licence.
constexpr size_t kWordsOfText = 40;
constexpr size_t kLongestExpression = 500;

void AddOnce(std::string_view name, std::vector<std::string>& names) {
  if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
}

// Adds the licences that lower-case words name. Whether there is one.
bool AddNamesIn(std::string_view words, std::vector<std::string>& names) {
  bool has_one = false;
  for (const auto& [known, name, unless] : kPackageWords) {
    if (words.find(known) == words.npos) continue;
    has_one = true;
    const bool is_told = !unless.empty() && std::ranges::any_of(names, [&](const std::string& other) {
      return other.starts_with(unless);
    });
    if (!is_told) AddOnce(name, names);
  }
  return has_one;
}

bool IsOfAName(std::string_view word) {
  constexpr size_t kFewestLetters = 3;
  return std::ranges::any_of(kPackageWords, [&](const PackageWords& known) {
    return word.find(known.words) != word.npos ||
           (word.size() >= kFewestLetters && known.words.find(word) != word.npos);
  });
}

// Whether words beside the names may restrict the licence.
bool HasFurtherWords(std::string_view words) {
  return std::ranges::any_of(SplitWords(words), [](std::string_view word) {
    const size_t begin = std::min(word.find_first_not_of("(\"',"), word.size());
    word = word.substr(begin, word.find_last_not_of(")\"',") + 1 - begin);
    return !word.empty() && !IsOfAName(word) && std::ranges::find(kFillWords, word) == std::end(kFillWords);
  });
}

// What a License field says between OR and AND. A word with a hyphen is a name of SPDX's, but NVIDIA has several.
std::string LicenseOfTerm(const std::string& term) {
  const std::string lower = Lowered(term);
  if (lower == "mit") return "MIT";
  const bool is_spdx = term.find('-') != term.npos && term.find(' ') == term.npos && lower.find("nvidia") == lower.npos;
  std::vector<std::string> names;
  if (is_spdx || !AddNamesIn(lower, names)) return term;
  if (HasFurtherWords(lower)) names.emplace_back(kFurtherWords);
  return Join(names, " AND ");
}

// A License field as an expression. With brackets in it, all of it is needed.
std::string LicenseOfField(std::string_view field) {
  const std::vector<std::string_view> words = SplitWords(field);
  if (words.size() >= kWordsOfText) return LicenseIn(field).value_or(std::string(kFurtherWords));
  const bool has_brackets = field.find('(') != field.npos;
  std::string expression, term;
  for (const std::string_view word : words) {
    const std::string lower = Lowered(word);
    if (term.empty() || (lower != "or" && lower != "and")) {
      term += (term.empty() ? "" : " ") + std::string(word);
      continue;
    }
    expression += LicenseOfTerm(term) + (lower == "or" && !has_brackets ? " OR " : " AND ");
    term.clear();
  }
  return expression + LicenseOfTerm(term);
}

// "UNKNOWN", "Dual License", "LICENSE.txt" and "see LICENSE" leave the classifiers to say it.
bool NamesALicense(std::string_view field) {
  const std::string lower = Lowered(field);
  return !field.empty() && lower != "unknown" && lower != "dual license" && !IsLicenseFileName(field) &&
         !lower.starts_with("see ") && !lower.starts_with("file:");
}

// Adds what stands behind "Classifier: License ::", by a name that --licenses takes.
void AddClassifier(std::string_view classifier, std::vector<std::string>& names) {
  if (classifier == "OSI Approved" || classifier == "DFSG approved" || AddNamesIn(Lowered(classifier), names)) return;
  std::string name(classifier.substr(classifier.rfind(':') + 1));
  std::erase(name, ' ');
  std::ranges::replace_if(
      name, [](char c) { return !std::isalnum(uint8_t(c)) && c != '.' && c != '+'; }, '-');
  AddOnce("LicenseRef-" + name, names);
}

// The fields of a METADATA that say something about licences.
struct LicenseFields {
  std::string expression, license;
  std::vector<std::string_view> classifiers;
};
LicenseFields FieldsOf(std::string_view metadata) {
  LicenseFields fields;
  bool in_license = false;
  for (std::string_view line : Split(metadata, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) break;  // the description follows
    const bool goes_on = line[0] == ' ' || line[0] == '\t';
    if (in_license && goes_on) fields.license += "\n" + std::string(line);
    if (goes_on) continue;
    const auto is_of = [&](std::string_view name) {
      if (!line.starts_with(name)) return false;
      line.remove_prefix(name.size());
      return true;
    };
    in_license = is_of("License: ");
    if (in_license)
      fields.license = line;
    else if (is_of("License-Expression: "))
      fields.expression = line;
    else if (is_of("Classifier: License :: "))
      fields.classifiers.push_back(line);
  }
  return fields;
}

// A part of an expression could allow more than the whole.
std::string Bounded(const std::string& license) {
  return license.size() <= kLongestExpression ? license : std::string(kFurtherWords);
}

}  // namespace

std::optional<std::string> LicenseOfPackage(std::string_view metadata) {
  const LicenseFields fields = FieldsOf(metadata);
  if (!fields.expression.empty()) return Bounded(fields.expression);
  std::string license = NamesALicense(fields.license) ? LicenseOfField(fields.license) : "";
  std::vector<std::string> names;  // of the field, then those that only classifiers have
  for (const std::string_view word : SplitWords(license)) names.emplace_back(word);
  const size_t of_field = names.size();
  for (const std::string_view classifier : fields.classifiers) AddClassifier(classifier, names);
  for (const std::string& name : std::span(names).subspan(of_field)) license = BothLicenses(license, name);
  if (license.empty()) return std::nullopt;
  return Bounded(license);
}

}  // namespace gemmsmith
