#include "corpus/tokenizer.h"

#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "corpus/text_words.h"

namespace gemmsmith {

namespace {

// Longer pieces would cost training much and would never become a token.
constexpr size_t kLongestCounted = Tokenizer::kLongestToken;

uint64_t KeyOf(int32_t left, int32_t right) { return uint64_t(uint32_t(left)) << 32 | uint32_t(right); }
int32_t LeftOf(uint64_t key) { return int32_t(key >> 32); }
int32_t RightOf(uint64_t key) { return int32_t(uint32_t(key)); }

void AppendBytes(std::string_view piece, std::vector<int32_t>& tokens) {
  for (const char c : piece) tokens.push_back(Tokenizer::kSpecials + static_cast<unsigned char>(c));
}

}  // namespace

void PieceCounts::Add(std::string_view text) {
  while (!text.empty()) {
    const std::string_view piece = TakePiece(text);
    if (piece.size() > kLongestCounted) continue;
    const auto found = counts_.find(piece);
    if (found != counts_.end())
      ++found->second;
    else
      counts_.emplace(piece, 1);
  }
}

Tokenizer::Tokenizer() : texts_(kSpecials) {
  for (int byte = 0; byte < kBytes; ++byte) {
    tokens_.emplace(std::string(1, char(byte)), words());
    texts_.emplace_back(1, char(byte));
  }
}

bool Tokenizer::AddMerge(int32_t left, int32_t right) {
  const std::string text = texts_[left] + texts_[right];
  if (text.size() > kLongestToken || ranks_.contains(KeyOf(left, right))) return false;
  const auto [token, is_new] = tokens_.emplace(text, words());
  if (is_new) texts_.push_back(text);
  ranks_[KeyOf(left, right)] = {int32_t(merges_.size()), token->second};
  merges_.push_back({left, right, token->second});
  return true;
}

const Tokenizer::Rank* Tokenizer::RankOf(int32_t left, int32_t right) const {
  const auto found = ranks_.find(KeyOf(left, right));
  return found == ranks_.end() ? nullptr : &found->second;
}

// Training: pieces as tokens, how often each pair stands in them, and the pairs by that number. Numbers in the queue
// may be old; a pair that fell is put back when it comes up.
class TokenizerTraining {
 public:
  TokenizerTraining(const PieceCounts& pieces, Tokenizer& tokenizer) : tokenizer_(tokenizer) {
    for (const auto& [text, count] : pieces.counts()) {
      AppendBytes(text, pieces_.emplace_back(Piece{{}, count}).tokens);
      CountPairs(pieces_.size() - 1, 1);
    }
    for (const auto& [key, pair] : pairs_) Push(key);
  }

  void RunTo(int words) {
    while (tokenizer_.words() < words) {
      const std::optional<uint64_t> key = TakeMostFrequent();
      if (!key) return;
      tokenizer_.AddMerge(LeftOf(*key), RightOf(*key));  // again only if its parts were merged to one text in two ways
      MergeEverywhere(*key);
    }
  }

 private:
  struct Piece {
    std::vector<int32_t> tokens;
    int64_t count;
  };
  struct Pair {
    int64_t count = 0;
    std::vector<size_t> pieces;  // where it stood at some time; may repeat
  };
  struct Queued {
    int64_t count;
    uint64_t key;
    bool operator<(const Queued& other) const { return std::tie(count, other.key) < std::tie(other.count, key); }
  };

  void Push(uint64_t key) {
    if (const int64_t count = pairs_[key].count; count >= 2) queue_.push({count, key});
  }

  void CountPairs(size_t index, int sign) {
    const Piece& piece = pieces_[index];
    for (size_t i = 0; i + 1 < piece.tokens.size(); ++i) {
      Pair& pair = pairs_[KeyOf(piece.tokens[i], piece.tokens[i + 1])];
      pair.count += sign * piece.count;
      if (sign > 0 && (pair.pieces.empty() || pair.pieces.back() != index)) pair.pieces.push_back(index);
    }
  }

  std::optional<uint64_t> TakeMostFrequent() {
    while (!queue_.empty()) {
      const Queued first = queue_.top();
      queue_.pop();
      const int64_t count = pairs_[first.key].count;
      if (count == first.count) return first.key;
      if (count < first.count) Push(first.key);
    }
    return std::nullopt;
  }

  void MergeEverywhere(uint64_t key) {
    const std::vector<size_t> affected = std::exchange(pairs_[key].pieces, {});
    const int32_t whole = tokenizer_.RankOf(LeftOf(key), RightOf(key))->whole;
    std::set<uint64_t> grown;
    for (const size_t index : affected) {
      CountPairs(index, -1);
      MergeIn(pieces_[index].tokens, key, whole);
      CountPairs(index, 1);
      const std::vector<int32_t>& tokens = pieces_[index].tokens;
      for (size_t i = 0; i + 1 < tokens.size(); ++i)
        if (tokens[i] == whole || tokens[i + 1] == whole) grown.insert(KeyOf(tokens[i], tokens[i + 1]));
    }
    for (const uint64_t pair : grown) Push(pair);
  }

  static void MergeIn(std::vector<int32_t>& tokens, uint64_t key, int32_t whole) {
    size_t kept = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
      const bool is_pair = i + 1 < tokens.size() && KeyOf(tokens[i], tokens[i + 1]) == key;
      tokens[kept++] = is_pair ? whole : tokens[i];
      if (is_pair) ++i;
    }
    tokens.resize(kept);
  }

  Tokenizer& tokenizer_;
  std::vector<Piece> pieces_;
  std::unordered_map<uint64_t, Pair> pairs_;
  std::priority_queue<Queued> queue_;
};

Tokenizer Tokenizer::Train(const PieceCounts& pieces, int words) {
  GEMMSMITH_CHECK(words >= kFewestWords && words <= kMostWords, "{} words", words);
  Tokenizer tokenizer;
  TokenizerTraining(pieces, tokenizer).RunTo(words);
  return tokenizer;
}

// Merges one piece: the pair of the lowest rank first, of two such the left one.
class PieceMerger {
 public:
  explicit PieceMerger(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  void Append(std::string_view piece, std::vector<int32_t>& tokens) {
    tokens_.clear();
    AppendBytes(piece, tokens_);
    const int size = int(tokens_.size());
    before_.resize(size), behind_.resize(size);
    for (int i = 0; i < size; ++i) before_[i] = i - 1, behind_[i] = i + 1;
    for (int i = 0; i + 1 < size; ++i) Offer(i);
    while (!queue_.empty()) {
      const Offered first = queue_.top();
      queue_.pop();
      if (IsStanding(first)) Merge(first);
    }
    for (int i = 0; i < size; i = behind_[i]) tokens.push_back(tokens_[i]);
  }

 private:
  static constexpr int32_t kGone = -1;
  struct Offered {
    int32_t rank;
    int at;
    int32_t left, right, whole;
    bool operator<(const Offered& other) const { return std::tie(other.rank, other.at) < std::tie(rank, at); }
  };

  int size() const { return int(tokens_.size()); }

  void Offer(int at) {
    if (at < 0 || behind_[at] >= size()) return;
    const int32_t left = tokens_[at], right = tokens_[behind_[at]];
    if (const Tokenizer::Rank* rank = tokenizer_.RankOf(left, right))
      queue_.push({rank->rank, at, left, right, rank->whole});
  }

  bool IsStanding(const Offered& offered) const {
    return tokens_[offered.at] == offered.left && behind_[offered.at] < size() &&
           tokens_[behind_[offered.at]] == offered.right;
  }

  void Merge(const Offered& offered) {
    const int gone = behind_[offered.at];
    tokens_[offered.at] = offered.whole, tokens_[gone] = kGone;
    behind_[offered.at] = behind_[gone];
    if (behind_[gone] < size()) before_[behind_[gone]] = offered.at;
    Offer(before_[offered.at]);
    Offer(offered.at);
  }

  const Tokenizer& tokenizer_;
  std::vector<int32_t> tokens_;
  std::vector<int> before_, behind_;
  std::priority_queue<Offered> queue_;
};

std::vector<int32_t> Tokenizer::Encode(std::string_view text) const {
  std::vector<int32_t> tokens;
  std::unordered_map<std::string_view, std::pair<size_t, size_t>> known;  // where a piece's tokens stand already
  PieceMerger merger(*this);
  while (!text.empty()) {
    const std::string_view piece = TakePiece(text);
    const auto [entry, is_new] = known.try_emplace(piece, tokens.size(), 0);
    auto& [begin, count] = entry->second;
    if (is_new)
      merger.Append(piece, tokens), count = tokens.size() - begin;
    else
      for (size_t i = 0; i < count; ++i) tokens.push_back(tokens[begin + i]);
  }
  return tokens;
}

std::string Tokenizer::Decode(std::span<const int32_t> tokens) const {
  std::string text;
  for (const int32_t token : tokens)
    if (token >= 0 && token < words()) text += texts_[token];
  return text;
}

}  // namespace gemmsmith
