// Which records a report speaks of: those of one device, one protocol and one kind of numbers, by shape.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "archive/trial.h"

namespace gemmsmith {

// What a report's problems are made of, in either layout.
struct NumberTypes {
  ScalarType type = ScalarType::kF16;
  Accumulation accumulation = Accumulation::kF32;
  bool constant_b = false;  // promised (GemmKind): times in chains mean something else then
  bool operator==(const NumberTypes&) const = default;
};
std::string Print(const NumberTypes& number_types);  // "f16 in and out, f32 accumulation"
GemmKind KindOf(const NumberTypes& number_types);    // in any layout: for what does not depend on it

struct SelectionOptions {
  std::optional<std::vector<Shape>> shapes;  // nothing: every recorded one
  NumberTypes number_types;
  std::optional<Protocol> protocol;       // nothing: short, where anything was measured so, else the most careful
  std::optional<std::string> device_key;  // nothing: the only one
  std::optional<Clock> clock;             // only trials with a time on it
};

// The records that speak for a shape; they live as long as the trials they were selected from. Trials on the ring count
// as newer than any on repeated calls.
struct ShapeRecords {
  Shape shape;
  // Of each layout one kernel. Of one kernel the newest trial; among kernels those of the last campaign that timed any
  // on the server's clock, if one did: it decided on a catalogue's entry, beside the one that stood, and times of
  // different days are of different states of the GPU. Of these first those timed on the ring, then those timed on the
  // most clocks (chains aside, which not every kernel has), then the fastest on the leading clock.
  std::map<Layout, const Trial*> ours;
  // Of each layout the kernel that is fastest in chains, those of the ring first: not every kernel has that clock.
  std::map<Layout, const Trial*> chained;

  const std::map<Layout, const Trial*>& OursOn(Clock clock) const { return IsChained(clock) ? chained : ours; }
  const Trial* thriftiest = nullptr;  // of all kernels the one that takes the fewest joules, where any was asked
  const Trial* race = nullptr;        // the newest race of baselines alone

  // Where a library's time on this clock is looked for, in order: the race of baselines alone is nobody's occasion.
  std::vector<const Trial*> RunsOfLibraries(Clock clock) const;
};

struct Selection {
  Setting setting;  // of the newest record
  int64_t first_unix_ms = 0, last_unix_ms = 0;
  Protocol protocol = Protocol::kShort;
  NumberTypes number_types;
  Clock leading = Clock::kDevice;    // the ring where any kernel that speaks for a shape was timed on it
  std::vector<ShapeRecords> shapes;  // sorted
  int other_shapes = 0;              // recorded like these, but not asked for
};

// Packed, of these numbers: what reports speak of.
bool IsOfKind(const Trial& trial, const NumberTypes& number_types);

// Whether it is of the selection's device, numbers and shapes, in whatever protocol.
bool IsOfSelectedShape(const Trial& trial, const Selection& selection);

// NotFound with what there is where nothing remains; InvalidArgument where the records are of several devices. Packed
// problems only.
Result<Selection> SelectRecords(const std::vector<Trial>& trials, const SelectionOptions& options);

}  // namespace gemmsmith
