// What the judge accepted and answered (SQLite): kill -9 loses no accepted request, and none is answered twice. It
// keeps the texts of sources by their hash, and is the memory that makes requests idempotent.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agents/judge_result.h"
#include "archive/database.h"

namespace gemmsmith {

struct JudgeJob {
  std::string id;
  JudgeRequest request;
};

struct JudgeAnswer {
  JudgeState state = JudgeState::kPending;
  std::string json;  // as JsonOf(JudgeResult, ...) printed it, one line; PendingJson() while pending
};

// Safe from many threads, and with other processes on the same file.
class JudgeJournal {
 public:
  // Opens or creates. InvalidArgument where the file is another program's or a newer version's.
  static Result<std::unique_ptr<JudgeJournal>> Open(const std::filesystem::path& path);

  // On the disk when it returns, all or none. A request without a verdict on its subject (untimed or failed) becomes
  // pending again; one that is pending or judged stays.
  Status Accept(std::span<const JudgeJob> jobs);
  // On the disk when it returns. The first answer stays.
  Status Finish(std::string_view id, const JudgeAnswer& answer);

  // nullopt where the id was never accepted.
  Result<std::optional<JudgeAnswer>> Find(std::string_view id) const;
  // In the order they were accepted.
  Result<std::vector<JudgeJob>> Pending() const;
  // The text of a source by the hash of its trial, or by the id of a request for it.
  Result<std::optional<std::string>> FindSource(std::string_view hash_or_id) const;

 private:
  explicit JudgeJournal(std::unique_ptr<Database> database) : database_(std::move(database)) {}
  Status AcceptOne(const JudgeJob& job);

  const std::unique_ptr<Database> database_;
  mutable std::mutex mutex_;
};

std::string PrintLine(const nlohmann::ordered_json& json);  // one line, bytes that are no UTF-8 replaced

}  // namespace gemmsmith
