#include "runtime/kernel_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "problem/task.h"
#include "program/cost.h"
#include "program/emit.h"
#include "program/family.h"
#include "program/legality.h"

namespace gemmsmith {

namespace {

// An entry must lead by so much: many were measured with their operands in L2. Below kShortCallNs launches dominate,
// where ours lead everywhere.
constexpr double kEntryMargin = 1.03, kShortCallNs = 5e3;
// A kernel that was measured on another shape must be expected to lead by so much. Of 39 such
// predictions raced on an H200, 20 were behind cuBLASLt; the 3 that expected this lead won by 1.35 and more.
constexpr double kMargin = 1.45;
// Shapes farther away say nothing: octaves of m, n and k together.
constexpr double kFarthest = 1.2;
// A measured time corrects a prediction by this factor at most: neighbours differ.
constexpr double kMaxCorrection = 2;
// Up to so many rows a product takes the time of reading B.
constexpr int kMostRowsOfReaders = 64;
// So many of the fastest predicted are asked whether their text is the problem's.
constexpr size_t kMostAsked = 16;
// What a call takes beside its floor, in the ratio of two shapes' times.
constexpr double kCallNs = 2e3;

// The kernels of a plan do not depend on the promise, only its launches do.
GemmKind WithoutPromise(GemmKind kind) {
  kind.constant_b = false;
  return kind;
}

std::array<double, 3> OctavesOf(const Shape& shape) {
  return {std::log2(shape.m), std::log2(shape.n), std::log2(shape.k)};
}

}  // namespace

KernelChooser::KernelChooser(const std::vector<const KernelFile*>& files, const Device& device) : device_(device) {
  for (size_t place = 0; place < files.size(); ++place)
    for (const auto& [problem, assignment] : files[place]->problems()) {
      const auto& [gemm, plan] = problem;
      candidates_.push_back({.file = files[place],
                             .place = place,
                             .gemm = gemm,
                             .plan = plan,
                             .assignment = assignment,
                             .is_general = plan == WithFixed(plan, FixedDimensions::kNone),
                             .octaves = OctavesOf(gemm.shape)});
    }
}

std::optional<Choice> KernelChooser::Choose(const Gemm& gemm, uint64_t workspace_bytes) const {
  if (std::optional<Choice> entry = EntryFor(gemm, workspace_bytes)) return entry;
  if (std::optional<Choice> entry = EntryOfMoreRows(gemm)) return entry;
  return FastestNearby(gemm);
}

std::optional<Choice> KernelChooser::Serve(const Candidate& candidate, const Gemm& gemm,
                                           uint64_t workspace_bytes) const {
  if (!IsLegal(candidate.plan, gemm, device_)) return std::nullopt;
  const Launch launch = LaunchFor(candidate.plan, gemm);
  if (!launch.deterministic || launch.workspace_bytes > workspace_bytes) return std::nullopt;
  const KernelFile::Kernel& kernel = candidate.file->kernels()[candidate.assignment.kernel];
  // The text depends on alignments and whole panels too: where it is another, this machine code is not the plan's.
  if (HashBytes(Emit(candidate.plan, gemm).text) != kernel.text) return std::nullopt;
  return Choice{.file = candidate.file, .kernel = &kernel, .plan = candidate.plan};
}

// With the time of its entry.
std::optional<Choice> KernelChooser::FirstThatServes(Ranked ranked, const Gemm& gemm, uint64_t workspace_bytes) const {
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [rank, candidate] : ranked) {
    std::optional<Choice> choice = Serve(*candidate, gemm, workspace_bytes);
    if (!choice) continue;
    const KernelFile::Assignment& entry = candidate->assignment;
    choice->time_ns = entry.time_ns;
    choice->library_ns = entry.time_ns * entry.speed_up;
    choice->is_behind = entry.speed_up < (entry.time_ns < kShortCallNs ? 1 : kEntryMargin);
    choice->is_chained = candidate->gemm.kind.constant_b;
    choice->reason = candidate->gemm.shape != gemm.shape ? fmt::format("measured for {} rows", candidate->gemm.shape.m)
                     : entry.is_derived ? "made for this problem and measured as another form of the same plan"
                                        : "made and measured for this problem";
    return choice;
  }
  return std::nullopt;
}

// The problem's own plan, then that of the other type, then one without dimensions. Entries without the promise go
// before those with it, and start when the kernel before is done: in steps of models started early they lost 2 to 5 %.
std::optional<Choice> KernelChooser::EntryFor(const Gemm& gemm, uint64_t workspace_bytes) const {
  Gemm otherwise = gemm;
  otherwise.kind.constant_b = !gemm.kind.constant_b;
  Ranked own;
  for (const Candidate& candidate : candidates_) {
    if (candidate.gemm != gemm && candidate.gemm != otherwise) continue;
    const int form = !candidate.assignment.is_derived ? 0 : candidate.is_general ? 2 : 1;
    own.push_back({{form, candidate.place, candidate.gemm.kind.constant_b}, &candidate});
  }
  return FirstThatServes(std::move(own), gemm, workspace_bytes);
}

// Decoding asks for 3 or 20 rows where entries have 8 and 32.
std::optional<Choice> KernelChooser::EntryOfMoreRows(const Gemm& gemm) const {
  Ranked larger;
  for (const Candidate& candidate : candidates_) {
    const Shape& shape = candidate.gemm.shape;
    if (candidate.is_general && shape.n == gemm.shape.n && shape.k == gemm.shape.k && shape.m > gemm.shape.m &&
        shape.m <= kMostRowsOfReaders && WithoutPromise(candidate.gemm.kind) == WithoutPromise(gemm.kind))
      larger.push_back({{shape.m, candidate.place, candidate.gemm.kind.constant_b}, &candidate});
  }
  return FirstThatServes(std::move(larger), gemm, 0);
}

double KernelChooser::PredictedNs(const Candidate& candidate, const Gemm& gemm) const {
  const double ratio = candidate.assignment.time_ns / PredictTimeNs(candidate.plan, candidate.gemm, device_);
  return PredictTimeNs(candidate.plan, gemm, device_) * std::clamp(ratio, 1 / kMaxCorrection, kMaxCorrection);
}

// The library chooses another kernel for each shape, so its times follow the floor, not our plans.
double KernelChooser::LibraryNs(const Candidate& nearest, const Gemm& gemm) const {
  const double there = MakeTask(nearest.gemm).ColdFloorNs(device_) + kCallNs,
               here = MakeTask(gemm).ColdFloorNs(device_) + kCallNs;
  return nearest.assignment.time_ns * nearest.assignment.speed_up * here / there;
}

std::optional<Choice> KernelChooser::FastestNearby(const Gemm& gemm) const {
  const std::array<double, 3> wanted = OctavesOf(gemm.shape);
  const Candidate* nearest = nullptr;
  double least = kFarthest;
  std::vector<std::pair<double, const Candidate*>> ranked;
  for (const Candidate& candidate : candidates_) {
    if (WithoutPromise(candidate.gemm.kind) != WithoutPromise(gemm.kind)) continue;
    double octaves = 0;
    for (size_t i = 0; i < 3; ++i) octaves += std::abs(candidate.octaves[i] - wanted[i]);
    if (octaves > kFarthest) continue;
    if (octaves < least || nearest == nullptr) nearest = &candidate, least = octaves;
    if (candidate.is_general && CountReasons(candidate.plan, gemm, device_) == 0)
      ranked.emplace_back(PredictedNs(candidate, gemm), &candidate);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  ranked.resize(std::min(ranked.size(), kMostAsked));
  for (const auto& [time_ns, candidate] : ranked) {
    std::optional<Choice> choice = Serve(*candidate, gemm, 0);
    if (!choice) continue;
    choice->time_ns = time_ns;
    choice->library_ns = LibraryNs(*nearest, gemm);
    choice->is_behind = choice->library_ns < time_ns * kMargin;
    choice->reason = fmt::format("predicted from {}; the nearest problem that was measured is {:.1f} octaves away",
                                 Print(candidate->gemm), least);
    return choice;
  }
  return std::nullopt;
}

}  // namespace gemmsmith
