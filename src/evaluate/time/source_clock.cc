#include "evaluate/time/source_clock.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/statistics.h"

namespace gemmsmith {

namespace {

std::string Microseconds(double ns) { return fmt::format("{:.2f} us", ns / 1e3); }

struct Weighted {
  double value = 0, weight = 0;
};

double MedianOf(std::vector<Weighted> samples) {
  std::sort(samples.begin(), samples.end(), [](const Weighted& x, const Weighted& y) { return x.value < y.value; });
  double half = 0;
  for (const Weighted& sample : samples) half += sample.weight / 2;
  for (const Weighted& sample : samples)
    if ((half -= sample.weight) <= 0) return sample.value;
  return samples.back().value;
}

std::vector<double> EventsOf(std::span<const SourceBatch> batches) {
  std::vector<double> events;
  for (const SourceBatch& batch : batches) events.push_back(batch.event_ns / batch.calls);
  return events;
}

// A batch took some 0.3 ms beside its calls (H200, November 2026).
constexpr double kMaxBesideCallsNs = 0.5e6;

// Of their median.
double StandardError(std::vector<Weighted> samples, double median) {
  constexpr double kSigmasPerDeviation = 1.4826, kOfTheMedian = 1.2533;
  double sum = 0, squares = 0;
  for (Weighted& sample : samples) {
    sample.value = std::abs(sample.value - median);
    sum += sample.weight, squares += sample.weight * sample.weight;
  }
  const double independent = sum * sum / squares;
  return kSigmasPerDeviation * kOfTheMedian * MedianOf(samples) / std::sqrt(independent);
}

}  // namespace

SourceTime TimeOf(std::span<const SourceBatch> batches) {
  GEMMSMITH_CHECK(!batches.empty(), "the time of no batches");
  const auto [shortest, longest] = std::minmax_element(
      batches.begin(), batches.end(), [](const SourceBatch& x, const SourceBatch& y) { return x.calls < y.calls; });
  // Batches of nearly one length tell only the noise.
  const int least_difference = std::max(1, (longest->calls - shortest->calls) / 2);
  std::vector<double> slopes;
  for (const SourceBatch& longer : batches)
    for (const SourceBatch& shorter : batches)
      if (longer.calls - shorter.calls >= least_difference)
        slopes.push_back((longer.judge_ns - shorter.judge_ns) / (longer.calls - shorter.calls));
  GEMMSMITH_CHECK(!slopes.empty(), "{} batches of one length", batches.size());
  return {std::max(Median(slopes), 0.0), EventNsOf(batches)};
}

SourceTime ProvenTimeOf(std::span<const SourceBatch> batches) {
  SourceTime time = TimeOf(batches);
  std::vector<double> by_longer;
  for (size_t longer = 1; longer < batches.size(); longer += 2)
    by_longer.push_back((batches[longer].judge_ns - kMaxBesideCallsNs) / batches[longer].calls);
  time.judge_ns = std::max(time.judge_ns, Median(by_longer));
  return time;
}

double EventNsOf(std::span<const SourceBatch> batches) { return Median(EventsOf(batches)); }

std::string DisagreementOfClocks(const SourceTime& time) {
  const double allowed = std::max(0.05 * time.judge_ns, 1e3);
  if (time.judge_ns - time.event_ns <= allowed) return "";
  return fmt::format("its events say {} a call, the judge's clock {}", Microseconds(time.event_ns),
                     Microseconds(time.judge_ns));
}

std::string DisagreementOfRace(const SourceTime& time, std::span<const SourceBatch> raced) {
  const std::vector<double> events = EventsOf(raced);
  const double raced_event_ns = std::min(Median(events), Mean(events));
  const double allowed = std::max(0.15 * time.judge_ns, 1e3);
  if (raced_event_ns > 0 && time.judge_ns - raced_event_ns <= allowed) return "";
  return fmt::format("in the race its events say {} a call, the judge's clock {}", Microseconds(raced_event_ns),
                     Microseconds(time.judge_ns));
}

Excess ExcessOf(std::span<const SourceBatch> longer, std::span<const SourceBatch> shorter) {
  GEMMSMITH_CHECK(longer.size() == shorter.size() && !longer.empty(), "{} batches beside {}", longer.size(),
                  shorter.size());
  std::vector<Weighted> differences;
  for (size_t i = 0; i < longer.size(); ++i) {
    const int calls = longer[i].calls;
    GEMMSMITH_CHECK(calls == shorter[i].calls && calls > 0, "{} calls beside {}", calls, shorter[i].calls);
    differences.push_back({(longer[i].judge_ns - shorter[i].judge_ns) / calls, double(calls)});
  }
  const double median = MedianOf(differences);
  return {median, StandardError(differences, median)};
}

std::string DisagreementOfRenewals(std::span<const SourceBatch> renewed, std::span<const SourceBatch> sham,
                                   double call_ns) {
  const Excess excess = ExcessOf(renewed, sham);
  const double allowed = std::max(0.015 * call_ns, 300.0);
  // A source whose times scatter on purpose gains at most this.
  const double noise = std::min(3 * excess.noise_ns, 2 * allowed);
  if (excess.ns <= allowed + noise) return "";
  return fmt::format("calls take {} longer where inputs change between them than where the same is written again",
                     Microseconds(excess.ns));
}

std::string DisagreementOfSpaces(const SourceTime& unspaced, const SourceTime& spaced) {
  if (spaced.judge_ns - unspaced.judge_ns <= std::max(0.18 * spaced.judge_ns, 3e3)) return "";
  return fmt::format("calls take {} one behind the other, {} with pauses between them", Microseconds(unspaced.judge_ns),
                     Microseconds(spaced.judge_ns));
}

double LeastBySpaces(const SourceTime& spaced) {
  return std::max(spaced.judge_ns - std::max(0.02 * spaced.judge_ns, 1e3), 0.0);
}

uint32_t DrawPauseNs(double sham_step_ns, double uniform) {
  constexpr double kShortest = 4e3, kUsuallyLongest = 40e3, kLongest = 2e6;
  const double longest = std::clamp(2 * sham_step_ns, kUsuallyLongest, kLongest);
  return uint32_t(kShortest * std::pow(longest / kShortest, uniform));
}

// Honest calls read operands 5 to 20 % slower behind a kernel that has written them (64 kernels, H200, November 2026).
std::string DisagreementOfShams(const SourceTime& unchanged, const SourceTime& sham, double step_ns) {
  const double alone_ns = std::max(sham.judge_ns - step_ns, 0.0);
  if (alone_ns - unchanged.judge_ns <= std::max(0.3 * alone_ns, 3e3) + 0.1 * step_ns) return "";
  return fmt::format("calls take {} one behind the other, {} behind writes of what is there already",
                     Microseconds(unchanged.judge_ns), Microseconds(alone_ns));
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

bool IsFarSlower(std::span<const SourceBatch> slower, std::span<const SourceBatch> faster, double step_ns) {
  constexpr double kTimes = 5, kAtLeastNs = 20e3;
  GEMMSMITH_CHECK(slower.size() == faster.size() && slower.size() % 2 == 0, "{} batches beside {}", slower.size(),
                  faster.size());
  for (size_t first = 0; first < slower.size(); first += 2)
    if (ProvenTimeOf(slower.subspan(first, 2)).judge_ns <=
        kTimes * TimeOf(faster.subspan(first, 2)).judge_ns + kAtLeastNs + 2 * step_ns)
      return false;
  return !slower.empty();
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
