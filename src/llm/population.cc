#include "llm/population.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace gemmsmith {
namespace {

// Of the logarithm of times, to the base of 2. A bucket of twice the time is drawn a quarter as often.
constexpr double kBucketWidth = 0.1, kFondness = 2;

// Sources that were not timed are a bucket of their own, the slowest.
constexpr int kUntimed = 1 << 20;

int BucketOf(const SourceVerdict& verdict) {
  return verdict.is_timed ? int(std::floor(std::log2(verdict.time_ns) / kBucketWidth)) : kUntimed;
}

}  // namespace

bool IsFaster(const Member& first, const Member& second) {
  if (first.verdict.is_timed != second.verdict.is_timed) return first.verdict.is_timed;
  return first.verdict.time_ns < second.verdict.time_ns;
}

void Population::Add(Member member) {
  const auto is_same = [&](const Member& other) { return other.source == member.source; };
  if (std::ranges::none_of(members_, is_same)) members_.push_back(std::move(member));
}

const Member* Population::Fastest() const {
  const Member* fastest = nullptr;
  for (const Member& member : members_)
    if (member.verdict.is_timed && (fastest == nullptr || IsFaster(member, *fastest))) fastest = &member;
  return fastest;
}

std::vector<const Member*> Population::DrawExemplars(Random& random) const {
  std::map<int, std::vector<const Member*>> buckets;
  for (const Member& member : members_) buckets[BucketOf(member.verdict)].push_back(&member);
  std::vector<const Member*> drawn;
  while (drawn.size() < 2 && !buckets.empty()) {
    std::vector<double> weights;
    for (const auto& [bucket, members] : buckets)
      weights.push_back(bucket == kUntimed
                            ? 0x1p-10
                            : std::exp2(-kFondness * kBucketWidth * double(bucket - buckets.begin()->first)));
    const auto chosen = std::next(buckets.begin(), std::ptrdiff_t(random.Choose(weights)));
    drawn.push_back(chosen->second[random.Below(chosen->second.size())]);
    if (buckets.size() > 1)
      buckets.erase(chosen);
    else
      std::erase(chosen->second, drawn.back());
    if (buckets.begin()->second.empty()) break;
  }
  std::stable_sort(drawn.begin(), drawn.end(),
                   [](const Member* first, const Member* second) { return IsFaster(*first, *second); });
  return drawn;
}

}  // namespace gemmsmith
