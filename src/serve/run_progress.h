// Progress of a run, trial by trial, for its viewers.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>

#include "archive/standings.h"
#include "report/selection.h"

namespace gemmsmith {

class RunProgress {
 public:
  explicit RunProgress(const SelectionOptions& options);

  // A trial that is none of a report's (of other numbers, another device or shape) is only counted.
  void Add(const Trial& trial);
  // `trials`, `candidates` (plans and sources judged, in however many protocols), `problems` (with a candidate),
  // `shapes` (with any trial), `shapes_asked` (null: all), and `latest`, the problem of the newest candidate: `shape`,
  // `layout`, `candidates`, `best_ns` and `over_autotuning` on the leading clock (null where not measured); null before
  // the first.
  nlohmann::ordered_json Json() const;

 private:
  struct ProblemProgress {
    std::set<TrialSubject> candidates;
    std::optional<RankedTime> best;
    std::optional<double> over_autotuning;

    void Add(const Trial& trial);
  };

  bool IsAskedFor(const Trial& trial) const;

  NumberTypes number_types_;
  std::optional<std::string> device_key_;
  std::optional<std::set<Shape>> asked_;
  std::set<Shape> shapes_;
  std::map<std::pair<Shape, Layout>, ProblemProgress> problems_;
  std::optional<std::pair<Shape, Layout>> latest_;
  int64_t trials_ = 0;
  size_t candidates_ = 0;
};

}  // namespace gemmsmith
