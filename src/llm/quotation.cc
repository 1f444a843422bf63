#include "llm/quotation.h"

#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "base/utf8.h"

namespace gemmsmith {
namespace {

constexpr std::string_view kBeforeLine = "> ";

// With these the templates of known models begin and end messages and parts of them.
constexpr std::string_view kTemplateMarks[] = {
    "<|",    "<\xef\xbd\x9c", "<start_of_turn>", "<end_of_turn>", "<s>",     "</s>",    "<bos>",
    "<eos>", "<think>",       "</think>",        "[INST]",        "[/INST]", "<<SYS>>", "<</SYS>>"};

uint32_t CodePoint(std::string_view character) {
  constexpr uint8_t kFirstBits[] = {0x7f, 0x7f, 0x1f, 0x0f, 0x07};
  uint32_t code = uint8_t(character[0]) & kFirstBits[character.size()];
  for (const char byte : character.substr(1)) code = code << 6 | (uint8_t(byte) & 0x3f);
  return code;
}

// Controls, what turns the direction of writing, and what has no width: text that people do not see as a model does.
bool IsInvisible(uint32_t code) {
  constexpr struct {
    uint32_t first, last;
  } kRanges[] = {{0x00, 0x08},     {0x0b, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x200b, 0x200f},
                 {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};
  return std::ranges::any_of(kRanges, [&](const auto& range) { return code >= range.first && code <= range.last; });
}

std::string VisibleText(std::string_view text) {
  std::string visible;
  while (!text.empty()) {
    const size_t size = CharacterBytes(text);
    if (size > 0 && !IsInvisible(CodePoint(text.substr(0, size)))) visible += text.substr(0, size);
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return visible;
}

std::string WithCutMarks(std::string_view text) {
  std::string cut;
  for (; !text.empty(); text.remove_prefix(1)) {
    cut += text[0];
    if (std::ranges::any_of(kTemplateMarks, [&](std::string_view mark) { return text.starts_with(mark); })) cut += ' ';
  }
  return cut;
}

std::string_view FirstBytes(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (uint8_t(text[bytes]) & 0xc0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

}  // namespace

std::string Quoted(std::string_view text, size_t bytes) {
  std::string clean = WithCutMarks(VisibleText(text));
  while (clean.ends_with('\n')) clean.pop_back();
  std::string quoted;
  for (const std::string_view line : Split(clean, '\n')) {
    if (quoted.size() + kBeforeLine.size() + 1 >= bytes) break;
    const size_t room = bytes - quoted.size() - kBeforeLine.size() - 1;
    quoted += std::string(kBeforeLine) + std::string(FirstBytes(line, room)) + "\n";
    if (line.size() > room) break;
  }
  return quoted;
}

}  // namespace gemmsmith
