// The part of SQLite that the archive uses, with our words for its failures.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace gemmsmith {

// One prepared statement. Bind its parameters in their order, then Step() until it yields false.
class Statement {
 public:
  // An empty optional binds NULL. Texts must live until Reset() or the end.
  Statement& Bind(int64_t value);
  Statement& Bind(std::optional<double> value);
  Statement& Bind(std::string_view text);
  Statement& BindBlob(std::string_view bytes);

  // True: there is a row. After false (done) or an error the statement is ready to be bound again.
  Result<bool> Step();
  Status Run();  // a statement without rows
  void Reset();

  int64_t Integer(int column) const;
  // Valid until the next Step().
  std::string_view Text(int column) const;
  std::string_view Blob(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  Statement(const class Database& database, sqlite3_stmt* statement) : database_(&database), statement_(statement) {}

  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = 0;
};

class Database {
 public:
  static Result<std::unique_ptr<Database>> Open(const std::filesystem::path& path);
  // For reading, without locks and without files next to it. A write by another process may damage what is read.
  static Result<std::unique_ptr<Database>> OpenAsItStands(const std::filesystem::path& path);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  Result<Statement> Prepare(std::string_view sql) const;
  // Statements without parameters, separated by semicolons; rows are dropped.
  Status Execute(const std::string& sql) const;
  Result<int64_t> Integer(std::string_view sql) const;
  // BEGIN IMMEDIATE, then body, then COMMIT; ROLLBACK where the body or the commit failed.
  Status Transaction(const std::function<Status()>& body) const;

  // SQLite's result code of the last call on this connection, in words for people.
  Status Failure(int code) const;
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit Database(std::filesystem::path path) : path_(std::move(path)) {}
  using NameOf = std::string (*)(const std::filesystem::path& file);  // the name for SQLite
  static Result<std::unique_ptr<Database>> Connect(const std::filesystem::path& path, NameOf name_of, int flags);
  std::filesystem::path path_;
  sqlite3* connection_ = nullptr;
};

}  // namespace gemmsmith
