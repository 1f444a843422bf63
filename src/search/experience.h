// How long the same plans took on several problems, and what that says of a problem on which nothing was measured yet.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "archive/replay.h"
#include "problem/held_out.h"
#include "search/proposer.h"

namespace gemmsmith {

class Experience {
 public:
  Experience() = default;
  // Of all recorded problems that are not held out. Worth recording are plans that were chosen before anybody knew how
  // fast they are: who knows a search's favourites alone does not know what the others suffer from.
  static Experience Of(const Recording& recording, const HeldOut& held_out);
  // What the members below say. InvalidArgument where sizes do not fit, or a number is none.
  static Result<Experience> From(std::string device_key, std::vector<Gemm> problems, std::vector<Plan> plans,
                                 std::vector<float> delays);

  bool empty() const { return problems_.empty(); }
  const std::string& device_key() const { return device_key_; }  // where all of it was measured
  const std::vector<Gemm>& problems() const { return problems_; }
  const std::vector<Plan>& plans() const { return plans_; }
  // Of each problem and, side by side, each plan: the logarithm of its time over the fastest plan's; negative where it
  // is not known.
  const std::vector<float>& delays() const { return delays_; }

  // As if the shape had never been met.
  Experience Without(const Shape& shape) const;
  // By index in the context's space: the logarithm of how much longer than predicted the plan will take, beside the
  // best ones of its problem. The errors on the nearest problems of the same kind, in either layout, are taken to be
  // those here the more, the nearer these are; 0 where nothing is known, and for plans that are illegal.
  std::vector<double> ErrorsOn(const SearchContext& context) const;

 private:
  struct Observed {
    const Plan* plan = nullptr;
    size_t problem = 0;
    double error = 0;
  };
  std::vector<size_t> NearestTo(const Gemm& gemm) const;
  void AddErrors(size_t problem, std::vector<Observed>& observed) const;

  std::string device_key_;
  std::vector<Gemm> problems_;
  std::vector<Plan> plans_;
  std::vector<float> delays_;
};

}  // namespace gemmsmith
