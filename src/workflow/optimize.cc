#include "workflow/optimize.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/hash.h"
#include "base/text.h"
#include "catalogue/kernel_file.h"
#include "evaluate/time/race_rules.h"
#include "program/cost.h"
#include "workflow/search_inputs.h"

namespace gemmsmith {

namespace {

constexpr size_t kMaxNamed = 5;

// Everything that makes old trials worthless: another machine, driver, harness, or record.
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

// Names neither shape nor list: a call for a list finds what another found for one of its shapes.
std::string CampaignName(const OptimizeRequest& request, const Instrument& instrument, const SearchInputs& inputs) {
  std::string name(instrument.live() ? "" : kReplayPrefix);
  if (!request.name.empty()) return name + request.name;
  name += fmt::format("optimize {} seed={} {}", inputs.proposer, request.seed, Fingerprint(instrument));
  if (inputs.policy != nullptr) name += fmt::format(" weights={}", Fingerprint(*inputs.policy));
  // The run itself may change the shipped catalogues, and is resumed all the same.
  if (!inputs.winners.empty() && !request.winners)
    name += " winners=along";
  else if (!inputs.winners.empty())
    name += fmt::format(" winners={}", HashBytes(inputs.winners.Print()).Hex().substr(0, 8));
  if (!inputs.experience.empty()) name += fmt::format(" experience={}", inputs.experience.Fingerprint());
  if (request.objective == Objective::kEnergy) name += " energy";
  if (request.brief) name += " brief";
  if (request.fresh) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    name += fmt::format(" fresh={}", std::chrono::duration_cast<std::chrono::microseconds>(now).count());
  }
  return name;
}

CampaignOptions OptionsFor(const OptimizeRequest& request, const Instrument& instrument, const SearchInputs& inputs,
                           std::vector<Gemm> problems) {
  CampaignOptions options{
      .name = CampaignName(request, instrument, inputs), .problems = std::move(problems), .seed = request.seed};
  if (instrument.live() && request.brief) {
    options.brief = true;
    options.fixed_twins = 2, options.heat_candidates = 4, options.finalists = 2;
  } else if (instrument.live()) {
    options.chained_twins = 2, options.fixed_twins = 6, options.heat_candidates = 12;
    options.raced_on = instrument.evaluator->device();
  }
  // The kernel that draws least may have been fifth by time.
  if (request.objective == Objective::kEnergy) options.objective = Objective::kEnergy, options.finalists = 8;
  // The report of one shape needs all its trials. A budget of seconds leaves the number of screenings open.
  if (!request.list.empty()) options.finished_after = request.budget_seconds ? 0 : request.budget_evaluations;
  return options;
}

int64_t CountCandidates(const OptimizeRequest& request, const Instrument& instrument,
                        const std::vector<Gemm>& problems) {
  const int64_t budget = request.budget_evaluations;
  if (instrument.live()) return budget * int64_t(problems.size());
  int64_t candidates = 0;
  for (const Gemm& gemm : problems)
    candidates += std::min(budget, int64_t(instrument.recording->SpaceFor(gemm).size()));
  return candidates;
}

Status NotRecorded(const Instrument& instrument, const Gemm& gemm) {
  std::vector<std::string> nearest;
  for (const Gemm& near : instrument.recording->Nearest(gemm, 16)) {
    std::string shape = Print(near.shape);
    if (PrintNumberTypes(near.kind) != PrintNumberTypes(gemm.kind))
      shape += fmt::format(" ({})", PrintNumberTypes(near.kind));
    if (nearest.size() < kMaxNamed && std::ranges::find(nearest, shape) == nearest.end()) nearest.push_back(shape);
  }
  return NotFound(fmt::format("{} {} was not recorded on the {}; the nearest that were: {}", Print(gemm.shape),
                              PrintNumberTypes(gemm.kind), instrument.recording->setting().device_name,
                              fmt::join(nearest, ", ")));
}

Status NothingRecorded(const OptimizeRequest& request, const Instrument& instrument) {
  if (request.list.empty()) return NotRecorded(instrument, request.problems.front());
  return NotFound(fmt::format("nothing of {} was recorded on the {}: {}", request.list,
                              instrument.recording->setting().device_name,
                              NotRecordedText(request.problems.size(), request.problems)));
}

std::string ReasonText(const Instrument& instrument) {
  return instrument.reason.empty() ? "" : fmt::format(" ({})", instrument.reason);
}

Status CheckPromotion(const OptimizeRequest& request, const Instrument& instrument) {
  if (!request.promote || instrument.live()) return OkStatus();
  return Unavailable(
      fmt::format("--promote races the finals with the standing kernels, which needs a GPU{}", ReasonText(instrument)));
}

// Kernels differ in energy where the power cap makes the time, which is where races reach a steady state.
Status CheckObjective(const OptimizeRequest& request, const Instrument& instrument) {
  if (request.objective == Objective::kTime) return OkStatus();
  if (!instrument.live())
    return Unavailable(
        fmt::format("--objective energy needs a GPU: no recording holds energies{}", ReasonText(instrument)));
  const Device& device = instrument.evaluator->device();
  for (const Gemm& gemm : request.problems) {
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

// The problems that the instrument can answer for; the others go to `not_recorded`.
Result<std::vector<Gemm>> AnswerableOf(const OptimizeRequest& request, const Instrument& instrument,
                                       std::vector<Gemm>& not_recorded) {
  if (instrument.live()) return request.problems;
  std::vector<Gemm> answerable;
  for (const Gemm& gemm : request.problems)
    (instrument.recording->Has(gemm) ? answerable : not_recorded).push_back(gemm);
  if (answerable.empty()) return NothingRecorded(request, instrument);
  return answerable;
}

}  // namespace

std::string NotRecordedText(size_t problems, const std::vector<Gemm>& not_recorded) {
  std::vector<std::string> names;
  for (const Gemm& gemm : not_recorded)
    if (names.size() < kMaxNamed) names.push_back(fmt::format("{} {}", Print(gemm.shape), Name(gemm.kind.layout)));
  return fmt::format("{} of {} not recorded: {}{}", CountText(int64_t(not_recorded.size())),
                     Plural(int64_t(problems), "problem"), fmt::join(names, ", "),
                     not_recorded.size() > names.size() ? ", ..." : "");
}

Result<OptimizeResult> Optimize(const OptimizeRequest& request, StopRule& stop, OptimizeListener& listener) {
  SearchInputs inputs;
  // Before a GPU is taken: a policy that cannot be read fails anywhere.
  ASSIGN_OR_RETURN(inputs.policy, PolicyAskedFor(request));
  ASSIGN_OR_RETURN(const Instrument instrument,
                   request.device == "all" ? OpenGpus(request.device) : OpenInstrument(request.device));
  const Device& device = instrument.evaluator->device();
  RETURN_IF_ERROR(CheckPromotion(request, instrument));
  RETURN_IF_ERROR(listener.OnInstrument(instrument));
  ChooseProposer(request, device, listener, inputs);
  OptimizeResult result{.proposer = inputs.proposer,
                        .device = device,
                        .setting = instrument.evaluator->setting(),
                        .recorded_date = instrument.RecordedDate(),
                        .archive_path = request.archive.empty() ? DefaultArchivePath() : request.archive,
                        .search = CampaignResult()};
  ASSIGN_OR_RETURN(std::vector<Gemm> problems, AnswerableOf(request, instrument, result.not_recorded));
  ASSIGN_OR_RETURN(inputs.winners, WinnersFor(request, instrument, listener));
  ASSIGN_OR_RETURN(inputs.experience, ExperienceFor(request, inputs.proposer, instrument));
  RETURN_IF_ERROR(CheckObjective(request, instrument));
  ASSIGN_OR_RETURN(result.archive, OpenArchive(request.archive));
  CampaignOptions options = OptionsFor(request, instrument, inputs, std::move(problems));
  result.campaign = options.name;
  std::unique_ptr<CatalogueUpdate> update;
  if (request.promote) {
    const std::filesystem::path asked_for =
        request.overlay ? OverlayFolder() / (device.key + ".catalogue") : request.catalogue;
    ASSIGN_OR_RETURN(update, CatalogueUpdate::Open(asked_for, device.key));
    options.standing = update->Standing(inputs.winners, device);
  }
  listener.OnSearch(options, CountCandidates(request, instrument, options.problems));
  result.search = RunCampaign(
      options, [&](const Gemm& gemm) { return SearchFor(request, inputs, instrument, gemm); }, instrument.Evaluators(),
      instrument.compiler.get(), result.archive.get(), stop,
      [&](const CampaignEvent& event) { listener.OnEvent(event); });
  if (update) result.changes = update->Changes();
  return result;
}

}  // namespace gemmsmith
