#include "archive/schema.h"

#include <fmt/format.h>

#include <chrono>
#include <iterator>
#include <system_error>
#include <thread>

namespace gemmsmith {
namespace {

constexpr int64_t kApplicationId = 0x67656d6d;  // "gemm"
constexpr int64_t kSchemaVersion = 2;

// Texts are the canonical forms. `source` is room for the text of a free-form source. kind, time_ns and reason repeat a
// part of the encoded outcome, for people with a SQL shell.
constexpr const char* kTables = R"sql(
CREATE TABLE setting (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  device_key TEXT NOT NULL, device_name TEXT NOT NULL, gpu_uuid TEXT NOT NULL, driver TEXT NOT NULL,
  toolchain TEXT NOT NULL, libraries TEXT NOT NULL, harness TEXT NOT NULL
);
CREATE TABLE problem (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE subject (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, source TEXT);
CREATE TABLE trial (
  id INTEGER PRIMARY KEY,
  campaign TEXT NOT NULL,
  problem_id INTEGER NOT NULL REFERENCES problem (id),
  subject_id INTEGER NOT NULL REFERENCES subject (id),
  setting_id INTEGER NOT NULL REFERENCES setting (id),
  protocol TEXT NOT NULL,
  seed INTEGER NOT NULL,
  unix_ms INTEGER NOT NULL,
  kind TEXT NOT NULL,
  time_ns REAL,
  reason TEXT NOT NULL,
  outcome BLOB NOT NULL,
  UNIQUE (campaign, problem_id, subject_id, protocol)
);
)sql";

// From each version to the next.
constexpr const char* kMigrations[] = {
    R"sql(
ALTER TABLE plan RENAME TO subject;
ALTER TABLE subject ADD COLUMN source TEXT;
ALTER TABLE trial RENAME COLUMN plan_id TO subject_id;
)sql",
};
static_assert(std::size(kMigrations) == kSchemaVersion - 1);

Status Migrate(const Database& database, int64_t version) {
  for (; version < kSchemaVersion; ++version)
    RETURN_IF_ERROR(
        database.Execute(fmt::format("{} PRAGMA user_version = {}", kMigrations[version - 1], version + 1)));
  return OkStatus();
}

// Two processes may create one archive at the same moment, and SQLite does not wait for this change by itself.
Status EnterWriteAheadLog(const Database& database) {
  Status status = OkStatus();
  for (int tries = 0; tries < 3000; ++tries) {
    status = database.Execute("PRAGMA journal_mode = WAL");
    if (status.code() != StatusCode::kUnavailable) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return status;
}

// SQLite notices missing pages, but reads a cut last page as if it ended in zeros. While the log is empty, the file
// consists of whole pages.
Status CheckWholePages(const Database& database) {
  std::error_code error;
  const auto log_bytes = std::filesystem::file_size(database.path().string() + "-wal", error);
  if (!error && log_bytes > 0) return OkStatus();
  const auto bytes = std::filesystem::file_size(database.path(), error);
  ASSIGN_OR_RETURN(const int64_t page_bytes, database.Integer("PRAGMA page_size"));
  return error || bytes % uint64_t(page_bytes) == 0 ? OkStatus() : database.Failure(SQLITE_CORRUPT);
}

Status CheckIsOurs(const Database& database, int64_t application, int64_t version) {
  if (application != kApplicationId)
    return InvalidArgument(fmt::format("{} is a database of another program", database.path().string()));
  if (version < 1 || version > kSchemaVersion)
    return InvalidArgument(fmt::format("archive {} has schema {}, this program knows {}: use the version that wrote it",
                                       database.path().string(), version, kSchemaVersion));
  return OkStatus();
}

Status CreateOrCheck(const Database& database) {
  ASSIGN_OR_RETURN(const int64_t application, database.Integer("PRAGMA application_id"));
  ASSIGN_OR_RETURN(const int64_t version, database.Integer("PRAGMA user_version"));
  ASSIGN_OR_RETURN(const int64_t tables, database.Integer("SELECT count(*) FROM sqlite_master"));
  if (application == 0 && version == 0 && tables == 0) {
    return database.Execute(fmt::format("{} PRAGMA application_id = {}; PRAGMA user_version = {}", kTables,
                                        kApplicationId, kSchemaVersion));
  }
  RETURN_IF_ERROR(CheckIsOurs(database, application, version));
  return Migrate(database, version);
}

}  // namespace

Status CheckSchema(const Database& database) {
  RETURN_IF_ERROR(CheckWholePages(database));
  ASSIGN_OR_RETURN(const int64_t application, database.Integer("PRAGMA application_id"));
  ASSIGN_OR_RETURN(const int64_t version, database.Integer("PRAGMA user_version"));
  RETURN_IF_ERROR(CheckIsOurs(database, application, version));
  if (version == kSchemaVersion) return OkStatus();
  return InvalidArgument(
      fmt::format("archive {} has schema {}, and where it stands it cannot be brought up to date: "
                  "copy it to where it may be written",
                  database.path().string(), version));
}

Status PrepareSchema(const Database& database) {
  // FULL: a commit is on the disk when it returns.
  RETURN_IF_ERROR(database.Execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"));
  RETURN_IF_ERROR(database.Integer("SELECT count(*) FROM sqlite_master").status());
  RETURN_IF_ERROR(CheckWholePages(database));
  RETURN_IF_ERROR(EnterWriteAheadLog(database));
  return database.Transaction([&] { return CreateOrCheck(database); });
}

}  // namespace gemmsmith
