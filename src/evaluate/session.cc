#include "evaluate/session.h"

#include <algorithm>

namespace gemmsmith {

ProblemSession::ProblemSession(Gpu& gpu, HarnessKernels& harness, Cublas& cublas,
                               const DeviceMemory& baseline_workspace, const Gemm& gemm, uint64_t seed)
    : gpu_(gpu),
      harness_(harness),
      gemm_(gemm),
      seed_(seed),
      verifier_(gpu, harness),
      library_(gpu, cublas, verifier_, baseline_workspace) {}

uint64_t ProblemSession::BytesFor(const Gemm& gemm) {
  const Task task = MakeTask(gemm);
  const uint64_t a = GuardedMatrix::AllocationBytes(task.inputs[0]), b = GuardedMatrix::AllocationBytes(task.inputs[1]);
  const uint64_t c = GuardedMatrix::AllocationBytes(task.output);
  const uint64_t reference = uint64_t(task.output.ElementCount()) * sizeof(float);
  // Three kinds of inputs, normal ones also as the baselines store them; two outputs; three references.
  return 4 * a + 5 * b + 2 * c + 3 * reference;
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

Status ProblemSession::Prepare(Protocol protocol, const StepListener& on_step) {
  const Layout& own = gemm_.kind.layout;
  std::vector<InputKind> kinds = {InputKind::kNormal, InputKind::kBinary};
  std::vector<BaselineKind> baselines = {BaselineKind::kLtAuto};
  if (protocol == Protocol::kShort) {
    kinds.push_back(InputKind::kDenseBinary);
    baselines.insert(baselines.end(), {BaselineKind::kLtHeuristic, BaselineKind::kCublas});
  }
  for (InputKind kind : kinds) {
    on_step("reference");
    RETURN_IF_ERROR(AddInputs(kind, own));
  }
  for (const Layout& layout : {kNn, kTn}) {
    RETURN_IF_ERROR(AddInputs(InputKind::kNormal, layout));
    for (BaselineKind baseline : baselines) RETURN_IF_ERROR(AddBaseline(baseline, layout, on_step));
  }
  return OkStatus();
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
    ASSIGN_OR_RETURN(Reference reference, MakeReference(gpu_, harness_, gemm, *inputs.a, *inputs.b));
    references_.emplace(kind, std::move(reference));
  }
  inputs.reference = &references_.at(kind);
  RETURN_IF_ERROR(harness_.ResetReport());
  RETURN_IF_ERROR(harness_.Checksum(inputs.a->view(), &HarnessReport::checksum_a));
  RETURN_IF_ERROR(harness_.Checksum(inputs.b->view(), &HarnessReport::checksum_b));
  ASSIGN_OR_RETURN(const HarnessReport report, harness_.ReadReport());
  inputs.checksum_a = report.checksum_a;
  inputs.checksum_b = report.checksum_b;
  inputs_.emplace(std::pair(kind, layout), inputs);
  return OkStatus();
}

Status ProblemSession::AddBaseline(BaselineKind kind, const Layout& layout, const StepListener& on_step) {
  if (baselines_.contains({kind, layout})) return OkStatus();
  on_step("baseline");
  Random random = Random(seed_).Fork(fmt::format("baseline {} {}", int(kind), Name(layout)));
  ASSIGN_OR_RETURN(Baseline baseline,
                   library_.Make(kind, BaselineGemm(gemm_, layout), inputs_.at({InputKind::kNormal, layout}),
                                 baseline_output_, random));
  baselines_.emplace(std::pair(kind, layout), std::move(baseline));
  return OkStatus();
}

TestBench ProblemSession::BenchFor(Protocol protocol) const {
  const auto inputs = [&](InputKind kind) {
    const auto found = inputs_.find({kind, gemm_.kind.layout});
    return found == inputs_.end() ? nullptr : &found->second;
  };
  TestBench bench;
  bench.gemm = gemm_;
  bench.protocol = protocol;
  bench.normal = inputs(InputKind::kNormal);
  bench.binary = inputs(InputKind::kBinary);
  bench.dense_binary = inputs(InputKind::kDenseBinary);
  bench.output = &output_;
  for (const auto& [key, baseline] : baselines_)
    if (baseline.usable) bench.baseline_max_abs_error = std::max(bench.baseline_max_abs_error, baseline.max_abs_error);
  return bench;
}

std::vector<const Baseline*> ProblemSession::RivalsFor(Protocol protocol) const {
  std::vector<const Baseline*> rivals;
  for (const auto& [key, baseline] : baselines_)
    if (baseline.usable && (protocol == Protocol::kShort || baseline.kind == BaselineKind::kLtAuto))
      rivals.push_back(&baseline);
  return rivals;
}

std::vector<std::pair<std::string, std::string>> ProblemSession::BaselineAlgorithms() const {
  std::vector<std::pair<std::string, std::string>> algorithms;
  for (const auto& [key, baseline] : baselines_) algorithms.emplace_back(baseline.name, baseline.description);
  return algorithms;
}

}  // namespace gemmsmith
