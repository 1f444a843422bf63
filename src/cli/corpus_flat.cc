#include <fmt/format.h>

#include <algorithm>

#include "base/interrupt.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/problems.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "cli/words.h"
#include "corpus/flat_texts.h"

namespace gemmsmith {

namespace {

Result<std::vector<Gemm>> ProblemsOfTexts(const CorpusFlatCommand& command) {
  std::vector<Gemm> problems;
  for (const ScalarType type : command.types) {
    ASSIGN_OR_RETURN(const std::vector<Gemm> more, LoadProblems(command.shapes, command.layouts, {.type = type}));
    problems.insert(problems.end(), more.begin(), more.end());
  }
  std::erase_if(problems, [&](const Gemm& gemm) { return IsHeldOut(gemm.shape, command.held_out); });
  if (problems.empty()) return NotFound(fmt::format("every shape of '{}' is held out", command.shapes));
  return problems;
}

template <class Values>
std::string NamesOf(const Values& values) {
  std::vector<std::string> names;
  for (const auto& value : values) names.emplace_back(Name(value));
  return Join(names, ",");
}

std::string OriginOf(const CorpusFlatCommand& command) {
  const std::string held_out = Print(command.held_out);
  return fmt::format("corpus flat --shapes {} --layouts {} --types {}{} --device {} --seed {}", command.shapes,
                     NamesOf(command.layouts), NamesOf(command.types),
                     held_out.empty() ? "" : " --hold-out " + held_out, command.device.key, command.seed);
}

std::string PrintText(const CorpusFlatCommand& command, const FlatTextSummary& summary, size_t problems) {
  if (summary.texts < command.count)
    return fmt::format("stopped after {} of {}; the same command goes on\n", CountText(summary.texts),
                       Plural(command.count, "text"));
  return fmt::format(
      "{} of {} plans on {}, {} of kernels{}\n  texts  {}\n", Plural(summary.texts, "text"),
      CountText(int64_t(summary.plans)), Plural(int64_t(problems), "problem"), BytesText(double(summary.bytes)),
      summary.found == 0 ? "" : fmt::format("; {} were there", CountText(summary.found)), command.output.string());
}

}  // namespace

Result<int> Run(const CorpusFlatCommand& command) {
  WatchForInterrupts();
  FlatTextOptions options{
      .device = command.device, .count = command.count, .seed = command.seed, .origin = OriginOf(command)};
  ASSIGN_OR_RETURN(options.problems, ProblemsOfTexts(command));
  Progress bar("texts", options.count);
  const FlatTextHooks hooks{.stop = InterruptArrived, .watch = [&](int64_t texts) { bar.Update(texts, ""); }};
  ASSIGN_OR_RETURN(const FlatTextSummary summary, WriteFlatTexts(options, command.output, hooks));
  RETURN_IF_ERROR(WriteOut(PrintText(command, summary, options.problems.size())));
  return summary.texts == command.count ? kExitDone : kExitInterrupted;
}

}  // namespace gemmsmith
