// For tests: an evaluator without a GPU, and plans for it.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <span>
#include <vector>

#include "archive/archive.h"
#include "base/files.h"
#include "base/hash.h"
#include "campaign/campaign.h"
#include "evaluate/evaluator.h"
#include "program/family.h"
#include "program/space.h"

namespace gemmsmith {

inline Gemm SomeGemm(int k = 512) { return {.shape = {64, 128, k}, .kind = {.layout = kTn}}; }
inline Device SomeDevice() { return KnownDevices().front(); }

inline void AddPlans(Plan plan, size_t axis, size_t count, std::vector<Plan>& plans) {
  const std::span<const Axis> axes = GetFamily(plan.family).axes;
  if (plans.size() == count) return;
  if (axis == axes.size()) {
    if (IsWorthTrying(plan, SomeGemm(), SomeDevice())) plans.push_back(plan);
    return;
  }
  for (const int value : axes[axis].live_values()) {
    plan.values[axis] = value;
    if (axes[axis].role != AxisRole::kChain || value == int(Trigger::kNone)) AddPlans(plan, axis + 1, count, plans);
  }
}

// The first `count` direct plans worth trying without a trigger, in canonical order. Some fix dimensions.
inline std::vector<Plan> SomePlans(size_t count) {
  std::vector<Plan> plans;
  AddPlans(Plan{FamilyId::kDirect}, 0, count, plans);
  return plans;
}

inline Outcome MeasuredIn(double time_ns, Protocol protocol) {
  Outcome outcome;
  outcome.kind = OutcomeKind::kMeasured;
  outcome.stage = "timing";
  outcome.protocol = protocol;
  outcome.verdict.passed = true;
  outcome.timings.push_back({.contender = "ours",
                             .clock = Clock::kDeviceCold,
                             .median_ns = time_ns,
                             .mean_ns = time_ns,
                             .interval = {time_ns, time_ns},
                             .sample_count = 1,
                             .samples_ns = {float(time_ns)}});
  return outcome;
}
// The same, timed in chains too.
inline Outcome InChains(Outcome outcome, double chained_ns) {
  Timing chained = outcome.timings[0];
  chained.clock = Clock::kDeviceColdChained, chained.median_ns = chained_ns;
  outcome.timings.push_back(std::move(chained));
  return outcome;
}

// Draws from a copy of the space in random order.
inline ProblemSearch SomeSearch(const Gemm& gemm, const Space& space, std::unique_ptr<StopRule> stop) {
  ProblemSearch search{.space = std::make_unique<Space>(space), .stop = std::move(stop)};
  search.proposer =
      *MakeProposer("random", {.gemm = gemm, .device = SomeDevice(), .space = search.space.get(), .seed = 7});
  return search;
}

// Times differ from plan to plan and repeat from run to run.
inline double SomeTimeNs(const Plan& plan) { return 1000 + double(HashBytes(Print(plan)).low % 100000); }

class FakeCompiler : public Compiler {
 public:
  std::function<Status(const Source&)> before = [](const Source&) { return OkStatus(); };
  std::atomic<int> calls = 0;

  Result<Compilation> Compile(const Source& source, std::string_view) override {
    ++calls;
    RETURN_IF_ERROR(before(source));
    Compilation compilation{.succeeded = true, .seconds = 0.25};
    compilation.binary.entry = source.entry;
    compilation.binary.facts = {.registers = 32, .instructions = 100, .mma_f32 = 8};
    return compilation;
  }
  std::string Identity() const override { return "fake compiler 1"; }
};

class FakeEvaluator : public Evaluator {
 public:
  std::function<Result<Outcome>(const EvaluationRequest&)> judge = [](const EvaluationRequest& request) {
    return MeasuredIn(SomeTimeNs(request.plan()), request.protocol);
  };
  std::function<Result<Outcome>(const EvaluationRequest&)> race = [](const EvaluationRequest& request) {
    Outcome outcome = MeasuredIn(1, request.protocol);
    outcome.timings.clear();
    for (const char* name : {"lt_auto_nn", "lt_auto_tn", "cublas_nn"})
      for (const Clock clock : {Clock::kDeviceCold, Clock::kOffline})
        if (request.clocks.Has(clock))
          outcome.timings.push_back({.contender = name, .clock = clock, .median_ns = 2000, .mean_ns = 2000});
    return outcome;
  };
  std::vector<EvaluationRequest> requests;
  std::vector<EvaluationRequest> races;
  std::vector<size_t> exchanges;  // how many candidates came together, in the order of the calls
  std::function<void(std::span<const Candidate>)> on_exchange = [](std::span<const Candidate>) {};

  const Device& device() const override { return device_; }
  Result<Outcome> Evaluate(const EvaluationRequest& request, const PreparedCandidate&) override {
    requests.push_back(request);
    return judge(request);
  }
  std::vector<Result<Outcome>> EvaluateTogether(std::span<const Candidate> candidates) override {
    exchanges.push_back(candidates.size());
    on_exchange(candidates);
    return Evaluator::EvaluateTogether(candidates);
  }
  Result<Outcome> RaceBaselines(const EvaluationRequest& request) override {
    races.push_back(request);
    return race(request);
  }
  Setting setting() const override {
    return {.device_key = device_.key, .device_name = device_.name, .gpu_uuid = "fake"};
  }

 private:
  const Device device_ = SomeDevice();
};

struct TemporaryArchive {
  TemporaryFolder folder = *TemporaryFolder::Create("campaign_test");
  std::filesystem::path path = folder.path() / "archive.sqlite";
  std::unique_ptr<Archive> archive = *Archive::Open(path);

  std::vector<Trial> Trials() const { return *archive->Load({}); }
};

}  // namespace gemmsmith
