// The file form of a tokenizer. A file is read by making its merges anew and comparing everything else with that.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/files.h"
#include "corpus/text_words.h"
#include "corpus/tokenizer.h"

namespace gemmsmith {

namespace {

using FileJson = nlohmann::ordered_json;  // is written
using ReadJson = nlohmann::json;          // finds a name among many soon, and compares in any order

constexpr std::array<std::string_view, Tokenizer::kSpecials> kSpecialNames = {"<|begin|>", "<|answer|>", "<|end|>"};

// Bytes that print stand for themselves; the others for U+0100 and up, in order.
bool StandsForItself(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
}

std::string Utf8Of(int code_point) {
  if (code_point < 0x80) return std::string(1, char(code_point));
  return {char(0xc0 | code_point >> 6), char(0x80 | (code_point & 0x3f))};
}

std::array<std::string, Tokenizer::kBytes> MakeByteLetters() {
  std::array<std::string, Tokenizer::kBytes> letters;
  int next = 0x100;
  for (int byte = 0; byte < Tokenizer::kBytes; ++byte) letters[byte] = Utf8Of(StandsForItself(byte) ? byte : next++);
  return letters;
}

std::string Printable(std::string_view bytes) {
  static const std::array<std::string, Tokenizer::kBytes> letters = MakeByteLetters();
  std::string text;
  for (const char c : bytes) text += letters[static_cast<unsigned char>(c)];
  return text;
}

FileJson AddedTokens() {
  FileJson added = FileJson::array();
  for (size_t i = 0; i < kSpecialNames.size(); ++i)
    added.push_back({{"id", i},
                     {"content", kSpecialNames[i]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  return added;
}

FileJson ByteLevel() {
  return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}};
}

FileJson PreTokenizer() {
  const FileJson split = {
      {"type", "Split"}, {"pattern", {{"Regex", kPieceRegex}}}, {"behavior", "Isolated"}, {"invert", false}};
  return {{"type", "Sequence"}, {"pretokenizers", FileJson::array({split, ByteLevel()})}};
}

Status Damaged(std::string reason) { return DataLoss("no tokenizer of ours: " + std::move(reason)); }

}  // namespace

class TokenizerFile {
 public:
  static std::string NameOf(const Tokenizer& tokenizer, int32_t token) {
    return token < Tokenizer::kSpecials ? std::string(kSpecialNames[token]) : Printable(tokenizer.texts_[token]);
  }

  static FileJson Vocabulary(const Tokenizer& tokenizer) {
    FileJson::object_t vocabulary;
    for (int32_t token = 0; token < tokenizer.words(); ++token)
      vocabulary.emplace_back(NameOf(tokenizer, token), token);  // emplace() would search it
    return FileJson(std::move(vocabulary));
  }

  static FileJson Merges(const Tokenizer& tokenizer) {
    FileJson merges = FileJson::array();
    for (const auto& [left, right, whole] : tokenizer.merges_)
      merges.push_back(NameOf(tokenizer, left) + " " + NameOf(tokenizer, right));
    return merges;
  }

  static Result<Tokenizer> FromMerges(const ReadJson& merges) {
    Tokenizer tokenizer;
    std::unordered_map<std::string, int32_t> known;
    for (int32_t token = Tokenizer::kSpecials; token < tokenizer.words(); ++token)
      known.emplace(NameOf(tokenizer, token), token);
    size_t number = 0;
    for (const ReadJson& merge : merges) {
      ++number;
      const std::optional<std::pair<std::string, std::string>> names = NamesIn(merge);
      const auto left = names ? known.find(names->first) : known.end();
      const auto right = names ? known.find(names->second) : known.end();
      if (left == known.end() || right == known.end())
        return Damaged(fmt::format("merge {} is not of two tokens that are there by then", number));
      if (!tokenizer.AddMerge(left->second, right->second))
        return Damaged(
            fmt::format("merge {} is there twice or makes a token of over {} bytes", number, Tokenizer::kLongestToken));
      if (tokenizer.words() > Tokenizer::kMostWords)
        return Damaged(fmt::format("over {} tokens", Tokenizer::kMostWords));
      std::string name = NameOf(tokenizer, tokenizer.words() - 1);
      if (std::ranges::find(kSpecialNames, name) != kSpecialNames.end())
        return Damaged(fmt::format("merge {} makes a token with the name of a special one", number));
      known.emplace(std::move(name), tokenizer.words() - 1);
    }
    return tokenizer;
  }

 private:
  // "left right", or ["left", "right"] as newer versions write it.
  static std::optional<std::pair<std::string, std::string>> NamesIn(const ReadJson& merge) {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
      return std::pair(merge[0].get<std::string>(), merge[1].get<std::string>());
    if (!merge.is_string()) return std::nullopt;
    const std::string text = merge;
    const size_t space = text.find(' ');
    if (space == text.npos) return std::nullopt;
    return std::pair(text.substr(0, space), text.substr(space + 1));
  }
};

std::string PrintTokenizer(const Tokenizer& tokenizer) {
  const FileJson file = {{"version", "1.0"},
                         {"truncation", nullptr},
                         {"padding", nullptr},
                         {"added_tokens", AddedTokens()},
                         {"normalizer", nullptr},
                         {"pre_tokenizer", PreTokenizer()},
                         {"post_processor", nullptr},
                         {"decoder", ByteLevel()},
                         {"model",
                          {{"type", "BPE"},
                           {"dropout", nullptr},
                           {"unk_token", nullptr},
                           {"continuing_subword_prefix", nullptr},
                           {"end_of_word_suffix", nullptr},
                           {"fuse_unk", false},
                           {"byte_fallback", false},
                           {"ignore_merges", false},
                           {"vocab", TokenizerFile::Vocabulary(tokenizer)},
                           {"merges", TokenizerFile::Merges(tokenizer)}}}};
  return file.dump(1, ' ', false, FileJson::error_handler_t::replace) + "\n";
}

Result<Tokenizer> ParseTokenizer(std::string_view text) {
  const ReadJson file = ReadJson::parse(text, nullptr, false);
  if (!file.is_object()) return Damaged("it is no JSON object; cut off?");
  static const ReadJson kNone;
  // No copies: those of what is nested deeply would take the stack.
  const auto field = [](const ReadJson& object, const char* name) -> const ReadJson& {
    const auto found = object.find(name);
    return found == object.end() ? kNone : *found;
  };
  const ReadJson& model = field(file, "model");
  if (!model.is_object() || field(model, "type") != "BPE" || !field(model, "merges").is_array())
    return Damaged("its model is no BPE");
  if (field(file, "pre_tokenizer") != ReadJson(PreTokenizer())) return Damaged("it cuts texts into other pieces");
  if (field(file, "added_tokens") != ReadJson(AddedTokens()))
    return Damaged(fmt::format("its special tokens are not {}", fmt::join(kSpecialNames, ", ")));
  for (const char* name : {"normalizer", "post_processor"})
    if (!field(file, name).is_null()) return Damaged(fmt::format("it has a {}", name));
  ASSIGN_OR_RETURN(Tokenizer tokenizer, TokenizerFile::FromMerges(field(model, "merges")));
  if (field(model, "vocab") != ReadJson(TokenizerFile::Vocabulary(tokenizer)))
    return Damaged("its vocabulary is not what its merges make");
  return tokenizer;
}

Result<Tokenizer> ReadTokenizer(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  Result<Tokenizer> tokenizer = ParseTokenizer(text);
  if (!tokenizer.ok()) return WithContext(tokenizer.status(), path.string());
  return tokenizer;
}

Status WriteTokenizer(const Tokenizer& tokenizer, const std::filesystem::path& path) {
  return WriteFileAtomic(path, PrintTokenizer(tokenizer));
}

}  // namespace gemmsmith
