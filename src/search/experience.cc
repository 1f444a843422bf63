#include "search/experience.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "program/cost.h"
#include "program/legality.h"
#include "search/neighbour_winners.h"
#include "search/prediction_error.h"
#include "search/recorded_cells.h"

namespace gemmsmith {

namespace {

// Octaves over which the errors of prediction come to differ, how much they scatter otherwise, and of how many problems
// they are taken. None of it matters much: 4 to 16 octaves, 3 to 10 problems are as good on the held-out ones within
// half a percent (docs/lab/policy.md).
constexpr double kReach = 8, kNoise = 0.03;
constexpr size_t kNear = 3;
// A problem's own offset is the mean over its plans by the eighth power of their speeds, so that of those that matter.
constexpr double kFavour = 8;
constexpr float kUnknown = -1;

double SharedOver(double octaves) { return std::exp(-octaves / kReach); }

// Solves for x in covariance x = values, which becomes x; the covariance (row-major) becomes its factor.
void SolveInPlace(std::vector<double>& covariance, std::vector<double>& values) {
  const size_t n = values.size();
  const auto row = [&](size_t i) { return covariance.data() + i * n; };
  const auto product = [](const double* a, const double* b, size_t count) {
    double sum = 0;
    for (size_t k = 0; k < count; ++k) sum += a[k] * b[k];
    return sum;
  };
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) row(i)[j] = (row(i)[j] - product(row(i), row(j), j)) / row(j)[j];
    row(i)[i] = std::sqrt(row(i)[i] - product(row(i), row(i), i));
    values[i] = (values[i] - product(row(i), values.data(), i)) / row(i)[i];
  }
  for (size_t i = n; i-- > 0;) {
    values[i] /= row(i)[i];
    for (size_t j = 0; j < i; ++j) values[j] -= row(i)[j] * values[i];
  }
}

}  // namespace

Experience Experience::Of(const Recording& recording, const HeldOut& held_out) {
  std::vector<RecordedCells> known;
  std::map<Plan, size_t> places;
  for (const Gemm& gemm : recording.Problems()) {
    if (IsHeldOut(gemm.shape, held_out)) continue;
    RecordedCells cells(recording, gemm);
    if (!cells.HasMeasured()) continue;
    for (const Plan& plan : cells.space().plans()) places.emplace(plan, 0);
    known.push_back(std::move(cells));
  }
  Experience experience;
  experience.device_key_ = recording.setting().device_key;
  for (auto& [plan, place] : places) {
    place = experience.plans_.size();
    experience.plans_.push_back(plan);
  }
  experience.delays_.assign(known.size() * places.size(), kUnknown);
  for (const RecordedCells& cells : known) {
    float* const delays = experience.delays_.data() + experience.problems_.size() * places.size();
    experience.problems_.push_back(cells.gemm());
    for (size_t i = 0; i < cells.space().size(); ++i)
      if (const double worth = cells.worths()[i]; worth > 0)
        delays[places.at(cells.space().plans()[i])] = float(-std::log(worth));
  }
  return experience;
}

Result<Experience> Experience::From(std::string device_key, std::vector<Gemm> problems, std::vector<Plan> plans,
                                    std::vector<float> delays) {
  if (delays.size() != problems.size() * plans.size())
    return InvalidArgument(
        fmt::format("{} delays of {} plans on {} problems", delays.size(), plans.size(), problems.size()));
  if (!std::all_of(delays.begin(), delays.end(), [](float delay) { return std::isfinite(delay); }))
    return InvalidArgument("a delay is not finite");
  RETURN_IF_ERROR(FindDevice(device_key).status());
  Experience experience;
  experience.device_key_ = std::move(device_key);
  experience.problems_ = std::move(problems);
  experience.plans_ = std::move(plans);
  experience.delays_ = std::move(delays);
  return experience;
}

Experience Experience::Without(const Shape& shape) const {
  Experience rest;
  rest.device_key_ = device_key_;
  rest.plans_ = plans_;
  for (size_t i = 0; i < problems_.size(); ++i) {
    if (problems_[i].shape == shape) continue;
    rest.problems_.push_back(problems_[i]);
    const auto delays = delays_.begin() + ptrdiff_t(i * plans_.size());
    rest.delays_.insert(rest.delays_.end(), delays, delays + ptrdiff_t(plans_.size()));
  }
  return rest;
}

std::vector<size_t> Experience::NearestTo(const Gemm& gemm) const {
  std::vector<std::pair<double, size_t>> by_distance;
  for (size_t i = 0; i < problems_.size(); ++i)
    if (const double octaves = OctavesBetween(problems_[i], gemm); std::isfinite(octaves))
      by_distance.emplace_back(octaves, i);
  const size_t count = std::min(kNear, by_distance.size());
  std::partial_sort(by_distance.begin(), by_distance.begin() + ptrdiff_t(count), by_distance.end());
  std::vector<size_t> nearest;
  for (size_t i = 0; i < count; ++i) nearest.push_back(by_distance[i].second);
  return nearest;
}

void Experience::AddErrors(size_t problem, std::vector<Observed>& observed) const {
  const Device device = *FindDevice(device_key_);
  const Gemm& gemm = problems_[problem];
  const size_t first = observed.size();
  double sum = 0, weights = 0;
  for (size_t i = 0; i < plans_.size(); ++i) {
    const double delay = delays_[problem * plans_.size() + i];
    if (delay < 0 || !IsLegal(plans_[i], gemm, device)) continue;
    const double error = delay - std::log(PredictTimeNs(plans_[i], gemm, device)), weight = std::exp(-kFavour * delay);
    observed.push_back({&plans_[i], problem, error});
    sum += weight * error;
    weights += weight;
  }
  for (size_t i = first; i < observed.size(); ++i) observed[i].error -= sum / weights;
}

std::vector<double> Experience::ErrorsOn(const SearchContext& context) const {
  const std::vector<Plan>& plans = context.space->plans();
  std::vector<double> errors(plans.size());
  std::vector<Observed> observed;
  for (const size_t problem : NearestTo(context.gemm)) AddErrors(problem, observed);
  if (observed.empty()) return errors;
  const auto shared = [&](const Observed& a, const Observed& b) {
    return ErrorCovariance(*a.plan, *b.plan) * SharedOver(OctavesBetween(problems_[a.problem], problems_[b.problem]));
  };
  const size_t n = observed.size();
  std::vector<double> covariance(n * n), shares(n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) covariance[i * n + j] = shared(observed[i], observed[j]);
    covariance[i * n + i] += kNoise * kNoise;
    shares[i] = observed[i].error;
  }
  SolveInPlace(covariance, shares);
  for (size_t j = 0; j < n; ++j) shares[j] *= SharedOver(OctavesBetween(problems_[observed[j].problem], context.gemm));
  for (size_t i = 0; i < plans.size(); ++i) {
    if (!IsLegal(plans[i], context.gemm, context.device)) continue;
    for (size_t j = 0; j < n; ++j) errors[i] += shares[j] * ErrorCovariance(plans[i], *observed[j].plan);
  }
  return errors;
}

}  // namespace gemmsmith
