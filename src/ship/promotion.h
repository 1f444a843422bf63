// The one way into the catalogue: winners are measured again, in one race with the standing entry and the baselines,
// and the fastest enters if it passes every test and is faster than that entry beyond the noise.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "archive/archive.h"
#include "campaign/compile_ahead.h"
#include "evaluate/evaluator.h"
#include "ship/catalogue_on_disk.h"

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
inline constexpr size_t kMostChallengers = 4;

// What a trial of a race beside AutoTuning says of its plan; Unavailable where there was none.
Result<Entry> EntryOf(const Trial& trial);

// One evaluator's part: several may work on one catalogue, each on problems of its own.
class Promoter {
 public:
  // The catalogue is of the evaluator's device. Trials of the races go to the archive under `campaign`; it may be null.
  // threads 0: all cores compile. All of them outlive the promoter.
  Promoter(CatalogueOnDisk& catalogue, Evaluator& evaluator, Compiler& compiler, Archive* archive, std::string campaign,
           int threads = 0);

  // May be left out: the problem will be promoted, with these challengers, after all that are expected already, and its
  // kernels are compiled while they race.
  void Expect(const Gemm& gemm, const std::vector<Plan>& challengers);
  // Distinct plans, at least one; the first kMostChallengers that are not the entry already race together with it, and
  // where there are none it stays without being measured again. The catalogue is on the disk when it returns; a Status
  // where the world failed.
  Result<Promotion> Promote(const Gemm& gemm, const std::vector<Plan>& challengers);

 private:
  // Who races for a problem, on their way to the GPU.
  struct Lineup {
    size_t turn = 0;
    size_t challengers = 0;  // the standing one, where there is one, comes behind them
  };

  struct Decision {
    Promotion promotion;
    std::optional<Entry> entry;  // what enters
  };

  Result<std::vector<Trial>> Race(const Lineup& lineup);
  static Decision Decide(const Trial& challenger, const Trial* standing);

  CatalogueOnDisk& catalogue_;
  Evaluator& evaluator_;
  Compiler& compiler_;
  Archive* archive_;
  std::string campaign_;
  std::unique_ptr<CompileAhead> ahead_;
  std::map<Gemm, Lineup> expected_;
  size_t next_turn_ = 0;
};

}  // namespace gemmsmith
