#include "ship/build_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "campaign/compile_ahead.h"
#include "evaluate/evaluator.h"
#include "program/emit.h"
#include "program/family.h"
#include "program/legality.h"
#include "ship/general_plans.h"

namespace gemmsmith {

namespace {

// A problem and plan that get a kernel, and the entry that says what it takes; null: a plan for any problem.
struct Use {
  const Entry* entry = nullptr;
  Gemm gemm;
  Plan plan;
  bool is_derived = false;
};
using Sharers = std::vector<Use>;  // of one text; at least one

std::string NameOf(const Use& use) { return fmt::format("{} by {}", Print(use.gemm), PrintShort(use.plan)); }

// The entry's own, and derived ones: without dimensions of their own, and of the other half-precision type.
std::vector<Use> UsesOf(const Entry& entry, const Catalogue& catalogue, const Device& device) {
  std::vector<Use> uses = {{.entry = &entry, .gemm = entry.gemm, .plan = entry.plan}};
  if (entry.gemm.kind.accumulation != Accumulation::kF32) return uses;
  Gemm other = entry.gemm;
  other.kind.type = entry.gemm.kind.type == ScalarType::kF16 ? ScalarType::kBf16 : ScalarType::kF16;
  const Plan general = WithFixed(entry.plan, FixedDimensions::kNone);
  const auto derive = [&](const Gemm& gemm, const Plan& plan) {
    if (Check(plan, gemm, device).empty())
      uses.push_back({.entry = &entry, .gemm = gemm, .plan = plan, .is_derived = true});
  };
  if (general != entry.plan) derive(entry.gemm, general);
  if (catalogue.Find(other) != nullptr) return uses;
  derive(other, entry.plan);
  if (general != entry.plan) derive(other, general);
  return uses;
}

using ByText = std::map<std::string, Sharers>;

void Add(Use use, ByText& by_text) { by_text[Emit(use.plan, use.gemm).text].push_back(std::move(use)); }

// Each text of each plan once.
Status AddGeneral(const std::vector<Plan>& plans, const Device& device, ByText& by_text) {
  const std::vector<Gemm> problems = ProblemsOfAllTexts();
  for (const Plan& plan : plans) {
    if (plan != WithFixed(plan, FixedDimensions::kNone))
      return InvalidArgument(fmt::format("{} knows dimensions, and is to serve any problem", PrintShort(plan)));
    std::set<Hash128> texts;
    for (const Gemm& gemm : problems)
      if (IsLegal(plan, gemm, device) && texts.insert(HashBytes(Emit(plan, gemm).text)).second)
        Add({.gemm = gemm, .plan = plan}, by_text);
    if (texts.empty()) return InvalidArgument(fmt::format("{} is illegal for every problem", PrintShort(plan)));
  }
  return OkStatus();
}

Result<std::vector<Sharers>> DistinctKernels(const Catalogue& catalogue, const std::vector<Plan>& general,
                                             const Device& device) {
  ByText by_text;
  for (const auto& [gemm, entry] : catalogue.entries()) {
    if (const std::vector<std::string> reasons = Check(entry.plan, gemm, device); !reasons.empty())
      return InvalidArgument(
          fmt::format("{} by {} is illegal: {}", Print(gemm), PrintShort(entry.plan), reasons.front()));
    for (Use& use : UsesOf(entry, catalogue, device)) Add(std::move(use), by_text);
  }
  RETURN_IF_ERROR(AddGeneral(general, device, by_text));
  std::vector<Sharers> distinct;
  for (auto& [text, sharers] : by_text) distinct.push_back(std::move(sharers));
  return distinct;
}

void Assign(const Use& use, uint32_t kernel, KernelFile& file) {
  if (use.entry == nullptr) return file.AddGeneral(use.plan, kernel);
  file.Assign(use.gemm, use.plan,
              {.kernel = kernel,
               .time_ns = use.entry->Deciding().ns,
               .speed_up = use.entry->Deciding().speed_up,
               .is_derived = use.is_derived});
}

}  // namespace

Result<KernelFile> BuildKernels(const Catalogue& catalogue, Compiler& compiler, const BuildKernelsOptions& options) {
  ASSIGN_OR_RETURN(const Device device, FindDevice(catalogue.device_key()));
  ASSIGN_OR_RETURN(const std::vector<Sharers> distinct, DistinctKernels(catalogue, options.general, device));
  CompileAhead ahead(device, &compiler, options.compile_threads);
  KernelFile file(catalogue.device_key());
  size_t begun = 0;
  for (size_t done = 0; done < distinct.size(); ++done) {
    if (options.stop()) return Interrupted("stopped; the same command begins again, with what was compiled at hand");
    for (; begun < distinct.size() && ahead.pending() < ahead.window(); ++begun)
      ahead.AddTogether(begun, {{{.gemm = distinct[begun].front().gemm, .time = false}, distinct[begun].front().plan}});
    ASSIGN_OR_RETURN(const std::vector<Candidate> built, ahead.TakeTogether(done));
    const PreparedCandidate& candidate = built.front().prepared;
    if (candidate.ended && std::ranges::all_of(distinct[done], &Use::is_derived)) continue;
    if (candidate.ended)
      return InvalidArgument(fmt::format("{} ended as {}: {}", NameOf(distinct[done].front()),
                                         Name(candidate.ended->kind), candidate.ended->reason));
    const Binary& binary = candidate.compilation.binary;
    const Use& first = distinct[done].front();
    const uint32_t kernel = file.Add(binary.entry, HashBytes(Emit(first.plan, first.gemm).text),
                                     {reinterpret_cast<const char*>(binary.cubin.data()), binary.cubin.size()});
    for (const Use& use : distinct[done]) Assign(use, kernel, file);
    if (options.on_progress) options.on_progress(done + 1, distinct.size());
  }
  return file;
}

}  // namespace gemmsmith
