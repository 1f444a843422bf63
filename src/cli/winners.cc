#include "cli/winners.h"

#include "archive/segment.h"
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

Result<NeighbourWinners> NeighbourWinnersIn(std::span<const std::filesystem::path> records,
                                            const std::string& device_key) {
  Challengers challengers;
  for (const std::filesystem::path& path : records) {
    ASSIGN_OR_RETURN(const std::vector<Trial> trials, ReadRecords(path));
    for (const Trial& trial : trials)
      if (trial.setting.device_key == device_key && !IsReplayed(trial)) challengers.Take(trial);
  }
  NeighbourWinners winners;
  for (const Challenge& challenge : challengers.All())
    for (const Plan& plan : challenge.plans) winners.Add(challenge.gemm, plan);
  return winners;
}

}  // namespace gemmsmith
