#include "certify/certificate_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>

#include "base/files.h"
#include "base/text.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kFormat = "certificate1";

std::string OneField(std::string text) {
  for (char& c : text)
    if (c == '\t' || c == '\n' || c == '\r') c = ' ';
  return text;
}

std::string NumberText(double number) { return fmt::format("{}", number); }

std::optional<double> ErrorIn(std::string_view text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  return ParseDouble(text);
}

bool IsFor(const Certificate& certificate, const Certificate& wanted) {
  return certificate.problem == wanted.problem && certificate.plan == wanted.plan &&
         certificate.device == wanted.device && certificate.harness == wanted.harness &&
         certificate.seed == wanted.seed && (certificate.memchecked || !wanted.memchecked);
}

}  // namespace

std::string Print(const Certificate& certificate) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", kFormat, certificate.outcome, certificate.problem,
                     certificate.plan, certificate.device, certificate.harness, certificate.seed,
                     NumberText(certificate.max_abs_error), NumberText(certificate.baseline_max_abs_error),
                     certificate.memchecked ? "memchecked" : "-", OneField(certificate.reason));
}

Result<Certificate> ParseCertificate(std::string_view line) {
  const std::vector<std::string_view> fields = Split(line, '\t');
  if (fields.size() != 11 || fields[0] != kFormat) return DataLoss("a line that is no certificate");
  const std::optional<long long> seed = ParseInteger(fields[6]);
  const std::optional<double> error = ErrorIn(fields[7]), of_baselines = ErrorIn(fields[8]);
  if (!seed || *seed < 0 || !error || !of_baselines) return DataLoss("a certificate with numbers that are none");
  if (fields[9] != "memchecked" && fields[9] != "-") return DataLoss("a certificate with an unknown word");
  Certificate certificate;
  certificate.outcome = fields[1], certificate.problem = fields[2], certificate.plan = fields[3];
  certificate.device = fields[4], certificate.harness = fields[5];
  certificate.seed = uint64_t(*seed);
  certificate.max_abs_error = *error, certificate.baseline_max_abs_error = *of_baselines;
  certificate.memchecked = fields[9] == "memchecked";
  certificate.reason = fields[10];
  return certificate;
}

Result<CertificateJournal> CertificateJournal::Open(const std::filesystem::path& path) {
  CertificateJournal journal(path);
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return journal;
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::vector<std::string_view> lines = Split(text, '\n');
  journal.ends_in_cut_line_ = !lines.back().empty();
  lines.pop_back();
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    Result<Certificate> certificate = ParseCertificate(lines[i]);
    // Where a line was cut off and work went on, it stands alone: no certificate, and no reason to stop.
    if (!certificate.ok() && kFormat.starts_with(lines[i].substr(0, kFormat.size()))) continue;
    if (!certificate.ok())
      return DataLoss(fmt::format("line {} of {} is damaged ({}); take it out or name another --journal", i + 1,
                                  path.string(), certificate.status().message()));
    journal.certificates_.push_back(*std::move(certificate));
  }
  return journal;
}

bool CertificateJournal::Has(const Certificate& wanted) const {
  return std::any_of(certificates_.begin(), certificates_.end(),
                     [&](const Certificate& certificate) { return IsFor(certificate, wanted); });
}

// One write to a file opened for appending, so that two passes never mix their lines.
Status CertificateJournal::Append(const Certificate& certificate) {
  std::error_code none;
  if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path(), none);
  const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const std::string line = (ends_in_cut_line_ ? "\n" : "") + Print(certificate) + "\n";
  const bool written = fd >= 0 && ::write(fd, line.data(), line.size()) == ssize_t(line.size()) && ::fsync(fd) == 0;
  const std::string why = std::strerror(errno);
  if (fd >= 0) ::close(fd);
  ends_in_cut_line_ = !written;
  if (!written) return IoError(fmt::format("cannot write to {}: {}", path_.string(), why));
  certificates_.push_back(certificate);
  return OkStatus();
}

}  // namespace gemmsmith
