// The tests of an exchange's candidates.
#include "evaluate/exchange_candidate.h"
#include "evaluate/source_checks.h"

namespace gemmsmith {

Status Exchange::Load(LoadedCandidate& candidate) {
  const CandidateMessage& message = *candidate.message;
  const TestSetup& setup = *candidate.setup;
  ASSIGN_OR_RETURN(candidate.code, CandidateCall::Load(tools_.gpu, message));
  for (const Inputs* inputs : setup.inputs) {
    if (inputs == nullptr) continue;
    ASSIGN_OR_RETURN(candidate.calls[inputs],
                     Bind(candidate, {inputs->a->data(), inputs->b->data(), setup.output->data()}));
  }
  if (candidate.code->IsChainable(candidate.calls.at(setup.normal))) {
    ASSIGN_OR_RETURN(candidate.late, session_.LateInputsFor(message.layout));
    const Inputs& late = candidate.late->inputs();
    ASSIGN_OR_RETURN(candidate.calls[&late], Bind(candidate, {late.a->data(), late.b->data(), setup.output->data()}));
  }
  if (!message.other) return OkStatus();
  const Gemm& gemm = setup.gemm;
  const Gemm other{message.other->shape, gemm.kind, gemm.LeadingA(), gemm.LeadingB(), gemm.LeadingC()};
  const Inputs& normal = *setup.normal;
  ASSIGN_OR_RETURN(candidate.other,
                   candidate.code->BindOther(other, {normal.a->data(), normal.b->data(), setup.output->data()},
                                             candidate.workspace->data()));
  return OkStatus();
}

Result<CandidateCall::Bound> Exchange::Bind(LoadedCandidate& candidate, const CallAddresses& addresses) const {
  return candidate.code->Bind(candidate.setup->gemm, addresses, candidate.workspace->data());
}

Status Exchange::Put(const LoadedCandidate& candidate, const Inputs& inputs, Chaining chaining) const {
  return candidate.code->Put(candidate.calls.at(&inputs), chaining);
}

Status Exchange::Test(size_t index) {
  auto candidate = std::make_unique<LoadedCandidate>();
  candidate->index = int32_t(index);
  candidate->message = &candidates_[index];
  candidate->setup = &setups_.at(candidate->message->layout);
  candidate->outcome.protocol = problem_.protocol;
  if (problem_.WantsBaselines()) candidate->outcome.baseline_algorithms = session_.BaselineAlgorithms(problem_);
  const uint64_t workspace_bytes = candidate->message->launch.workspace_bytes;

  on_step_(StepOf("load", *candidate));
  ASSIGN_OR_RETURN(candidate->workspace, tools_.workspaces.Acquire(workspace_bytes));
  if (candidate->workspace == nullptr && candidates_.size() > 1) {
    judgements_.one_by_one = true;
    return OkStatus();
  }
  if (candidate->workspace == nullptr) {
    End(*candidate, OutcomeKind::kResourceOver, "launch",
        fmt::format("a workspace of {} bytes does not fit on the GPU", workspace_bytes));
    return OkStatus();
  }
  if (const Status loaded = Load(*candidate); !loaded.ok()) {
    End(*candidate, OutcomeKind::kLaunchFailed, "launch", loaded.message());
    return OkStatus();
  }
  RETURN_IF_ERROR(RunTests(*candidate));
  if (candidate->tested.ended) {
    EndWrongly(*candidate);
    return candidate->tested.touched_others ? Restore() : OkStatus();
  }
  passed_.push_back(std::move(candidate));
  return OkStatus();
}

Status Exchange::RunTests(LoadedCandidate& candidate) {
  TestSetup setup = *candidate.setup;
  setup.workspace = candidate.workspace;
  setup.late = candidate.late;
  setup.deterministic = !candidate.message->source && candidate.message->launch.deterministic;
  if (candidate.message->other) setup.put_other_shape = [&] { return candidate.code->Put(candidate.other); };
  const PutGemm put = [&](const Inputs& inputs, Chaining chaining) { return Put(candidate, inputs, chaining); };
  ASSIGN_OR_RETURN(candidate.tested, TestCandidate(verifier_, setup, put, [&](std::string_view test) {
                     on_step_(StepOf(fmt::format("test {}", test), candidate));
                   }));
  if (candidate.message->source && !candidate.tested.ended) RETURN_IF_ERROR(TestAsSource(candidate));
  candidate.outcome.verdict = candidate.tested.verdict;
  return OkStatus();
}

Status Exchange::TestAsSource(LoadedCandidate& candidate) {
  const CandidateMessage& message = *candidate.message;
  ASSIGN_OR_RETURN(SourceOperands* const operands,
                   session_.OperandsForSources(message.layout, message.source->half_shape));
  const SourceCheckSetup setup{tools_.harness, verifier_, message, *candidate.code, *operands};
  return CheckSource(setup, random_, candidate.tested,
                     [&](std::string_view test) { on_step_(StepOf(fmt::format("test {}", test), candidate)); });
}

}  // namespace gemmsmith
