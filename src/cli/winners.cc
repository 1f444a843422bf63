#include "cli/winners.h"

#include "cli/instrument.h"

namespace gemmsmith {

void TakeMeasured(const Trial& trial, BestPlans& best) {
  if (!IsReplayed(trial)) best.Take(trial);
}

Result<BestPlans> WinnersIn(const Archive& archive, const std::optional<std::string>& device_key) {
  BestPlans best;
  RETURN_IF_ERROR(archive.ForEach({.device_key = device_key}, [&](const Trial& trial) { TakeMeasured(trial, best); }));
  return best;
}

Result<Challengers> ChallengersIn(const Archive& archive, const std::string& device_key) {
  Challengers challengers;
  RETURN_IF_ERROR(archive.ForEach({.device_key = device_key}, [&](const Trial& trial) {
    if (!IsReplayed(trial)) challengers.Take(trial);
  }));
  return challengers;
}

}  // namespace gemmsmith
