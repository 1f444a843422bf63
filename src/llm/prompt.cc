#include "llm/prompt.h"

#include <fmt/format.h>

namespace gemmsmith {
namespace {

constexpr const char* kSystem =
    "You write CUDA kernels for matrix products that are faster than NVIDIA's libraries. Every source is compiled, "
    "tested on inputs that you do not see, and timed by a judge. Only right and fast kernels count.";

constexpr const char* kForm =
    "# Your answer\n\n"
    "Write three parts under these headings:\n\n"
    "## Performance analysis\n"
    "Which of the kernels above is faster and why; what limits the faster one.\n\n"
    "## Design\n"
    "What your kernel does otherwise, and what you expect of it.\n\n"
    "## Code\n"
    "One whole file between lines of ```. Or edits of a kernel above, which is shorter: a line \"Edits of kernel N\", "
    "then for each edit\n\n"
    "<<<<<<< SEARCH\nlines of that kernel, unchanged and unique in it\n=======\nlines that take their place\n"
    ">>>>>>> REPLACE\n";

constexpr size_t kMostOfLog = 4000;

std::string TimeText(const SourceVerdict& verdict) {
  if (!verdict.is_timed) return "It passed the tests of this machine and was not timed.";
  std::string text = fmt::format("It takes {:.3f} us", verdict.time_ns / 1e3);
  if (verdict.speed_up) text += fmt::format(", {:.3f}x the speed of cuBLASLt AutoTuning", *verdict.speed_up);
  return text + ".";
}

std::string ExemplarText(size_t number, const Member& member) {
  std::string text = fmt::format("# Kernel {}\n\n{}\n", number, TimeText(member.verdict));
  if (!member.verdict.facts.empty()) text += fmt::format("Machine code and counters: {}\n", member.verdict.facts);
  return fmt::format("{}\n```cuda\n{}{}```\n\n", text, member.source, member.source.ends_with('\n') ? "" : "\n");
}

}  // namespace

std::vector<ChatMessage> OpeningMessages(const std::string& task, const std::string& documents,
                                         std::span<const Member* const> exemplars) {
  std::string text = task;
  if (!text.ends_with('\n')) text += '\n';
  text += '\n' + documents;
  for (size_t i = 0; i < exemplars.size(); ++i) text += ExemplarText(i + 1, *exemplars[i]);
  return {{"system", kSystem}, {"user", text + kForm}};
}

std::string TextAfterUnreadable(const std::string& why, bool is_cut) {
  return fmt::format("The answer has no code that can be judged: {}.{} Answer again, in the same three parts.", why,
                     is_cut ? " It was cut off at the most tokens: write less." : "");
}

std::string TextAfterRefusal(const SourceVerdict& verdict, const std::string& documents) {
  std::string text = fmt::format("The judge says: {}\n", verdict.words);
  if (!verdict.compiler_log.empty())
    text += fmt::format("\nThe compiler says:\n\n```\n{}\n```\n", verdict.compiler_log.substr(0, kMostOfLog));
  if (!documents.empty()) text += "\n" + documents;
  return text +
         "\nMend it. Answer in the same three parts, with a whole file or with edits of kernel 1, which is now the "
         "source that you wrote.";
}

}  // namespace gemmsmith
