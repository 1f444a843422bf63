#include "evaluate/baseline/baseline_maker.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "base/seconds.h"
#include "evaluate/baseline/exhaustive.h"
#include "evaluate/time/race_rules.h"
#include "evaluate/time/ring_clock.h"

namespace gemmsmith {

namespace {

constexpr int kAutoTuningCandidates = 100;
constexpr size_t kFastestTried = 3, kTriedOnRing = 8, kExhaustiveFinalists = 12;
constexpr int kHeuristicsFirst = 0;  // of the candidates
constexpr int kFirstRounds = 4, kFinalRounds = 9, kSteadyStateFinalRounds = 4;
constexpr double kExhaustiveSeconds = 5;

std::string FaultIn(const Watched& watched) {
  if (!watched.crash.empty()) return watched.crash;
  return !watched.wrong.empty() ? watched.wrong : watched.damage;
}

}  // namespace

Gemm BaselineGemm(const Gemm& gemm, const Layout& layout) {
  Gemm baseline = gemm;
  baseline.kind.layout = layout;
  if (layout.a != gemm.kind.layout.a) baseline.lda = 0;
  if (layout.b != gemm.kind.layout.b) baseline.ldb = 0;
  return baseline;
}

// A shared object says itself which layout it takes; of one that cannot be opened any will do, since Make() says why.
Layout BaselineMaker::LayoutOf(const BaselineId& id) const {
  if (id.kind != BaselineKind::kSharedObject) return id.layout;
  const Result<std::unique_ptr<SharedGemm>> gemm = SharedGemm::Open(id.path);
  return gemm.ok() ? (*gemm)->kind().layout : id.layout;
}

GemmBuffers BaselineMaker::BuffersFor(const CallAddresses& addresses) const {
  return {addresses.a, addresses.b, addresses.c, tools_.workspace.as<void>(), tools_.workspace.size_bytes()};
}

BindCall BaselineMaker::LtBinding(std::shared_ptr<LtGemm> lt, int algorithm) const {
  return [this, lt, algorithm](const CallAddresses& addresses) -> Result<PutCall> {
    return PutCall([lt, algorithm, buffers = BuffersFor(addresses), stream = tools_.gpu.stream()] {
      return lt->Run(algorithm, buffers, stream);
    });
  };
}

// ---- choosing

Result<BaselineMaker::Choice> BaselineMaker::Choose(const BaselineId& id, const Wish& wish) {
  switch (id.kind) {
    case BaselineKind::kCublas:
      return ChooseCublas(wish);
    case BaselineKind::kLtHeuristic:
    case BaselineKind::kLtAuto:
    case BaselineKind::kLtExhaustive:
      return ChooseLt(id.kind, wish);
    case BaselineKind::kTorch:
      return ChooseTorch(wish);
    case BaselineKind::kSharedObject:
      return ChooseSharedObject(id.path, wish);
  }
  GEMMSMITH_CHECK(false, "baseline kind {}", int(id.kind));
  return Choice{};
}

BaselineMaker::Choice BaselineMaker::ChooseCublas(const Wish& wish) const {
  const BindCall bind = [this, gemm = wish.gemm](const CallAddresses& addresses) -> Result<PutCall> {
    return PutCall([&cublas = tools_.cublas, gemm, buffers = BuffersFor(addresses), stream = tools_.gpu.stream()] {
      return cublas.GemmEx(gemm, buffers, stream);
    });
  };
  return {bind, "default tensor-op algorithm"};
}

Result<BaselineMaker::Choice> BaselineMaker::ChooseLt(BaselineKind kind, const Wish& wish) {
  const int candidates = kind == BaselineKind::kLtHeuristic ? 1 : kAutoTuningCandidates;
  ASSIGN_OR_RETURN(const std::shared_ptr<LtGemm> lt,
                   LtGemm::Create(tools_.cublas, wish.gemm, kBaselineWorkspaceBytes, candidates));
  std::optional<Chosen> chosen;
  if (kind == BaselineKind::kLtHeuristic) {
    if (lt->candidate_count() > 0) chosen = Chosen{0, lt->Describe(0)};
  } else if (kind == BaselineKind::kLtAuto) {
    ASSIGN_OR_RETURN(chosen, Tune(lt, wish));
  } else {
    ASSIGN_OR_RETURN(chosen, TuneExhaustively(lt, wish));
  }
  if (!chosen) return Choice{{}, "the library offers no algorithm"};
  return Choice{LtBinding(lt, chosen->algorithm), chosen->description};
}

Result<BaselineMaker::Choice> BaselineMaker::ChooseTorch(const Wish& wish) {
  const BindCall bind = [&torch = tools_.torch, gemm = wish.gemm](const CallAddresses& addresses) {
    return torch.Bind(gemm, addresses);
  };
  const Result<PutCall> bound = bind(wish.addresses);
  if (!bound.ok()) return Choice{{}, bound.status().message()};
  return Choice{bind, fmt::format("torch.matmul with out=, {}", tools_.torch.Version())};
}

Result<BaselineMaker::Choice> BaselineMaker::ChooseSharedObject(const std::string& path, const Wish& wish) {
  Result<std::unique_ptr<SharedGemm>> opened = SharedGemm::Open(path);
  if (!opened.ok()) return Choice{{}, opened.status().message()};
  const std::shared_ptr<const SharedGemm> shared = *std::move(opened);
  if (const std::string reason = shared->Refuses(wish.gemm); !reason.empty()) return Choice{{}, reason};
  // A workspace of its own: it must arrive zeroed, and the libraries do not clear the shared one.
  ASSIGN_OR_RETURN(GuardedWorkspace made, GuardedWorkspace::Create(tools_.gpu, kBaselineWorkspaceBytes));
  const auto workspace = std::make_shared<const GuardedWorkspace>(std::move(made));
  const BindCall bind = [shared, workspace, shape = wish.gemm.shape,
                         stream = tools_.gpu.stream()](const CallAddresses& addresses) -> Result<PutCall> {
    return PutCall([=] { return shared->Call(shape, addresses, workspace->data(), kBaselineWorkspaceBytes, stream); });
  };
  return Choice{bind, fmt::format("gemm() of {}, trusted because it was named", path), workspace};
}

// ---- tuning

// All candidates in alternation, then a race of the best three and of the heuristic's first. AutoTuning shall never be
// slower than that one. By replays alone it was on 49 of 1,408 products, up to 1.17 times (H200, November 2026).
Result<std::optional<BaselineMaker::Chosen>> BaselineMaker::Tune(const std::shared_ptr<LtGemm>& lt, const Wish& wish) {
  std::vector<int> candidates;
  for (int candidate = 0; candidate < lt->candidate_count(); ++candidate) {
    ASSIGN_OR_RETURN(const PutCall call, LtBinding(lt, candidate)(wish.addresses));
    // An algorithm that the library offers and then refuses is passed over; a broken context is not.
    if (!call().ok()) continue;
    RETURN_IF_ERROR(tools_.gpu.Synchronize());
    candidates.push_back(candidate);
  }
  if (candidates.empty()) return std::optional<Chosen>();
  ASSIGN_OR_RETURN(std::vector<int> fastest_first, FastestFirst(candidates, lt, wish, Care::kFirstLook));
  if (race_ != TuningRace::kNone) {
    const size_t tried = wish.ring != nullptr ? kTriedOnRing : kFastestTried;
    std::vector<int> finalists;
    for (size_t i = 0; i < fastest_first.size(); ++i)
      if (i < tried || fastest_first[i] == kHeuristicsFirst) finalists.push_back(fastest_first[i]);
    ASSIGN_OR_RETURN(fastest_first, FastestFirst(finalists, lt, wish, Care::kRace));
  }
  const int best = fastest_first.front();
  return std::optional<Chosen>({best, fmt::format("{}, best of {} candidates", lt->Describe(best), candidates.size())});
}

// The graphs of a choice, and the clock that visits them.
struct BaselineMaker::Choosing {
  std::vector<CallGraph> graphs;
  std::optional<Window> window;
  std::unique_ptr<RoundClock> clock;
};

// The race follows the rules of a thorough protocol unless it is brief. Bursts would choose other algorithms than those
// that win there. Two short windows, which is what a brief race has time for, would say less than as many turns.
Result<BaselineMaker::Choosing> BaselineMaker::OnRepeatedCalls(std::span<const int> algorithms,
                                                               const std::shared_ptr<LtGemm>& lt, const Wish& wish,
                                                               Care care) {
  const bool is_race = care == Care::kRace;
  Choosing choosing;
  std::vector<double> call_ns;
  for (int algorithm : algorithms) {
    ASSIGN_OR_RETURN(const PutCall call, LtBinding(lt, algorithm)(wish.addresses));
    ASSIGN_OR_RETURN(call_ns.emplace_back(), Estimate(call));
    const Batch batch = is_race ? Batch::kLong : Batch::kBrief;
    ASSIGN_OR_RETURN(choosing.graphs.emplace_back(), CallGraph::Capture(tools_.gpu, call, call_ns.back(), batch));
  }
  if (is_race && race_ != TuningRace::kBrief)
    choosing.window = WindowFor(Protocol::kShort, Clock::kDevice, *std::ranges::min_element(call_ns));
  std::vector<Visit> visits;
  for (size_t i = 0; i < algorithms.size(); ++i)
    visits.push_back(VisitFor(choosing.graphs[i], call_ns[i], choosing.window));
  ASSIGN_OR_RETURN(choosing.clock, DeviceClock::Create(tools_.gpu, visits, [this] { return tools_.harness.LeadIn(); }));
  return choosing;
}

// The algorithm that is fastest on repeated calls need not be fastest on the ring.
Result<BaselineMaker::Choosing> BaselineMaker::OnRing(std::span<const int> algorithms,
                                                      const std::shared_ptr<LtGemm>& lt, const Wish& wish) {
  const Layout& layout = wish.gemm.kind.layout;
  Choosing choosing;
  for (int algorithm : algorithms) {
    std::vector<PutCall> calls;
    for (const CallAddresses& addresses : wish.ring->SetsFor(layout, Batch::kLong)) {
      ASSIGN_OR_RETURN(calls.emplace_back(), LtBinding(lt, algorithm)(addresses));
    }
    ASSIGN_OR_RETURN(choosing.graphs.emplace_back(), CallGraph::Capture(tools_.gpu, calls, int(calls.size())));
  }
  std::vector<RingVisit> visits;
  for (const CallGraph& graph : choosing.graphs) visits.push_back({&graph, layout, Maker::kLibrary});
  ASSIGN_OR_RETURN(choosing.clock, RingClock::Create(tools_.gpu, *wish.ring, wish.gemm, std::move(visits)));
  return choosing;
}

// In alternation, since the GPU's state changes: it is up to 12 % slower some 40 ms after it was cool.
Result<std::vector<int>> BaselineMaker::FastestFirst(std::span<const int> algorithms, const std::shared_ptr<LtGemm>& lt,
                                                     const Wish& wish, Care care) {
  if (algorithms.size() == 1) return std::vector{algorithms.front()};
  const bool is_race = care == Care::kRace, is_on_ring = is_race && wish.ring != nullptr;
  ASSIGN_OR_RETURN(const Choosing choosing,
                   is_on_ring ? OnRing(algorithms, lt, wish) : OnRepeatedCalls(algorithms, lt, wish, care));
  const TimeRound time_round = [&](std::span<const size_t> order) {
    return choosing.clock->TimeRound(order, [&](size_t) { wish.on_step(); });
  };
  std::vector<RaceEntry> entries;
  for (int algorithm : algorithms) entries.push_back({.name = lt->Describe(algorithm)});
  // The other layout's race may have warmed the GPU. The warm-up sees whether windows still swing.
  constexpr bool kIsWarm = true;
  if (choosing.window)
    RETURN_IF_ERROR(RunWarmUp(WarmUpFor(Protocol::kShort, {}, kIsWarm, true), entries.size(), time_round));
  const int full = !is_race ? kFirstRounds : choosing.window ? kSteadyStateFinalRounds : kFinalRounds;
  const int rounds = race_ == TuningRace::kBrief ? full / 2 : full;
  ASSIGN_OR_RETURN(const RaceResult race,
                   Race(entries, {.min_rounds = rounds, .max_rounds = rounds}, wish.random, {}, time_round));
  std::vector<size_t> order(algorithms.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return race.timings[i].median_ns; });
  std::vector<int> fastest_first;
  for (size_t i : order) fastest_first.push_back(algorithms[i]);
  return fastest_first;
}

// The library and the GPU as the search over all configurations sees them.
class BaselineMaker::GpuTrials : public LtTrials {
 public:
  GpuTrials(BaselineMaker& maker, const std::shared_ptr<LtGemm>& lt, const Wish& wish)
      : maker_(maker), lt_(lt), wish_(wish) {}

  std::optional<int> Check(const LtConfig& config) override {
    Announce();
    return lt_->Add(config);
  }
  Result<std::optional<double>> Time(int algorithm) override {
    ASSIGN_OR_RETURN(const PutCall call, maker_.LtBinding(lt_, algorithm)(wish_.addresses));
    if (!call().ok()) return std::optional<double>();
    RETURN_IF_ERROR(maker_.tools_.gpu.Synchronize());
    ASSIGN_OR_RETURN(const double call_ns, maker_.Estimate(call));
    return std::optional<double>(call_ns);
  }
  double SecondsSpent() override { return SecondsSince(start_); }

 private:
  using Clock = std::chrono::steady_clock;
  void Announce() {
    if (SecondsSince(announced_) < 0.5) return;
    announced_ = Clock::now();
    wish_.on_step();
  }

  BaselineMaker& maker_;
  const std::shared_ptr<LtGemm>& lt_;
  const Wish& wish_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point announced_ = start_;
};

// The heuristic's first choice races too, so that AutoTuning misses nothing.
Result<std::optional<BaselineMaker::Chosen>> BaselineMaker::TuneExhaustively(const std::shared_ptr<LtGemm>& lt,
                                                                             const Wish& wish) {
  ASSIGN_OR_RETURN(const std::optional<Chosen> tuned, Tune(lt, wish));
  ASSIGN_OR_RETURN(std::vector<LtCapabilities> algorithms, lt->Algorithms());
  const LtConfigSpace space(std::move(algorithms));
  GpuTrials trials(*this, lt, wish);
  ASSIGN_OR_RETURN(const Exhausted found,
                   SearchExhaustively(space, trials, kExhaustiveSeconds, 4 * kExhaustiveFinalists, wish.random));
  std::vector<int> finalists;
  if (tuned) finalists.push_back(tuned->algorithm);
  for (int algorithm : found.fastest_first) {
    if (finalists.size() >= kExhaustiveFinalists) break;
    ASSIGN_OR_RETURN(const PutCall call, LtBinding(lt, algorithm)(wish.addresses));
    ASSIGN_OR_RETURN(const Watched watched, Watch(wish, call));
    if (FaultIn(watched).empty()) finalists.push_back(algorithm);
  }
  if (finalists.empty()) return std::optional<Chosen>();
  const Care care = race_ == TuningRace::kNone ? Care::kFirstLook : Care::kRace;
  ASSIGN_OR_RETURN(const std::vector<int> fastest_first, FastestFirst(finalists, lt, wish, care));
  const int best = fastest_first.front();
  return std::optional<Chosen>(
      {best, fmt::format("{}; {}; {} raced", lt->Describe(best), found.Print(), finalists.size())});
}

// ---- making

Result<Watched> BaselineMaker::Watch(const Wish& wish, const PutCall& call, const GuardedWorkspace* workspace) {
  ASSIGN_OR_RETURN(Watched watched,
                   verifier_.Watch(wish.gemm, {&wish.inputs, &wish.output, workspace, Maker::kLibrary}, 0, call));
  RETURN_IF_ERROR(tools_.gpu.Synchronize());
  return watched;
}

Result<Baseline> BaselineMaker::Make(const BaselineId& id, const Gemm& gemm, const Inputs& inputs,
                                     const GuardedMatrix& output, Ring* ring, Random& random,
                                     const std::function<void()>& on_step) {
  Baseline baseline;
  baseline.id = id;
  baseline.layout = gemm.kind.layout;
  const CallAddresses addresses{inputs.a->data(), inputs.b->data(), output.data()};
  const Wish wish{gemm, inputs, output, addresses, ring, random, on_step};
  ASSIGN_OR_RETURN(Choice choice, Choose(id, wish));
  baseline.description = std::move(choice.description);
  if (!choice.bind) return baseline;
  ASSIGN_OR_RETURN(PutCall call, choice.bind(addresses));
  ASSIGN_OR_RETURN(const Watched watched, Watch(wish, call, choice.workspace.get()));
  if (const std::string fault = FaultIn(watched); !fault.empty()) {
    baseline.description = fmt::format("{}, refused: {}", baseline.description, fault);
    return baseline;
  }
  baseline.max_abs_error = watched.max_abs_error;
  baseline.bind = std::move(choice.bind);
  baseline.workspace = std::move(choice.workspace);
  baseline.call = std::move(call);
  ASSIGN_OR_RETURN(baseline.call_ns, Estimate(baseline.call));
  baseline.usable = true;
  return baseline;
}

Status BaselineMaker::AddGraph(Baseline& baseline, Batch batch) {
  const std::pair key(Clock::kDevice, batch);
  if (!baseline.usable || baseline.graphs.contains(key)) return OkStatus();
  ASSIGN_OR_RETURN(CallGraph graph, CallGraph::Capture(tools_.gpu, baseline.call, baseline.call_ns, batch));
  baseline.graphs.emplace(key, std::move(graph));
  return OkStatus();
}

Status BaselineMaker::AddColdGraph(Baseline& baseline, Batch batch, std::span<const CallAddresses> sets) {
  const std::pair key(Clock::kDeviceCold, batch);
  if (!baseline.usable || baseline.graphs.contains(key)) return OkStatus();
  std::vector<PutCall> calls;
  for (const CallAddresses& addresses : sets) {
    ASSIGN_OR_RETURN(PutCall call, baseline.bind(addresses));
    calls.push_back(std::move(call));
  }
  ASSIGN_OR_RETURN(CallGraph graph, CallGraph::Capture(tools_.gpu, calls, int(calls.size())));
  baseline.graphs.emplace(key, std::move(graph));
  return OkStatus();
}

Result<double> BaselineMaker::Estimate(const PutCall& call) {
  return EstimateNs(
      tools_.gpu, [this] { return tools_.harness.LeadIn(); }, call);
}

}  // namespace gemmsmith
