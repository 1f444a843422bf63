// The one way into the catalogue. Winners are measured again in one race with the standing entry and the baselines. The
// fastest enters if it passes every test and beats that entry beyond the noise.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "archive/archive.h"
#include "campaign/compile_ahead.h"
#include "campaign/round.h"
#include "evaluate/evaluator.h"
#include "ship/catalogue_on_disk.h"
#include "ship/challengers.h"

namespace gemmsmith {

enum class PromotionKind {
  kEntered,    // its problem had no entry
  kReplaced,   // the standing entry
  kStands,     // the standing entry does
  kWithdrawn,  // neither passed: the standing entry is gone
  kRefused     // none passed, or none could be compared; where there was an entry, that stands
};
std::string_view Name(PromotionKind kind);  // "entered", "replaced", "stands", "withdrawn", "refused"

struct Promotion {
  PromotionKind kind = PromotionKind::kRefused;
  Plan plan;           // who was decided on: the fastest challenger that passed; the first where none did
  std::string reason;  // one line: by how much, or why not
};

// As many as race in the finals of a campaign: each further one makes the race longer, and makes it likelier that luck
// wins it. Those that lose it make room for others in the next call.
inline constexpr size_t kMaxChallengers = 4;
// Layouts of one problem race together, beside one set of baselines.
static_assert(kMaxLayouts * (kMaxChallengers + 1) <= kListSize, "a race is one exchange");

// The entry that a trial of a race against AutoTuning supports. Unavailable without such a race or its interval.
Result<Entry> EntryOf(const Trial& trial);

// When a race was, as its entries say it: "2026-11-26T13:36:18.803Z".
std::string RaceMoment(int64_t unix_ms);

struct EntryDecision {
  Promotion promotion;
  std::optional<Entry> entering;
};
// On a problem's entry by the trials of its finals: the standing plan's, if there is one, and those of others, who
// challenge; all of one race, but who came into another's place when that one was refused. Where the standing plan did
// not race it stands; where it alone did, and failed, it is withdrawn. A pure function.
EntryDecision Decide(const Gemm& gemm, const std::optional<Entry>& entry, std::span<const Trial> race);
// Decides, and changes the catalogue, which is on the disk when it returns; once more with the same trials changes
// nothing.
Result<Promotion> DecideInCatalogue(CatalogueOnDisk& catalogue, const Gemm& gemm, std::span<const Trial> race);

// One evaluator's part: several may work on one catalogue, each on problems of its own.
class Promoter {
 public:
  // The catalogue is of the evaluator's device. Trials of the races go to the archive under `campaign`; it may be null.
  // threads 0: all cores compile. All of them outlive the promoter.
  Promoter(CatalogueOnDisk& catalogue, Evaluator& evaluator, Compiler& compiler, Archive* archive, std::string campaign,
           int threads = 0);

  // May be left out: these will be promoted after all that are expected already, and their kernels are compiled while
  // those race.
  void Expect(std::span<const Challenge> layouts);
  // Promotes one problem in up to kMaxLayouts layouts, as they were expected. In each layout the first challengers that
  // are not the entry race against it; without any the entry stays unmeasured. Returns as many answers, in the same
  // order. The catalogue is on disk by then. Returns a Status if the environment failed.
  std::vector<Result<Promotion>> Promote(std::span<const Challenge> layouts);

 private:
  // The plans that race for a problem in one layout: challengers, then the standing plan if there is one.
  struct Lineup {
    Gemm gemm;
    std::optional<Plan> standing;
    std::vector<Plan> challengers;
    size_t size() const { return challengers.empty() ? 0 : challengers.size() + (standing ? 1 : 0); }
  };
  // On their way to the GPU.
  struct Expected {
    size_t turn = 0;
    std::vector<Lineup> lineups;
  };

  Lineup LineupFor(const Challenge& challenge) const;
  Result<std::vector<Trial>> Race(const Expected& expected);

  CatalogueOnDisk& catalogue_;
  Evaluator& evaluator_;
  Compiler& compiler_;
  Archive* archive_;
  std::string campaign_;
  std::unique_ptr<CompileAhead> ahead_;
  std::map<Gemm, Expected> expected_;  // by the first of the layouts
  size_t next_turn_ = 0;
};

}  // namespace gemmsmith
