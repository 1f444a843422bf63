#include "agents/best_kernels.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "archive/replay.h"
#include "archive/standings.h"
#include "base/text.h"
#include "program/plan.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

bool Beats(const Trial& first, const Trial& second) {
  return RankedTime::Of(first.outcome).Beats(RankedTime::Of(second.outcome));
}

Json JsonOfBest(const Trial& trial) {
  const std::optional<RatioEstimate> ratio = OverAutoTuning(trial.outcome);
  return {{"subject", Print(trial.subject)},
          {"time_us", trial.outcome.TimeNs() / 1e3},
          {"clock", Name(trial.outcome.LeadingClock())},
          {"protocol", Name(trial.outcome.protocol)},
          {"over_autotuning", ratio ? Json(ratio->median) : Json()},
          {"date", DateText(trial.unix_ms)},
          {"campaign", trial.campaign}};
}

Json JsonOfEntry(const Entry& entry, const Gemm& gemm) {
  return {{"problem", Print(entry.gemm)},
          {"is_own", entry.gemm == gemm},
          {"plan", PrintShort(entry.plan)},
          {"proof", Name(entry.proof)},
          {"time_us", entry.Deciding().ns / 1e3},
          {"clock", entry.Deciding().mode},
          {"over_autotuning", entry.Deciding().speed_up}};
}

// The best trial of each subject, the best subject first.
std::vector<Trial> BestOfSubjects(std::map<TrialSubject, Trial> by_subject) {
  std::vector<Trial> best;
  for (auto& [subject, trial] : by_subject) best.push_back(std::move(trial));
  std::sort(best.begin(), best.end(), Beats);
  return best;
}

}  // namespace

const Entry* EntryFor(const Gemm& gemm, const Device& device, const Catalogue* catalogue) {
  if (catalogue == nullptr) return nullptr;
  const Entry* const own = catalogue->Find(gemm);
  return own != nullptr ? own : catalogue->Nearest(gemm, device);
}

Result<Json> BestKernels(const Gemm& gemm, const Device& device, const Archive& archive, const Catalogue* catalogue,
                         size_t most) {
  std::map<TrialSubject, Trial> by_subject;
  RETURN_IF_ERROR(archive.ForEach({.gemm = gemm, .device_key = device.key}, [&](const Trial& trial) {
    if (!trial.outcome.IsTimed() || IsReplayed(trial)) return;
    const auto [place, is_new] = by_subject.try_emplace(trial.subject, trial);
    if (!is_new && Beats(trial, place->second)) place->second = trial;
  }));
  Json in_archive = Json::array();
  for (const Trial& trial : BestOfSubjects(std::move(by_subject)))
    if (in_archive.size() < most) in_archive.push_back(JsonOfBest(trial));
  const Entry* const entry = EntryFor(gemm, device, catalogue);
  return Json{{"problem", Print(gemm)},
              {"device", device.key},
              {"floor_us", MakeTask(gemm).ColdFloorNs(device) / 1e3},
              {"archive", std::move(in_archive)},
              {"catalogue", entry == nullptr ? Json() : JsonOfEntry(*entry, gemm)}};
}

}  // namespace gemmsmith
