#include "evaluate/baseline/exhaustive.h"

#include <algorithm>
#include <numeric>

namespace gemmsmith {

namespace {

constexpr double kShareForSpace = 0.6;
constexpr size_t kVaried = 16;

struct Timed {
  double ns = 0;
  int algorithm = 0;
  LtConfig config;
};

// Visits every index once, far from the one before.
uint64_t StrideFor(uint64_t size) {
  uint64_t stride = std::max<uint64_t>(uint64_t(double(size) * 0.6180339887), 1);
  while (std::gcd(stride, size) != 1) ++stride;
  return stride;
}

class Search {
 public:
  Search(const LtConfigSpace& space, LtTrials& trials, double seconds, Random& random)
      : space_(space), trials_(trials), seconds_(seconds), random_(random) {
    found_.space = space.size();
  }

  Status TryTheSpace() {
    if (space_.size() == 0) return OkStatus();
    const uint64_t stride = StrideFor(space_.size());
    uint64_t index = random_.Below(space_.size());
    for (; found_.tried < space_.size() && trials_.SecondsSpent() < kShareForSpace * seconds_; ++found_.tried) {
      RETURN_IF_ERROR(Try(space_.at(index)));
      index = (index + stride) % space_.size();
    }
    return OkStatus();
  }

  Status TryVariantsOfTheFastest() {
    Sort();
    const std::vector<Timed> bases(timed_.begin(), timed_.begin() + std::ptrdiff_t(std::min(timed_.size(), kVaried)));
    for (const Timed& base : bases)
      for (const LtConfig& variant : space_.VariantsOf(base.config)) {
        if (trials_.SecondsSpent() >= seconds_) return OkStatus();
        RETURN_IF_ERROR(Try(variant));
      }
    return OkStatus();
  }

  Exhausted Take(size_t wanted) {
    Sort();
    for (size_t i = 0; i < std::min(wanted, timed_.size()); ++i) found_.fastest_first.push_back(timed_[i].algorithm);
    found_.timed = int(timed_.size());
    return std::move(found_);
  }

 private:
  Status Try(const LtConfig& config) {
    const std::optional<int> algorithm = trials_.Check(config);
    if (!algorithm) return OkStatus();
    ++found_.passed;
    ASSIGN_OR_RETURN(const std::optional<double> ns, trials_.Time(*algorithm));
    if (ns) timed_.push_back({*ns, *algorithm, config});
    return OkStatus();
  }
  void Sort() {
    std::stable_sort(timed_.begin(), timed_.end(), [](const Timed& x, const Timed& y) { return x.ns < y.ns; });
  }

  const LtConfigSpace& space_;
  LtTrials& trials_;
  const double seconds_;
  Random& random_;
  std::vector<Timed> timed_;
  Exhausted found_;
};

}  // namespace

std::string Exhausted::Print() const {
  return fmt::format("{} of {} configurations tried, {} passed with their splits, {} ran", tried, space, passed, timed);
}

Result<Exhausted> SearchExhaustively(const LtConfigSpace& space, LtTrials& trials, double seconds, size_t wanted,
                                     Random& random) {
  Search search(space, trials, seconds, random);
  RETURN_IF_ERROR(search.TryTheSpace());
  RETURN_IF_ERROR(search.TryVariantsOfTheFastest());
  return search.Take(wanted);
}

}  // namespace gemmsmith
