#include "search/experience.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/bytes.h"
#include "base/hash.h"
#include "program/cost.h"
#include "program/legality.h"
#include "search/neighbour_winners.h"
#include "search/prediction_error.h"
#include "search/recorded_cells.h"

namespace gemmsmith {

namespace {

// Octaves over which the errors of prediction come to differ, how much they scatter otherwise, and of how many problems
// of a source they are taken. None of it matters much: 4 to 16 octaves, 3 to 10 problems are as good on the held-out
// ones within half a percent (docs/lab/policy.md).
constexpr double kOctaveReach = 8, kSourceNoise = 0.03;
constexpr size_t kNear = 3;
// Of each problem; solving costs the cube of all of them together.
constexpr size_t kMaxPlans = 128;
// A problem's own offset is the mean over its plans by the eighth power of their speeds, so that of those that matter.
constexpr double kFavour = 8;

double SharedOver(double octaves) { return std::exp(-octaves / kOctaveReach); }

// Solves for x in covariance x = values, which becomes x; the covariance (row-major) becomes its factor. Plans that
// steps tell apart badly (stride and reach do not fit) can make it slightly indefinite: such a one counts as noise.
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
    row(i)[i] = std::sqrt(std::max(kSourceNoise * kSourceNoise, row(i)[i] - product(row(i), row(i), i)));
    values[i] = (values[i] - product(row(i), values.data(), i)) / row(i)[i];
  }
  for (size_t i = n; i-- > 0;) {
    values[i] /= row(i)[i];
    for (size_t j = 0; j < i; ++j) values[j] -= row(i)[j] * values[i];
  }
}

}  // namespace

void Experience::Add(const Recording& recording, const HeldOut& held_out) {
  Source source{.device_key = recording.setting().device_key};
  for (const Gemm& gemm : recording.Problems()) {
    if (IsHeldOut(gemm.shape, held_out)) continue;
    const RecordedCells cells(recording, gemm);
    const std::vector<Plan>& plans = cells.space().plans();
    RecordedTimes problem{.gemm = gemm};
    for (size_t i = 0; i < cells.space().size(); ++i)
      if (const double worth = cells.worths()[i]; worth > 0) problem.tried.push_back({plans[i], -std::log(worth)});
    std::ranges::stable_sort(problem.tried, {}, &Tried::delay);
    if (!problem.tried.empty()) source.problems.push_back(std::move(problem));
  }
  if (!source.problems.empty()) sources_.push_back(std::move(source));
}

bool Experience::empty() const { return sources_.empty(); }

std::string Experience::Fingerprint() const {
  if (empty()) return "";
  ByteWriter bytes;
  for (const Source& source : sources_)
    for (const RecordedTimes& problem : source.problems) {
      bytes.PutString(Print(problem.gemm));
      for (const Tried& tried : problem.tried) {
        bytes.PutString(Print(tried.plan));
        bytes.Put(tried.delay);
      }
    }
  return HashBytes(std::move(bytes).Take()).Hex().substr(0, 8);
}

std::vector<const Experience::RecordedTimes*> Experience::NearestIn(const Source& source,
                                                                    const SearchContext& context) {
  std::vector<std::pair<double, const RecordedTimes*>> by_distance;
  for (const RecordedTimes& problem : source.problems) {
    const double octaves = OctavesBetween(problem.gemm, context.gemm);
    const bool is_forgotten = context.forgets && context.forgets(problem.gemm.shape);
    if (std::isfinite(octaves) && !is_forgotten) by_distance.emplace_back(octaves, &problem);
  }
  const size_t count = std::min(kNear, by_distance.size());
  std::partial_sort(by_distance.begin(), by_distance.begin() + ptrdiff_t(count), by_distance.end());
  std::vector<const RecordedTimes*> nearest;
  for (size_t i = 0; i < count; ++i) nearest.push_back(by_distance[i].second);
  return nearest;
}

// Where there are too many, some of every speed.
void Experience::AddErrors(const RecordedTimes& problem, const SearchContext& context,
                           std::vector<Observed>& observed) {
  const size_t first = observed.size(), count = std::min(kMaxPlans, problem.tried.size());
  double sum = 0, weights = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto& [plan, delay] = problem.tried[i * problem.tried.size() / count];
    if (!IsLegal(plan, problem.gemm, context.device)) continue;
    const double error = delay - std::log(PredictTimeNs(plan, problem.gemm, context.device));
    const double weight = std::exp(-kFavour * delay);
    observed.push_back({&plan, &problem.gemm, error});
    sum += weight * error;
    weights += weight;
  }
  if (weights == 0) observed.resize(first);
  for (size_t i = first; i < observed.size(); ++i) observed[i].error -= sum / weights;
}

std::vector<double> Experience::ErrorsOn(const SearchContext& context) const {
  const std::vector<Plan>& plans = context.space->plans();
  std::vector<double> errors(plans.size());
  std::vector<Observed> observed;
  for (const Source& source : sources_) {
    if (source.device_key != context.device.key) continue;
    for (const RecordedTimes* problem : NearestIn(source, context)) AddErrors(*problem, context, observed);
  }
  const size_t n = observed.size();
  std::vector<double> covariance(n * n), shares(n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j)
      covariance[i * n + j] = ErrorCovariance(*observed[i].plan, *observed[j].plan) *
                              SharedOver(OctavesBetween(*observed[i].gemm, *observed[j].gemm));
    covariance[i * n + i] += kSourceNoise * kSourceNoise;
    shares[i] = observed[i].error;
  }
  SolveInPlace(covariance, shares);
  for (size_t j = 0; j < n; ++j) shares[j] *= SharedOver(OctavesBetween(*observed[j].gemm, context.gemm));
  for (size_t i = 0; i < plans.size(); ++i)
    for (size_t j = 0; j < n; ++j) errors[i] += shares[j] * ErrorCovariance(plans[i], *observed[j].plan);
  return errors;
}

}  // namespace gemmsmith
