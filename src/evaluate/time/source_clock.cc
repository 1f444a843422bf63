#include "evaluate/time/source_clock.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/statistics.h"

namespace gemmsmith {

namespace {

std::string Microseconds(double ns) { return fmt::format("{:.2f} us", ns / 1e3); }

}  // namespace

SourceTime TimeOf(std::span<const SourceBatch> batches) {
  GEMMSMITH_CHECK(!batches.empty(), "the time of no batches");
  const auto [shortest, longest] = std::minmax_element(
      batches.begin(), batches.end(), [](const SourceBatch& x, const SourceBatch& y) { return x.calls < y.calls; });
  // Batches of nearly one length tell only the noise.
  const int least_difference = std::max(1, (longest->calls - shortest->calls) / 2);
  std::vector<double> slopes, events;
  for (const SourceBatch& longer : batches) {
    events.push_back(longer.event_ns / longer.calls);
    for (const SourceBatch& shorter : batches)
      if (longer.calls - shorter.calls >= least_difference)
        slopes.push_back((longer.judge_ns - shorter.judge_ns) / (longer.calls - shorter.calls));
  }
  GEMMSMITH_CHECK(!slopes.empty(), "{} batches of one length", batches.size());
  return {std::max(Median(slopes), 0.0), Median(events)};
}

std::string DisagreementOfClocks(const SourceTime& time) {
  const double allowed = std::max(0.05 * time.judge_ns, 1e3);
  if (time.judge_ns - time.event_ns <= allowed) return "";
  return fmt::format("its events say {} a call, the judge's clock {}", Microseconds(time.event_ns),
                     Microseconds(time.judge_ns));
}

std::string DisagreementOfInputs(double unchanged_ns, double changed_ns, double honest_factor) {
  const double allowed = std::max(0.1 * changed_ns, 3e3);
  if (changed_ns - honest_factor * unchanged_ns <= allowed) return "";
  return fmt::format("calls on unchanged inputs take {}, on changed ones {}", Microseconds(unchanged_ns),
                     Microseconds(changed_ns));
}

std::string Impossible(const Gemm& gemm, const Device& device, double ns) {
  constexpr double kShortestNs = 300, kBytesPerNs = 8e3, kAbovePeak = 1.25;
  const Task task = MakeTask(gemm);
  double least = kShortestNs;
  if (device.peak_half_tflops > 0) least = std::max(least, task.flops / (kAbovePeak * device.peak_half_tflops) * 1e-3);
  least = std::max(least, (task.bytes - device.l2_resident_mb * 1e6) / kBytesPerNs);
  if (ns >= least) return "";
  return fmt::format("{} a call is impossible: this GPU cannot do it under {}", Microseconds(ns), Microseconds(least));
}

std::string Unjoined(std::span<const double> busy_afterwards_ns) {
  constexpr double kAllowedNs = 100e3;
  if (busy_afterwards_ns.empty()) return "";
  const double least = *std::min_element(busy_afterwards_ns.begin(), busy_afterwards_ns.end());
  if (least <= kAllowedNs) return "";
  return fmt::format("the device was busy for {} after the stream was done, in each of {} calls", Microseconds(least),
                     busy_afterwards_ns.size());
}

BatchLengths DrawLengths(double call_ns, int calls, double difference_ns, int most_calls, double uniform) {
  const double graph_ns = std::max(call_ns, 100.0) * calls;
  const int most = std::max(2, most_calls / calls);
  BatchLengths lengths;
  lengths.shorter = 1 + (uniform < 0.5 && most > 2 ? 1 : 0);
  const double wanted = std::ceil(difference_ns * (0.75 + 0.5 * uniform) / graph_ns);
  lengths.longer = std::min(most, lengths.shorter + int(std::clamp(wanted, 1.0, 1e5)));
  return lengths;
}

}  // namespace gemmsmith
