#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "archive/replay.h"
#include "archive/segment.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/text.h"

namespace gemmsmith {
namespace {

// One value, one key: a leading dimension that says "packed" becomes 0.
Gemm Canonical(Gemm gemm) {
  const Gemm packed{gemm.shape, gemm.kind};
  if (gemm.lda == packed.LeadingA()) gemm.lda = 0;
  if (gemm.ldb == packed.LeadingB()) gemm.ldb = 0;
  if (gemm.ldc == packed.LeadingC()) gemm.ldc = 0;
  return gemm;
}

double LogDistance(const Shape& first, const Shape& second) {
  const auto axis = [](int a, int b) { return std::log2(double(a)) - std::log2(double(b)); };
  return std::hypot(axis(first.m, second.m), axis(first.n, second.n), axis(first.k, second.k));
}

// The leading clock of most timed plans of a problem in any layout; of equally many the ring.
std::map<Gemm, Clock> ClocksOf(const std::vector<Trial>& trials) {
  std::map<Gemm, int> lead;  // of the ring
  for (const Trial& trial : trials)
    if (trial.IsTimedPlan())
      lead[WithoutLayout(trial.gemm)] += trial.outcome.LeadingClock() == Clock::kDeviceCold ? 1 : -1;
  std::map<Gemm, Clock> clocks;
  for (const auto& [gemm, more] : lead) clocks[gemm] = more >= 0 ? Clock::kDeviceCold : Clock::kDevice;
  return clocks;
}

struct LessCareful {
  bool operator()(Protocol first, Protocol second) const { return MoreCareful(second, first); }
};

}  // namespace

struct Recording::State {
  std::vector<Trial> trials;
  const Trial* newest = nullptr;
  // The newest trial of each cell and protocol. The most careful protocol is the last one of the inner map.
  std::map<Gemm, std::map<Plan, std::map<Protocol, const Trial*, LessCareful>>> cells;
};

Recording::Recording(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Result<std::shared_ptr<const Recording>> Recording::Load(const std::filesystem::path& folder_or_file) {
  return Load(std::span(&folder_or_file, 1));
}

Result<std::shared_ptr<const Recording>> Recording::Load(std::span<const std::filesystem::path> folders_or_files) {
  std::vector<Trial> trials;
  std::vector<std::string> places;
  for (const std::filesystem::path& path : folders_or_files) {
    ASSIGN_OR_RETURN(std::vector<Trial> more, ReadRecords(path));
    std::move(more.begin(), more.end(), std::back_inserter(trials));
    places.push_back(path.string());
  }
  const std::string place = Join(places, ", ");
  if (trials.empty()) return NotFound(fmt::format("{} holds no trials", place));
  std::set<std::string> devices;
  for (const Trial& trial : trials) devices.insert(trial.setting.device_key);
  if (devices.size() > 1)
    return InvalidArgument(fmt::format("{} holds trials of {} and {}: a recording is of one device", place,
                                       *devices.begin(), *devices.rbegin()));
  if (const auto device = FindDevice(*devices.begin()); !device.ok())
    return Unavailable(
        fmt::format("{} was recorded on {}: {}", place, trials[0].setting.device_name, device.status().message()));
  return FromTrials(std::move(trials));
}

std::shared_ptr<const Recording> Recording::FromTrials(std::vector<Trial> trials) {
  GEMMSMITH_CHECK(!trials.empty(), "a recording of nothing");
  auto state = std::make_shared<State>();
  state->trials = std::move(trials);
  state->newest = &state->trials[0];
  const std::map<Gemm, Clock> clocks = ClocksOf(state->trials);
  for (const Trial& trial : state->trials) {
    if (!trial.HasPlan()) continue;
    if (trial.IsTimedPlan() && trial.outcome.LeadingClock() != clocks.at(WithoutLayout(trial.gemm))) continue;
    if (trial.unix_ms >= state->newest->unix_ms) state->newest = &trial;
    const Trial*& cell = state->cells[Canonical(trial.gemm)][trial.plan()][trial.outcome.protocol];
    if (cell == nullptr || trial.unix_ms >= cell->unix_ms) cell = &trial;
  }
  return std::shared_ptr<const Recording>(new Recording(std::move(state)));
}

const Setting& Recording::setting() const { return state_->newest->setting; }
const std::vector<Trial>& Recording::trials() const { return state_->trials; }

std::string Recording::Date() const { return DateText(state_->newest->unix_ms); }

std::string Recording::Fingerprint() const {
  ByteWriter numbers;
  for (const Trial& trial : state_->trials) {
    const Timing* ours = trial.outcome.Ours();
    numbers.Put(trial.unix_ms);
    numbers.Put(uint8_t(trial.outcome.kind));
    numbers.Put(uint8_t(trial.outcome.protocol));
    numbers.Put(ours == nullptr ? 0.0 : ours->median_ns);
  }
  return HashBytes(std::move(numbers).Take()).Hex().substr(0, 8);
}

std::vector<Gemm> Recording::Problems() const {
  std::vector<Gemm> problems;
  for (const auto& [gemm, plans] : state_->cells) problems.push_back(gemm);
  return problems;
}

bool Recording::Has(const Gemm& gemm) const { return state_->cells.contains(Canonical(gemm)); }

std::vector<Gemm> Recording::Nearest(const Gemm& gemm, int count) const {
  std::vector<Gemm> problems = Problems();
  const auto key = [&](const Gemm& recorded) {
    return std::tuple(recorded.kind != gemm.kind, LogDistance(recorded.shape, gemm.shape), recorded);
  };
  std::sort(problems.begin(), problems.end(), [&](const Gemm& a, const Gemm& b) { return key(a) < key(b); });
  if (problems.size() > size_t(count)) problems.resize(size_t(count));
  return problems;
}

Space Recording::SpaceFor(const Gemm& gemm) const {
  std::vector<Plan> plans;
  if (const auto problem = state_->cells.find(Canonical(gemm)); problem != state_->cells.end())
    for (const auto& [plan, protocols] : problem->second) plans.push_back(plan);
  return Space(std::move(plans));
}

const Trial* Recording::Find(const Gemm& gemm, const Plan& plan) const {
  const auto problem = state_->cells.find(Canonical(gemm));
  if (problem == state_->cells.end()) return nullptr;
  const auto cell = problem->second.find(plan);
  return cell == problem->second.end() ? nullptr : cell->second.rbegin()->second;
}

const Trial* Recording::Find(const Gemm& gemm, const Plan& plan, Protocol protocol) const {
  const auto problem = state_->cells.find(Canonical(gemm));
  if (problem == state_->cells.end()) return nullptr;
  const auto cell = problem->second.find(plan);
  if (cell == problem->second.end()) return nullptr;
  const auto careful_enough = cell->second.lower_bound(protocol);
  return careful_enough == cell->second.end() ? nullptr : careful_enough->second;
}

const Trial* Recording::Best(const Gemm& gemm) const {
  const Trial* best = nullptr;
  const auto problem = state_->cells.find(Canonical(gemm));
  if (problem == state_->cells.end()) return nullptr;
  for (const auto& [plan, protocols] : problem->second) {
    const Trial* trial = protocols.rbegin()->second;
    if (!trial->IsTimedPlan()) continue;
    if (best == nullptr || trial->outcome.TimeNs() < best->outcome.TimeNs()) best = trial;
  }
  return best;
}

}  // namespace gemmsmith
