#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "base/files.h"
#include "base/interrupt.h"
#include "cli/compare_text.h"
#include "cli/exit.h"
#include "cli/outputs.h"
#include "cli/progress.h"
#include "cli/readers.h"
#include "cli/run.h"
#include "cli/words.h"
#include "policy/policy_proposer.h"
#include "search/tracing.h"
#include "workflow/recordings.h"
#include "workflow/shipped_data.h"

namespace gemmsmith {

namespace {

namespace fs = std::filesystem;

Result<std::shared_ptr<const Recording>> RecordsOf(const CompareCommand& command) {
  return command.records.empty() ? LoadRecording(std::nullopt) : Recording::Load(command.records);
}

Result<std::vector<RecordedCells>> ProblemsOf(const CompareCommand& command, const Recording& recording) {
  std::set<Shape> shapes;
  if (command.shapes != "all") {
    ASSIGN_OR_RETURN(const std::vector<Shape> list, LoadShapeLists(command.shapes));
    shapes.insert(list.begin(), list.end());
  }
  std::vector<RecordedCells> problems;
  for (const Gemm& gemm : recording.Problems()) {
    const auto& layouts = command.layouts;
    const bool is_meant = shapes.empty() || shapes.contains(gemm.shape);
    const bool has_layout = std::find(layouts.begin(), layouts.end(), gemm.kind.layout) != layouts.end();
    if (!is_meant || !has_layout || !IsHeldOut(gemm.shape, command.held_out)) continue;
    RecordedCells cells(recording, gemm);
    if (cells.HasMeasured()) problems.push_back(std::move(cells));
  }
  if (problems.empty())
    return NotFound(fmt::format("no recorded problem among the shapes of '{}' is held out by {}", command.shapes,
                                Print(command.held_out)));
  return problems;
}

NamedProposer SearchNamed(std::string_view name) {
  return {.name = std::string(name),
          .make = [name](const SearchContext& context) { return MakeProposer(name, context); }};
}

Result<NamedProposer> PolicyOf(const PolicyWeights& named, std::shared_ptr<const Experience> experience) {
  ASSIGN_OR_RETURN(PolicyModel read, ReadModel(named.weights));
  const auto model = std::make_shared<const PolicyModel>(std::move(read));
  return NamedProposer{.name = named.name,
                       .origin = fmt::format("weights {}{}", Fingerprint(*model),
                                             experience->empty() ? "" : " experience " + experience->Fingerprint()),
                       .make = [model, experience](SearchContext context) {
                         context.experience = experience.get();
                         return MakePolicyProposer(model, context);
                       }};
}

// A contender that is missing on this machine is missing for every problem or for some.
Status CanPropose(const NamedProposer& proposer, std::span<const RecordedCells> problems, const Device& device) {
  for (const RecordedCells& cells : problems)
    RETURN_IF_ERROR(proposer.make({.gemm = cells.gemm(), .device = device, .space = &cells.space()}).status());
  return OkStatus();
}

Result<std::vector<PolicyWeights>> PoliciesOf(const CompareCommand& command) {
  const bool all = command.contenders.empty();
  const auto& asked_for = command.contenders;
  const bool is_asked_for = all || std::ranges::find(asked_for, kPolicyProposer) != asked_for.end();
  if (!command.policies.empty() || !is_asked_for) return command.policies;
  const Result<fs::path> weights = ShippedPolicy("--policy policy=WEIGHTS");
  if (weights.ok()) return std::vector<PolicyWeights>{{std::string(kPolicyProposer), *weights}};
  if (!all) return weights.status();
  WriteNote(fmt::format("without {}: {}", kPolicyProposer, weights.status().message()));
  return command.policies;
}

Result<std::vector<NamedProposer>> ContendersOf(const CompareCommand& command, const Recording& recording,
                                                const std::vector<RecordedCells>& problems, const Device& device) {
  const auto is_asked_for = [&](std::string_view name) {
    return std::find(command.contenders.begin(), command.contenders.end(), name) != command.contenders.end();
  };
  const bool all = command.contenders.empty();
  std::vector<NamedProposer> contenders;
  for (const std::string_view name : ProposerNames()) {
    if (!all && !is_asked_for(name)) continue;
    NamedProposer search = SearchNamed(name);
    const Status status = CanPropose(search, problems, device);
    if (status.ok())
      contenders.push_back(std::move(search));
    else if (all && status.code() == StatusCode::kUnavailable)
      WriteNote(fmt::format("without {}: {}", name, status.message()));
    else
      return status;
  }
  ASSIGN_OR_RETURN(const std::vector<PolicyWeights> policies, PoliciesOf(command));
  if (policies.empty()) return contenders;
  ASSIGN_OR_RETURN(const ExperienceChoice choice, ReadExperienceChoice(command.experience));
  ASSIGN_OR_RETURN(Experience read, ExperienceOfReplay(choice, recording, command.held_out));
  const auto experience = std::make_shared<const Experience>(std::move(read));
  for (const PolicyWeights& policy : policies) {
    if (!all && !is_asked_for(policy.name)) continue;
    ASSIGN_OR_RETURN(NamedProposer contender, PolicyOf(policy, experience));
    // What a policy lacks it lacks for every problem, and each forecast with experience takes a while.
    RETURN_IF_ERROR(CanPropose(contender, std::span(problems).first(1), device));
    contenders.push_back(std::move(contender));
  }
  return contenders;
}

Result<Traces> Recompute(const CompareCommand& command, const Recording& recording) {
  ASSIGN_OR_RETURN(const std::vector<RecordedCells> problems, ProblemsOf(command, recording));
  ASSIGN_OR_RETURN(const Device device, FindDevice(recording.setting().device_key));
  ASSIGN_OR_RETURN(const std::vector<NamedProposer> contenders, ContendersOf(command, recording, problems, device));
  WatchForInterrupts();
  Progress bar("compare", int64_t(contenders.size() * problems.size()));
  const TracingOptions options{.held_out = Print(command.held_out),
                               .seed = command.seed,
                               .repeats = uint32_t(command.repeats),
                               .batch = uint32_t(command.batch),
                               .stop = InterruptArrived};
  return TraceProposers(contenders, problems, device, options, [&](size_t done) { bar.Update(int64_t(done), ""); });
}

}  // namespace

Result<int> Run(const CompareCommand& command) {
  RETURN_IF_ERROR(CheckOutput(command.output));
  const std::vector<fs::path> known = command.traces.empty() ? ShippedTraceFiles() : command.traces;
  if (!command.recompute && known.empty())
    return Unavailable("no traces came with this program: make some with 'gemmsmith compare --recompute'");
  ASSIGN_OR_RETURN(const std::shared_ptr<const Recording> recording, RecordsOf(command));
  ASSIGN_OR_RETURN(const Traces traces, command.recompute ? Recompute(command, *recording) : ReadTraces(known));
  ASSIGN_OR_RETURN(const SearchComparison comparison, CompareSearches(traces, *recording));
  std::vector<fs::path> files = known;
  if (command.recompute) files = {};
  if (!command.output.empty()) {
    RETURN_IF_ERROR(WriteFileAtomic(command.output, EncodeTraces(traces)));
    files = {command.output};
  }
  const ComparedTraces compared{traces, *recording, comparison, {files.begin(), files.end()}};
  RETURN_IF_ERROR(
      WriteOut(command.json ? PrintJson(JsonOf(compared)) : TextOf(compared, DescribeTerminal(STDOUT_FILENO))));
  return kExitDone;
}

}  // namespace gemmsmith
