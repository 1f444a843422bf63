#include "agents/judge_journal.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <system_error>

#include "archive/trial.h"
#include "base/hash.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kApplicationId = 0x67656d6a;  // "gemj"
constexpr int64_t kVersion = 1;

constexpr const char* kTables = R"sql(
CREATE TABLE source (hash TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE request (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  request TEXT NOT NULL,
  source_hash TEXT REFERENCES source (hash),
  accepted_ms INTEGER NOT NULL,
  state TEXT NOT NULL,
  answer TEXT,
  answered_ms INTEGER
);
CREATE INDEX request_state ON request (state);
)sql";

Status CreateOrCheck(const Database& database) {
  ASSIGN_OR_RETURN(const int64_t application, database.Integer("PRAGMA application_id"));
  ASSIGN_OR_RETURN(const int64_t version, database.Integer("PRAGMA user_version"));
  ASSIGN_OR_RETURN(const int64_t tables, database.Integer("SELECT count(*) FROM sqlite_master"));
  if (application == 0 && version == 0 && tables == 0)
    return database.Execute(
        fmt::format("{} PRAGMA application_id = {}; PRAGMA user_version = {}", kTables, kApplicationId, kVersion));
  if (application != kApplicationId || version != kVersion)
    return InvalidArgument(
        fmt::format("{} is no journal of this program's judge: choose another --journal", database.path().string()));
  return OkStatus();
}

// The text of a source stands in a table of its own.
Json WithoutSource(const JudgeRequest& request) {
  Json json = JsonOf(request);
  if (json.contains("source")) json["source"] = "";
  return json;
}

Result<JudgeJob> JobOf(const Statement& row) {
  Json json = Json::parse(row.Text(1), nullptr, false);
  if (json.is_discarded()) return DataLoss(fmt::format("the journal's request {} is damaged", row.Text(0)));
  if (json.contains("source")) json["source"] = std::string(row.Text(2));
  JudgeJob job{.id = std::string(row.Text(0)), .request = {}};
  ASSIGN_OR_RETURN(job.request, ParseJudgeRequest(json));
  return job;
}

}  // namespace

std::string PrintLine(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Result<std::unique_ptr<JudgeJournal>> JudgeJournal::Open(const std::filesystem::path& path) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database, Database::Open(path));
  RETURN_IF_ERROR(database->Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"));
  RETURN_IF_ERROR(database->Transaction([&] { return CreateOrCheck(*database); }));
  return std::unique_ptr<JudgeJournal>(new JudgeJournal(std::move(database)));
}

Status JudgeJournal::AcceptOne(const JudgeJob& job) {
  std::string hash;
  if (const FreeForm* const source = std::get_if<FreeForm>(&job.request.subject)) {
    hash = HashBytes(source->text).Hex();
    ASSIGN_OR_RETURN(Statement add, database_->Prepare("INSERT OR IGNORE INTO source VALUES (?, ?)"));
    RETURN_IF_ERROR(add.Bind(std::string_view(hash)).Bind(std::string_view(source->text)).Run());
  }
  const std::string request = PrintLine(WithoutSource(job.request));
  ASSIGN_OR_RETURN(Statement add,
                   database_->Prepare("INSERT INTO request (id, request, source_hash, accepted_ms, state) "
                                      "VALUES (?, ?, nullif(?, ''), ?, 'pending') ON CONFLICT (id) DO UPDATE SET "
                                      "state = 'pending', answer = NULL WHERE state IN ('untimed', 'failed')"));
  return add.Bind(std::string_view(job.id))
      .Bind(std::string_view(request))
      .Bind(std::string_view(hash))
      .Bind(UnixMsNow())
      .Run();
}

Status JudgeJournal::Accept(std::span<const JudgeJob> jobs) {
  const std::lock_guard lock(mutex_);
  return database_->Transaction([&]() -> Status {
    for (const JudgeJob& job : jobs) RETURN_IF_ERROR(AcceptOne(job));
    return OkStatus();
  });
}

Status JudgeJournal::Finish(std::string_view id, const JudgeAnswer& answer) {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Statement finish, database_->Prepare("UPDATE request SET state = ?, answer = ?, answered_ms = ? "
                                                        "WHERE id = ? AND state = 'pending'"));
  return finish.Bind(Name(answer.state)).Bind(std::string_view(answer.json)).Bind(UnixMsNow()).Bind(id).Run();
}

Result<std::optional<JudgeAnswer>> JudgeJournal::Find(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Statement find, database_->Prepare("SELECT state, answer FROM request WHERE id = ?"));
  ASSIGN_OR_RETURN(const bool is_known, find.Bind(id).Step());
  if (!is_known) return std::optional<JudgeAnswer>();
  const std::optional<JudgeState> state = ParseJudgeState(find.Text(0));
  std::string answer = state == JudgeState::kPending ? PrintLine(PendingJson(id)) : std::string(find.Text(1));
  if (!state || !Json::parse(answer, nullptr, false).is_object())
    return DataLoss(fmt::format("the journal's request {} is damaged: choose another --journal", id));
  return std::optional(JudgeAnswer{*state, std::move(answer)});
}

Result<std::vector<JudgeJob>> JudgeJournal::Pending() const {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Statement rows, database_->Prepare("SELECT id, request, text FROM request LEFT JOIN source ON "
                                                      "hash = source_hash WHERE state = 'pending' ORDER BY number"));
  std::vector<JudgeJob> jobs;
  while (true) {
    ASSIGN_OR_RETURN(const bool is_row, rows.Step());
    if (!is_row) return jobs;
    ASSIGN_OR_RETURN(JudgeJob job, JobOf(rows));
    jobs.push_back(std::move(job));
  }
}

Result<std::optional<std::string>> JudgeJournal::FindSource(std::string_view hash_or_id) const {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Statement find, database_->Prepare("SELECT text FROM source WHERE hash = ?1 OR hash = "
                                                      "(SELECT source_hash FROM request WHERE id = ?1)"));
  ASSIGN_OR_RETURN(const bool is_known, find.Bind(hash_or_id).Step());
  if (!is_known) return std::optional<std::string>();
  return std::optional(std::string(find.Text(0)));
}

}  // namespace gemmsmith
