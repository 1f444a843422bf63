// One free-form source for a prepared problem: run by a guest, tested and timed by the judge, believed in nothing.
// docs/judging_sources.md says what is done and why.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "evaluate/gpu_tools.h"
#include "evaluate/isolate/disturbance.h"
#include "evaluate/isolate/guest_process.h"
#include "evaluate/session.h"
#include "evaluate/time/call_clocks.h"
#include "evaluate/time/source_clock.h"
#include "gpu/shared_memory.h"

namespace gemmsmith {

// The alignment of a source's matrices: as an allocator places them, which is what is timed, or an odd multiple of 16
// bytes, which is all that the contract promises.
enum class Alignment { kAsAllocated, kLeast };
inline constexpr std::array kAlignments = {Alignment::kAsAllocated, Alignment::kLeast};
// The offset of a matrix in its guarded allocation. A and B end with their memory, but for the alignment, so that a
// read behind them faults. C is followed by canaries.
uint64_t OffsetOfMatrix(Alignment alignment, bool is_input, uint64_t allocated_bytes, uint64_t matrix_bytes);

class SourceExchange {
 public:
  // GPU memory of an exchange besides its session, in judge and guest.
  static uint64_t BytesFor(const Gemm& gemm);
  // All outlive it; the session is prepared for the problem, the candidate is an object.
  SourceExchange(const GpuTools& tools, DisturbanceJudge& disturbances, ProblemSession& session,
                 const ProblemMessage& problem, const CandidateMessage& candidate, const StepListener& on_step);
  ~SourceExchange();

  // Once. A Status only where the harness or the machine failed.
  Result<Judgements> Run();

 private:
  struct SharedMatrix {
    SharedMemory memory;
    std::array<GuardedMatrix, kAlignments.size()> aligned;
    GuardedMatrix idle;  // the same memory while no call is given it
    const GuardedMatrix& At(Alignment alignment) const { return aligned[size_t(alignment)]; }
  };
  struct Set {
    SharedMatrix a, b, c;
    const Inputs* loaded = nullptr;  // what A and B hold, as far as the judge knows
  };

  void Announce(std::string_view step);
  // The outcome from here on; the first one counts.
  void End(OutcomeKind kind, std::string_view stage, std::string reason);
  bool has_ended() const { return outcome_.has_value(); }

  Status Share();
  // In so many bytes or a few more.
  Result<SharedMatrix> ShareMatrix(const Operand& operand, bool lines_are_rows, bool is_input, uint64_t least_bytes);
  static BufferSet BuffersOf(const Set& set, Alignment alignment);
  Result<GuestProcess> StartGuest(bool counts);
  Status OpenGuest();
  // Nothing where that has ended the candidate.
  std::optional<GuestAnswer> Ask(const GuestCall& call);
  std::optional<GuestAnswer> AskLeniently(const GuestCall& call);
  // While the source's host code runs, the guest has no key.
  std::optional<GuestAnswer> AskToCapture(GuestCall call);
  void Note(const GuestAnswer& answer);

  // Draws the set that the next calls are given.
  void ChooseSet();
  void ChangeSet();  // to the other one
  // Private inputs into the buffers of the present set.
  Status CopyIn(const Inputs& inputs);
  // Nothing but canaries in the set that is not the present one: there a source could keep what it likes.
  Status ClearIdleSet();
  // Ends the candidate where any of them is gone.
  Status LookAtIdleSet();
  // The matrices of the present set; they are not loaded yet afterwards.
  Status Align(Alignment alignment);
  // The same inputs where the guest sees them.
  Inputs GuestInputs(const Inputs& inputs) const;
  CallBuffers CallBuffersOf(const Inputs& guest_inputs) const { return {&guest_inputs, &present_c(), &workspace_}; }
  const Set& set() const { return sets_[present_set_]; }
  const GuardedMatrix& present_a() const { return set().a.At(alignment_); }
  const GuardedMatrix& present_b() const { return set().b.At(alignment_); }
  const GuardedMatrix& present_c() const { return set().c.At(alignment_); }
  Set& idle_set() { return sets_[1 - present_set_]; }
  GuestCall CallFor(GuestWork work, uint32_t calls, uint32_t replays, int twin = 0) const;

  Status TestAsPlans();
  Result<TestResult> TestAsPlans(uint32_t replays);
  Status TestUnaligned();
  uint32_t AtMost(uint32_t calls) const;
  Status TestSecondSeed();
  Status TestAfterAnotherShape();
  Status TestChainedCalls();
  // As many elements as A has, between memories that hold as many.
  Status CopyElementsOfA(const GuardedMatrix& to, const GuardedMatrix& from);
  // Checks the output of the second of two chained calls against the first one's output in the idle set. Empty if it is
  // right.
  Result<std::string> WrongInChain();
  Status TestChangedInputs();
  Status LookAtBehaviour();
  // Ends the candidate where a watched call was wrong or touched what it must not.
  bool Passes(std::string_view test, const Watched& watched);
  // Ends the candidate as wrong.
  void Refute(std::string_view test, const std::string& wrong);
  Acceptance DisturbedAcceptance() const;
  // By what was set aside behind the first of these calls.
  Status JudgeDisturbed(std::string_view test, const Inputs& inputs, uint32_t calls);

  // One batch on the present set, and a look at everything behind it. Without meaning where it has ended the candidate.
  Result<SourceBatch> RunBatch(std::string_view test, GuestCall call, double gap_seconds = 0);
  // The guest's answer to a call that follows a gap in which the GPU was idle.
  Status AskInTime(const GuestCall& call, double gap_seconds, SourceBatch& batch);
  // Graphs of one and the same call, in thorough protocols more than one (DeviceClock says why), that alternate.
  int Twins() const;
  struct TimedWork {
    GuestWork work;
    std::vector<SourceBatch> batches;
  };
  using TimedWorks = std::array<TimedWork, 4>;
  // Plain calls are counted in graphs of many, the others one by one: nobody shall know how many calls there will be.
  struct Length {
    int graphs = 1;
    uint32_t calls = 1;
  };
  // The pause between spaced calls. It is drawn anew each round, so that a source cannot tell it from a sham step.
  struct Pause {
    uint32_t asked_ns = 0;
    double ns = 0;  // what it takes in the judge, whose clock nobody can stretch
  };
  struct Round {
    std::array<Length, 2> lengths;  // a shorter and a longer one
    Pause pause;
  };
  Result<Round> DrawRound();
  // The works alternate, so that none of them finds a warmer GPU; batches of the same place have the same length.
  Status TimeOneRound(std::span<TimedWork> works, int twin);
  Status WarmUpAll(const TimedWorks& works);
  Status WarmUp(GuestWork work, int twin);
  Result<SourceBatch> RunTimedBatch(GuestWork work, const Length& length, const Pause& pause, int twin);
  Status EstimateCall();
  // A disagreement between calls that differ only in the work between them. It is obvious if few rounds show it.
  struct Look {
    std::string disagreement;
    bool is_obvious = false;
  };
  Result<Look> TimeEveryKind();  // in the present set
  static const std::vector<SourceBatch>& BatchesOf(GuestWork work, const TimedWorks& works);
  bool AreFarApart(const TimedWorks& works) const;
  std::string DisagreementOf(const TimedWorks& works);
  Status TimeAlone();
  // Steps for so many calls on what the present set holds.
  Status PrepareDisturbances(uint32_t calls, const DisturbanceKey& key);
  // The private inputs in the present set, and renewals that begin with them and end with them behind so many calls.
  Status PrepareRenewals(size_t calls, const DisturbanceKey& key);
  // So many calls behind renewals, each of which finds other inputs and a poisoned output; or behind sham ones, where
  // nothing has changed.
  Result<SourceBatch> RunRenewedBatch(GuestWork work, uint32_t calls, int twin);
  // The same behind pauses, which its time is without.
  Result<SourceBatch> RunSpacedBatch(uint32_t calls, const Pause& pause, int twin);
  // A batch of what is captured call by call, watched: what stands in its way ends the candidate.
  Result<SourceBatch> RunCallByCall(std::string_view test, const GuestCall& call);
  Result<Pause> DrawPause();
  // In the judge.
  Result<double> TimeShamStep();
  Result<double> TimeBetweenCalls(int count, const PutCall& put);
  // Whether the guest's events say less than the judge's clock in further rounds, if they did so in earlier ones.
  Result<std::string> DisagreementInFurtherRounds();
  Status TimeAgainstBaselines();
  Status RunRace(Clock clock);
  Result<double> TimeOurs(Clock clock);
  void AddTimings(Clock clock, const RaceResult& race);
  // Reads the counters of a source that passed, at the end and in a guest of their own. The rest of the outcome is
  // final by then.
  void ReadCounters();
  Result<Counters> CountCall();

  const GpuTools tools_;
  DisturbanceJudge& disturbances_;
  ProblemSession& session_;
  const ProblemMessage& problem_;
  const CandidateMessage& candidate_;
  const StepListener& on_step_;
  const TestSetup setup_;
  const Gemm gemm_;
  Verifier verifier_;
  Random random_;
  std::vector<const Baseline*> baselines_;

  // The guest goes before what it maps.
  std::vector<Set> sets_;
  SharedMemory workspace_memory_, disturbance_memory_;
  GuardedWorkspace workspace_;
  std::optional<GuestProcess> guest_;
  size_t present_set_ = 0;
  Alignment alignment_ = Alignment::kAsAllocated;
  bool is_idle_set_clear_ = false;

  TestResult tested_;
  std::vector<double> busy_afterwards_ns_;
  std::map<std::string, double> launches_;
  uint64_t observed_calls_ = 0;
  double call_ns_ = 0;  // roughly
  double sham_step_ns_ = 0;
  int graph_calls_ = 1;
  std::vector<SourceBatch> batches_;  // on unchanged inputs
  int raced_batches_ = 0;
  double least_ns_ = 0;      // a call, by calls with pauses between them, and by all of a look that differed
  int first_twin_ = 0;       // of the graphs of this look
  double published_ns_ = 0;  // a call of many
  Gaps gaps_;
  Outcome timed_;  // what is known so far
  std::optional<Outcome> outcome_;
};

}  // namespace gemmsmith
