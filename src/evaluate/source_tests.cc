// The tests of a source's judgement: those of plans, and those that only a source is put to.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "evaluate/source_exchange.h"

namespace gemmsmith {

namespace {

constexpr const char* kByAGraph = " (in a call that a graph makes)";
constexpr uint32_t kChangedCalls = 12, kSecondSeedCalls = 16;

Shape HalfOf(const Shape& shape) {
  return {std::max(1, shape.m / 2), std::max(1, shape.n / 2), std::max(1, shape.k / 2)};
}

}  // namespace

// Those of plans: by calls of the source's host code, and once more as whatever is timed comes, by graphs captured on
// another stream.
Status SourceExchange::TestAsPlans() {
  for (const uint32_t replays : {0, 1}) {
    if (has_ended()) break;
    ASSIGN_OR_RETURN(TestResult tested, TestAsPlans(replays));
    if (tested.ended) End(*tested.ended, StageOf(*tested.ended), tested.reason + (replays > 0 ? kByAGraph : ""));
    if (replays == 0 || tested.ended) tested_ = std::move(tested);
  }
  if (has_ended()) outcome_->verdict = tested_.verdict;
  return OkStatus();
}

// Each in buffers drawn at random, into which its inputs come just before.
Result<TestResult> SourceExchange::TestAsPlans(uint32_t replays) {
  TestSetup setup = setup_;
  std::array<Inputs, std::tuple_size_v<decltype(setup.inputs)>> guest_inputs;
  std::map<const Inputs*, const Inputs*> originals;
  for (size_t kind = 0; kind < guest_inputs.size(); ++kind) {
    if (setup_.inputs[kind] == nullptr) continue;
    setup.inputs[kind] = &guest_inputs[kind];
    originals[&guest_inputs[kind]] = setup_.inputs[kind];
  }
  setup.normal = setup.inputs[size_t(InputKind::kNormal)];
  const auto choose_set = [&] {
    ChooseSet();
    for (size_t kind = 0; kind < guest_inputs.size(); ++kind)
      if (setup_.inputs[kind] != nullptr) guest_inputs[kind] = GuestInputs(*setup_.inputs[kind]);
    setup.output = &present_c();
  };
  setup.workspace = &workspace_;
  setup.chainable = false;
  setup.deterministic = false;
  // The CPU looks at the session's output, once: it takes its time.
  if (replays > 0) setup.compare_on_cpu = nullptr;
  if (setup.compare_on_cpu)
    setup.compare_on_cpu = [&](const Acceptance& acceptance) -> Result<CpuComparison> {
      RETURN_IF_ERROR(session_.output().CopyFrom(tools_.gpu, present_c()));
      return setup_.compare_on_cpu(acceptance);
    };
  choose_set();
  const PutGemm put = [&](const Inputs& inputs, Chaining) -> Status {
    RETURN_IF_ERROR(CopyIn(*originals.at(&inputs)));
    RETURN_IF_ERROR(tools_.gpu.Synchronize());
    const std::optional<GuestAnswer> answer = Ask(CallFor(GuestWork::kCalls, 1, replays));
    RETURN_IF_ERROR(LookAtIdleSet());
    if (has_ended()) return IoError(outcome_->reason);
    if (replays == 0) busy_afterwards_ns_.push_back(std::max(0.0, answer->device_ns - answer->stream_ns));
    call_ns_ = call_ns_ > 0 ? std::min(call_ns_, answer->event_ns) : answer->event_ns;
    return OkStatus();
  };
  // Each test begins with its name: the moment for other buffers.
  return TestCandidate(verifier_, setup, put, [&](std::string_view test) {
    Announce(fmt::format("test {}", test));
    choose_set();
  });
}

// A matrix is part of another one as often as it is an allocation. Not timed: it may honestly take longer.
Status SourceExchange::TestUnaligned() {
  ChooseSet();
  RETURN_IF_ERROR(Align(Alignment::kLeast));
  for (const uint32_t replays : {0, 1}) {
    if (has_ended()) break;
    RETURN_IF_ERROR(RunBatch("unaligned", CallFor(GuestWork::kCalls, 1, replays)).status());
    if (has_ended())
      outcome_->reason +=
          fmt::format(" (with matrices that begin at odd multiples of 16 bytes){}", replays > 0 ? kByAGraph : "");
  }
  return Align(Alignment::kAsAllocated);
}

bool SourceExchange::Passes(std::string_view test, const Watched& watched) {
  if (has_ended()) return false;
  Conclude(test, watched, tested_);
  if (!tested_.ended) return true;
  End(*tested_.ended, StageOf(*tested_.ended), tested_.reason);
  return false;
}

void SourceExchange::Refute(std::string_view test, const std::string& wrong) {
  tested_.verdict.passed = false;
  tested_.verdict.test = test;
  tested_.verdict.explanation = wrong;
  End(OutcomeKind::kWrong, StageOf(OutcomeKind::kWrong), fmt::format("test {}: {}", test, wrong));
}

// An element that a disturbance reached is made of larger sums than the largest before.
Acceptance SourceExchange::DisturbedAcceptance() const {
  constexpr double kReach = 200;
  return AcceptanceOf(InputKind::kNormal, gemm_, setup_.normal->reference->largest + kReach);
}

Status SourceExchange::JudgeDisturbed(std::string_view test, const Inputs& inputs, uint32_t calls) {
  if (has_ended() || calls == 0) return OkStatus();
  ASSIGN_OR_RETURN(const std::vector<DisturbedAnswer> answers,
                   disturbances_.Collect(inputs, gemm_.shape.k, disturbance_memory_.address(), calls));
  const std::string wrong = WrongAnswer(answers, DisturbedAcceptance());
  if (!wrong.empty()) Refute(test, wrong);
  return OkStatus();
}

// Fewer calls where they are so long that many would pass for a hang.
uint32_t SourceExchange::AtMost(uint32_t calls) const {
  constexpr double kNs = 2e9;
  return std::clamp(uint32_t(std::min(kNs / std::max(call_ns_, 1.0), 1e6)), uint32_t{2}, calls);
}

// The same addresses and nearly the same content, call after call: an answer kept from the last one is a wrong one.
Status SourceExchange::TestChangedInputs() {
  return RunBatch("changed_inputs", CallFor(GuestWork::kDisturbedCalls, AtMost(kChangedCalls), 0)).status();
}

// Inputs that nobody can have seen, made in place; the judge multiplies what is there, once it is known to be unharmed.
Status SourceExchange::TestSecondSeed() {
  Announce("test second_seed");
  ChooseSet();
  RETURN_IF_ERROR(ClearIdleSet());
  Set& set = sets_[present_set_];
  set.loaded = nullptr;
  const uint64_t seed = random_.Next();
  RETURN_IF_ERROR(FillOperand(tools_.harness, present_a(), 'A', InputKind::kNormal, gemm_, seed));
  RETURN_IF_ERROR(FillOperand(tools_.harness, present_b(), 'B', InputKind::kNormal, gemm_, seed));
  Inputs fresh = GuestInputs(*setup_.normal);
  RETURN_IF_ERROR(tools_.harness.ResetReport());
  RETURN_IF_ERROR(tools_.harness.Inspect({.a = fresh.a, .b = fresh.b}));
  ASSIGN_OR_RETURN(const HarnessReport before, tools_.harness.ReadReport());
  fresh.checksum_a = before.checksum_a;
  fresh.checksum_b = before.checksum_b;
  RETURN_IF_ERROR(tools_.harness.Poison(present_c().view()));
  const uint32_t calls = AtMost(kSecondSeedCalls);
  RETURN_IF_ERROR(tools_.gpu.Synchronize());
  GuestCall call = CallFor(GuestWork::kDisturbedCalls, calls, 1);
  if (!AskToCapture(call)) return OkStatus();
  // From here on no host code of the source's runs until the calls have run.
  call.key = DrawKey(random_);
  RETURN_IF_ERROR(PrepareDisturbances(calls, call.key));
  RETURN_IF_ERROR(tools_.gpu.Synchronize());
  if (!Ask(call)) return OkStatus();
  ASSIGN_OR_RETURN(const std::string damage, verifier_.LookForDamage(CallBuffersOf(fresh)));
  if (!damage.empty()) End(OutcomeKind::kCheated, "honesty", fmt::format("test second_seed: {}", damage));
  RETURN_IF_ERROR(LookAtIdleSet());
  return JudgeDisturbed("second_seed", fresh, calls);
}

// A source may refuse the other shape, but what it does with it must not show in the next call.
Status SourceExchange::TestAfterAnotherShape() {
  Announce("test after_another_shape");
  RETURN_IF_ERROR(CopyIn(*setup_.normal));
  RETURN_IF_ERROR(tools_.gpu.Synchronize());
  GuestCall other = CallFor(GuestWork::kCalls, 1, 0);
  other.shape = HalfOf(gemm_.shape);
  (void)AskLeniently(other);
  if (has_ended()) return OkStatus();
  return RunBatch("after_another_shape", CallFor(GuestWork::kCalls, 1, 0)).status();
}

// A call that does not wait for the one ahead of it multiplies what stood there before.
Status SourceExchange::TestChainedCalls() {
  Announce("test chained_calls");
  ChooseSet();
  RETURN_IF_ERROR(CopyIn(*setup_.normal));
  // Between the two stands a C in which an A fits. What the first call does not write of it is what it was.
  is_idle_set_clear_ = false;
  RETURN_IF_ERROR(CopyElementsOfA(idle_set().c.At(alignment_), *setup_.normal->a));
  RETURN_IF_ERROR(tools_.harness.Poison(present_c().view()));
  RETURN_IF_ERROR(tools_.gpu.Synchronize());
  const std::optional<GuestAnswer> answer = Ask(CallFor(GuestWork::kChainedCalls, 2, 1));
  if (!answer) return OkStatus();
  ASSIGN_OR_RETURN(const std::string wrong, WrongInChain());
  if (!wrong.empty()) Refute("chained_calls", wrong);
  return OkStatus();
}

Status SourceExchange::CopyElementsOfA(const GuardedMatrix& to, const GuardedMatrix& from) {
  const auto address = [](const GuardedMatrix& matrix) {
    return CUdeviceptr(reinterpret_cast<uintptr_t>(matrix.data()));
  };
  return tools_.gpu.Copy(address(to), address(from), uint64_t(MakeTask(gemm_).inputs[0].SpanBytes()));
}

Result<std::string> SourceExchange::WrongInChain() {
  // Of the largest element; what stood there before is far from it, and sums of f16 are not exact.
  const float share = gemm_.kind.accumulation == Accumulation::kF16 ? 0.3f : 0.05f;
  constexpr float kSafeInF16 = 32e3;  // products of products may leave the type
  constexpr float kAny = std::numeric_limits<float>::max();
  Gpu& gpu = tools_.gpu;
  const auto [m, n, k] = gemm_.shape;
  // As an A, which it was to the second call.
  const GuardedMatrix& between_as_a = idle_set().a.At(alignment_);
  RETURN_IF_ERROR(CopyElementsOfA(between_as_a, idle_set().c.At(alignment_)));
  ASSIGN_OR_RETURN(const DeviceMemory product, gpu.Allocate(uint64_t(m) * n * sizeof(float)));
  RETURN_IF_ERROR(tools_.harness.Multiply(between_as_a.view(), present_b().view(), product.as<float>(), m, n, k));
  RETURN_IF_ERROR(tools_.harness.ResetReport());
  RETURN_IF_ERROR(tools_.harness.Compare(present_c().view(), product.as<const float>(), {.fixed = kAny}));
  ASSIGN_OR_RETURN(const HarnessReport report, tools_.harness.ReadReport());
  const float largest = report.differences.LargestReference(), error = report.differences.MaxAbsError();
  const bool may_overflow = gemm_.kind.type == ScalarType::kF16 && std::isfinite(largest) && largest > kSafeInF16;
  // A handful of outputs may all be small by chance; what is added up to them is not.
  const float scale = std::max(largest, std::sqrt(float(k)));
  if (may_overflow || error <= share * scale) return std::string();
  return fmt::format(
      "the second of two calls did not wait for what the first one wrote: an element is off by {}, the "
      "largest is {}",
      error, largest);
}

Status SourceExchange::LookAtBehaviour() {
  if (const std::string unjoined = Unjoined(busy_afterwards_ns_); !unjoined.empty())
    End(OutcomeKind::kCheated, "honesty", unjoined);
  if (launches_.empty() && observed_calls_ > 0)
    End(OutcomeKind::kCheated, "honesty",
        fmt::format("no kernel was seen to be launched in {} calls of gemm()", observed_calls_));
  return OkStatus();
}

}  // namespace gemmsmith
