#include "search/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gemmsmith {

namespace {

double Square(double x) { return x * x; }

}  // namespace

GaussianProcess::GaussianProcess(size_t points, Covariance covariance, double noise)
    : covariance_(std::move(covariance)), noise_variance_(Square(noise)), posteriors_(points), log_open_(points) {
  for (size_t i = 0; i < points; ++i) posteriors_[i].variance = covariance_(i, i);
}

void GaussianProcess::Learn(size_t point, double value) {
  ClearPending(point);
  const double deviation = std::sqrt(posteriors_[point].variance + noise_variance_);
  const double surprise = (value - posteriors_[point].mean) / deviation;
  log_likelihood_ -= 0.5 * (Square(surprise) + std::log(2 * std::numbers::pi)) + std::log(deviation);
  std::vector<double> shares(posteriors_.size());
  for (size_t i = 0; i < shares.size(); ++i) shares[i] = SharedNow(point, i) / deviation;
  for (size_t i = 0; i < shares.size(); ++i) {
    Posterior& posterior = posteriors_[i];
    posterior.row.push_back(float(shares[i]));
    posterior.mean += shares[i] * surprise;
    posterior.variance = std::max(0.0, posterior.variance - Square(shares[i]));
  }
  ++learned_;
}

double GaussianProcess::SharedNow(size_t first, size_t second) const {
  const std::vector<float>&row = posteriors_[first].row, &other = posteriors_[second].row;
  double shared = covariance_(first, second);
  for (size_t j = 0; j < row.size(); ++j) shared -= double(row[j]) * other[j];
  return shared;
}

void GaussianProcess::MarkPending(size_t point) {
  constexpr double kMinOpen = 1e-3;
  std::vector<float> resolved(posteriors_.size());
  const double variance = posteriors_[point].variance + noise_variance_;
  for (size_t i = 0; i < resolved.size(); ++i) {
    const double share = Square(SharedNow(point, i)) / (variance * std::max(posteriors_[i].variance, noise_variance_));
    resolved[i] = float(std::log(std::max(kMinOpen, 1 - share)));
    log_open_[i] += resolved[i];
  }
  pending_[point] = std::move(resolved);
}

void GaussianProcess::ClearPending(size_t point) {
  const auto pending = pending_.find(point);
  if (pending == pending_.end()) return;
  for (size_t i = 0; i < log_open_.size(); ++i) log_open_[i] -= pending->second[i];
  pending_.erase(pending);
}

double GaussianProcess::OpenVariance(size_t point) const {
  return posteriors_[point].variance * std::exp(log_open_[point]);
}

}  // namespace gemmsmith
