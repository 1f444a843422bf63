#include "evaluate/session.h"

#include <algorithm>
#include <limits>

namespace gemmsmith {

namespace {

std::vector<TestPlan> TestsOf(const ProblemMessage& problem) {
  return TestsFor(problem.gemm, problem.WantsEverything(), problem.tests);
}

struct Sizes {
  uint64_t a, b, c, reference;  // in bytes on the GPU
};

Sizes SizesOf(const Gemm& gemm) {
  const Task task = MakeTask(gemm);
  return {.a = GuardedMatrix::AllocationBytes(task.inputs[0]),
          .b = GuardedMatrix::AllocationBytes(task.inputs[1]),
          .c = GuardedMatrix::AllocationBytes(task.output),
          .reference = uint64_t(task.output.ElementCount()) * sizeof(float)};
}

std::vector<BaselineId> BaselinesOf(const ProblemMessage& problem) {
  return problem.baselines.For(problem.protocol, problem.gemm.kind.layout);
}

// Then AutoTuning is chosen there.
bool IsOnRing(const ProblemMessage& problem) { return problem.time && problem.clocks.Has(Clock::kDeviceCold); }

// Certification needs AutoTuning's errors, not its times.
TuningRace RaceFor(const ProblemMessage& problem) {
  if (problem.certify) return TuningRace::kNone;
  return problem.brief ? TuningRace::kBrief : TuningRace::kFull;
}

}  // namespace

ProblemSession::ProblemSession(const BaselineTools& tools, const ProblemMessage& problem)
    : gpu_(tools.gpu),
      harness_(tools.harness),
      gemm_(WithoutLayout(problem.gemm)),
      seed_(problem.seed),
      certify_(problem.certify),
      brief_(problem.brief),
      on_ring_(IsOnRing(problem)),
      verifier_(tools.gpu, tools.harness),
      maker_(tools, verifier_, RaceFor(problem)) {}

uint64_t ProblemSession::BytesFor(const ProblemMessage& problem) {
  const auto [a, b, c, reference] = SizesOf(problem.gemm);
  // B of each kind of inputs stored both ways, A seldom; two outputs.
  constexpr uint64_t kKinds = uint64_t(kLastInputKind) + 1;
  const uint64_t warm = kKinds * (a + 2 * b + reference) + a + 2 * c + 2 * LateInputs::BytesFor(problem.gemm);
  return IsOnRing(problem) ? warm + Ring::BytesFor(problem.gemm) : warm;
}

uint64_t ProblemSession::HeldBytes() const {
  const auto [a, b, c, reference] = SizesOf(gemm_);
  uint64_t bytes = 2 * c + references_.size() * reference;
  for (const auto& [key, matrix] : operands_) bytes += std::get<char>(key) == 'A' ? a : b;
  bytes += late_.size() * LateInputs::BytesFor(gemm_);
  return ring_ ? bytes + ring_->size_bytes() : bytes;
}

Result<std::unique_ptr<ProblemSession>> ProblemSession::Create(const BaselineTools& tools,
                                                               const ProblemMessage& problem) {
  std::unique_ptr<ProblemSession> session(new ProblemSession(tools, problem));
  const Operand output = MakeTask(problem.gemm).output;
  ASSIGN_OR_RETURN(session->output_, GuardedMatrix::Create(tools.gpu, output, true));
  ASSIGN_OR_RETURN(session->baseline_output_, GuardedMatrix::Create(tools.gpu, output, true));
  return session;
}

bool ProblemSession::Serves(const ProblemMessage& problem) const {
  return WithoutLayout(problem.gemm) == gemm_ && problem.seed == seed_ && problem.certify == certify_ &&
         problem.brief == brief_ && IsOnRing(problem) == on_ring_;
}

BlockListener ProblemSession::BlocksAs(const StepListener& on_step) {
  return [&on_step] { on_step({"CPU product"}); };
}

Status ProblemSession::Prepare(const ProblemMessage& problem, const StepListener& on_step) {
  const std::vector<InputKind> kinds =
      problem.only_baselines ? std::vector{InputKind::kNormal} : InputsOf(TestsOf(problem));
  for (InputKind kind : kinds) {
    on_step({"reference"});
    RETURN_IF_ERROR(AddInputs(kind, problem.gemm.kind.layout, on_step));
  }
  if (!problem.WantsBaselines()) return OkStatus();
  if (on_ring_) RETURN_IF_ERROR(AddToRing(problem.gemm.kind.layout));
  return AddBaselines(problem, on_step);
}

// Those that are raced, and those that the bound of a candidate's error comes from.
Status ProblemSession::AddBaselines(const ProblemMessage& problem, const StepListener& on_step) {
  for (const BaselineId& id : BaselinesOf(problem)) {
    RETURN_IF_ERROR(AddBaseline(id, on_step));
    if (problem.time) RETURN_IF_ERROR(AddGraphs(baselines_.at(id), problem));
  }
  if (problem.only_baselines || !(problem.certify || IsThorough(problem.protocol))) return OkStatus();
  for (const BaselineId& id : NvidiaBaselineIds(problem.gemm.kind.layout)) RETURN_IF_ERROR(AddBaseline(id, on_step));
  return OkStatus();
}

Status ProblemSession::AddGraphs(Baseline& baseline, const ProblemMessage& problem) {
  const Batch batch = BatchFor(problem.protocol);
  if (problem.clocks.Has(Clock::kDevice) || problem.clocks.Has(Clock::kEnergy))
    RETURN_IF_ERROR(maker_.AddGraph(baseline, batch));
  if (!on_ring_) return OkStatus();
  const Layout layout = maker_.LayoutOf(baseline.id);
  RETURN_IF_ERROR(AddToRing(layout));
  return maker_.AddColdGraph(baseline, batch, ring_->SetsFor(layout, batch));
}

Status ProblemSession::AddToRing(const Layout& layout) {
  const Gemm gemm = BaselineGemm(gemm_, layout);
  if (!ring_) {
    ASSIGN_OR_RETURN(Ring ring, Ring::Create(gpu_, harness_, gemm));
    ring_ = std::move(ring);
  }
  return ring_->Add(gemm);
}

Result<const LateInputs*> ProblemSession::LateInputsFor(const Layout& layout) {
  std::unique_ptr<LateInputs>& late = late_[layout];
  if (late == nullptr) {
    ASSIGN_OR_RETURN(late, LateInputs::Create(gpu_, harness_, BaselineGemm(gemm_, layout),
                                              inputs_.at({InputKind::kNormal, layout})));
  }
  return late.get();
}

Result<SourceOperands*> ProblemSession::OperandsForSources(const Layout& layout, const Shape& half_shape) {
  std::unique_ptr<SourceOperands>& operands = for_sources_[layout];
  if (operands == nullptr || operands->half().gemm.shape != half_shape) {
    operands.reset();
    ASSIGN_OR_RETURN(operands, SourceOperands::Create(gpu_, harness_, BaselineGemm(gemm_, layout), half_shape,
                                                      inputs_.at({InputKind::kNormal, layout})));
  }
  return operands.get();
}

// The references too: what wrote over canaries may have written over them.
Status ProblemSession::Restore(const StepListener& on_step) {
  for_sources_.clear();
  late_.clear();
  for (const auto& [key, matrix] : operands_) {
    const auto& [name, kind, order] = key;
    RETURN_IF_ERROR(matrix.PaintCanaries(gpu_));
    RETURN_IF_ERROR(FillOperand(harness_, matrix, name, kind, gemm_, seed_));
  }
  for (const auto& [key, inputs] : inputs_) {
    if (certify_ && key.first == InputKind::kNormal) {
      ASSIGN_OR_RETURN(references_.at(key.first), MakeTruth(key.first, gemm_, inputs, on_step));
      continue;
    }
    const auto [m, n, k] = gemm_.shape;
    float* const product = inputs.reference->product.as<float>();
    RETURN_IF_ERROR(harness_.Multiply(inputs.a->view(), inputs.b->view(), product, m, n, k));
  }
  RETURN_IF_ERROR(output_.PaintCanaries(gpu_));
  RETURN_IF_ERROR(baseline_output_.PaintCanaries(gpu_));
  return gpu_.Synchronize();
}

Result<const GuardedMatrix*> ProblemSession::AddOperand(char name, InputKind kind, const Gemm& gemm) {
  const bool is_a = name == 'A';
  const Order order = is_a ? gemm.kind.layout.a : gemm.kind.layout.b;
  if (auto found = operands_.find({name, kind, order}); found != operands_.end()) return &found->second;
  const Operand operand = MakeTask(gemm).inputs[is_a ? 0 : 1];
  ASSIGN_OR_RETURN(GuardedMatrix matrix, GuardedMatrix::Create(gpu_, operand, order == Order::kRow));
  RETURN_IF_ERROR(FillOperand(harness_, matrix, name, kind, gemm, seed_));
  return &operands_.emplace(std::tuple(name, kind, order), std::move(matrix)).first->second;
}

// The search's truth is the f64 product on the GPU, the certificate's the CPU's. Only inputs that are judged by bounds
// need the CPU's product; everything else is exact.
Result<Reference> ProblemSession::MakeTruth(InputKind kind, const Gemm& gemm, const Inputs& inputs,
                                            const StepListener& on_step) {
  if (certify_ && kind == InputKind::kNormal)
    return MakeReferenceOnCpu(gpu_, harness_, gemm, *inputs.a, *inputs.b, kind, BlocksAs(on_step));
  return MakeReference(gpu_, harness_, gemm, *inputs.a, *inputs.b, kind);
}

Status ProblemSession::AddInputs(InputKind kind, const Layout& layout, const StepListener& on_step) {
  if (inputs_.contains({kind, layout})) return OkStatus();
  const Gemm gemm = BaselineGemm(gemm_, layout);
  Inputs inputs;
  inputs.kind = kind;
  ASSIGN_OR_RETURN(inputs.a, AddOperand('A', kind, gemm));
  ASSIGN_OR_RETURN(inputs.b, AddOperand('B', kind, gemm));
  if (!references_.contains(kind)) {
    ASSIGN_OR_RETURN(Reference reference, MakeTruth(kind, gemm, inputs, on_step));
    references_.emplace(kind, std::move(reference));
  }
  inputs.reference = &references_.at(kind);
  RETURN_IF_ERROR(harness_.ResetReport());
  RETURN_IF_ERROR(harness_.Inspect({.a = inputs.a, .b = inputs.b}));
  ASSIGN_OR_RETURN(const HarnessReport report, harness_.ReadReport());
  inputs.checksum_a = report.checksum_a;
  inputs.checksum_b = report.checksum_b;
  inputs_.emplace(std::pair(kind, layout), inputs);
  return OkStatus();
}

Status ProblemSession::AddBaseline(const BaselineId& id, const StepListener& on_step) {
  if (baselines_.contains(id)) return OkStatus();
  on_step({"baseline"});
  const Layout layout = maker_.LayoutOf(id);
  RETURN_IF_ERROR(AddInputs(InputKind::kNormal, layout, on_step));
  if (on_ring_) RETURN_IF_ERROR(AddToRing(layout));
  Random random = Random(seed_).Fork("baseline " + Name(id));
  ASSIGN_OR_RETURN(Baseline baseline,
                   maker_.Make(id, BaselineGemm(gemm_, layout), inputs_.at({InputKind::kNormal, layout}),
                               baseline_output_, ring(), random, [&] { on_step({"baseline"}); }));
  if (certify_ && baseline.usable) {
    ASSIGN_OR_RETURN(const CpuComparison comparison,
                     CompareOnCpu(gpu_, harness_, gemm_.shape, baseline_output_, references_.at(InputKind::kNormal),
                                  {.fixed = std::numeric_limits<float>::infinity()}, BlocksAs(on_step)));
    baseline.max_abs_error = comparison.max_abs_error;
  }
  baselines_.emplace(id, std::move(baseline));
  return OkStatus();
}

TestSetup ProblemSession::TestSetupFor(const ProblemMessage& problem, const StepListener& on_step) const {
  const auto inputs = [&](InputKind kind) {
    const auto found = inputs_.find({kind, problem.gemm.kind.layout});
    return found == inputs_.end() ? nullptr : &found->second;
  };
  TestSetup setup;
  setup.gemm = problem.gemm;
  setup.tests = TestsOf(problem);
  for (size_t kind = 0; kind < setup.inputs.size(); ++kind) setup.inputs[kind] = inputs(InputKind(kind));
  setup.normal = &setup.Of(InputKind::kNormal);
  setup.output = &output_;
  setup.is_untimed = !problem.time;
  if (certify_)
    setup.compare_on_cpu = [this, &on_step](const Acceptance& acceptance) {
      return CompareOnCpu(gpu_, harness_, gemm_.shape, output_, references_.at(InputKind::kNormal), acceptance,
                          BlocksAs(on_step));
    };
  if (!problem.WantsBaselines()) return setup;
  for (const BaselineId& id : NvidiaBaselineIds(problem.gemm.kind.layout))
    if (const auto found = baselines_.find(id); found != baselines_.end() && found->second.usable)
      setup.baseline_max_abs_error = std::max(setup.baseline_max_abs_error, found->second.max_abs_error);
  return setup;
}

std::vector<const Inputs*> ProblemSession::NormalInputs() const {
  std::vector<const Inputs*> normal;
  for (const auto& [key, inputs] : inputs_)
    if (key.first == InputKind::kNormal) normal.push_back(&inputs);
  return normal;
}

std::vector<const Baseline*> ProblemSession::BaselinesFor(const ProblemMessage& problem) const {
  std::vector<const Baseline*> baselines;
  for (const BaselineId& id : BaselinesOf(problem))
    if (const Baseline& baseline = baselines_.at(id); baseline.usable) baselines.push_back(&baseline);
  return baselines;
}

Status ProblemSession::WithdrawUntidyBaselines(const ProblemMessage& problem, std::span<const std::string> faults,
                                               std::span<Outcome* const> outcomes) {
  size_t raced = 0;
  for (const BaselineId& id : BaselinesOf(problem)) {
    Baseline& baseline = baselines_.at(id);
    if (!baseline.usable) continue;
    std::string reason = faults[raced++];
    if (reason.empty() && baseline.workspace != nullptr) {
      const GuardedWorkspace* const workspace = baseline.workspace.get();
      ASSIGN_OR_RETURN(reason, verifier_.LookAtWorkspaces({&workspace, 1}));
    }
    if (reason.empty()) continue;
    baseline.usable = false;
    baseline.description += fmt::format(", refused after its race: {}", reason);
    for (Outcome* const outcome : outcomes) {
      outcome->Withdraw(Name(id));
      outcome->baseline_algorithms = BaselineAlgorithms(problem);
    }
  }
  return OkStatus();
}

std::vector<std::pair<std::string, std::string>> ProblemSession::BaselineAlgorithms(
    const ProblemMessage& problem) const {
  std::vector<std::pair<std::string, std::string>> algorithms;
  for (const BaselineId& id : BaselinesOf(problem)) algorithms.emplace_back(Name(id), baselines_.at(id).description);
  return algorithms;
}

}  // namespace gemmsmith
