#include "search/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gemmsmith {

namespace {

double Square(double x) { return x * x; }

}  // namespace

GaussianProcess::GaussianProcess(size_t points, Covariance covariance, double noise)
    : covariance_(std::move(covariance)), noise_variance_(Square(noise)), beliefs_(points), log_open_(points) {
  for (size_t i = 0; i < points; ++i) beliefs_[i].variance = covariance_(i, i);
}

void GaussianProcess::Learn(size_t point, double value) {
  StopAwaiting(point);
  const double deviation = std::sqrt(beliefs_[point].variance + noise_variance_);
  const double surprise = (value - beliefs_[point].mean) / deviation;
  log_likelihood_ -= 0.5 * (Square(surprise) + std::log(2 * std::numbers::pi)) + std::log(deviation);
  std::vector<double> shares(beliefs_.size());
  for (size_t i = 0; i < shares.size(); ++i) shares[i] = SharedNow(point, i) / deviation;
  for (size_t i = 0; i < shares.size(); ++i) {
    Belief& belief = beliefs_[i];
    belief.row.push_back(float(shares[i]));
    belief.mean += shares[i] * surprise;
    belief.variance = std::max(0.0, belief.variance - Square(shares[i]));
  }
  ++learned_;
}

double GaussianProcess::SharedNow(size_t first, size_t second) const {
  const std::vector<float>&row = beliefs_[first].row, &other = beliefs_[second].row;
  double shared = covariance_(first, second);
  for (size_t j = 0; j < row.size(); ++j) shared -= double(row[j]) * other[j];
  return shared;
}

void GaussianProcess::Await(size_t point) {
  constexpr double kLeastOpen = 1e-3;
  std::vector<float> settled(beliefs_.size());
  const double variance = beliefs_[point].variance + noise_variance_;
  for (size_t i = 0; i < settled.size(); ++i) {
    const double share = Square(SharedNow(point, i)) / (variance * std::max(beliefs_[i].variance, noise_variance_));
    settled[i] = float(std::log(std::max(kLeastOpen, 1 - share)));
    log_open_[i] += settled[i];
  }
  awaited_[point] = std::move(settled);
}

void GaussianProcess::StopAwaiting(size_t point) {
  const auto awaited = awaited_.find(point);
  if (awaited == awaited_.end()) return;
  for (size_t i = 0; i < log_open_.size(); ++i) log_open_[i] -= awaited->second[i];
  awaited_.erase(awaited);
}

double GaussianProcess::OpenVariance(size_t point) const {
  return beliefs_[point].variance * std::exp(log_open_[point]);
}

}  // namespace gemmsmith
