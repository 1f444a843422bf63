// Which licence a file has, as SPDX names it: by its own words, else by the nearest licence file or package above it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

inline constexpr std::string_view kUnknownLicense = "unknown";

// Forbids to sell what another licence allows to: wherever the words stand, it is the licence.
inline constexpr std::string_view kCommonsClauseWords = "commons clause";
inline constexpr std::string_view kCommonsClause = "LicenseRef-Commons-Clause";

// By SPDX tags or the known words of a licence in the first 8 KiB.
std::optional<std::string> LicenseIn(std::string_view text);
// The same of a LICENSE, whose additions may stand at its end.
std::optional<std::string> LicenseOfFile(std::string_view text);
// A package's METADATA or PKG-INFO: all that its License and its classifiers name. License-Expression stands alone.
std::optional<std::string> LicenseOfPackage(std::string_view metadata);
// The expression of what is under both. `one` may be empty.
std::string BothLicenses(const std::string& one, const std::string& other);
bool IsLicenseFileName(std::string_view name);  // LICENSE, COPYING.txt, ...; no source file

// Those that texts are collected under.
class LicenseChoice {
 public:
  // SPDX names, "permissive" for those that ask for no more than their notice, "unknown"; by commas.
  static Result<LicenseChoice> Parse(std::string_view text);
  // An expression: one side of OR is enough, both of AND are needed. WITH an exception changes nothing; WITH anything
  // else is not allowed.
  bool Allows(std::string_view license) const;
  const std::string& words() const { return words_; }

 private:
  std::string words_ = "permissive";
  std::set<std::string> names_;  // lower case
};

// The licences of one tree or archive, folder by folder. Paths are relative to it.
class LicenseMap {
 public:
  // A licence file. In a folder, LICENSE counts before LICENSE-MIT or LICENSE.other; of several such, all.
  void AddFile(std::string_view path, std::string_view text);
  // For the folders that a package fills, by NAME.dist-info/METADATA and the RECORD beside it.
  void AddPackage(std::string_view metadata_path, std::string_view metadata, std::string_view record);
  // For everything that nothing nearer is known of.
  void AddRoot(std::string license) { folders_[""] = std::move(license); }
  std::string Of(std::string_view path) const;

 private:
  std::map<std::string, std::string, std::less<>> folders_;
  std::map<std::string, std::string, std::less<>> packages_;  // by folder; a licence file in it counts before
  std::set<std::string, std::less<>> plain_;                  // folders with a LICENSE
};

}  // namespace gemmsmith
