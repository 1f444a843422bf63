#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/stderr_text.h"
#include "cli/words.h"

namespace gemmsmith {

namespace {

constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::seconds kLineEvery{2};
constexpr int kWidestBar = 30;
constexpr int kNarrowestBar = 8;

std::string Repeat(std::string_view piece, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += piece;
  return text;
}

std::string Bar(double fraction, int width, const Terminal& terminal) {
  const int full = std::clamp(int(std::floor(fraction * width)), 0, width);
  if (!terminal.unicode) return fmt::format("[{}{}]", Repeat("#", full), Repeat(".", width - full));
  return Tinted(Repeat("━", full), Tint::kGreen, terminal) + Tinted(Repeat("─", width - full), Tint::kDim, terminal);
}

}  // namespace

std::string BarLine(const std::string& title, std::optional<double> fraction, const std::string& numbers,
                    const std::string& news, const Terminal& terminal) {
  const int columns = terminal.columns - 1;  // the last one stays free: a cursor there may wrap the line
  std::string text = title;
  for (const std::string& part : {numbers, news}) {
    if (!part.empty() && int(text.size() + part.size()) + 2 <= columns) text += fmt::format("  {}", part);
  }
  const int brackets = terminal.unicode ? 0 : 2;
  const int room = columns - int(text.size()) - 2 - brackets;
  if (!fraction || room < kNarrowestBar) return text.substr(0, size_t(std::max(columns, 0)));
  text.insert(title.size(), fmt::format("  {}", Bar(*fraction, std::min(room, kWidestBar), terminal)));
  return text;
}

Progress::Progress(std::string title, std::optional<int64_t> total)
    : terminal_(DescribeTerminal(STDERR_FILENO)),
      title_(std::move(title)),
      total_(total),
      shown_(terminal_.interactive ? start_ - kRedraw : start_) {}

Progress::~Progress() {
  if (bar_shown_) WriteStderr("\r\x1b[K");
}

std::string Progress::Numbers(int64_t done, std::optional<int64_t> cells, double seconds) const {
  std::string text = total_ ? fmt::format("{}/{}", CountText(done), CountText(*total_)) : CountText(done);
  const int64_t here = done - *first_done_;
  if (const int64_t counted = cells.value_or(here); counted > 0 && seconds > 0) {
    const double rate = double(counted) / seconds;
    text += fmt::format("  {:.{}f}{}/s", rate, rate < 10 ? 1 : 0, cells ? " cells" : "");
  }
  if (here > 0 && total_ && *total_ > done)
    text += fmt::format("  {} left", SecondsText(double(*total_ - done) * seconds / double(here)));
  return text;
}

void Progress::Update(int64_t done, const std::string& news, std::optional<int64_t> cells) {
  // The first call tells of the first step.
  if (!first_done_) first_done_ = done - 1;
  const Clock::time_point now = Clock::now();
  if (now - shown_ < (terminal_.interactive ? Clock::duration(kRedraw) : Clock::duration(kLineEvery))) return;
  shown_ = now;
  const std::string numbers = Numbers(done, cells, std::chrono::duration<double>(now - start_).count());
  if (terminal_.interactive) {
    DrawBar(done, numbers, news);
    bar_shown_ = true;
  } else {
    WriteStderr(fmt::format("{}  {}  {}\n", title_, numbers, news));
  }
}

void Progress::DrawBar(int64_t done, const std::string& numbers, const std::string& news) const {
  std::optional<double> fraction;
  if (total_) fraction = *total_ == 0 ? 1.0 : double(done) / double(*total_);
  WriteStderr(fmt::format("\r\x1b[K{}", BarLine(title_, fraction, numbers, news, terminal_)));
}

}  // namespace gemmsmith
