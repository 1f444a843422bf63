// What an island knows: right sources and their times, and which two a model is shown.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "llm/source_verdict.h"

namespace gemmsmith {

struct Member {
  std::string source;
  SourceVerdict verdict;  // passed
};

// Timed sources come before those that were not timed.
bool IsFaster(const Member& first, const Member& second);

class Population {
 public:
  // A source that is there already is not added again.
  void Add(Member member);
  const std::vector<Member>& members() const { return members_; }
  // Null where nothing was timed.
  const Member* Fastest() const;

  // Up to two, the faster first. Sources are put into buckets of similar times; a bucket is drawn the more often the
  // faster it is, and the second source is of another bucket wherever there are two: models learn from the contrast.
  std::vector<const Member*> DrawExemplars(Random& random) const;

 private:
  std::vector<Member> members_;
};

}  // namespace gemmsmith
