// Which counters CUPTI collects on a chip, in how many passes, and the metrics computed from them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

// The values of a schedule's metrics, in their order; NaN where there is none.
using KernelReadings = std::vector<double>;

// Needs no GPU. The library is opened at run time: Unavailable, with what is missing, where there is none.
class MetricSchedule {
 public:
  // `chip` as CUPTI calls it, "GH100"; metrics that it does not have are left out and kept by name. `availability` is
  // what the driver says of the chip's counters, empty: all are there.
  static Result<std::unique_ptr<MetricSchedule>> Make(const std::string& chip,
                                                      std::span<const std::string_view> metrics,
                                                      std::span<const uint8_t> availability);
  ~MetricSchedule();

  const std::vector<std::string>& metrics() const;
  const std::vector<std::string>& unknown() const;
  size_t passes() const;  // as often a kernel must run
  // CUPTI's image of what to collect.
  const std::vector<uint8_t>& config() const;
  // The metrics of one kernel of a CUPTI counter image.
  Result<KernelReadings> Evaluate(std::span<const uint8_t> counters, size_t kernel) const;

 private:
  struct State;
  explicit MetricSchedule(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gemmsmith
