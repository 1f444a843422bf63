#include "serve/live_report.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "archive/replay.h"
#include "base/hash.h"
#include "base/seconds.h"
#include "report/page.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;
using Milliseconds = std::chrono::milliseconds;

constexpr int64_t kTrialsATransaction = 2000;
constexpr Milliseconds kShortestRest{2000}, kNap{100};
constexpr int kRestsForEachWork = 4;

HttpAnswer Tagged(std::string content_type, std::string body) {
  std::string tag = fmt::format("\"{}\"", HashBytes(body).Hex());
  return {.content_type = std::move(content_type),
          .body = std::make_shared<const std::string>(std::move(body)),
          .tag = std::move(tag)};
}

std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

LiveReport::LiveReport(LiveReportOptions options)
    : options_(std::move(options)),
      page_(Tagged("text/html; charset=utf-8", LivePage())),
      progress_(options_.selection) {
  PublishProgress();
}

Status LiveReport::Refresh() {
  const Status status = Update();
  std::lock_guard lock(mutex_);
  published_.trouble = status.message();
  PublishProgress();
  was_refreshed_ = true;
  return status;
}

void LiveReport::PublishProgress() {
  published_.newest_unix_ms = newest_unix_ms_;
  published_.progress = progress_.Json();
  published_.progress["replayed"] = replayed_;
}

void LiveReport::Follow(const std::function<bool()>& stop) {
  while (!stop()) {
    const auto start = std::chrono::steady_clock::now();
    static_cast<void>(Refresh());  // a failure is told to those who read the page
    const auto worked = std::chrono::steady_clock::now() - start;
    const auto until = std::chrono::steady_clock::now() +
                       std::max<std::chrono::steady_clock::duration>(kShortestRest, kRestsForEachWork * worked);
    while (!stop() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(kNap);
  }
}

Status LiveReport::Update() {
  RETURN_IF_ERROR(OpenArchive());
  RETURN_IF_ERROR(ReadNew());
  if (std::exchange(has_news_, false) || trials_.empty()) made_ = MakeData();
  return made_;
}

void LiveReport::Forget() {
  archive_.reset();
  last_trial_ = newest_unix_ms_ = replayed_ = 0;
  trials_.clear();
  progress_ = RunProgress(options_.selection);
}

Status LiveReport::OpenArchive() {
  struct stat facts {};
  const int reason = stat(options_.archive.c_str(), &facts) == 0 ? 0 : errno;
  if (reason != 0 || facts.st_size == 0) {
    Forget();
    if (reason != 0 && reason != ENOENT && reason != ENOTDIR)
      return IoError(fmt::format("cannot read archive {}: {}", options_.archive.string(),
                                 std::generic_category().message(reason)));
    return NotFound(fmt::format("no archive at {} yet; 'gemmsmith optimize', 'bench' and 'records' make one",
                                options_.archive.string()));
  }
  const std::pair<uint64_t, uint64_t> file = {facts.st_dev, facts.st_ino};
  if (archive_ != nullptr && file == file_) return OkStatus();
  Forget();
  ASSIGN_OR_RETURN(archive_, Archive::Open(options_.archive));
  file_ = file;
  return OkStatus();
}

Status LiveReport::ReadNew() {
  ASSIGN_OR_RETURN(const int64_t last, archive_->LastTrial());
  while (last_trial_ < last) {
    const int64_t up_to = std::min(last, last_trial_ + kTrialsATransaction);
    const TrialFilter filter{.campaign = options_.campaign, .after = last_trial_, .up_to = up_to};
    ASSIGN_OR_RETURN(std::vector<Trial> trials, archive_->Load(filter));
    last_trial_ = up_to;
    for (Trial& trial : trials) {
      has_news_ = true;
      // Trials found at the first look keep their own date; later ones are dated now.
      newest_unix_ms_ = std::max(newest_unix_ms_, was_refreshed_ ? UnixMsNow() : std::min(trial.unix_ms, UnixMsNow()));
      if (IsReplayed(trial)) {
        ++replayed_;
        continue;
      }
      progress_.Add(trial);
      trials_.push_back(std::move(trial));
    }
  }
  return OkStatus();
}

Status LiveReport::MakeData() {
  const auto start = std::chrono::steady_clock::now();
  const Result<PageContent> content =
      MakePageContent(options_.archive.string(), trials_, options_.selection, options_.against);
  if (!content.ok()) return WithContext(content.status(), options_.archive.string());
  HttpAnswer data = Tagged("application/json", Dump(PageData(*content)));
  std::lock_guard lock(mutex_);
  published_.data = std::move(data);
  published_.remake_ms = int64_t(SecondsSince(start) * 1000);
  return OkStatus();
}

HttpAnswer LiveReport::Answer(const HttpRequest& request) const {
  if (request.path == "/") return page_;
  if (request.path == "/status.json") return StatusAnswer();
  if (request.path != "/data.json") return PlainAnswer(404, "there are /, /data.json and /status.json");
  std::lock_guard lock(mutex_);
  return published_.data;
}

HttpAnswer LiveReport::StatusAnswer() const {
  std::lock_guard lock(mutex_);
  const std::string& version = published_.data.tag;
  Json json = {
      {"gemmsmith_live", 1},
      {"archive", options_.archive.string()},
      {"version", version.empty() ? Json() : Json(version)},
      {"trouble", published_.trouble.empty() ? Json() : Json(published_.trouble)},
      {"newest_ms_ago",
       published_.newest_unix_ms == 0 ? Json() : Json(std::max<int64_t>(0, UnixMsNow() - published_.newest_unix_ms))},
      {"remake_ms", published_.remake_ms}};
  json.update(published_.progress);
  return {.content_type = "application/json", .body = std::make_shared<const std::string>(Dump(json))};
}

}  // namespace gemmsmith
