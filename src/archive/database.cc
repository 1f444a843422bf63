#include "archive/database.h"

#include <fmt/format.h>

#include <system_error>

namespace gemmsmith {
namespace {

// SQLite gives names like ":memory:" and "file:name" another meaning, but no absolute path.
Result<std::filesystem::path> Absolute(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::absolute(path, error);
  if (error) return IoError(fmt::format("archive {}: {}", path.string(), error.message()));
  return file;
}

std::string UriOf(const std::filesystem::path& file) {
  std::string uri = "file://";
  for (const char c : file.string())
    uri += c == '%' || c == '?' || c == '#' ? fmt::format("%{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  return uri + "?immutable=1";
}

// A process holds the write lock for one transaction at a time. One that holds it for half a minute hangs.
constexpr int kBusyMilliseconds = 30'000;

}  // namespace

Statement& Statement::Bind(int64_t value) {
  sqlite3_bind_int64(statement_.get(), ++bound_, value);
  return *this;
}

Statement& Statement::Bind(std::optional<double> value) {
  ++bound_;
  if (value) sqlite3_bind_double(statement_.get(), bound_, *value);
  return *this;
}

Statement& Statement::Bind(std::string_view text) {
  sqlite3_bind_text64(statement_.get(), ++bound_, text.data() == nullptr ? "" : text.data(), text.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
  return *this;
}

Statement& Statement::BindBlob(std::string_view bytes) {
  sqlite3_bind_blob64(statement_.get(), ++bound_, bytes.data(), bytes.size(), SQLITE_STATIC);
  return *this;
}

Result<bool> Statement::Step() {
  GEMMSMITH_CHECK(bound_ == sqlite3_bind_parameter_count(statement_.get()), "{} of {} parameters are bound", bound_,
                  sqlite3_bind_parameter_count(statement_.get()));
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  Status status = code == SQLITE_DONE ? OkStatus() : database_->Failure(code);
  Reset();
  if (!status.ok()) return status;
  return false;
}

Status Statement::Run() {
  ASSIGN_OR_RETURN(const bool row, Step());
  GEMMSMITH_CHECK(!row, "a row from {}", sqlite3_sql(statement_.get()));
  return OkStatus();
}

void Statement::Reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  bound_ = 0;
}

int64_t Statement::Integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

std::string_view Statement::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  return {reinterpret_cast<const char*>(text), size_t(sqlite3_column_bytes(statement_.get(), column))};
}

std::string_view Statement::Blob(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  return {static_cast<const char*>(bytes), size_t(sqlite3_column_bytes(statement_.get(), column))};
}

Result<std::unique_ptr<Database>> Database::Open(const std::filesystem::path& path) {
  return Connect(
      path, [](const auto& file) { return file.string(); }, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

Result<std::unique_ptr<Database>> Database::OpenAsItStands(const std::filesystem::path& path) {
  return Connect(path, UriOf, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

Result<std::unique_ptr<Database>> Database::Connect(const std::filesystem::path& path, NameOf name_of, int flags) {
  std::unique_ptr<Database> database(new Database(path));
  ASSIGN_OR_RETURN(const std::filesystem::path file, Absolute(path));
  const int code = sqlite3_open_v2(name_of(file).c_str(), &database->connection_, flags, nullptr);
  if (code != SQLITE_OK) return database->Failure(code);
  sqlite3_busy_timeout(database->connection_, kBusyMilliseconds);
  return database;
}

Database::~Database() { sqlite3_close_v2(connection_); }

Result<Statement> Database::Prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(connection_, sql.data(), int(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return Failure(code);
  return Statement(*this, statement);
}

Status Database::Execute(const std::string& sql) const {
  const int code = sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? OkStatus() : Failure(code);
}

Result<int64_t> Database::Integer(std::string_view sql) const {
  ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  ASSIGN_OR_RETURN(const bool row, statement.Step());
  GEMMSMITH_CHECK(row, "no row from {}", sql);
  return statement.Integer(0);
}

Status Database::Transaction(const std::function<Status()>& body) const {
  RETURN_IF_ERROR(Execute("BEGIN IMMEDIATE"));
  Status status = body();
  if (status.ok()) status = Execute("COMMIT");
  // Some failures (a full disk) have rolled back already.
  if (!status.ok() && sqlite3_get_autocommit(connection_) == 0) (void)Execute("ROLLBACK");
  return status;
}

Status Database::Failure(int code) const {
  const bool is_its_own = connection_ != nullptr && (sqlite3_errcode(connection_) & 0xff) == (code & 0xff);
  const char* words = is_its_own ? sqlite3_errmsg(connection_) : sqlite3_errstr(code);
  const int system_error = connection_ == nullptr ? 0 : sqlite3_system_errno(connection_);
  const std::string name = path_.string();
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return DataLoss(
          fmt::format("archive {} is damaged ({}): move it away to start a new one, or save what is readable with: "
                      "sqlite3 {} .recover",
                      name, words, name));
    case SQLITE_FULL:
      return IoError(fmt::format("archive {}: the disk is full; free some space and run the same command again", name));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Unavailable(fmt::format("archive {} is in use by another process that does not let go of it", name));
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_IOERR:
      return IoError(fmt::format("archive {}: {}{}; --archive FILE names another", name, words,
                                 system_error == 0 ? "" : ": " + std::generic_category().message(system_error)));
    default:
      return IoError(fmt::format("archive {}: {}", name, words));
  }
}

}  // namespace gemmsmith
