#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/files.h"
#include "base/hash.h"
#include "campaign/interrupt.h"
#include "cli/exit.h"
#include "cli/instrument.h"
#include "cli/optimize_report.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "cli/words.h"
#include "program/emit.h"

namespace gemmsmith {

namespace {

Gemm GemmOf(const OptimizeCommand& command, Layout layout) {
  return {.shape = command.shape, .kind = {.layout = layout, .type = command.type}};
}

// Everything that makes old trials worthless for this run: another machine, driver or harness; another record.
std::string Fingerprint(const Instrument& instrument, const Gemm& gemm) {
  std::string text;
  if (instrument.live()) {
    const Setting setting = instrument.evaluator->setting();
    text = fmt::format("{}\n{}\n{}\n{}\n{}", setting.gpu_uuid, setting.driver, setting.libraries, setting.harness,
                       instrument.compiler->Identity());
  } else {
    const Space space = instrument.recording->SpaceFor(gemm);
    for (const Plan& plan : space.plans()) {
      const Trial* trial = instrument.recording->Find(gemm, plan);
      text += fmt::format("{} {}\n", trial->unix_ms, EncodeOutcome(trial->outcome));
    }
  }
  return HashBytes(text).Hex().substr(0, 8);
}

std::string CampaignName(const OptimizeCommand& command, const Instrument& instrument, const Gemm& gemm) {
  std::string name = fmt::format("{}optimize {} {} seed={} {}", instrument.live() ? "" : kReplayPrefix, Print(gemm),
                                 command.proposer, command.seed, Fingerprint(instrument, gemm));
  if (command.fresh) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    name += fmt::format(" fresh={}", std::chrono::duration_cast<std::chrono::microseconds>(now).count());
  }
  return name;
}

std::unique_ptr<StopRule> StopRulesOf(const OptimizeCommand& command) {
  std::vector<std::unique_ptr<StopRule>> rules;
  rules.push_back(StopOnInterrupt());
  rules.push_back(StopAfterEvaluations(command.budget_evaluations));
  if (command.budget_seconds) rules.push_back(StopAfterSeconds(*command.budget_seconds));
  return StopOnAny(std::move(rules));
}

Result<LayoutFinding> Search(const OptimizeCommand& command, Instrument& instrument, Archive& archive,
                             const Gemm& gemm) {
  const Space space = instrument.SpaceFor(gemm);
  ASSIGN_OR_RETURN(
      const std::unique_ptr<Proposer> proposer,
      MakeProposer(command.proposer,
                   {.gemm = gemm, .device = instrument.evaluator->device(), .space = &space, .seed = command.seed}));
  LayoutFinding finding{.gemm = gemm, .campaign = CampaignName(command, instrument, gemm)};
  const CampaignOptions options{.name = finding.campaign, .gemm = gemm, .seed = command.seed};
  Progress progress(std::string(Name(gemm.kind.layout)),
                    std::min<int64_t>(command.budget_evaluations, int64_t(space.size())));
  const auto on_event = [&](const CampaignEvent& event) {
    const std::string best =
        event.best == nullptr ? "none passed yet" : fmt::format("best {}", TimeText(event.best->outcome.TimeNs()));
    progress.Update(event.evaluations, event.finalist ? best + ", judging finalists" : best);
  };
  const std::unique_ptr<StopRule> stop = StopRulesOf(command);
  ASSIGN_OR_RETURN(finding.result, RunCampaign(options, *proposer, *instrument.evaluator, instrument.compiler.get(),
                                               &archive, *stop, on_event));
  return finding;
}

// The best plan as text, beside what was measured.
Status WriteSources(const OptimizeCommand& command, const Device& device, LayoutFinding& finding) {
  if (!finding.result.best) return OkStatus();
  const Plan& plan = finding.result.best->plan;
  if (const std::vector<std::string> reasons = Check(plan, finding.gemm, device); !reasons.empty()) {
    finding.not_emitted = reasons.front();
    return OkStatus();
  }
  const std::filesystem::path folder = command.output.empty() ? HomeFolder() / "kernels" : command.output;
  const std::string stem = fmt::format("gemm_{}_{}_{}_{}", Print(finding.gemm.shape), Name(finding.gemm.kind.layout),
                                       Name(finding.gemm.kind.type), device.key);
  const std::filesystem::path thin = folder / (stem + ".cu"), standalone = folder / (stem + "_standalone.cu");
  RETURN_IF_ERROR(WriteFileAtomic(thin, Emit(plan, finding.gemm).text));
  RETURN_IF_ERROR(WriteFileAtomic(standalone, EmitStandalone(plan, finding.gemm)));
  finding.thin_path = thin;
  finding.standalone_path = standalone;
  return OkStatus();
}

Status NotRecorded(const Instrument& instrument, const Gemm& gemm) {
  std::vector<std::string> nearest;
  for (const Gemm& near : instrument.recording->Nearest(gemm, 16)) {
    std::string shape = Print(near.shape);
    if (near.kind.type != gemm.kind.type) shape += fmt::format(" ({})", Name(near.kind.type));
    if (nearest.size() < 5 && std::find(nearest.begin(), nearest.end(), shape) == nearest.end())
      nearest.push_back(shape);
  }
  return NotFound(fmt::format("{} {} was not recorded on the {}; the nearest that were: {}", Print(gemm.shape),
                              Name(gemm.kind.type), instrument.recording->setting().device_name,
                              fmt::join(nearest, ", ")));
}

// The layouts that this instrument can answer for.
Result<std::vector<Gemm>> AnswerableGemms(const OptimizeCommand& command, const Instrument& instrument) {
  std::vector<Gemm> gemms;
  for (const Layout& layout : command.layouts) {
    const Gemm gemm = GemmOf(command, layout);
    if (const std::vector<std::string> problems = Problems(gemm); !problems.empty())
      return InvalidArgument(problems[0]);
    if (instrument.live() || instrument.recording->Has(gemm)) gemms.push_back(gemm);
  }
  if (gemms.empty()) return NotRecorded(instrument, GemmOf(command, command.layouts.front()));
  return gemms;
}

void SayWhere(const Instrument& instrument) {
  if (instrument.live()) return WriteNote(fmt::format("measuring on an {}", instrument.Describe()));
  const std::string why =
      instrument.reason.empty() ? "" : fmt::format("no GPU to measure on ({}): ", instrument.reason);
  WriteNote(fmt::format("{}replaying the {}", why, instrument.Describe()));
}

int SayInterrupted(const std::vector<LayoutFinding>& layouts, const std::string& archive_path) {
  int64_t judged = 0;
  for (const LayoutFinding& finding : layouts) judged += finding.result.evaluations + finding.result.resumed;
  WriteError(fmt::format("interrupted; all {} are kept in {}, the same command goes on from there",
                         Plural(judged, "trial"), archive_path));
  return kExitInterrupted;
}

}  // namespace

Result<int> Run(const OptimizeCommand& command) {
  WatchForInterrupts();
  ASSIGN_OR_RETURN(Instrument instrument, OpenInstrument(command.device));
  SayWhere(instrument);
  ASSIGN_OR_RETURN(const std::vector<Gemm> gemms, AnswerableGemms(command, instrument));
  ASSIGN_OR_RETURN(const std::unique_ptr<Archive> archive, OpenArchive(command.archive));
  OptimizeReport report{
      .shape = command.shape,
      .type = command.type,
      .replayed = !instrument.live(),
      .recorded_date = instrument.live() ? "" : instrument.recording->Date(),
      .device = instrument.evaluator->device(),
      .setting = instrument.evaluator->setting(),
      .proposer = command.proposer,
      .seed = command.seed,
      .archive_path = (command.archive.empty() ? DefaultArchivePath() : command.archive).string(),
  };
  for (const Gemm& gemm : gemms) {
    ASSIGN_OR_RETURN(LayoutFinding finding, Search(command, instrument, *archive, gemm));
    report.layouts.push_back(std::move(finding));
    if (InterruptArrived()) return SayInterrupted(report.layouts, report.archive_path);
    RETURN_IF_ERROR(WriteSources(command, report.device, report.layouts.back()));
  }
  RETURN_IF_ERROR(WriteOut(command.json ? PrintJson(report) : PrintText(report, DescribeTerminal(STDOUT_FILENO))));
  return report.Best() != nullptr ? kExitDone : kExitNoCandidate;
}

}  // namespace gemmsmith
