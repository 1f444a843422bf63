// Journal of certifications, a line each, so that a pass over many kernels can resume. docs/certification.md describes
// the file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

struct Certificate {
  // A kernel that differs in one of these needs its own certificate.
  std::string problem, plan, device, harness;
  uint64_t seed = 0;

  std::string outcome;  // "verified", "wrong", ...
  double max_abs_error = 0, baseline_max_abs_error = 0;
  bool memchecked = false;
  std::string reason;  // empty where it passed
  bool operator==(const Certificate&) const = default;
};

// One line without its end. Parse(Print(c)) == c, but that tabs and line ends in a text become spaces.
std::string Print(const Certificate& certificate);
Result<Certificate> ParseCertificate(std::string_view line);

class CertificateJournal {
 public:
  // Reads what is there, if anything. A line that was cut off counts as not written; a file of
  // another kind is DataLoss.
  static Result<CertificateJournal> Open(const std::filesystem::path& path);

  // Whether there is one for the same problem, plan, device, harness and seed, with memcheck where that is wanted.
  bool Has(const Certificate& wanted) const;
  // On the disk when it returns.
  Status Append(const Certificate& certificate);
  const std::vector<Certificate>& certificates() const { return certificates_; }

 private:
  explicit CertificateJournal(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
  std::vector<Certificate> certificates_;
  bool ends_in_cut_line_ = false;
};

}  // namespace gemmsmith
