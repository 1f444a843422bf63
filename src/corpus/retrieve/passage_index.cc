#include "corpus/retrieve/passage_index.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/hash.h"
#include "corpus/retrieve/search_terms.h"

namespace gemmsmith {

namespace {

// BM25's: how soon further occurrences of a word stop to count, and how much long passages are held back.
constexpr double kSaturation = 1.2, kLengthShare = 0.5;
constexpr float kTitleTimes = 3;

std::map<uint64_t, float> TimesOfTerms(std::string_view text) {
  std::map<uint64_t, float> times;
  for (const std::string& term : SearchTerms(text)) times[HashBytes(term).low] += 1;
  return times;
}

}  // namespace

void PassageIndex::Add(std::string_view title, std::string_view text) {
  std::map<uint64_t, float> times = TimesOfTerms(text);
  for (const auto& [term, in_title] : TimesOfTerms(title)) times[term] += kTitleTimes * in_title;
  float length = 0;
  for (const auto& [term, count] : times) {
    postings_[term].push_back({uint32_t(lengths_.size()), count});
    length += count;
  }
  lengths_.push_back(length);
  all_lengths_ += length;
}

std::vector<PassageIndex::Hit> PassageIndex::Find(std::string_view question, size_t count,
                                                  const std::function<bool(uint32_t passage)>& accepts) const {
  std::vector<double> scores(size(), 0);
  const double passages = double(size()), mean_length = passages == 0 ? 1 : all_lengths_ / passages;
  for (const auto& [term, wanted] : TimesOfTerms(question)) {
    const auto found = postings_.find(term);
    if (found == postings_.end()) continue;
    const double holding = double(found->second.size());
    const double weight = wanted * std::log(1 + (passages - holding + 0.5) / (holding + 0.5));
    for (const auto& [passage, times] : found->second) {
      const double norm = kSaturation * (1 - kLengthShare + kLengthShare * lengths_[passage] / mean_length);
      scores[passage] += weight * times * (kSaturation + 1) / (times + norm);
    }
  }
  std::vector<Hit> hits;
  for (uint32_t passage = 0; passage < scores.size(); ++passage)
    if (scores[passage] > 0 && accepts(passage)) hits.push_back({passage, scores[passage]});
  const size_t kept = std::min(count, hits.size());
  std::partial_sort(hits.begin(), hits.begin() + ptrdiff_t(kept), hits.end(), [](const Hit& a, const Hit& b) {
    return a.score != b.score ? a.score > b.score : a.passage < b.passage;
  });
  hits.resize(kept);
  return hits;
}

}  // namespace gemmsmith
