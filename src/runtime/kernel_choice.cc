#include "runtime/kernel_choice.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "program/cost.h"
#include "program/emit.h"
#include "program/family.h"
#include "program/legality.h"

namespace gemmsmith {

namespace {

// A kernel that was not measured on the problem must be expected to lead by so much. Below kShortCallNs launches
// dominate, where ours lead everywhere.
constexpr double kMargin = 1.03, kShortCallNs = 5e3;
// A measured time corrects a prediction by this factor at most: neighbours differ.
constexpr double kMaxCorrection = 2;
// So many of the fastest predicted are asked whether their text is the problem's.
constexpr size_t kMostAsked = 16;

// The kernels of a plan do not depend on the promise, only its launches do.
GemmKind WithoutPromise(GemmKind kind) {
  kind.constant_b = false;
  return kind;
}

std::array<double, 3> OctavesOf(const Shape& shape) {
  return {std::log2(shape.m), std::log2(shape.n), std::log2(shape.k)};
}

}  // namespace

KernelChooser::Candidate KernelChooser::Describe(const KernelFile& file, const Gemm& gemm, const Plan& plan,
                                                 const KernelFile::Assignment& assignment) const {
  const double ratio = assignment.time_ns / PredictTimeNs(plan, gemm, device_);
  return {.file = &file,
          .gemm = gemm,
          .plan = plan,
          .assignment = assignment,
          .correction = std::clamp(ratio, 1 / kMaxCorrection, kMaxCorrection),
          .octaves = OctavesOf(gemm.shape)};
}

KernelChooser::KernelChooser(std::vector<const KernelFile*> files, const Device& device)
    : files_(std::move(files)), device_(device) {
  std::map<std::pair<GemmKind, Plan>, size_t> seen;
  for (const KernelFile* const file : files_)
    for (const auto& [problem, assignment] : file->problems()) {
      const auto& [gemm, plan] = problem;
      entries_.push_back(Describe(*file, gemm, plan, assignment));
      if (plan == WithFixed(plan, FixedDimensions::kNone) &&
          seen.try_emplace({gemm.kind, plan}, general_.size()).second)
        general_.push_back(entries_.back());
    }
}

std::optional<Choice> KernelChooser::Choose(const Gemm& gemm) const {
  if (std::optional<Choice> entry = EntryFor(gemm)) return entry;
  return FastestOfOthers(gemm);
}

std::optional<Choice> KernelChooser::Serve(const Candidate& candidate, const Gemm& gemm) const {
  if (!IsLegal(candidate.plan, gemm, device_)) return std::nullopt;
  const Launch launch = LaunchFor(candidate.plan, gemm);
  if (!launch.deterministic || launch.workspace_bytes > 0) return std::nullopt;
  const KernelFile::Kernel& kernel = candidate.file->kernels()[candidate.assignment.kernel];
  // The text depends on alignments and whole panels too: where it is another, this machine code is not the plan's.
  if (HashBytes(Emit(candidate.plan, gemm).text) != kernel.text) return std::nullopt;
  return Choice{.file = candidate.file, .kernel = &kernel, .plan = candidate.plan};
}

std::optional<Choice> KernelChooser::EntryFor(const Gemm& gemm) const {
  for (const KernelFile* const file : files_) {
    auto own = file->problems().lower_bound({gemm, Plan{}});
    for (; own != file->problems().end() && own->first.first == gemm; ++own) {
      std::optional<Choice> choice = Serve({.file = file, .plan = own->first.second, .assignment = own->second}, gemm);
      if (!choice) continue;
      choice->is_entry = true;
      choice->time_ns = own->second.time_ns;
      choice->library_ns = own->second.time_ns * own->second.speed_up;
      choice->is_behind = own->second.speed_up < 1;
      return choice;
    }
  }
  return std::nullopt;
}

double KernelChooser::PredictedNs(const Candidate& candidate, const Gemm& gemm) const {
  return PredictTimeNs(candidate.plan, gemm, device_) * candidate.correction;
}

double KernelChooser::LibraryNs(const Gemm& gemm) const {
  const std::array<double, 3> wanted = OctavesOf(gemm.shape);
  const Candidate* nearest = nullptr;
  double least = 0;
  for (const Candidate& candidate : entries_) {
    if (WithoutPromise(candidate.gemm.kind) != WithoutPromise(gemm.kind)) continue;
    double octaves = 0;
    for (size_t i = 0; i < 3; ++i) octaves += std::abs(candidate.octaves[i] - wanted[i]);
    if (nearest != nullptr && octaves >= least) continue;
    nearest = &candidate;
    least = octaves;
  }
  if (nearest == nullptr) return 0;
  return PredictedNs(*nearest, gemm) * nearest->assignment.speed_up;
}

std::optional<Choice> KernelChooser::FastestOfOthers(const Gemm& gemm) const {
  std::vector<std::pair<double, const Candidate*>> ranked;
  for (const Candidate& candidate : general_)
    if (WithoutPromise(candidate.gemm.kind) == WithoutPromise(gemm.kind) &&
        CountReasons(candidate.plan, gemm, device_) == 0)
      ranked.emplace_back(PredictedNs(candidate, gemm), &candidate);
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  ranked.resize(std::min(ranked.size(), kMostAsked));
  for (const auto& [time_ns, candidate] : ranked) {
    std::optional<Choice> choice = Serve(*candidate, gemm);
    if (!choice) continue;
    choice->time_ns = time_ns;
    choice->library_ns = LibraryNs(gemm);
    choice->is_behind = choice->library_ns < time_ns * (time_ns < kShortCallNs ? 1 : kMargin);
    return choice;
  }
  return std::nullopt;
}

}  // namespace gemmsmith
