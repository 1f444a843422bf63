// What is believed of the values at a finite number of points, of which some were seen: a Gaussian process. It stays
// what a full solution would be, value by value.
#pragma once

#include <functional>
#include <map>
#include <vector>

namespace gemmsmith {

class GaussianProcess {
 public:
  // How the values at two points go together before anything is known.
  using Covariance = std::function<double(size_t first, size_t second)>;

  // Every value is expected to be 0 at first. Values are seen with noise of this standard deviation.
  GaussianProcess(size_t points, Covariance covariance, double noise);

  // Costs the number of points times what was learned before.
  void Learn(size_t point, double value);
  // The value is under way: what it will tell of others is no longer a doubt about them.
  void MarkPending(size_t point);
  // It is not any more, whether or not it is learned.
  void ClearPending(size_t point);

  double Mean(size_t point) const { return posteriors_[point].mean; }
  double Variance(size_t point) const { return posteriors_[point].variance; }
  // Less what pending values will tell.
  double OpenVariance(size_t point) const;
  size_t learned() const { return learned_; }
  // Of all that was learned, before it was: which covariance explains it better.
  double LogLikelihood() const { return log_likelihood_; }

 private:
  // Of one point, with its row of the extended Cholesky factor.
  struct Posterior {
    double mean = 0, variance = 0;
    std::vector<float> row;
  };

  double SharedNow(size_t first, size_t second) const;  // what of two values is unknown together

  Covariance covariance_;
  double noise_variance_;
  std::vector<Posterior> posteriors_;
  size_t learned_ = 0;
  double log_likelihood_ = 0;
  // By pending point: the shares of every point's variance that its value will remove, as logarithms of what is left.
  std::map<size_t, std::vector<float>> pending_;
  std::vector<double> log_open_;  // their sums
};

}  // namespace gemmsmith
