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

// What one campaign stored of a problem within a tenth of a second is a race. Of each problem those that are later than
// its entry's decide, one by one, as by Decide(); plans that are illegal today, or failed in a later race, have failed
// there. Only what comes of all of them is written, all at once: an entry that is slower in one race and comes back in
// another stands as it was, with its proof; one that failed and passed again enters anew. The same trials once more
// change nothing, but where an entry was withdrawn: to an empty place older races count, too. Nothing is changed where
// a Status is returned.
Result<RecordedDecisions> DecideByRecords(CatalogueOnDisk& catalogue, std::span<const Trial> trials);

}  // namespace gemmsmith
