#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "archive/standings.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "cli/came_along.h"
#include "cli/exit.h"
#include "cli/instrument.h"
#include "cli/optimize_report.h"
#include "cli/progress.h"
#include "cli/readers.h"
#include "cli/record_files.h"
#include "cli/recordings.h"
#include "cli/run.h"
#include "cli/set_report.h"
#include "cli/settlement.h"
#include "cli/winners.h"
#include "cli/words.h"
#include "evaluate/time/race_rules.h"
#include "policy/policy_proposer.h"
#include "program/cost.h"
#include "program/emit.h"

namespace gemmsmith {

namespace {

// The problems of a call: those that this instrument can answer for, and the others.
struct ProblemList {
  std::vector<Gemm> answerable;  // shape by shape, the layouts of one next to each other: one session judges both
  std::vector<Gemm> not_recorded;
  size_t shapes = 0;
};

// What a search knows before it begins.
struct Advice {
  std::shared_ptr<const PolicyModel> policy;  // null where it proposes otherwise
  NeighbourWinners winners;
  Experience experience;
};

constexpr std::string_view kAllGpus = "all";

// Everything that makes old trials worthless for this run: another machine, driver or harness; another record.
std::string Fingerprint(const Instrument& instrument) {
  if (!instrument.live()) return instrument.recording->Fingerprint();
  const Setting setting = instrument.evaluator->setting();
  std::vector<std::string> gpus = {setting.gpu_uuid};
  for (const std::unique_ptr<Evaluator>& other : instrument.others) gpus.push_back(other->setting().gpu_uuid);
  std::ranges::sort(gpus);
  return HashBytes(fmt::format("{}\n{}\n{}\n{}\n{}", Join(gpus, " "), setting.driver, setting.libraries,
                               setting.harness, instrument.compiler->Identity()))
      .Hex()
      .substr(0, 8);
}

// Names neither shape nor set: what one call found for a shape, another finds for the set that holds it.
std::string CampaignName(const OptimizeCommand& command, const Instrument& instrument, const Advice& advice) {
  std::string name(instrument.live() ? "" : kReplayPrefix);
  if (!command.name.empty()) return name + command.name;
  name += fmt::format("optimize {} seed={} {}", command.proposer, command.seed, Fingerprint(instrument));
  if (advice.policy != nullptr) name += fmt::format(" weights={}", Fingerprint(*advice.policy));
  // Those that came along may change by the very run that is to go on.
  if (!advice.winners.empty() && command.winners.empty())
    name += " winners=along";
  else if (!advice.winners.empty())
    name += fmt::format(" winners={}", HashBytes(advice.winners.Print()).Hex().substr(0, 8));
  if (!advice.experience.empty()) name += fmt::format(" experience={}", advice.experience.Fingerprint());
  if (command.objective == Objective::kEnergy) name += " energy";
  if (command.brief) name += " brief";
  if (command.fresh) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    name += fmt::format(" fresh={}", std::chrono::duration_cast<std::chrono::microseconds>(now).count());
  }
  return name;
}

CampaignOptions OptionsFor(const OptimizeCommand& command, const Instrument& instrument, const Advice& advice,
                           const ProblemList& problems) {
  CampaignOptions options{.name = CampaignName(command, instrument, advice),
                          .problems = problems.answerable,
                          .settles = instrument.live(),
                          .seed = command.seed};
  if (instrument.live() && command.brief) {
    options.brief = true;
    options.fixed_twins = 2, options.heat_contenders = 4, options.finalists = 2;
  } else if (instrument.live()) {
    options.chained_twins = 2, options.fixed_twins = 6, options.heat_contenders = 12;
    options.room_for_next_bytes = instrument.evaluator->device().RoomForTwoBytes();
    options.placed_twins = true;
    options.raced_on = instrument.evaluator->device();
  }
  // Whoever draws little may have been fifth by time.
  if (command.objective == Objective::kEnergy) options.objective = Objective::kEnergy, options.finalists = 8;
  // One shape is told in full, from all its trials. With a budget of seconds nobody can say how many a problem gets.
  if (!command.target.shape) options.finished_after = command.budget_seconds ? 0 : command.budget_evaluations;
  return options;
}

std::unique_ptr<StopRule> BudgetOfALayout(const OptimizeCommand& command) {
  std::vector<std::unique_ptr<StopRule>> rules;
  rules.push_back(StopAfterEvaluations(command.budget_evaluations));
  if (command.budget_seconds) rules.push_back(StopAfterSeconds(*command.budget_seconds));
  return StopOnAny(std::move(rules));
}

std::unique_ptr<StopRule> LimitsOfTheCall(const OptimizeCommand& command) {
  std::vector<std::unique_ptr<StopRule>> rules;
  rules.push_back(StopOnInterrupt());
  if (command.limit_seconds) rules.push_back(StopAfterSeconds(*command.limit_seconds));
  return StopOnAny(std::move(rules));
}

// What was recorded is all that a replay can answer; where a GPU measures, proposers and winners bring plans of their
// own.
Result<Space> SpaceFor(const OptimizeCommand& command, const Instrument& instrument, const std::vector<Plan>& winners,
                       const Gemm& gemm) {
  Space space = instrument.SpaceFor(gemm);
  if (!instrument.live()) return space;
  ASSIGN_OR_RETURN(std::vector<Plan> plans, PlansBesideRanked(command.proposer, gemm, instrument.evaluator->device()));
  plans.insert(plans.end(), winners.begin(), winners.end());
  plans.insert(plans.end(), space.plans().begin(), space.plans().end());
  return Space(std::move(plans));
}

Result<std::shared_ptr<const PolicyModel>> ReadPolicy(const std::filesystem::path& weights) {
  ASSIGN_OR_RETURN(PolicyModel model, ReadModel(weights));
  return std::shared_ptr<const PolicyModel>(std::make_shared<PolicyModel>(std::move(model)));
}

// The one that was asked for; null where a search proposes.
Result<std::shared_ptr<const PolicyModel>> PolicyAskedFor(const OptimizeCommand& command) {
  if (command.proposer != kPolicyProposer) return std::shared_ptr<const PolicyModel>();
  if (!command.weights.empty()) return ReadPolicy(command.weights);
  ASSIGN_OR_RETURN(const std::filesystem::path weights, PolicyThatCameAlong("--weights FILE"));
  return ReadPolicy(weights);
}

// Where nobody chose: the policy that came along for what it was trained on, f16 products with f32 sums on its devices;
// null, for local search, elsewhere, and where it cannot be read.
std::shared_ptr<const PolicyModel> PolicyThatKnows(const OptimizeCommand& command, const Device& device) {
  if (command.type != ScalarType::kF16 || command.accumulation != Accumulation::kF32) return nullptr;
  const Result<std::filesystem::path> weights = PolicyThatCameAlong("--weights FILE");
  if (!weights.ok() || !WasTrainedOn(*weights, device.key)) return nullptr;
  Result<std::shared_ptr<const PolicyModel>> policy = ReadPolicy(*weights);
  if (!policy.ok()) {
    WriteNote(
        fmt::format("the policy that came along is left out, local search proposes: {}", policy.status().message()));
    return nullptr;
  }
  return *std::move(policy);
}

// Where nothing was named and a GPU measures, those of the catalogues that came along: whoever has no use for more than
// what shipped finds it at once. Not where shapes are held out, of which these would tell.
Result<NeighbourWinners> WinnersFor(const OptimizeCommand& command, const Instrument& instrument) {
  const Device& device = instrument.evaluator->device();
  if (command.winners == kNoWinners) return NeighbourWinners();
  if (!command.winners.empty()) return NeighbourWinnersIn(command.winners, device);
  if (!instrument.live() || command.held_out != HeldOut()) return NeighbourWinners();
  Result<NeighbourWinners> along = NeighbourWinnersIn(CataloguesThatCameAlong(), device);
  if (along.ok()) return along;
  WriteNote(fmt::format("the kernels that came along are not tried: {}", along.status().message()));
  return NeighbourWinners();
}

Result<Experience> ExperienceFor(const OptimizeCommand& command, const Instrument& instrument) {
  const HeldOut& held_out = command.held_out;
  if (command.proposer != kPolicyProposer) return ExperienceNamed(command.experience, held_out);
  if (instrument.live()) return ExperienceOnGpu(command.experience, instrument.evaluator->device().key, held_out);
  return ExperienceOfReplay(command.experience, *instrument.recording, held_out);
}

Result<ProblemSearch> SearchFor(const OptimizeCommand& command, const Instrument& instrument, const Advice& advice,
                                const Gemm& gemm) {
  const Device& device = instrument.evaluator->device();
  // Of all candidates half, since they take turns with those of the search.
  std::vector<Plan> winners = advice.winners.For(gemm, device, size_t(command.budget_evaluations + 1) / 2);
  ASSIGN_OR_RETURN(Space space, SpaceFor(command, instrument, winners, gemm));
  ProblemSearch search{.space = std::make_unique<Space>(std::move(space)), .stop = BudgetOfALayout(command)};
  SearchContext context{.gemm = gemm,
                        .device = device,
                        .space = search.space.get(),
                        .seed = command.seed,
                        .experience = &advice.experience,
                        .settles = instrument.live()};
  // A replay would read its own answers.
  if (!instrument.live()) context.forgets = [shape = gemm.shape](const Shape& other) { return other == shape; };
  ASSIGN_OR_RETURN(search.proposer, advice.policy != nullptr ? MakePolicyProposer(advice.policy, context)
                                                             : MakeProposer(command.proposer, context));
  std::erase_if(winners, [&](const Plan& plan) { return !search.space->Contains(plan); });
  if (!winners.empty()) search.proposer = MakeInTurn(std::move(winners), std::move(search.proposer));
  return search;
}

// One bar for the whole call: candidates of a shape, problems of a set.
class Watcher {
 public:
  Watcher(const OptimizeCommand& command, const Instrument& instrument, const std::vector<Gemm>& problems)
      : of_set_(!command.target.shape),
        evaluations_(problems.size(), 0),
        progress_(of_set_ ? command.target.set : Print(*command.target.shape),
                  of_set_ ? int64_t(problems.size()) : Candidates(command, instrument, problems)) {}

  void operator()(const CampaignEvent& event) {
    if (of_set_)
      TellOfSet(event);
    else if (event.trial != nullptr)
      TellOfShape(event);
  }

 private:
  static int64_t Candidates(const OptimizeCommand& command, const Instrument& instrument,
                            const std::vector<Gemm>& problems) {
    int64_t candidates = 0;
    for (const Gemm& gemm : problems)
      candidates += instrument.live() ? command.budget_evaluations
                                      : std::min<int64_t>(command.budget_evaluations,
                                                          int64_t(instrument.recording->SpaceFor(gemm).size()));
    return candidates;
  }

  void TellOfShape(const CampaignEvent& event) {
    evaluations_[event.problem] = event.evaluations;
    int64_t all = 0;
    for (const int64_t evaluations : evaluations_) all += evaluations;
    const std::string_view layout = Name(event.trial->gemm.kind.layout);
    std::string news = event.best == nullptr
                           ? fmt::format("{}: none passed yet", layout)
                           : fmt::format("{}: best {}", layout, TimeText(event.best->outcome.TimeNs()));
    if (event.trial->outcome.protocol == Protocol::kShort) news += ", judging finalists";
    progress_.Update(all, news);
  }

  void TellOfSet(const CampaignEvent& event) {
    if (event.complete != nullptr && event.best != nullptr) {
      if (const std::optional<RatioEstimate> ratio = OverAutoTuning(event.best->outcome)) {
        sum_of_logs_ += std::log(ratio->median);
        ++ratios_;
      }
    }
    if (event.complete != nullptr && event.complete->found)
      return progress_.StartFrom(int64_t(event.problems_complete));
    if (!begun_ && event.problems_complete == 0) progress_.StartFrom(0);
    begun_ = true;
    const std::string news =
        ratios_ == 0 ? "" : fmt::format("geometric mean {:.3f}x AutoTuning", std::exp(sum_of_logs_ / double(ratios_)));
    progress_.Update(int64_t(event.problems_complete), news, event.judged);
  }

  const bool of_set_;
  std::vector<int64_t> evaluations_;
  double sum_of_logs_ = 0;
  int64_t ratios_ = 0;
  bool begun_ = false;
  Progress progress_;
};

Result<CampaignResult> Search(const OptimizeCommand& command, Instrument& instrument, const Advice& advice,
                              Archive& archive, const CampaignOptions& options) {
  Watcher watcher(command, instrument, options.problems);
  const MakeSearch make_search = [&](const Gemm& gemm) { return SearchFor(command, instrument, advice, gemm); };
  const std::unique_ptr<StopRule> stop = LimitsOfTheCall(command);
  return RunCampaign(options, make_search, instrument.Evaluators(), instrument.compiler.get(), &archive, *stop,
                     [&](const CampaignEvent& event) { watcher(event); });
}

// The best plan as text, beside what was measured.
Status WriteSources(const std::filesystem::path& folder, const Device& device, LayoutFinding& finding) {
  if (!finding.result.best) return OkStatus();
  const Plan& plan = finding.result.best->plan();
  if (const std::vector<std::string> reasons = Check(plan, finding.gemm, device); !reasons.empty()) {
    finding.not_emitted = reasons.front();
    return OkStatus();
  }
  const std::string stem = fmt::format("gemm_{}_{}_{}_{}", Print(finding.gemm.shape), Name(finding.gemm.kind.layout),
                                       PrintNumbers(finding.gemm.kind), device.key);
  const std::filesystem::path thin = folder / (stem + ".cu"), standalone = folder / (stem + "_standalone.cu");
  RETURN_IF_ERROR(WriteFileAtomic(thin, Emit(plan, finding.gemm).text));
  RETURN_IF_ERROR(WriteFileAtomic(standalone, EmitStandalone(plan, finding.gemm)));
  finding.thin_path = thin;
  finding.standalone_path = standalone;
  return OkStatus();
}

std::filesystem::path FolderForSources(const OptimizeCommand& command) {
  if (!command.output.empty() || !command.target.shape) return command.output;
  return HomeFolder() / "kernels";
}

Status CheckRecordIsOfAGpu(const OptimizeCommand& command, const Instrument& instrument) {
  if (command.record.empty() || instrument.live()) return OkStatus();
  return InvalidArgument("--record keeps what a GPU measured; this would be a replay");
}

Result<std::vector<std::string>> WriteRecord(const OptimizeCommand& command, const Archive& archive,
                                             const CampaignOptions& options) {
  const std::set<Gemm> problems(options.problems.begin(), options.problems.end());
  return WriteSelected(archive, {.campaign = options.name}, command.record,
                       [&](const Trial& trial) { return problems.contains(trial.gemm); });
}

Status NotRecorded(const Instrument& instrument, const Gemm& gemm) {
  std::vector<std::string> nearest;
  for (const Gemm& near : instrument.recording->Nearest(gemm, 16)) {
    std::string shape = Print(near.shape);
    if (PrintNumbers(near.kind) != PrintNumbers(gemm.kind)) shape += fmt::format(" ({})", PrintNumbers(near.kind));
    if (nearest.size() < 5 && std::find(nearest.begin(), nearest.end(), shape) == nearest.end())
      nearest.push_back(shape);
  }
  return NotFound(fmt::format("{} {} was not recorded on the {}; the nearest that were: {}", Print(gemm.shape),
                              PrintNumbers(gemm.kind), instrument.recording->setting().device_name,
                              fmt::join(nearest, ", ")));
}

Status NothingRecorded(const OptimizeCommand& command, const Instrument& instrument, const ProblemList& problems) {
  if (command.target.shape) return NotRecorded(instrument, problems.not_recorded.front());
  return NotFound(fmt::format("nothing of {} was recorded on the {}: {}", command.target.set,
                              instrument.recording->setting().device_name,
                              NotRecordedText({.not_recorded = problems.not_recorded})));
}

// All that were asked for, checked; the layouts of a shape next to each other.
Result<std::vector<Gemm>> AskedFor(const OptimizeCommand& command) {
  std::vector<Shape> shapes;
  if (command.target.shape) {
    shapes = {*command.target.shape};
  } else {
    ASSIGN_OR_RETURN(shapes, LoadShapeLists(command.target.set));
  }
  std::vector<Gemm> gemms;
  for (const Shape& shape : shapes) {
    for (const Layout& layout : command.layouts) {
      const GemmKind kind{layout, command.type, command.accumulation};
      gemms.push_back({.shape = shape, .kind = kind});
      if (const std::vector<std::string> reasons = Problems(gemms.back()); !reasons.empty())
        return InvalidArgument(reasons[0]);
    }
  }
  return gemms;
}

Result<ProblemList> ProblemsOf(const OptimizeCommand& command, const Instrument& instrument,
                               const std::vector<Gemm>& asked_for) {
  ProblemList problems{.shapes = asked_for.size() / command.layouts.size()};
  for (const Gemm& gemm : asked_for) {
    const bool answerable = instrument.live() || instrument.recording->Has(gemm);
    (answerable ? problems.answerable : problems.not_recorded).push_back(gemm);
  }
  if (problems.answerable.empty()) return NothingRecorded(command, instrument, problems);
  return problems;
}

void SayWhere(const Instrument& instrument) {
  const size_t gpus = 1 + instrument.others.size();
  if (gpus > 1) return WriteNote(fmt::format("measuring on {} GPUs, each an {}", gpus, instrument.Describe()));
  if (instrument.live()) return WriteNote(fmt::format("measuring on an {}", instrument.Describe()));
  const std::string why =
      instrument.reason.empty() ? "" : fmt::format("no GPU to measure on ({}): ", instrument.reason);
  WriteNote(fmt::format("{}replaying the {}", why, instrument.Describe()));
}

// How to go on: the campaign of --fresh has a name that no other call would get.
std::string WhatGoesOn(const OptimizeCommand& command, std::string_view campaign) {
  if (!command.fresh) return "the same command goes on";
  if (campaign.starts_with(kReplayPrefix)) campaign.remove_prefix(kReplayPrefix.size());
  return fmt::format("--name '{}' instead of --fresh goes on", campaign);
}

int SayInterrupted(const OptimizeCommand& command, const CampaignResult& result, std::string_view campaign,
                   const std::string& archive_path) {
  WriteError(fmt::format("interrupted; the {} of this call are kept in {}, {} from there",
                         Plural(result.judged, "trial"), archive_path, WhatGoesOn(command, campaign)));
  return kExitInterrupted;
}

std::string ArchivePath(const OptimizeCommand& command) {
  return (command.archive.empty() ? DefaultArchivePath() : command.archive).string();
}

// By what an answer depends on: the limit may end a call before anything is done, which is no failure.
int ExitCodeFor(bool any_passed, bool any_left) { return any_passed || any_left ? kExitDone : kExitNoCandidate; }

Result<int> ReportShape(const OptimizeCommand& command, const Instrument& instrument, const CampaignResult& result,
                        std::vector<LayoutFinding> findings) {
  const OptimizeReport report{
      .shape = *command.target.shape,
      .type = command.type,
      .accumulation = command.accumulation,
      .replayed = !instrument.live(),
      .recorded_date = instrument.live() ? "" : instrument.recording->Date(),
      .device = instrument.evaluator->device(),
      .setting = instrument.evaluator->setting(),
      .proposer = command.proposer,
      .objective = command.objective,
      .seed = command.seed,
      .archive_path = ArchivePath(command),
      .layouts = std::move(findings),
  };
  if (!result.stop_reason.empty())
    WriteNote(
        fmt::format("{}: not finished; {}", result.stop_reason, WhatGoesOn(command, report.layouts.front().campaign)));
  RETURN_IF_ERROR(WriteOut(command.json ? PrintJson(report) : PrintText(report, DescribeTerminal(STDOUT_FILENO))));
  return ExitCodeFor(report.Best() != nullptr, !result.stop_reason.empty());
}

Result<int> ReportSet(const OptimizeCommand& command, const Instrument& instrument, const ProblemList& problems,
                      const CampaignResult& result, const std::string& campaign, std::vector<LayoutFinding> findings,
                      std::vector<std::string> record_files) {
  const SetReport report{
      .set = command.target.set,
      .shapes = problems.shapes,
      .layouts = command.layouts,
      .type = command.type,
      .accumulation = command.accumulation,
      .replayed = !instrument.live(),
      .recorded_date = instrument.live() ? "" : instrument.recording->Date(),
      .setting = instrument.evaluator->setting(),
      .proposer = command.proposer,
      .objective = command.objective,
      .seed = command.seed,
      .campaign = campaign,
      .archive_path = ArchivePath(command),
      .problems = std::move(findings),
      .not_recorded = problems.not_recorded,
      .stop_reason = result.stop_reason,
      .record_files = std::move(record_files),
  };
  if (!result.stop_reason.empty() && command.fresh)
    WriteNote(fmt::format("{}: not finished; {}", result.stop_reason, WhatGoesOn(command, campaign)));
  RETURN_IF_ERROR(WriteOut(command.json ? PrintJson(report) : PrintText(report, DescribeTerminal(STDOUT_FILENO))));
  return ExitCodeFor(report.Passed() > 0, !result.stop_reason.empty());
}

// Energy differs between kernels where the power cap makes the time, which is where races are settled.
Status CheckObjective(const OptimizeCommand& command, const Instrument& instrument, const ProblemList& problems) {
  if (command.objective == Objective::kTime) return OkStatus();
  if (!instrument.live())
    return Unavailable(fmt::format("--objective energy needs a GPU: no recording holds energies{}",
                                   instrument.reason.empty() ? "" : fmt::format(" ({})", instrument.reason)));
  const Device& device = instrument.evaluator->device();
  for (const Gemm& gemm : problems.answerable) {
    const std::vector<Plan> fastest = RankedPlans(gemm, device, 1);
    const double predicted_ns = fastest.empty() ? 0 : PredictTimeNs(fastest.front(), gemm, device);
    if (!IsLongCall(predicted_ns))
      return InvalidArgument(fmt::format(
          "--objective energy is for calls of more than 300 us, whose races are settled; {} is predicted to "
          "take {:.1f} us",
          Print(gemm), predicted_ns / 1e3));
  }
  return OkStatus();
}

Status CheckPromotion(const OptimizeCommand& command, const Instrument& instrument) {
  if (!command.promote || instrument.live()) return OkStatus();
  return Unavailable(fmt::format("--promote races the finals with the standing kernels, which needs a GPU{}",
                                 instrument.reason.empty() ? "" : fmt::format(" ({})", instrument.reason)));
}

}  // namespace

Result<int> Run(const OptimizeCommand& asked) {
  WatchForInterrupts();
  OptimizeCommand command = asked;
  // Before a GPU is taken: what is wrong wherever it would run.
  RETURN_IF_ERROR(CheckSegmentPath("--record", command.record));
  Advice advice;
  ASSIGN_OR_RETURN(advice.policy, PolicyAskedFor(command));
  ASSIGN_OR_RETURN(const std::vector<Gemm> asked_for, AskedFor(command));
  ASSIGN_OR_RETURN(Instrument instrument,
                   command.device == kAllGpus ? OpenGpus(command.device) : OpenInstrument(command.device));
  RETURN_IF_ERROR(CheckRecordIsOfAGpu(command, instrument));
  RETURN_IF_ERROR(CheckPromotion(command, instrument));
  SayWhere(instrument);
  if (command.proposer.empty()) {
    advice.policy = PolicyThatKnows(command, instrument.evaluator->device());
    command.proposer = advice.policy != nullptr ? kPolicyProposer : "local";
  }
  ASSIGN_OR_RETURN(const ProblemList problems, ProblemsOf(command, instrument, asked_for));
  ASSIGN_OR_RETURN(advice.winners, WinnersFor(command, instrument));
  ASSIGN_OR_RETURN(advice.experience, ExperienceFor(command, instrument));
  RETURN_IF_ERROR(CheckObjective(command, instrument, problems));
  ASSIGN_OR_RETURN(const std::unique_ptr<Archive> archive, OpenArchive(command.archive));
  CampaignOptions options = OptionsFor(command, instrument, advice, problems);
  std::unique_ptr<Settlement> settlement;
  if (command.promote) {
    ASSIGN_OR_RETURN(settlement, Settlement::Open(command.catalogue, instrument.evaluator->device().key));
    options.standing = settlement->Standing(advice.winners, instrument.evaluator->device());
  }
  const Result<CampaignResult> searched = Search(command, instrument, advice, *archive, options);
  if (settlement && (!searched.ok() || InterruptArrived())) WriteNote(settlement->SoFar());
  // Where the GPU was lost halfway, what it judged until then is written all the same.
  ASSIGN_OR_RETURN(std::vector<std::string> record_files, WriteRecord(command, *archive, options));
  ASSIGN_OR_RETURN(const CampaignResult result, searched);
  if (InterruptArrived()) return SayInterrupted(command, result, options.name, ArchivePath(command));

  std::vector<LayoutFinding> findings;
  for (const ProblemResult& problem : result.problems) {
    findings.push_back({.gemm = problem.gemm, .campaign = options.name, .result = problem});
    if (const std::filesystem::path folder = FolderForSources(command); !folder.empty())
      RETURN_IF_ERROR(WriteSources(folder, instrument.evaluator->device(), findings.back()));
  }
  for (const ProblemResult& problem : result.problems) {
    if (!command.target.shape || problem.failure.ok()) continue;
    if (settlement) WriteNote(settlement->SoFar());
    return problem.failure;
  }
  ASSIGN_OR_RETURN(const int exit_code, command.target.shape
                                            ? ReportShape(command, instrument, result, std::move(findings))
                                            : ReportSet(command, instrument, problems, result, options.name,
                                                        std::move(findings), std::move(record_files)));
  if (settlement) RETURN_IF_ERROR(WriteOut(settlement->Print(result, command.json)));
  RETURN_IF_ERROR(result.failure);
  return exit_code;
}

}  // namespace gemmsmith
