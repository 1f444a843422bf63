// How long plans took on other problems, and what that says of a problem on which nothing was measured yet.
#pragma once

#include <string>
#include <vector>

#include "archive/replay.h"
#include "problem/held_out.h"
#include "search/proposer.h"

namespace gemmsmith {

class Experience {
 public:
  // What was recorded, less what is held out. Each call adds a source of its own: the nearest problems of every source
  // are listened to, so that plans which were chosen before anybody knew how fast they are stand beside those that a
  // search liked; either alone says little of the other kind.
  void Add(const Recording& recording, const HeldOut& held_out);

  bool empty() const;
  // Of what it holds; "" where that is nothing.
  std::string Fingerprint() const;
  // By index in the context's space: the logarithm of how much longer than predicted the plan will take, beside the
  // best ones of its problem. The errors on the nearest problems of the same kind, in either layout, are taken to be
  // those here the more, the nearer these are; 0 where nothing is known on this device model.
  std::vector<double> ErrorsOn(const SearchContext& context) const;

 private:
  struct Tried {
    Plan plan;
    double delay = 0;  // the logarithm of its time over that of the fastest
  };
  struct RecordedTimes {
    Gemm gemm;
    std::vector<Tried> tried;  // the fastest first
  };
  struct Source {
    std::string device_key;
    std::vector<RecordedTimes> problems;
  };
  struct Observed {
    const Plan* plan = nullptr;
    const Gemm* gemm = nullptr;
    double error = 0;
  };
  static std::vector<const RecordedTimes*> NearestIn(const Source& source, const SearchContext& context);
  static void AddErrors(const RecordedTimes& problem, const SearchContext& context, std::vector<Observed>& observed);

  std::vector<Source> sources_;
};

}  // namespace gemmsmith
