#include "llm/exchange_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

#include "agents/bounded_json.h"
#include "agents/judge_journal.h"
#include "base/descriptors.h"

namespace gemmsmith {

using Json = nlohmann::ordered_json;

Status ExchangeLog::Read(const std::string& text) {
  int number = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', bytes_)) {
    ++number;
    const Result<Json> line = ParseBoundedJson(std::string_view(text).substr(bytes_, end - bytes_));
    const auto has = [&](const char* name) { return line->contains(name) && (*line)[name].is_string(); };
    if (!line.ok() || !line->is_object() || !has("kind") || !has("key") || !line->contains("answer"))
      return DataLoss(fmt::format("{}, line {}: no exchange", path_.string(), number));
    answers_[{(*line)["kind"].get<std::string>(), (*line)["key"].get<std::string>()}] = (*line)["answer"];
    bytes_ = end + 1;
  }
  return OkStatus();
}

Result<std::unique_ptr<ExchangeLog>> ExchangeLog::Open(const std::filesystem::path& path, bool is_read_only) {
  std::unique_ptr<ExchangeLog> log(new ExchangeLog);
  log->path_ = path;
  if (!is_read_only) {
    std::error_code error;
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
    ASSIGN_OR_RETURN(FileLock lock, FileLock::TryAcquire(path.string() + ".lock"));
    log->lock_.emplace(std::move(lock));
  }
  Result<std::string> text = ReadFile(path);
  if (text.ok())
    RETURN_IF_ERROR(log->Read(*text));
  else if (is_read_only || text.status().code() != StatusCode::kNotFound)
    return text.status();
  if (is_read_only) return log;
  log->fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (log->fd_ < 0 || ftruncate(log->fd_, off_t(log->bytes_)) != 0 || lseek(log->fd_, 0, SEEK_END) < 0)
    return IoError(fmt::format("{}: {}", path.string(), std::generic_category().message(errno)));
  return log;
}

ExchangeLog::~ExchangeLog() {
  if (fd_ >= 0) close(fd_);
}

size_t ExchangeLog::size() const {
  const std::lock_guard lock(mutex_);
  return answers_.size();
}

std::optional<Json> ExchangeLog::Find(const std::string& kind, const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = answers_.find({kind, key});
  if (found == answers_.end()) return std::nullopt;
  return found->second;
}

Status ExchangeLog::Append(const std::string& kind, const std::string& key, const Json& request, const Json& answer) {
  const std::string line = PrintLine({{"kind", kind}, {"key", key}, {"request", request}, {"answer", answer}}) + "\n";
  const std::lock_guard lock(mutex_);
  if (!WriteAll(fd_, line) || fdatasync(fd_) != 0) {
    const Status failure = IoError(fmt::format("{}: {}", path_.string(), std::generic_category().message(errno)));
    if (ftruncate(fd_, off_t(bytes_)) == 0) lseek(fd_, 0, SEEK_END);
    return failure;
  }
  bytes_ += line.size();
  answers_[{kind, key}] = answer;
  return OkStatus();
}

}  // namespace gemmsmith
