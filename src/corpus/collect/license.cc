#include "corpus/collect/license.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/lower_case.h"
#include "base/text.h"

namespace gemmsmith {

namespace {

// Where a file says its own licence.
constexpr size_t kHeadOfFile = 8192;

constexpr std::string_view kPermissive[] = {
    "bsd-3",  // no name of SPDX's, and in use as one
    "0bsd",  "apache-2.0", "bsd-2-clause", "bsd-3-clause", "bsl-1.0", "cc-by-4.0", "cc0-1.0",
    "isc",   "mit",        "mit-0",        "ncsa",         "psf-2.0", "unlicense", "zlib",
};

struct LicenseWords {
  std::string_view words, name;
};
// The first that is found counts. Line ends and comment signs are spaces by then.
constexpr LicenseWords kLicenseWords[] = {
    {"retain all intellectual property and proprietary rights", "LicenseRef-NVIDIA"},
    {"notice to licensee", "LicenseRef-NVIDIA"},
    {"end user license agreement", "LicenseRef-EULA"},
    {"gnu affero general public license", "AGPL-3.0"},
    {"gnu lesser general public license", "LGPL-3.0"},
    {"gnu general public license", "GPL-3.0"},
    {"mozilla public license", "MPL-2.0"},
    {"apache license, version 2.0", "Apache-2.0"},
    {"apache license version 2.0", "Apache-2.0"},
    {"boost software license", "BSL-1.0"},
    {"creativecommons.org/licenses/by/4.0", "CC-BY-4.0"},
    {"creativecommons.org/licenses/by-sa/4.0", "CC-BY-SA-4.0"},
    {"creativecommons.org/publicdomain/zero/1.0", "CC0-1.0"},
    {"permission to use, copy, modify, and/or distribute this software", "ISC"},
    {"permission is hereby granted, free of charge", "MIT"},
    {"unencumbered software released into the public domain", "Unlicense"},
};
constexpr std::string_view kBsdWords = "redistribution and use in source and binary forms";

// How packages word theirs.
constexpr LicenseWords kPackageWords[] = {
    {"apache", "Apache-2.0"},
    {"3-clause", "BSD-3-Clause"},
    {"new bsd", "BSD-3-Clause"},
    {"2-clause", "BSD-2-Clause"},
    {"bsd", "BSD-3-Clause"},
    {"mit license", "MIT"},
    {"boost software", "BSL-1.0"},
    {"isc license", "ISC"},
    {"python software foundation", "PSF-2.0"},
    {"nvidia", "LicenseRef-NVIDIA"},
    {"proprietary", "LicenseRef-proprietary"},
};

// Lower case, one space for each run of spaces, line ends and comment signs.
std::string PlainWords(std::string_view text) {
  std::string words;
  for (const char c : text) {
    const bool is_gap = std::isspace(uint8_t(c)) || c == '*' || c == '#';
    if (!is_gap)
      words += char(std::tolower(uint8_t(c)));
    else if (!words.empty() && words.back() != ' ')
      words += ' ';
  }
  for (size_t at; (at = words.find(" // ")) != std::string::npos;) words.replace(at, 4, " ");
  return words;
}

bool IsLicenseChar(char c) {
  return std::isalnum(uint8_t(c)) || c == '.' || c == '-' || c == '+' || c == ' ' || c == '(' || c == ')';
}

// Behind "SPDX-License-Identifier:".
std::optional<std::string> SpdxTag(std::string_view text) {
  constexpr std::string_view kTag = "SPDX-License-Identifier:";
  const size_t at = text.find(kTag);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + kTag.size());
  rest = rest.substr(0, size_t(std::ranges::find_if_not(rest, IsLicenseChar) - rest.begin()));
  const std::vector<std::string_view> words = SplitWords(rest);
  const std::vector<std::string> owned(words.begin(), words.end());
  if (owned.empty()) return std::nullopt;
  return Join(owned, " ");
}

std::optional<std::string> BsdIn(std::string_view words) {
  if (words.find(kBsdWords) == std::string_view::npos) return std::nullopt;
  const bool is_third = words.find("neither the name") != std::string_view::npos ||
                        words.find("names of its contributors may") != std::string_view::npos;
  return is_third ? "BSD-3-Clause" : "BSD-2-Clause";
}

std::string_view FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "" : path.substr(0, slash);
}

std::string_view NameIn(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string InFolder(std::string_view folder, std::string_view name) {
  return folder.empty() ? std::string(name) : fmt::format("{}/{}", folder, name);
}

// The folders that both paths are in.
std::string_view CommonFolder(std::string_view folder, std::string_view path) {
  while (!folder.empty() && !(path.starts_with(folder) && path.substr(folder.size()).starts_with('/')))
    folder = FolderOf(folder);
  return folder;
}

// The deepest folder that holds all files of each top folder in a RECORD.
std::map<std::string, std::string, std::less<>> FoldersOfRecord(std::string_view record) {
  std::map<std::string, std::string, std::less<>> folders;
  for (const std::string_view line : Split(record, '\n')) {
    const std::string_view path = line.substr(0, line.find(','));
    const size_t slash = path.find('/');
    if (slash == std::string_view::npos || path.starts_with("..")) continue;
    const auto [found, is_new] = folders.try_emplace(std::string(path.substr(0, slash)), FolderOf(path));
    if (!is_new) found->second = std::string(CommonFolder(found->second, path));
  }
  return folders;
}

bool IsPlainLicense(std::string_view name) {
  const std::string lower = Lowered(name.substr(0, name.find('.')));
  const std::string ending = Lowered(name.substr(std::min(name.size(), name.find('.'))));
  const bool is_text = ending.empty() || ending == ".txt" || ending == ".md" || ending == ".rst";
  return is_text && (lower == "license" || lower == "licence" || lower == "copying" || lower == "unlicense");
}

// Words of an expression between `separator`s.
std::vector<std::string_view> Terms(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> terms;
  for (size_t at; (at = text.find(separator)) != std::string_view::npos; text.remove_prefix(at + separator.size()))
    terms.push_back(text.substr(0, at));
  terms.push_back(text);
  return terms;
}

}  // namespace

std::optional<std::string> LicenseIn(std::string_view text) {
  text = text.substr(0, kHeadOfFile);
  if (std::optional<std::string> tag = SpdxTag(text)) return tag;
  const std::string words = PlainWords(text);
  for (const LicenseWords& known : kLicenseWords)
    if (words.find(known.words) != std::string::npos) return std::string(known.name);
  return BsdIn(words);
}

std::optional<std::string> LicenseOfPackage(std::string_view metadata) {
  std::string license, classifiers;
  for (std::string_view line : Split(metadata, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) break;  // the description follows
    if (line.starts_with("License-Expression: ")) return std::string(line.substr(20));
    if (line.starts_with("License: ")) license = line.substr(9);
    if (line.starts_with("Classifier: License :: ")) classifiers += Lowered(line.substr(23)) + "\n";
  }
  for (const std::string& words : {Lowered(license), classifiers}) {
    if (words == "mit") return "MIT";
    for (const LicenseWords& known : kPackageWords)
      if (words.find(known.words) != std::string::npos) return std::string(known.name);
  }
  if (license.empty()) return std::nullopt;
  return license;
}

bool IsLicenseFileName(std::string_view name) {
  const std::string lower = Lowered(name);
  return IsPlainLicense(name) || lower.starts_with("license-") || lower.starts_with("license.") ||
         lower.starts_with("licence-") || lower.starts_with("copying.");
}

Result<LicenseChoice> LicenseChoice::Parse(std::string_view text) {
  LicenseChoice choice;
  choice.words_ = text;
  for (const std::string_view word : Split(text, ',')) {
    const bool is_name = !word.empty() && std::ranges::all_of(word, [](char c) {
      return IsLicenseChar(c) && c != ' ' && c != '(' && c != ')';
    });
    if (!is_name)
      return InvalidArgument(fmt::format("'{}' is no licence: permissive, unknown or SPDX names, by commas", word));
    if (word == "permissive")
      choice.names_.insert(std::begin(kPermissive), std::end(kPermissive));
    else
      choice.names_.insert(Lowered(word));
  }
  return choice;
}

bool LicenseChoice::Allows(std::string_view license) const {
  std::string lower = Lowered(license);
  // Without a parser for brackets, all that they hold is needed.
  if (lower.find('(') != std::string::npos)
    for (size_t at; (at = lower.find(" or ")) != std::string::npos;) lower.replace(at, 4, " and ");
  std::erase_if(lower, [](char c) { return c == '(' || c == ')'; });
  const auto allows_one = [&](std::string_view term) {
    return names_.contains(std::string(term.substr(0, term.find(" with "))));
  };
  return std::ranges::any_of(Terms(lower, " or "), [&](std::string_view alternative) {
    return std::ranges::all_of(Terms(alternative, " and "), allows_one);
  });
}

void LicenseMap::AddFile(std::string_view path, std::string_view text) {
  std::string folder(FolderOf(path));
  if (folder.find(".dist-info") != std::string::npos) return;  // the package's METADATA says it
  const bool is_plain = IsPlainLicense(NameIn(path));
  if (!is_plain && plain_.contains(folder)) return;
  const std::string license = LicenseIn(text).value_or(std::string(kUnknownLicense));
  std::string& known = folders_[folder];
  if (is_plain && plain_.insert(folder).second)
    known = license;
  else if (known.empty())
    known = license;
  else if (known != license)
    known += " AND " + license;
}

void LicenseMap::AddPackage(std::string_view metadata_path, std::string_view metadata, std::string_view record) {
  const std::optional<std::string> license = LicenseOfPackage(metadata);
  if (!license) return;
  const std::string_view info = FolderOf(metadata_path), above = FolderOf(info);
  if (NameIn(metadata_path) == "PKG-INFO") {
    folders_.try_emplace(std::string(info), *license);
    return;
  }
  for (const auto& [top, folder] : FoldersOfRecord(record))
    if (top != NameIn(info)) folders_.try_emplace(InFolder(above, folder), *license);
}

std::string LicenseMap::Of(std::string_view path) const {
  while (!path.empty()) {
    path = FolderOf(path);
    if (const auto found = folders_.find(path); found != folders_.end()) return found->second;
  }
  return std::string(kUnknownLicense);
}

}  // namespace gemmsmith
