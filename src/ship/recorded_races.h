// Entries decided on by races that were recorded, on whatever machine: no GPU is needed for what has raced already.
#pragma once

#include <span>

#include "archive/trial.h"
#include "ship/promotion_round.h"

namespace gemmsmith {

// Of the trials those of plans, judged as carefully as entries are, on the catalogue's device; what one campaign stored
// of a problem at one time is a race. Race by race, the earliest first, entries are decided on as by Settle(); of a
// problem the last change counts, or where there was none, the last word. Races of days before that of an entry do not
// touch it. The catalogue is on the disk when it returns, and the same trials once more change nothing. A Status where
// it cannot be written.
Result<PromotionRound> SettleByRecords(CatalogueOnDisk& catalogue, const std::string& device_key,
                                       std::span<const Trial> trials);

}  // namespace gemmsmith
