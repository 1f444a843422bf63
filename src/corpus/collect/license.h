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

// By an SPDX tag or the known words of a licence in the first lines of a file, or in a licence's own text.
std::optional<std::string> LicenseIn(std::string_view text);
// A package's METADATA or PKG-INFO.
std::optional<std::string> LicenseOfPackage(std::string_view metadata);
bool IsLicenseFileName(std::string_view name);  // LICENSE, COPYING.txt, ...

// Those that texts are collected under.
class LicenseChoice {
 public:
  // SPDX names, "permissive" for those that ask for no more than their notice, "unknown"; by commas.
  static Result<LicenseChoice> Parse(std::string_view text);
  // An expression: one side of OR is enough, both of AND are needed, an exception changes nothing.
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
  std::set<std::string, std::less<>> plain_;  // folders with a LICENSE
};

}  // namespace gemmsmith
