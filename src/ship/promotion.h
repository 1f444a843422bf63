// The one way into the catalogue: a winner is measured again, in one race with the standing entry and the baselines,
// and enters if it passes every test and is faster beyond the noise.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "archive/archive.h"
#include "base/files.h"
#include "catalogue/catalogue.h"
#include "evaluate/evaluator.h"

namespace gemmsmith {

enum class PromotionKind {
  kEntered,    // its problem had no entry
  kReplaced,   // the standing entry
  kStands,     // the standing entry does
  kWithdrawn,  // neither passed: the standing entry is gone
  kRefused     // it did not pass, or could not be compared; where there was an entry, that stands
};
std::string_view Name(PromotionKind kind);  // "entered", "replaced", "stands", "withdrawn", "refused"

struct Promotion {
  PromotionKind kind = PromotionKind::kRefused;
  std::string reason;  // one line: by how much, or why not
};

// What a trial of a race beside AutoTuning says of its plan; Unavailable where there was none.
Result<Entry> EntryOf(const Trial& trial);

class Promoter {
 public:
  // Goes on with the catalogue at `path`, or begins one there, and keeps everybody else from writing it for as long as
  // it lives. InvalidArgument where it is of another device than the evaluator's. Trials of the races go to the archive
  // under `campaign`; it may be null. All of them outlive the promoter.
  static Result<Promoter> Open(std::filesystem::path path, Evaluator& evaluator, Compiler& compiler, Archive* archive,
                               std::string campaign);

  const Catalogue& catalogue() const { return catalogue_; }
  // A plan that stands already stays without being measured again. The catalogue is on the disk when it returns; a
  // Status where the world failed.
  Result<Promotion> Promote(const Gemm& gemm, const Plan& winner);

 private:
  Promoter(std::filesystem::path path, FileLock lock, Catalogue catalogue, Evaluator& evaluator, Compiler& compiler,
           Archive* archive, std::string campaign);

  Result<std::vector<Trial>> Race(const Gemm& gemm, const std::vector<Plan>& plans);
  Promotion Decide(const Trial& winner, const Trial* standing);

  std::filesystem::path path_;
  FileLock lock_;
  Catalogue catalogue_;
  Evaluator& evaluator_;
  Compiler& compiler_;
  Archive* archive_;
  std::string campaign_;
};

}  // namespace gemmsmith
