#include "evaluate/baseline/nvidia_baselines.h"

#include <algorithm>
#include <numeric>

#include "base/statistics.h"

namespace gemmsmith {

namespace {

constexpr int kAutoTuningCandidates = 100;
constexpr int kFinalists = 3;
// By default the libraries may sum the shares of a split K in the output type, which no candidate of ours may.
constexpr double kLeniency = 4;

struct Timed {
  int candidate = 0;
  CallGraph graph;
  std::vector<double> samples;
};

Status AddSample(Gpu& gpu, Timed& timed) {
  ASSIGN_OR_RETURN(const Event first, gpu.MakeEvent());
  ASSIGN_OR_RETURN(const Event last, gpu.MakeEvent());
  RETURN_IF_ERROR(gpu.Record(first));
  RETURN_IF_ERROR(gpu.Replay(timed.graph.graph));
  RETURN_IF_ERROR(gpu.Record(last));
  ASSIGN_OR_RETURN(const double elapsed, gpu.ElapsedNs(first, last));
  timed.samples.push_back(elapsed / timed.graph.calls);
  return OkStatus();
}

int FinalReplays(double call_ns) { return call_ns > 1e6 ? 5 : 9; }

void SortByMedian(std::vector<Timed>& timed) {
  std::sort(timed.begin(), timed.end(),
            [](const Timed& x, const Timed& y) { return Median(x.samples) < Median(y.samples); });
}

}  // namespace

Gemm BaselineGemm(const Gemm& gemm, const Layout& layout) {
  Gemm baseline = gemm;
  baseline.kind.layout = layout;
  if (layout.a != gemm.kind.layout.a) baseline.lda = 0;
  if (layout.b != gemm.kind.layout.b) baseline.ldb = 0;
  return baseline;
}

// Every candidate in random order, two replays each; the best three again, interleaved.
Result<std::optional<NvidiaBaselines::Choice>> NvidiaBaselines::Tune(LtGemm& lt, const GemmBuffers& buffers,
                                                                     Random& random) {
  std::vector<int> order(size_t(lt.candidate_count()));
  std::iota(order.begin(), order.end(), 0);
  random.Shuffle(order);
  std::vector<Timed> timed;
  for (int candidate : order) {
    const PutCall call = [&, candidate] { return lt.Run(candidate, buffers, gpu_.stream()); };
    // An algorithm that the library offers and then refuses is passed over; a broken context is not.
    if (!call().ok()) continue;
    RETURN_IF_ERROR(gpu_.Synchronize());
    Timed entry{candidate, {}, {}};
    ASSIGN_OR_RETURN(const double call_ns, Estimate(call));
    ASSIGN_OR_RETURN(entry.graph, CallGraph::Capture(gpu_, call, call_ns, Batch::kBrief));
    for (int i = 0; i < 2; ++i) RETURN_IF_ERROR(AddSample(gpu_, entry));
    timed.push_back(std::move(entry));
  }
  if (timed.empty()) return std::optional<Choice>();
  SortByMedian(timed);
  const size_t usable = timed.size();
  timed.resize(std::min<size_t>(usable, kFinalists));
  const int replays = FinalReplays(Median(timed[0].samples));
  for (Timed& finalist : timed) finalist.samples.clear();
  for (int i = 0; i < replays; ++i) {
    random.Shuffle(timed);
    for (Timed& finalist : timed) RETURN_IF_ERROR(AddSample(gpu_, finalist));
  }
  SortByMedian(timed);
  const int best = timed[0].candidate;
  return std::optional<Choice>({best, fmt::format("{}, best of {} candidates", lt.Describe(best), usable)});
}

Result<std::optional<PutCall>> NvidiaBaselines::Choose(BaselineKind kind, const Gemm& gemm, const GemmBuffers& buffers,
                                                       Random& random, std::string& description) {
  if (kind == BaselineKind::kCublas) {
    description = "default tensor-op algorithm";
    return std::optional<PutCall>([=, this] { return cublas_.GemmEx(gemm, buffers, gpu_.stream()); });
  }
  const int candidates = kind == BaselineKind::kLtHeuristic ? 1 : kAutoTuningCandidates;
  ASSIGN_OR_RETURN(std::shared_ptr<LtGemm> lt, LtGemm::Create(cublas_, gemm, kBaselineWorkspaceBytes, candidates));
  std::optional<Choice> choice;
  if (lt->candidate_count() > 0 && kind == BaselineKind::kLtHeuristic) choice = {0, lt->Describe(0)};
  if (lt->candidate_count() > 0 && kind == BaselineKind::kLtAuto) {
    ASSIGN_OR_RETURN(choice, Tune(*lt, buffers, random));
  }
  if (!choice) {
    description = "the library offers no algorithm";
    return std::optional<PutCall>();
  }
  description = choice->description;
  return std::optional<PutCall>(
      [lt, candidate = choice->candidate, buffers, this] { return lt->Run(candidate, buffers, gpu_.stream()); });
}

Result<Baseline> NvidiaBaselines::Make(BaselineKind kind, const Gemm& gemm, const Inputs& inputs,
                                       const GuardedMatrix& output, Random& random) {
  Baseline baseline;
  baseline.name = Name(BaselineId{kind, gemm.kind.layout, ""});
  baseline.kind = kind;
  const GemmBuffers buffers{inputs.a->data(), inputs.b->data(), output.data(), workspace_.as<void>(),
                            workspace_.size_bytes()};
  ASSIGN_OR_RETURN(std::optional<PutCall> call, Choose(kind, gemm, buffers, random, baseline.description));
  if (!call) return baseline;
  ASSIGN_OR_RETURN(const Watched watched, verifier_.Watch(gemm, {&inputs, &output, nullptr, kLeniency}, 0, *call));
  RETURN_IF_ERROR(gpu_.Synchronize());
  const std::string& fault = !watched.crash.empty()   ? watched.crash
                             : !watched.wrong.empty() ? watched.wrong
                                                      : watched.damage;
  if (!fault.empty()) {
    baseline.description = fmt::format("{}, refused: {}", baseline.description, fault);
    return baseline;
  }
  baseline.max_abs_error = watched.max_abs_error;
  baseline.call = *std::move(call);
  ASSIGN_OR_RETURN(baseline.call_ns, Estimate(baseline.call));
  baseline.usable = true;
  return baseline;
}

Status NvidiaBaselines::AddGraph(Baseline& baseline, Batch batch) {
  if (!baseline.usable || baseline.graphs.contains(batch)) return OkStatus();
  ASSIGN_OR_RETURN(CallGraph graph, CallGraph::Capture(gpu_, baseline.call, baseline.call_ns, batch));
  baseline.graphs.emplace(batch, std::move(graph));
  return OkStatus();
}

Result<double> NvidiaBaselines::Estimate(const PutCall& call) {
  return EstimateNs(
      gpu_, [this] { return harness_.LeadIn(); }, call);
}

}  // namespace gemmsmith
