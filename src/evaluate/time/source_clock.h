// The clock of an untrusted source: the judge's own, around batches of different length. The guest's own times must
// agree with it. All functions are pure; docs/judging_sources.md explains their use.
#pragma once

#include <span>
#include <string>

#include "problem/device_model.h"
#include "problem/gemm.h"

namespace gemmsmith {

// One batch of a guest's.
struct SourceBatch {
  int calls = 0;
  double judge_ns = 0;  // from the judge's asking to the guest's answer
  double event_ns = 0;  // between the guest's events, or what its host's clock says, or so it says
};

struct SourceTime {
  double judge_ns = 0;  // a call, by the judge's clock
  double event_ns = 0;  // a call, by the guest's events
};
// The time of a call from batches of at least two lengths. The judge's clock also counts the constant overhead of a
// batch. So the time is the median of the slopes between batches of different length.
SourceTime TimeOf(std::span<const SourceBatch> batches);
// As TimeOf(), of turns (a shorter batch, then a longer one), and no less than the longer ones say by themselves: half
// a millisecond of each may lie beside its calls, more counts as theirs. A slope is a difference, so who holds up the
// shorter batch takes it off the time of a call. What tells whether published calls take too little is timed by this.
SourceTime ProvenTimeOf(std::span<const SourceBatch> batches);
// A call of these batches by the guest's events alone.
double EventNsOf(std::span<const SourceBatch> batches);

// Each is empty, or says why the claimed time is wrong. Only the judge's clock is compared with other calls: events can
// be inflated by work that only they count.

// Whether the guest's events say less than the judge's clock, by more than 5 % and 1 us.
std::string DisagreementOfClocks(const SourceTime& time);
// Whether its events said less in the race than the judge's clock in all batches, by more than 15 % and 1 us, in the
// median or in the mean: both are published. Batches of the race have one length, so that no clock but the guest's
// tells them apart.
std::string DisagreementOfRace(const SourceTime& time, std::span<const SourceBatch> raced);
// Faster than arithmetic at a good quarter above the chip's peak, than what is beyond L2 at 8 TB/s, or than 0.3 us.
std::string Impossible(const Gemm& gemm, const Device& device, double ns);
// Whether, call after call, the device is busy after the stream is done; the shortest of such times counts.
std::string Unjoined(std::span<const double> busy_afterwards_ns);

// The excess of a call's time in one kind of batches over another, by the judge's clock. Paired batches have the same
// length, so their overhead cancels.
struct Excess {
  double ns = 0;        // median of the pairs, each weighing as much as it has calls
  double noise_ns = 0;  // its standard error, by the scatter of the pairs
};
Excess ExcessOf(std::span<const SourceBatch> longer, std::span<const SourceBatch> shorter);
// Whether calls of `call_ns` take longer behind renewals than behind rewrites of the same values, by more than 1.5 %,
// 0.3 us and the noise.
std::string DisagreementOfRenewals(std::span<const SourceBatch> renewed, std::span<const SourceBatch> sham,
                                   double call_ns);
// Whether calls that come one behind the other take less time than those with pauses between them do without these, by
// more than 18 % and 3 us. (Programmatic launches, which begin before the call ahead of them has ended, honestly save
// about 2 us; CTAs that take tiles by tickets up to 14 %, because who comes first depends on the call ahead.)
std::string DisagreementOfSpaces(const SourceTime& unspaced, const SourceTime& spaced);
// What a call takes at least, by what calls with pauses between them take without these, less what honest ones differ
// by (2 % or 1 us). A source that does less in back-to-back calls gains at most that much, and so do overlapping calls.
double LeastBySpaces(const SourceTime& spaced);
// How long a pause is, from 4 to 40 us or twice a sham step, every octave alike: a source that goes by what passes
// between calls cannot tell the one from the other. No shorter, because the host must launch what comes behind it.
uint32_t DrawPauseNs(double sham_step_ns, double uniform);
// Whether back-to-back calls take less time than calls behind rewrites of the same values, less `step_ns` each. The
// difference must exceed 30 %, 3 us and a tenth of a rewrite.
std::string DisagreementOfShams(const SourceTime& unchanged, const SourceTime& sham, double step_ns);

// Whether every turn, a shorter batch and a longer one, says alone that a call takes five times as long as in the same
// turn of the others, and 20 us and a step more: no accident of the machine, and no reason to spend time on more turns.
// `step_ns` is what lies between the slower calls.
bool IsFarSlower(std::span<const SourceBatch> slower, std::span<const SourceBatch> faster, double step_ns);

// How often a graph of `calls` is replayed for the shorter and the longer batch: drawn, so that nobody knows how long a
// batch is, with `difference_ns` of work between them, and at most `most_calls` in the longer one.
struct BatchLengths {
  int shorter = 1, longer = 2;
};
BatchLengths DrawLengths(double call_ns, int calls, double difference_ns, int most_calls, double uniform);

}  // namespace gemmsmith
