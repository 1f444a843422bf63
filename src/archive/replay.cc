#include "archive/replay.h"

#include <fmt/format.h>

#include <cmath>

#include "base/random.h"

namespace gemmsmith {
namespace {

// Draws with replacement from the kept samples, as many as there are: another run of the same length.
void DrawFromSamples(Timing& timing, Random& random) {
  const std::vector<float> recorded = timing.samples_ns;
  for (float& sample : timing.samples_ns) sample = recorded[random.Below(recorded.size())];
  const std::vector<double> drawn(timing.samples_ns.begin(), timing.samples_ns.end());
  timing.median_ns = Median(drawn);
  timing.mean_ns = Mean(drawn);
  timing.interval = MedianInterval(drawn);
}

// Without samples: a normal draw, as wide as the recorded interval and within it. Without an interval nothing changes.
void DrawFromInterval(Timing& timing, Random& random) {
  if (!timing.interval.IsKnown()) return;
  constexpr double kSigmas = 1.959964;  // half the width of a 95 % interval
  double deviation = random.Normal();
  while (std::abs(deviation) > kSigmas) deviation = random.Normal();
  const double half_width =
      deviation < 0 ? timing.median_ns - timing.interval.low : timing.interval.high - timing.median_ns;
  const double shift = half_width * deviation / kSigmas;
  const double scale = 1 + shift / timing.median_ns;
  if (!(scale > 0) || !std::isfinite(scale)) return;
  for (double* time : {&timing.median_ns, &timing.mean_ns, &timing.interval.low, &timing.interval.high}) *time *= scale;
}

void Scale(RatioEstimate& ratio, double factor) {
  for (double* value : {&ratio.median, &ratio.mean, &ratio.interval.low, &ratio.interval.high}) *value *= factor;
}

class ReplayEvaluator : public Evaluator {
 public:
  ReplayEvaluator(std::shared_ptr<const Recording> recording, Device device)
      : recording_(std::move(recording)), device_(std::move(device)) {}

  const Device& device() const override { return device_; }
  Setting setting() const override { return recording_->setting(); }

  Result<Outcome> Evaluate(const EvaluationRequest& request, const PreparedCandidate&) override {
    const Trial* trial = recording_->Find(request.gemm, request.plan(), request.protocol);
    if (trial == nullptr)
      return NotFound(fmt::format("no record of {} for {} in the {} protocol", Print(request.plan()),
                                  Print(request.gemm), Name(request.protocol)));
    Outcome outcome = trial->outcome;
    const std::string purpose =
        fmt::format("replay {} {} {}", Print(trial->gemm), Print(request.plan()), Name(request.protocol));
    Random random = Random(request.seed).Fork(purpose);
    for (Timing& timing : outcome.timings)
      if (timing.contender == "ours") Redraw(timing, outcome.comparisons, random);
    return outcome;
  }

 private:
  static void Redraw(Timing& ours, std::vector<Comparison>& comparisons, Random& random) {
    const double recorded_ns = ours.median_ns;
    if (!ours.samples_ns.empty())
      DrawFromSamples(ours, random);
    else
      DrawFromInterval(ours, random);
    for (Comparison& comparison : comparisons)
      if (comparison.clock == ours.clock && ours.clock != Clock::kEnergy && ours.median_ns > 0)
        Scale(comparison.ratio, recorded_ns / ours.median_ns);
  }

  std::shared_ptr<const Recording> recording_;
  Device device_;
};

}  // namespace

std::unique_ptr<Evaluator> MakeReplayEvaluator(std::shared_ptr<const Recording> recording) {
  Result<Device> device = FindDevice(recording->setting().device_key);
  GEMMSMITH_CHECK(device.ok(), "a recording of {}", recording->setting().device_key);
  return std::make_unique<ReplayEvaluator>(std::move(recording), *std::move(device));
}

}  // namespace gemmsmith
