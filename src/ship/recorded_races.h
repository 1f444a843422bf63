// Entries decided on by races that were recorded, on whatever machine: no GPU is needed for what has raced already.
#pragma once

#include <span>

#include "archive/trial.h"
#include "ship/catalogue_on_disk.h"
#include "ship/promotion_round.h"

namespace gemmsmith {

struct RecordedDecisions {
  PromotionRound round;       // of each problem with a race that counted: what became of it in the end
  size_t races = 0;           // of the catalogue's device, of the short or long protocol
  size_t known = 0;           // not later than the entry's own
  size_t without_entry = 0;   // in which the entry did not race
  size_t of_older_clock = 0;  // of repeated calls, where the entry's race was on the ring
};

// A race is all that one campaign stored of a problem within a tenth of a second.
// The races of a problem later than its entry's decide one by one, as by Decide(). A plan that is illegal today, or
// failed in a later race, has failed in all.
// Only the end of all decisions is written, at once. An entry that lost one race and won another stands as it was, with
// its proof. An entry that failed and passed again enters anew.
// The same trials once more change nothing, but where an entry was withdrawn: older races count for an empty place.
// Nothing is changed where a Status is returned.
Result<RecordedDecisions> DecideByRecords(CatalogueOnDisk& catalogue, std::span<const Trial> trials);

}  // namespace gemmsmith
