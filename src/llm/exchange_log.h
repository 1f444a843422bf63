// Every exchange of a run, one JSON object a line: what a model answered, and what the judge said. The file is the
// memory that a run resumes from, and a cassette: a run over it asks nobody for what is there.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/files.h"
#include "base/status.h"

namespace gemmsmith {

class ExchangeLog {
 public:
  // Creates a missing file, unless it is only read. A last line that was cut off is dropped; DataLoss names any other
  // damaged one. Unavailable while another process writes it.
  static Result<std::unique_ptr<ExchangeLog>> Open(const std::filesystem::path& path, bool is_read_only);
  ~ExchangeLog();

  bool is_read_only() const { return fd_ < 0; }
  size_t size() const;
  // Both safe from many threads.
  std::optional<nlohmann::ordered_json> Find(const std::string& kind, const std::string& key) const;
  // On the disk when it returns.
  Status Append(const std::string& kind, const std::string& key, const nlohmann::ordered_json& request,
                const nlohmann::ordered_json& answer);

 private:
  ExchangeLog() = default;
  Status Read(const std::string& text);

  std::optional<FileLock> lock_;
  int fd_ = -1;
  size_t bytes_ = 0;  // of whole lines
  std::filesystem::path path_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, nlohmann::ordered_json> answers_;
};

}  // namespace gemmsmith
