// The database of trials (SQLite, write-ahead log). A trial that Add() returned OK for survives kill -9 and a loss of
// power. (campaign, problem, subject, protocol) is unique: adding it again is a no-op.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "archive/stats.h"
#include "archive/trial.h"
#include "base/status.h"

namespace gemmsmith {

// Trials are numbered from 1 in the order they were stored. Some numbers have no trial.
struct TrialFilter {
  std::optional<std::string> campaign;
  std::optional<Gemm> gemm;
  std::optional<std::string> device_key;
  std::optional<Protocol> protocol;
  std::optional<int64_t> after, up_to;  // by number
};

class Archive {
 public:
  // Opens or creates. A damaged file is DataLoss with what to do; a newer schema is refused by name.
  static Result<std::unique_ptr<Archive>> Open(const std::filesystem::path& path);
  // For a reader: also opens a file or folder that may not be written, or one on a full disk. NotFound where there is
  // no file or an empty one, which stays empty.
  static Result<std::unique_ptr<Archive>> OpenToRead(const std::filesystem::path& path);
  ~Archive();

  // Adds all or, when it fails, none, in one transaction with one wait for the disk. Safe from many threads and with
  // other processes that write. After a failure the archive can be used on.
  Status Add(std::span<const Trial> trials);
  Status Add(const Trial& trial) { return Add(std::span(&trial, 1)); }
  // In the order they were stored. Safe while other threads Add(); every method below may read within their
  // transaction.
  Result<std::vector<Trial>> Load(const TrialFilter& filter) const;
  Status ForEach(const TrialFilter& filter, const std::function<void(const Trial&)>& visit) const;
  // The number of the newest trial, 0 where there is none. While it stays, nothing was added.
  Result<int64_t> LastTrial() const;
  // The number of trials of each problem, from an index.
  Result<std::map<Gemm, int64_t>> CountByProblem(const TrialFilter& filter) const;
  Result<ArchiveStats> Stats() const;

 private:
  struct State;
  explicit Archive(std::unique_ptr<State> state);
  static Result<std::unique_ptr<Archive>> Prepare(std::unique_ptr<class Database> database);
  std::unique_ptr<State> state_;
};

}  // namespace gemmsmith
