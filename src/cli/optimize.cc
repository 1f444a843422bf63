#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <set>

#include "archive/standings.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "cli/exit.h"
#include "cli/kernel_build.h"
#include "cli/optimize_report.h"
#include "cli/problems.h"
#include "cli/progress.h"
#include "cli/promotion_text.h"
#include "cli/readers.h"
#include "cli/record_files.h"
#include "cli/run.h"
#include "cli/set_report.h"
#include "cli/words.h"
#include "workflow/kernel_sources.h"
#include "workflow/optimize.h"

namespace gemmsmith {

namespace {

Result<OptimizeRequest> RequestOf(const OptimizeCommand& command) {
  OptimizeRequest request{.list = command.target.shape ? "" : command.target.set,
                          .device = command.device,
                          .proposer = command.proposer,
                          .weights = command.weights,
                          .held_out = command.held_out,
                          .objective = command.objective,
                          .budget_evaluations = command.budget_evaluations,
                          .budget_seconds = command.budget_seconds,
                          .brief = command.brief,
                          .seed = command.seed,
                          .name = command.name,
                          .fresh = command.fresh,
                          .archive = command.archive,
                          .promote = command.promote,
                          .catalogue = command.catalogue,
                          .overlay = command.overlay};
  const std::string words = command.target.shape ? Print(*command.target.shape) : command.target.set;
  const GemmKind kind{.type = command.type, .accumulation = command.accumulation, .constant_b = command.constant_b};
  ASSIGN_OR_RETURN(request.problems, LoadProblems(words, command.layouts, kind));
  if (command.promote && command.catalogue.empty() && !command.target.shape) {
    ASSIGN_OR_RETURN(const bool is_record, NamesRecord(words));
    request.overlay = request.overlay || is_record;
  }
  ASSIGN_OR_RETURN(request.experience, ReadExperienceChoice(command.experience));
  if (!command.winners.empty()) request.winners = command.winners;
  if (command.winners == kNoWinners) request.winners.emplace();
  return request;
}

void SayWhere(const Instrument& instrument) {
  const size_t gpus = 1 + instrument.others.size();
  if (gpus > 1) return WriteNote(fmt::format("measuring on {} GPUs, each an {}", gpus, instrument.Describe()));
  if (instrument.live()) return WriteNote(fmt::format("measuring on an {}", instrument.Describe()));
  const std::string why =
      instrument.reason.empty() ? "" : fmt::format("no GPU to measure on ({}): ", instrument.reason);
  WriteNote(fmt::format("{}replaying the {}", why, instrument.Describe()));
}

// One bar for the whole call: candidates of a shape, problems of a set.
class Watcher : public OptimizeListener {
 public:
  explicit Watcher(const OptimizeCommand& command) : command_(command), of_set_(!command.target.shape) {}

  Status OnInstrument(const Instrument& instrument) override {
    if (!command_.record.empty() && !instrument.live())
      return InvalidArgument("--record keeps what a GPU measured; this would be a replay");
    SayWhere(instrument);
    return OkStatus();
  }

  void OnNote(std::string_view note) override { WriteNote(note); }

  void OnSearch(const CampaignOptions& options, int64_t candidates) override {
    evaluations_.assign(options.problems.size(), 0);
    progress_.emplace(of_set_ ? command_.target.set : Print(*command_.target.shape),
                      of_set_ ? int64_t(options.problems.size()) : candidates);
  }

  void OnEvent(const CampaignEvent& event) override {
    if (of_set_)
      TellOfSet(event);
    else if (event.trial != nullptr)
      TellOfShape(event);
  }

  // Before anything else is printed.
  void End() { progress_.reset(); }

 private:
  void TellOfShape(const CampaignEvent& event) {
    evaluations_[event.problem] = event.evaluations;
    int64_t all = 0;
    for (const int64_t evaluations : evaluations_) all += evaluations;
    const std::string_view layout = Name(event.trial->gemm.kind.layout);
    std::string news = event.best == nullptr
                           ? fmt::format("{}: none passed yet", layout)
                           : fmt::format("{}: best {}", layout, TimeText(event.best->outcome.TimeNs()));
    if (event.trial->outcome.protocol == Protocol::kShort) news += ", judging finalists";
    progress_->Update(all, news);
  }

  void TellOfSet(const CampaignEvent& event) {
    if (event.complete != nullptr && event.best != nullptr) {
      if (const std::optional<RatioEstimate> ratio = OverAutoTuning(event.best->outcome)) {
        sum_of_logs_ += std::log(ratio->median);
        ++ratios_;
      }
    }
    if (event.complete != nullptr && event.complete->found)
      return progress_->StartFrom(int64_t(event.problems_complete));
    if (!begun_ && event.problems_complete == 0) progress_->StartFrom(0);
    begun_ = true;
    const std::string news =
        ratios_ == 0 ? "" : fmt::format("geometric mean {:.3f}x AutoTuning", std::exp(sum_of_logs_ / double(ratios_)));
    progress_->Update(int64_t(event.problems_complete), news, event.judged);
  }

  const OptimizeCommand& command_;
  const bool of_set_;
  std::vector<int64_t> evaluations_;
  double sum_of_logs_ = 0;
  int64_t ratios_ = 0;
  bool begun_ = false;
  std::optional<Progress> progress_;
};

Status WriteSources(const std::filesystem::path& folder, const Device& device, LayoutFinding& finding) {
  if (!finding.result.best) return OkStatus();
  ASSIGN_OR_RETURN(finding.sources, WriteKernelSources(folder, finding.result.best->plan(), finding.gemm, device));
  return OkStatus();
}

std::filesystem::path FolderForSources(const OptimizeCommand& command) {
  if (!command.output.empty() || !command.target.shape) return command.output;
  return HomeFolder() / "kernels";
}

Result<std::vector<LayoutFinding>> FindingsOf(const OptimizeCommand& command, const OptimizeResult& result) {
  std::vector<LayoutFinding> findings;
  for (const ProblemResult& problem : result.search->problems) {
    findings.push_back({.gemm = problem.gemm, .campaign = result.campaign, .result = problem});
    if (const std::filesystem::path folder = FolderForSources(command); !folder.empty())
      RETURN_IF_ERROR(WriteSources(folder, result.device, findings.back()));
  }
  return findings;
}

Result<std::vector<std::string>> WriteRecord(const OptimizeCommand& command, const OptimizeRequest& request,
                                             const OptimizeResult& result) {
  const std::set<Gemm> problems(request.problems.begin(), request.problems.end());
  return WriteSelected(*result.archive, {.campaign = result.campaign}, command.record,
                       [&](const Trial& trial) { return problems.contains(trial.gemm); });
}

// The words that continue a call. No other call gets the campaign name of --fresh.
std::string WhatGoesOn(const OptimizeCommand& command, std::string_view campaign) {
  if (!command.fresh) return "the same command goes on";
  if (campaign.starts_with(kReplayPrefix)) campaign.remove_prefix(kReplayPrefix.size());
  return fmt::format("--name '{}' instead of --fresh goes on", campaign);
}

int SayInterrupted(const OptimizeCommand& command, const OptimizeResult& result) {
  WriteError(fmt::format("interrupted; the {} of this call are kept in {}, {} from there",
                         Plural(result.search->judged, "trial"), result.archive_path.string(),
                         WhatGoesOn(command, result.campaign)));
  return kExitInterrupted;
}

// A limit may end a call before anything is done, which is no failure.
int ExitCodeFor(bool any_passed, bool any_left) { return any_passed || any_left ? kExitDone : kExitNoCandidate; }

Result<int> ReportShape(const OptimizeCommand& command, const OptimizeResult& result,
                        std::vector<LayoutFinding> findings) {
  const OptimizeReport report{
      .shape = *command.target.shape,
      .type = command.type,
      .accumulation = command.accumulation,
      .replayed = result.replayed(),
      .recorded_date = result.recorded_date,
      .device = result.device,
      .setting = result.setting,
      .proposer = result.proposer,
      .objective = command.objective,
      .seed = command.seed,
      .archive_path = result.archive_path.string(),
      .layouts = std::move(findings),
  };
  const std::string& stop_reason = result.search->stop_reason;
  if (!stop_reason.empty())
    WriteNote(fmt::format("{}: not finished; {}", stop_reason, WhatGoesOn(command, result.campaign)));
  RETURN_IF_ERROR(WriteOut(command.json ? PrintJson(report) : PrintText(report, DescribeTerminal(STDOUT_FILENO))));
  return ExitCodeFor(report.Best() != nullptr, !stop_reason.empty());
}

Result<int> ReportSet(const OptimizeCommand& command, const OptimizeRequest& request, const OptimizeResult& result,
                      std::vector<LayoutFinding> findings, std::vector<std::string> record_files) {
  std::set<Shape> shapes;
  std::set<Layout> layouts;
  for (const Gemm& gemm : request.problems) {
    shapes.insert(gemm.shape);
    layouts.insert(gemm.kind.layout);
  }
  const SetReport report{
      .set = command.target.set,
      .shapes = shapes.size(),
      .layouts = {layouts.begin(), layouts.end()},
      .type = command.type,
      .accumulation = command.accumulation,
      .replayed = result.replayed(),
      .recorded_date = result.recorded_date,
      .setting = result.setting,
      .proposer = result.proposer,
      .objective = command.objective,
      .seed = command.seed,
      .campaign = result.campaign,
      .archive_path = result.archive_path.string(),
      .problems = std::move(findings),
      .not_recorded = result.not_recorded,
      .stop_reason = result.search->stop_reason,
      .record_files = std::move(record_files),
  };
  if (!report.stop_reason.empty() && command.fresh)
    WriteNote(fmt::format("{}: not finished; {}", report.stop_reason, WhatGoesOn(command, result.campaign)));
  RETURN_IF_ERROR(WriteOut(command.json ? PrintJson(report) : PrintText(report, DescribeTerminal(STDOUT_FILENO))));
  return ExitCodeFor(report.Passed() > 0, !report.stop_reason.empty());
}

// Where the search ended early.
void SayWhatWasDecided(const OptimizeResult& result) {
  if (!result.changes) return;
  WriteNote(fmt::format("{} decided on until then; {} holds what entered",
                        Plural(int64_t(result.changes->decided.size()), "problem"), result.changes->path.string()));
}

std::string DecisionsText(const CatalogueChanges& changes, const CampaignResult& search, bool json) {
  PromotionRound round;
  for (const ProblemResult& problem : search.problems) {
    if (const auto promotion = changes.decided.find(problem.gemm); promotion != changes.decided.end())
      round.promotions.push_back(*promotion);
    else if (!problem.failure.ok())
      round.failures.emplace_back(problem.gemm, problem.failure);
    else
      ++round.left;
  }
  return PrintPromotions(round, changes.entries, changes.path, json);
}

// Programs find the file at their next start.
Status BuildOverlay(const std::filesystem::path& catalogue) {
  std::filesystem::path kernels = catalogue;
  ASSIGN_OR_RETURN(const std::string built, BuildKernelFile(catalogue, kernels.replace_extension("kernels"), {}));
  WriteNote(built);
  return OkStatus();
}

}  // namespace

Result<int> Run(const OptimizeCommand& command) {
  if (command.proposer == kLlmProposer) return RunWriting(command);
  RETURN_IF_ERROR(CheckSegmentPath("--record", command.record));
  ASSIGN_OR_RETURN(const OptimizeRequest request, RequestOf(command));
  const std::unique_ptr<StopRule> stop = StopOnInterruptOrAfter(command.limit_seconds);
  Watcher watcher(command);
  ASSIGN_OR_RETURN(const OptimizeResult result, Optimize(request, *stop, watcher));
  watcher.End();
  if (!result.search.ok() || InterruptArrived()) SayWhatWasDecided(result);
  // Also where the GPU was lost halfway.
  ASSIGN_OR_RETURN(std::vector<std::string> record_files, WriteRecord(command, request, result));
  RETURN_IF_ERROR(result.search.status());
  if (InterruptArrived()) return SayInterrupted(command, result);

  ASSIGN_OR_RETURN(std::vector<LayoutFinding> findings, FindingsOf(command, result));
  for (const ProblemResult& problem : result.search->problems) {
    if (!command.target.shape || problem.failure.ok()) continue;
    SayWhatWasDecided(result);
    return problem.failure;
  }
  ASSIGN_OR_RETURN(const int exit_code, command.target.shape ? ReportShape(command, result, std::move(findings))
                                                             : ReportSet(command, request, result, std::move(findings),
                                                                         std::move(record_files)));
  if (result.changes) RETURN_IF_ERROR(WriteOut(DecisionsText(*result.changes, *result.search, command.json)));
  if (result.changes && request.overlay && result.changes->entries > 0)
    RETURN_IF_ERROR(BuildOverlay(result.changes->path));
  RETURN_IF_ERROR(result.search->failure);
  return exit_code;
}

}  // namespace gemmsmith
