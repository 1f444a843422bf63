#include "evaluate/session.h"

#include <algorithm>

namespace gemmsmith {

namespace {

// What all layouts of a problem have in common.
Gemm WithoutLayout(const Gemm& gemm) {
  Gemm common = gemm;
  if (gemm.lda == 0 && gemm.ldb == 0) common.kind.layout = kTn;
  return common;
}

std::vector<TestPlan> TestsOf(const ProblemMessage& problem) {
  return TestsFor(problem.gemm, problem.WantsEverything(), problem.tests);
}

}  // namespace

Batch BatchFor(Protocol protocol) { return IsThorough(protocol) ? Batch::kLong : Batch::kBrief; }

ProblemSession::ProblemSession(Gpu& gpu, HarnessKernels& harness, Cublas& cublas,
                               const DeviceMemory& baseline_workspace, const Gemm& gemm, uint64_t seed)
    : gpu_(gpu),
      harness_(harness),
      gemm_(WithoutLayout(gemm)),
      seed_(seed),
      verifier_(gpu, harness),
      library_(gpu, harness, cublas, verifier_, baseline_workspace) {}

uint64_t ProblemSession::BytesFor(const Gemm& gemm) {
  const Task task = MakeTask(gemm);
  const uint64_t a = GuardedMatrix::AllocationBytes(task.inputs[0]), b = GuardedMatrix::AllocationBytes(task.inputs[1]);
  const uint64_t c = GuardedMatrix::AllocationBytes(task.output);
  const uint64_t reference = uint64_t(task.output.ElementCount()) * sizeof(float);
  // B of each kind of inputs stored both ways, A seldom; two outputs.
  constexpr uint64_t kKinds = uint64_t(kLastInputKind) + 1;
  return kKinds * (a + 2 * b + reference) + a + 2 * c;
}

Result<std::unique_ptr<ProblemSession>> ProblemSession::Create(Gpu& gpu, HarnessKernels& harness, Cublas& cublas,
                                                               const DeviceMemory& baseline_workspace, const Gemm& gemm,
                                                               uint64_t seed) {
  std::unique_ptr<ProblemSession> session(new ProblemSession(gpu, harness, cublas, baseline_workspace, gemm, seed));
  const Operand output = MakeTask(gemm).output;
  ASSIGN_OR_RETURN(session->output_, GuardedMatrix::Create(gpu, output, true));
  ASSIGN_OR_RETURN(session->baseline_output_, GuardedMatrix::Create(gpu, output, true));
  return session;
}

bool ProblemSession::Serves(const Gemm& gemm, uint64_t seed) const {
  return WithoutLayout(gemm) == gemm_ && seed == seed_;
}

Status ProblemSession::Prepare(const ProblemMessage& problem, const StepListener& on_step) {
  for (InputKind kind : InputsOf(TestsOf(problem))) {
    on_step({"reference"});
    RETURN_IF_ERROR(AddInputs(kind, problem.gemm.kind.layout));
  }
  return problem.WantsBaselines() ? AddBaselines(problem.protocol, on_step) : OkStatus();
}

Status ProblemSession::AddBaselines(Protocol protocol, const StepListener& on_step) {
  std::vector<BaselineKind> kinds = {BaselineKind::kLtAuto};
  if (IsThorough(protocol)) kinds.insert(kinds.end(), {BaselineKind::kLtHeuristic, BaselineKind::kCublas});
  for (const Layout& layout : {kNn, kTn}) {
    RETURN_IF_ERROR(AddInputs(InputKind::kNormal, layout));
    for (BaselineKind kind : kinds) {
      RETURN_IF_ERROR(AddBaseline(kind, layout, on_step));
      RETURN_IF_ERROR(library_.AddGraph(baselines_.at({kind, layout}), BatchFor(protocol)));
    }
  }
  return OkStatus();
}

// The references too: what wrote over canaries may have written over them.
Status ProblemSession::Restore() {
  for (const auto& [key, matrix] : operands_) {
    const auto& [name, kind, order] = key;
    RETURN_IF_ERROR(matrix.PaintCanaries(gpu_));
    RETURN_IF_ERROR(FillOperand(harness_, matrix, name, kind, gemm_, seed_));
  }
  for (const auto& [key, inputs] : inputs_) {
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

Status ProblemSession::AddInputs(InputKind kind, const Layout& layout) {
  if (inputs_.contains({kind, layout})) return OkStatus();
  const Gemm gemm = BaselineGemm(gemm_, layout);
  Inputs inputs;
  inputs.kind = kind;
  ASSIGN_OR_RETURN(inputs.a, AddOperand('A', kind, gemm));
  ASSIGN_OR_RETURN(inputs.b, AddOperand('B', kind, gemm));
  if (!references_.contains(kind)) {
    ASSIGN_OR_RETURN(Reference reference, MakeReference(gpu_, harness_, gemm, *inputs.a, *inputs.b, kind));
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

Status ProblemSession::AddBaseline(BaselineKind kind, const Layout& layout, const StepListener& on_step) {
  if (baselines_.contains({kind, layout})) return OkStatus();
  on_step({"baseline"});
  Random random = Random(seed_).Fork(fmt::format("baseline {} {}", int(kind), Name(layout)));
  ASSIGN_OR_RETURN(Baseline baseline,
                   library_.Make(kind, BaselineGemm(gemm_, layout), inputs_.at({InputKind::kNormal, layout}),
                                 baseline_output_, random));
  baselines_.emplace(std::pair(kind, layout), std::move(baseline));
  return OkStatus();
}

TestBench ProblemSession::BenchFor(const ProblemMessage& problem) const {
  const auto inputs = [&](InputKind kind) {
    const auto found = inputs_.find({kind, problem.gemm.kind.layout});
    return found == inputs_.end() ? nullptr : &found->second;
  };
  TestBench bench;
  bench.gemm = problem.gemm;
  bench.tests = TestsOf(problem);
  for (size_t kind = 0; kind < bench.inputs.size(); ++kind) bench.inputs[kind] = inputs(InputKind(kind));
  bench.normal = &bench.Of(InputKind::kNormal);
  bench.output = &output_;
  bench.keeps_records = !problem.time;
  if (!problem.WantsBaselines()) return bench;
  for (const auto& [key, baseline] : baselines_)
    if (baseline.usable) bench.baseline_max_abs_error = std::max(bench.baseline_max_abs_error, baseline.max_abs_error);
  return bench;
}

std::vector<const Baseline*> ProblemSession::RivalsFor(const ProblemMessage& problem) const {
  std::vector<const Baseline*> rivals;
  for (const auto& [key, baseline] : baselines_)
    if (baseline.usable && (IsThorough(problem.protocol) || baseline.kind == BaselineKind::kLtAuto))
      rivals.push_back(&baseline);
  return rivals;
}

std::vector<std::pair<std::string, std::string>> ProblemSession::BaselineAlgorithms() const {
  std::vector<std::pair<std::string, std::string>> algorithms;
  for (const auto& [key, baseline] : baselines_) algorithms.emplace_back(baseline.name, baseline.description);
  return algorithms;
}

}  // namespace gemmsmith
