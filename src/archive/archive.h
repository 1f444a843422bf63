// The database of trials (SQLite, write-ahead log). A trial that Add() returned OK for survives kill -9 and power loss
// of the program; (campaign, problem, subject, protocol) is unique, adding it again is a no-op.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "archive/trial.h"
#include "base/status.h"

namespace gemmsmith {

// Trials are numbered from 1 in the order they were stored; some numbers are nobody's.
struct TrialFilter {
  std::optional<std::string> campaign;
  std::optional<Gemm> gemm;
  std::optional<std::string> device_key;
  std::optional<Protocol> protocol;
  std::optional<int64_t> after, up_to;  // their numbers
};

// Plans, problems and cells are those of trials with a plan.
struct ArchiveStats {
  int64_t trials = 0, plans = 0, problems = 0, missing_cells = 0;
  std::vector<std::pair<std::string, int64_t>> by_outcome;
  std::vector<Setting> settings;
  int64_t first_unix_ms = 0, last_unix_ms = 0;
  bool operator==(const ArchiveStats&) const = default;
};

class Archive {
 public:
  // Opens or creates. A damaged file is DataLoss with what to do; a newer schema is refused by name.
  static Result<std::unique_ptr<Archive>> Open(const std::filesystem::path& path);
  // For whoever adds nothing: also of a file or folder that may not be written, or on a disk that is full. Where
  // there is none it is NotFound, and so is an empty file, which stays empty.
  static Result<std::unique_ptr<Archive>> OpenToRead(const std::filesystem::path& path);
  ~Archive();

  // All of them or, when it fails, none, in one transaction: the disk is waited for once, however many they are. Safe
  // from many threads, and beside other processes that write; after a failure the archive can be used on.
  Status Add(std::span<const Trial> trials);
  Status Add(const Trial& trial) { return Add(std::span(&trial, 1)); }
  // In the order they were stored. Safe beside Add(), as nothing below is: it reads where another thread may be within
  // a transaction.
  Result<std::vector<Trial>> Load(const TrialFilter& filter) const;
  Status ForEach(const TrialFilter& filter, const std::function<void(const Trial&)>& visit) const;
  // The number of the newest trial, 0 where there is none: whoever saw this number before has missed nothing.
  Result<int64_t> LastTrial() const;
  // How many trials of each problem: read from an index, not from the trials.
  Result<std::map<Gemm, int64_t>> CountByProblem(const TrialFilter& filter) const;
  Result<ArchiveStats> Stats() const;

 private:
  struct State;
  explicit Archive(std::unique_ptr<State> state);
  static Result<std::unique_ptr<Archive>> Prepare(std::unique_ptr<class Database> database);
  std::unique_ptr<State> state_;
};

ArchiveStats StatsOf(const std::vector<Trial>& trials);

}  // namespace gemmsmith
