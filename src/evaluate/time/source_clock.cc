#include "evaluate/time/source_clock.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/statistics.h"

namespace gemmsmith {

namespace {

std::string Microseconds(double ns) { return fmt::format("{:.2f} us", ns / 1e3); }

// Of the median of slopes, of which no more are independent than there are batches of one kind.
double StandardError(std::span<const double> slopes, size_t independent) {
  constexpr double kSigmasPerDeviation = 1.4826, kOfTheMedian = 1.2533;
  const double median = Median(slopes);
  std::vector<double> deviations;
  for (const double slope : slopes) deviations.push_back(std::abs(slope - median));
  return kSigmasPerDeviation * kOfTheMedian * Median(deviations) / std::sqrt(double(std::max<size_t>(independent, 1)));
}

double AllowedDifference(double call_ns) { return std::max(0.03 * call_ns, 500.0); }

// Three standard errors; who makes his times scatter gains this much and no more.
double Noise(double call_ns, const SourceTime& x, const SourceTime& y) {
  return std::min(3 * std::hypot(x.noise_ns, y.noise_ns), 2 * AllowedDifference(call_ns));
}

}  // namespace

SourceTime TimeOf(std::span<const SourceBatch> batches) {
  GEMMSMITH_CHECK(!batches.empty(), "the time of no batches");
  const auto [shortest, longest] = std::minmax_element(
      batches.begin(), batches.end(), [](const SourceBatch& x, const SourceBatch& y) { return x.calls < y.calls; });
  // Batches of nearly one length tell only the noise.
  const int least_difference = std::max(1, (longest->calls - shortest->calls) / 2);
  std::vector<double> slopes, events;
  size_t long_ones = 0;
  for (const SourceBatch& longer : batches) {
    events.push_back(longer.event_ns / longer.calls);
    const size_t before = slopes.size();
    for (const SourceBatch& shorter : batches)
      if (longer.calls - shorter.calls >= least_difference)
        slopes.push_back((longer.judge_ns - shorter.judge_ns) / (longer.calls - shorter.calls));
    long_ones += slopes.size() > before ? 1 : 0;
  }
  GEMMSMITH_CHECK(!slopes.empty(), "{} batches of one length", batches.size());
  return {std::max(Median(slopes), 0.0), Median(events), StandardError(slopes, long_ones)};
}

std::string DisagreementOfClocks(const SourceTime& time) {
  const double allowed = std::max(0.05 * time.judge_ns, 1e3);
  if (time.judge_ns - time.event_ns <= allowed) return "";
  return fmt::format("its events say {} a call, the judge's clock {}", Microseconds(time.event_ns),
                     Microseconds(time.judge_ns));
}

std::string DisagreementOfRenewals(const SourceTime& renewed, const SourceTime& sham, double call_ns) {
  if (renewed.judge_ns - sham.judge_ns <= AllowedDifference(call_ns) + Noise(call_ns, renewed, sham)) return "";
  return fmt::format("calls take {} where inputs change between them, {} where the same is written again",
                     Microseconds(renewed.judge_ns), Microseconds(sham.judge_ns));
}

std::string DisagreementOfSpaces(const SourceTime& unspaced, const SourceTime& spaced, double space_ns) {
  const double alone_ns = std::max(spaced.judge_ns - space_ns, 0.0);
  if (alone_ns - unspaced.ns() <= std::max(0.1 * alone_ns, 3e3)) return "";
  return fmt::format("calls take {} one behind the other, {} with pauses between them", Microseconds(unspaced.ns()),
                     Microseconds(alone_ns));
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
