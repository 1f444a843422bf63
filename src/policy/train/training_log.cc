#include "policy/train/training_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "base/descriptors.h"
#include "base/files.h"
#include "policy/train/event_file.h"

namespace gemmsmith {

namespace fs = std::filesystem;

namespace {

constexpr const char* kLinesFile = "log.jsonl";
constexpr const char* kEventsFile = "events.out.tfevents.gemmsmith";

double UnixSeconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

struct Line {
  nlohmann::ordered_json json;
  size_t end = 0;  // byte behind it
};

// Objects with rising steps, from the beginning to the first line that is none.
std::vector<Line> SoundLines(std::string_view text) {
  std::vector<Line> lines;
  int64_t step = 0;
  for (size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(text.substr(begin, end - begin), nullptr, false);
    if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer() || json["step"] <= step) break;
    step = json["step"];
    lines.push_back({std::move(json), end + 1});
  }
  return lines;
}

// How much of a file stays.
size_t EndOfLines(std::string_view text, int64_t done) {
  size_t end = 0;
  for (const Line& line : SoundLines(text))
    if (line.json["step"] <= done) end = line.end;
  return end;
}
size_t EndOfEvents(std::string_view file, int64_t done) {
  size_t end = 0;
  for (const FoundEvent& event : FindEvents(file)) {
    if (event.step > done) break;
    end = event.end;
  }
  return end;
}

// Nothing where there is no file: a pipe or a device keeps nothing.
Result<std::string> ContentOf(const fs::path& path) {
  std::error_code none;
  return fs::is_regular_file(path, none) ? ReadFile(path) : std::string();
}

ScalarsOfStep ScalarsOf(const nlohmann::ordered_json& line) {
  ScalarsOfStep scalars{.step = line["step"], .unix_seconds = UnixSeconds()};
  for (const auto& [name, value] : line.items())
    if (value.is_number() && name != "step") scalars.scalars.push_back({name, value.get<double>()});
  return scalars;
}

}  // namespace

class TrainingLog::AppendedFile {
 public:
  // Keeps its first bytes.
  static Result<AppendedFile> Open(const fs::path& path, size_t kept_bytes) {
    AppendedFile file(path, ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    struct stat status {};
    if (file.fd_ < 0 || ::fstat(file.fd_, &status) != 0) return file.Failure();
    if (S_ISREG(status.st_mode) && ::ftruncate(file.fd_, off_t(kept_bytes)) != 0) return file.Failure();
    return file;
  }
  AppendedFile(AppendedFile&& other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}
  AppendedFile& operator=(AppendedFile&&) = delete;
  ~AppendedFile() {
    if (fd_ >= 0) ::close(fd_);
  }

  Status Append(std::string_view bytes) { return WriteAll(fd_, bytes) ? OkStatus() : Failure(); }
  Status Sync() { return ::fdatasync(fd_) == 0 || errno == EINVAL ? OkStatus() : Failure(); }

 private:
  AppendedFile(fs::path path, int fd) : path_(std::move(path)), fd_(fd) {}
  Status Failure() const {
    const int error = errno;
    return IoError(fmt::format("cannot write {}: {}", path_.string(), std::generic_category().message(error)));
  }

  fs::path path_;
  int fd_;
};

TrainingLog::TrainingLog(std::vector<AppendedFile> files) : files_(std::move(files)) {}
TrainingLog::TrainingLog(TrainingLog&& other) noexcept = default;
TrainingLog::~TrainingLog() = default;

Result<TrainingLog> TrainingLog::Open(const fs::path& folder, int64_t done) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return IoError(fmt::format("cannot create folder {}: {}", folder.string(), error.message()));
  ASSIGN_OR_RETURN(const std::string lines, ContentOf(folder / kLinesFile));
  ASSIGN_OR_RETURN(const std::string events, ContentOf(folder / kEventsFile));
  const size_t kept_events = EndOfEvents(events, done);
  ASSIGN_OR_RETURN(AppendedFile lines_file, AppendedFile::Open(folder / kLinesFile, EndOfLines(lines, done)));
  ASSIGN_OR_RETURN(AppendedFile events_file, AppendedFile::Open(folder / kEventsFile, kept_events));
  if (kept_events == 0) RETURN_IF_ERROR(events_file.Append(EncodeFirstEvent(UnixSeconds())));
  std::vector<AppendedFile> files;
  files.push_back(std::move(lines_file));
  files.push_back(std::move(events_file));
  return TrainingLog(std::move(files));
}

Status TrainingLog::Append(const nlohmann::ordered_json& line) {
  RETURN_IF_ERROR(files_[0].Append(line.dump() + "\n"));
  return files_[1].Append(EncodeEvent(ScalarsOf(line)));
}

Status TrainingLog::Sync() {
  for (AppendedFile& file : files_) RETURN_IF_ERROR(file.Sync());
  return OkStatus();
}

std::vector<nlohmann::ordered_json> ReadLog(const fs::path& folder) {
  std::vector<nlohmann::ordered_json> lines;
  const Result<std::string> text = ContentOf(folder / kLinesFile);
  if (!text.ok()) return lines;
  for (Line& line : SoundLines(*text)) lines.push_back(std::move(line.json));
  return lines;
}

std::optional<double> NumberIn(const nlohmann::ordered_json& line, const std::string& name) {
  const auto number = line.find(name);
  if (number == line.end() || !number->is_number()) return std::nullopt;
  return number->get<double>();
}

std::optional<LoggedTime> ReadLoggedTime(const fs::path& folder) {
  const Result<std::string> file = ContentOf(folder / kEventsFile);
  if (!file.ok()) return std::nullopt;
  const std::vector<FoundEvent> events = FindEvents(*file);
  if (events.size() < 2) return std::nullopt;
  return LoggedTime{events[1].unix_seconds, events.back().unix_seconds};
}

}  // namespace gemmsmith
