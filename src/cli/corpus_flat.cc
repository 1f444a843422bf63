#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "archive/replay.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/problems.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "cli/words.h"
#include "corpus/flat_texts.h"
#include "corpus/random_shapes.h"
#include "program/legality.h"
#include "workflow/shipped_data.h"

namespace gemmsmith {

namespace {

Result<std::vector<Gemm>> ProblemsOfTexts(const CorpusFlatCommand& command) {
  std::vector<Gemm> problems;
  const std::vector<Shape> random =
      RandomShapes(command.random_shapes, command.held_out, Random(command.seed).Fork("shapes"));
  for (const ScalarType type : command.types) {
    ASSIGN_OR_RETURN(std::vector<Gemm> named, LoadProblems(command.shapes, command.layouts, {.type = type}));
    std::erase_if(named, [&](const Gemm& gemm) { return IsHeldOut(gemm.shape, command.held_out); });
    problems.insert(problems.end(), named.begin(), named.end());
    for (const Shape& shape : random)
      for (const Layout& layout : command.layouts) problems.push_back({shape, {.layout = layout, .type = type}});
  }
  if (problems.empty()) return NotFound(fmt::format("every shape of '{}' is held out", command.shapes));
  return problems;
}

template <class Values>
std::string NamesOf(const Values& values) {
  std::vector<std::string> names;
  for (const auto& value : values) names.emplace_back(Name(value));
  return Join(names, ",");
}

using MeasuredPlans = std::map<Gemm, std::vector<MeasuredPlan>>;

std::vector<MeasuredPlan> MeasuredIn(const Recording& recording, const Gemm& gemm, const Device& device) {
  std::vector<MeasuredPlan> measured;
  if (!recording.Has(gemm)) return measured;
  const Space space = recording.SpaceFor(gemm);
  for (const Plan& plan : space.plans()) {
    const Trial* const trial = recording.Find(gemm, plan);
    const bool is_direct = plan.family == FamilyId::kDirect && IsLegal(plan, gemm, device);
    if (is_direct && trial != nullptr && trial->IsTimedPlan()) measured.push_back({plan, trial->outcome.TimeNs()});
  }
  return measured;
}

// Times of different records are never beside each other: their clocks may differ.
Result<MeasuredPlans> MeasuredOn(const Device& device, const std::vector<Gemm>& problems) {
  MeasuredPlans plans;
  const std::optional<RecordingPlace> place = FindRecordingOf(device.key);
  if (!place) return plans;
  ASSIGN_OR_RETURN(const std::vector<RecordSource> sources, SpaceAndSearches(*place));
  for (const RecordSource& source : sources) {
    ASSIGN_OR_RETURN(const std::shared_ptr<const Recording> recording, Recording::Load(source));
    for (const Gemm& gemm : problems)
      if (plans[gemm].size() < 2) plans[gemm] = MeasuredIn(*recording, gemm, device);
  }
  std::erase_if(plans, [](const auto& of_problem) { return of_problem.second.size() < 2; });
  return plans;
}

std::string Fingerprint(const MeasuredPlans& plans) {
  std::string text;
  for (const auto& [gemm, measured] : plans)
    for (const auto& [plan, time_ns] : measured) text += fmt::format("{} {} {}\n", Print(gemm), Print(plan), time_ns);
  return HashBytes(text).Hex().substr(0, 8);
}

Status AddContrast(const CorpusFlatCommand& command, FlatTextOptions& options) {
  options.contrast = command.contrast;
  if (options.contrast == 0) return OkStatus();
  ASSIGN_OR_RETURN(options.measured, MeasuredOn(command.device, options.problems));
  options.origin += fmt::format(" --contrast {}, measured plans {}", options.contrast, Fingerprint(options.measured));
  WriteNote(fmt::format("plans of {} are shown with their recorded times",
                        Plural(int64_t(options.measured.size()), "problem")));
  return OkStatus();
}

std::string OriginOf(const CorpusFlatCommand& command) {
  const std::string held_out = Print(command.held_out);
  const std::string random =
      command.random_shapes == 0 ? "" : fmt::format(" --random-shapes {}", command.random_shapes);
  return fmt::format("corpus flat --shapes {}{} --layouts {} --types {}{} --device {} --seed {}", command.shapes,
                     random, NamesOf(command.layouts), NamesOf(command.types),
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
  RETURN_IF_ERROR(AddContrast(command, options));
  Progress bar("texts", options.count);
  const FlatTextHooks hooks{.stop = InterruptArrived, .watch = [&](int64_t texts) { bar.Update(texts, ""); }};
  ASSIGN_OR_RETURN(const FlatTextSummary summary, WriteFlatTexts(options, command.output, hooks));
  RETURN_IF_ERROR(WriteOut(PrintText(command, summary, options.problems.size())));
  return summary.texts == command.count ? kExitDone : kExitInterrupted;
}

}  // namespace gemmsmith
