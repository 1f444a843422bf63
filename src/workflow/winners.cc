#include "workflow/winners.h"

#include <map>

#include "archive/segment.h"
#include "catalogue/catalogue.h"
#include "workflow/instrument.h"

namespace gemmsmith {

namespace {

// One architecture runs what was compiled for the other.
bool IsAlike(const std::string& device_key, const Device& device) {
  if (device_key == device.key) return true;
  const Result<Device> other = FindDevice(device_key);
  return other.ok() && other->Architecture() == device.Architecture();
}

}  // namespace

void AddMeasured(const Trial& trial, BestPlans& best) {
  if (!IsReplayed(trial)) best.Add(trial);
}

Result<BestPlans> WinnersIn(const Archive& archive, const std::optional<std::string>& device_key) {
  BestPlans best;
  RETURN_IF_ERROR(archive.ForEach({.device_key = device_key}, [&](const Trial& trial) { AddMeasured(trial, best); }));
  return best;
}

Result<Challengers> ChallengersIn(const Archive& archive, const std::string& device_key) {
  Challengers challengers;
  RETURN_IF_ERROR(archive.ForEach({.device_key = device_key}, [&](const Trial& trial) {
    if (!IsReplayed(trial)) challengers.Add(trial);
  }));
  return challengers;
}

Result<NeighbourWinners> NeighbourWinnersIn(std::span<const std::filesystem::path> sources, const Device& device) {
  NeighbourWinners winners;
  std::map<std::string, Challengers> challengers;  // by device
  for (const std::filesystem::path& path : sources) {
    if (path.extension() == ".catalogue") {
      ASSIGN_OR_RETURN(const Catalogue catalogue, Catalogue::Read(path));
      if (!IsAlike(catalogue.device_key(), device)) continue;
      for (const auto& [gemm, entry] : catalogue.entries())
        winners.Add(gemm, entry.plan, catalogue.device_key() != device.key);
      continue;
    }
    ASSIGN_OR_RETURN(const std::vector<Trial> trials, ReadRecords(path));
    for (const Trial& trial : trials)
      if (IsAlike(trial.setting.device_key, device) && !IsReplayed(trial))
        challengers[trial.setting.device_key].Add(trial);
  }
  for (const auto& [device_key, of_device] : challengers)
    for (const Challenge& challenge : of_device.All())
      for (const Plan& plan : challenge.plans) winners.Add(challenge.gemm, plan, device_key != device.key);
  return winners;
}

}  // namespace gemmsmith
