// The report of an archive that others write to: the page, and its data made anew when trials have come.
#pragma once

#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "archive/archive.h"
#include "report/selection.h"
#include "serve/http_server.h"
#include "serve/run_progress.h"

namespace gemmsmith {

struct LiveReportOptions {
  std::filesystem::path archive;
  std::optional<std::string> campaign;
  SelectionOptions selection;
  std::optional<std::string> against;
};

class LiveReport {
 public:
  explicit LiveReport(LiveReportOptions options);

  // Reads what was stored since the last call and, if that was anything, makes the data anew. A failure (no archive
  // yet, nothing measured in it, records of two devices) is told to the readers of the page, who keep the data they
  // have. For one thread; what it reads it reads in short transactions, so that writers' log can be cleared between
  // them.
  Status Refresh();
  // Refresh() again and again until `stop`: every two seconds, or as rarely as it takes to be at rest four fifths of
  // the time.
  void Follow(const std::function<bool()>& stop);

  // "/", "/data.json" and "/status.json" (docs/report.md); for any thread.
  HttpAnswer Answer(const HttpRequest& request) const;

 private:
  // The answer to readers.
  struct Published {
    HttpAnswer data = PlainAnswer(404, "no data yet");
    nlohmann::ordered_json progress = nlohmann::ordered_json::object();
    std::string trouble;  // why the data is not of everything that was stored; empty: it is
    int64_t newest_unix_ms = 0, remake_ms = 0;
  };

  Status Update();
  Status OpenArchive();
  Status ReadNew();
  Status MakeData();
  void Forget();
  void PublishProgress();
  HttpAnswer StatusAnswer() const;

  const LiveReportOptions options_;
  const HttpAnswer page_;

  // Used by the refreshing thread alone.
  std::unique_ptr<Archive> archive_;
  std::pair<uint64_t, uint64_t> file_;  // which one the archive was opened as: another may stand in its place
  int64_t last_trial_ = 0, newest_unix_ms_ = 0, replayed_ = 0;
  bool has_news_ = false, was_refreshed_ = false;
  std::vector<Trial> trials_;
  RunProgress progress_;
  Status made_;  // what became of the data when it was last made

  mutable std::mutex mutex_;
  Published published_;
};

}  // namespace gemmsmith
