#include "corpus/collect/license.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/lower_case.h"
#include "base/text.h"
#include "corpus/collect/file_names.h"

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
// The first that is found counts, so restrictions come before what they restrict. Line ends and comment signs are
// spaces by then.
constexpr LicenseWords kLicenseWords[] = {
    {"retain all intellectual property and proprietary rights", "LicenseRef-NVIDIA"},
    {"notice to licensee", "LicenseRef-NVIDIA"},
    {"end user license agreement", "LicenseRef-EULA"},
    {"all advertising materials mentioning features", "BSD-4-Clause"},
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

// Words of an expression between `separator`s.
std::vector<std::string_view> Terms(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> terms;
  for (size_t at; (at = text.find(separator)) != std::string_view::npos; text.remove_prefix(at + separator.size()))
    terms.push_back(text.substr(0, at));
  terms.push_back(text);
  return terms;
}

// What stands behind an "SPDX-License-Identifier:", up to the end of the line or comment.
std::string TaggedLicense(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  text = text.substr(0, size_t(std::ranges::find_if_not(text, IsLicenseChar) - text.begin()));
  while (text.ends_with('-') || text.ends_with(' ')) text.remove_suffix(1);  // of " -->"
  const std::vector<std::string_view> words = SplitWords(text);
  return Join(std::vector<std::string>(words.begin(), words.end()), " ");
}

// Several tags are of several parts of a file.
std::optional<std::string> SpdxTags(std::string_view text) {
  constexpr std::string_view kTag = "SPDX-License-Identifier:";
  std::string all;
  for (size_t at; (at = text.find(kTag)) != std::string_view::npos;) {
    text.remove_prefix(at + kTag.size());
    if (const std::string license = TaggedLicense(text); !license.empty()) all = BothLicenses(all, license);
  }
  if (all.empty()) return std::nullopt;
  return all;
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

}  // namespace

std::string BothLicenses(const std::string& one, const std::string& other) {
  if (one.empty()) return other;
  const std::vector<std::string_view> known = Terms(one, " AND ");
  if (one == other || std::ranges::find(known, other) != known.end()) return one;
  const auto bracketed = [](const std::string& license) {
    return license.find(" OR ") == std::string::npos ? license : fmt::format("({})", license);
  };
  return fmt::format("{} AND {}", bracketed(one), bracketed(other));
}

std::optional<std::string> LicenseIn(std::string_view text) {
  text = text.substr(0, kHeadOfFile);
  const std::string words = PlainWords(text);
  if (words.find(kCommonsClauseWords) != std::string::npos) return std::string(kCommonsClause);
  if (std::optional<std::string> tags = SpdxTags(text)) return tags;
  for (const LicenseWords& known : kLicenseWords)
    if (words.find(known.words) != std::string::npos) return std::string(known.name);
  return BsdIn(words);
}

std::optional<std::string> LicenseOfFile(std::string_view text) {
  if (PlainWords(text).find(kCommonsClauseWords) != std::string::npos) return std::string(kCommonsClause);
  return LicenseIn(text);
}

bool IsLicenseFileName(std::string_view name) {
  if (IsProgramName(name)) return false;
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
    const size_t with = std::min(term.find(" with "), term.size());
    const std::string_view addition = term.substr(with);
    return names_.contains(std::string(term.substr(0, with))) &&
           (addition.empty() || addition.find("exception") != addition.npos);
  };
  return std::ranges::any_of(Terms(lower, " or "), [&](std::string_view alternative) {
    return std::ranges::all_of(Terms(alternative, " and "), allows_one);
  });
}

void LicenseMap::AddFile(std::string_view path, std::string_view text) {
  std::string folder(FolderOf(path));
  if (folder.find(".dist-info") != std::string::npos) return;  // the package's METADATA says it
  const bool is_plain = IsPlainLicense(LastName(path));
  if (!is_plain && plain_.contains(folder)) return;
  const std::string license = LicenseOfFile(text).value_or(std::string(kUnknownLicense));
  std::string& known = folders_[folder];
  known = is_plain && plain_.insert(folder).second ? license : BothLicenses(known, license);
}

void LicenseMap::AddPackage(std::string_view metadata_path, std::string_view metadata, std::string_view record) {
  const std::optional<std::string> license = LicenseOfPackage(metadata);
  if (!license) return;
  const std::string_view info = FolderOf(metadata_path), above = FolderOf(info);
  if (LastName(metadata_path) == "PKG-INFO") {
    packages_.try_emplace(std::string(info), *license);
    return;
  }
  for (const auto& [top, folder] : FoldersOfRecord(record))
    if (top != LastName(info)) packages_.try_emplace(InFolder(above, folder), *license);
}

std::string LicenseMap::Of(std::string_view path) const {
  while (!path.empty()) {
    path = FolderOf(path);
    for (const auto* known : {&folders_, &packages_})
      if (const auto found = known->find(path); found != known->end()) return found->second;
  }
  return std::string(kUnknownLicense);
}

}  // namespace gemmsmith
