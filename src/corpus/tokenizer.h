// Kernel text <-> tokens: byte-level byte-pair encoding. Any bytes are a text. The file form is Hugging Face's
// tokenizer.json (docs/text_model.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

// How often each piece (text_words.h) stands in some texts: all that training reads.
class PieceCounts {
 public:
  void Add(std::string_view text);
  const std::map<std::string, int64_t, std::less<>>& counts() const { return counts_; }

 private:
  std::map<std::string, int64_t, std::less<>> counts_;
};

class Tokenizer {
 public:
  static constexpr int kSpecials = 3, kBytes = 256;
  static constexpr int kFewestWords = kSpecials + kBytes, kMostWords = 1 << 16;
  static constexpr size_t kLongestToken = 128;  // bytes

  // Merges the most frequent pair until there are `words` tokens (kFewestWords to kMostWords), or until no pair stands
  // twice. Ties go to the smaller tokens.
  static Tokenizer Train(const PieceCounts& pieces, int words);

  // Never a special token, whatever the text says.
  std::vector<int32_t> Encode(std::string_view text) const;
  // The inverse of Encode(). Special tokens, and numbers that are no token, read as nothing.
  std::string Decode(std::span<const int32_t> tokens) const;

  // Tokens are 0 to words() - 1.
  int words() const { return int(texts_.size()); }
  // A document is begin, prompt, answer, kernel, end.
  int32_t begin() const { return 0; }
  int32_t answer() const { return 1; }
  int32_t end() const { return 2; }

  bool operator==(const Tokenizer& other) const { return texts_ == other.texts_ && merges_ == other.merges_; }

 private:
  friend class TokenizerFile;
  friend class PieceMerger;
  friend class TokenizerTraining;

  struct Merge {
    int32_t left, right, whole;
    bool operator==(const Merge&) const = default;
  };
  struct Rank {
    int32_t rank, whole;
  };

  Tokenizer();  // specials and bytes
  // A second merge to the same text makes the same token.
  // False where the pair is merged already, or the text would be too long.
  bool AddMerge(int32_t left, int32_t right);
  const Rank* RankOf(int32_t left, int32_t right) const;

  std::vector<std::string> texts_;  // of each token; a special token's is empty
  std::unordered_map<std::string, int32_t> tokens_;
  std::vector<Merge> merges_;  // in the order of their ranks
  std::unordered_map<uint64_t, Rank> ranks_;
};

// tokenizer.json. Parsing refuses damage, and pieces that are cut otherwise, in one line.
std::string PrintTokenizer(const Tokenizer& tokenizer);
Result<Tokenizer> ParseTokenizer(std::string_view text);
Result<Tokenizer> ReadTokenizer(const std::filesystem::path& path);
Status WriteTokenizer(const Tokenizer& tokenizer, const std::filesystem::path& path);

}  // namespace gemmsmith
