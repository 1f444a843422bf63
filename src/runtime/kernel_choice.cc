#include "runtime/kernel_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

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
// A kernel that was measured on another shape, or on none, must be expected to lead by so much. In 184 races on an H200
// such kernels were 0.92 times as fast as cuBLASLt. The 7 that expected this lead within kFarthest were 1.31 times as
// fast, one below 0.97; 3 of the 12 that expected 1.3 were.
constexpr double kMargin = 1.45;
// Shapes farther away say nothing: octaves of m, n and k together.
constexpr double kFarthest = 1.2;
// A measured time corrects a prediction by this factor at most: neighbours differ.
constexpr double kMaxCorrection = 2;
// Up to so many rows a product takes the time of reading B.
constexpr int kMostRowsOfReaders = 64;
// An entry of other rows must lead by so much. Products of 5 us and more with fewer rows than their entry raced on an
// H200: with a lead of 1.03 they were 1.08 times as fast as cuBLASLt, 6 of 38 below 0.97; with this one 1.11, 2 of 18.
constexpr double kOtherRowsMargin = 1.08;
// Between two entries of the same n and k, with at most so many times as many rows. cuBLASLt's time grows with m: of
// 1,994 pairs of neighbouring H200 entries it fell in 41, in 8 by more than 3 %.
constexpr int kWidestBracket = 4;
// So many of the fastest predicted that were measured are asked whether their text is the problem's.
constexpr size_t kMostAsked = 16;
// So many entries correct a prediction, each by its weight: an entry so many octaves away counts half as much as the
// problem's own would.
constexpr size_t kMostAround = 8;
constexpr double kHalfWeight = 0.25;
// Another storage order counts as so many octaves.
constexpr double kOtherLayout = 1;
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
  for (const KernelFile* file : files)
    for (const auto& [plan, kernels] : file->general())
      general_.push_back({file, plan, std::vector<uint32_t>(kernels.begin(), kernels.end())});
}

std::optional<Choice> KernelChooser::Choose(const Gemm& gemm, uint64_t workspace_bytes) const {
  if (std::optional<Choice> entry = EntryFor(gemm, workspace_bytes)) return entry;
  if (std::optional<Choice> entry = EntryOfMoreRows(gemm)) return entry;
  if (std::optional<Choice> between = BetweenEntries(gemm)) return between;
  return FastestPredicted(gemm);
}

std::optional<Choice> KernelChooser::ServeBy(const KernelFile& file, const Plan& plan,
                                             std::span<const uint32_t> kernels, const Gemm& gemm,
                                             uint64_t workspace_bytes) const {
  if (!IsLegal(plan, gemm, device_)) return std::nullopt;
  const Launch launch = LaunchFor(plan, gemm);
  if (!launch.deterministic || launch.workspace_bytes > workspace_bytes) return std::nullopt;
  // The text depends on alignments and whole panels too: where it is another, this machine code is not the plan's.
  const Hash128 text = HashBytes(Emit(plan, gemm).text);
  for (const uint32_t number : kernels)
    if (const KernelFile::Kernel& kernel = file.kernels()[number]; kernel.text == text)
      return Choice{.file = &file, .kernel = &kernel, .plan = plan};
  return std::nullopt;
}

std::optional<Choice> KernelChooser::Serve(const Candidate& candidate, const Gemm& gemm,
                                           uint64_t workspace_bytes) const {
  return ServeBy(*candidate.file, candidate.plan, {&candidate.assignment.kernel, 1}, gemm, workspace_bytes);
}

// Kernels for any problem make no use of the promise.
std::optional<Choice> KernelChooser::Serve(const Offer& offer, const Gemm& gemm) const {
  if (offer.measured != nullptr) return Serve(*offer.measured, gemm, 0);
  Gemm plain = gemm;
  plain.kind = WithoutPromise(gemm.kind);
  return ServeBy(*offer.general->file, offer.general->plan, offer.general->kernels, plain, 0);
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
    choice->asked_lead = entry.time_ns < kShortCallNs ? 1 : kEntryMargin;
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
  std::optional<Choice> choice = FirstThatServes(std::move(larger), gemm, 0);
  if (choice && choice->time_ns >= kShortCallNs) choice->asked_lead = kOtherRowsMargin;
  return choice;
}

// Our kernel takes at most what it takes for more rows, cuBLASLt at least what it takes for fewer. nullopt too where
// that decides nothing. A column-major A has lines along m, which other rows may leave ragged.
std::optional<Choice> KernelChooser::BetweenEntries(const Gemm& gemm) const {
  if (gemm.kind.layout.a == Order::kColumn) return std::nullopt;
  Ranked more;
  const Candidate* fewer = nullptr;
  for (const Candidate& candidate : candidates_) {
    const Shape& shape = candidate.gemm.shape;
    if (shape.n != gemm.shape.n || shape.k != gemm.shape.k || candidate.gemm.kind != WithoutPromise(gemm.kind))
      continue;
    if (shape.m > gemm.shape.m && candidate.is_general) more.push_back({{shape.m, candidate.place, false}, &candidate});
    if (shape.m < gemm.shape.m && (fewer == nullptr || shape.m > fewer->gemm.shape.m)) fewer = &candidate;
  }
  if (fewer == nullptr) return std::nullopt;
  std::erase_if(more, [&](const auto& ranked) {
    return ranked.second->gemm.shape.m > int64_t{kWidestBracket} * fewer->gemm.shape.m;
  });
  Gemm plain = gemm;
  plain.kind = WithoutPromise(gemm.kind);
  std::optional<Choice> choice = FirstThatServes(std::move(more), plain, 0);
  if (!choice) return std::nullopt;
  choice->library_ns = fewer->assignment.time_ns * fewer->assignment.speed_up;
  choice->asked_lead = kOtherRowsMargin;
  choice->reason += fmt::format(", cuBLASLt for {}", fewer->gemm.shape.m);
  if (choice->IsBehind()) return std::nullopt;
  return choice;
}

double KernelChooser::CorrectionOf(const Candidate& candidate) const {
  const double ratio = candidate.assignment.time_ns / PredictTimeNs(candidate.plan, candidate.gemm, device_);
  return std::clamp(ratio, 1 / kMaxCorrection, kMaxCorrection);
}

double KernelChooser::OctavesTo(const Candidate& candidate, const Gemm& gemm) const {
  const std::array<double, 3> wanted = OctavesOf(gemm.shape);
  double octaves = candidate.gemm.kind.layout == gemm.kind.layout ? 0 : kOtherLayout;
  for (size_t i = 0; i < wanted.size(); ++i) octaves += std::abs(candidate.octaves[i] - wanted[i]);
  return octaves;
}

// The library chooses another kernel for each shape, so its times follow the floor, not our plans. Times in chains are
// left out: they are shorter.
KernelChooser::Surroundings KernelChooser::SurroundingsOf(const Gemm& gemm) const {
  std::vector<std::pair<double, const Candidate*>> nearest;
  const Gemm* last = nullptr;
  for (const Candidate& candidate : candidates_) {
    const GemmKind& kind = candidate.gemm.kind;
    if (kind.constant_b || kind.type != gemm.kind.type || kind.accumulation != gemm.kind.accumulation) continue;
    if (last != nullptr && *last == candidate.gemm) continue;  // another form of the same entry
    last = &candidate.gemm;
    nearest.emplace_back(OctavesTo(candidate, gemm), &candidate);
  }
  if (nearest.empty()) return {.octaves = std::numeric_limits<double>::infinity()};
  const size_t count = std::min(nearest.size(), kMostAround);
  std::partial_sort(nearest.begin(), nearest.begin() + ptrdiff_t(count), nearest.end());
  double weights = 0, own = 0, library = 0;
  for (const auto& [octaves, candidate] : std::span(nearest).first(count)) {
    const double weight = 1 / ((kHalfWeight + octaves) * (kHalfWeight + octaves));
    const KernelFile::Assignment& entry = candidate->assignment;
    const double floor_ns = MakeTask(candidate->gemm).ColdFloorNs(device_) + kCallNs;
    weights += weight;
    own += weight * std::log(CorrectionOf(*candidate));
    library += weight * std::log(entry.time_ns * entry.speed_up / floor_ns);
  }
  return {.entries = count,
          .octaves = nearest.front().first,
          .own_ratio = std::exp(own / weights),
          .library_ratio = std::exp(library / weights)};
}

// Kernels that were measured nearby, corrected by what each took itself, and those for any problem, corrected by what
// others took around it.
std::vector<KernelChooser::Offer> KernelChooser::OffersFor(const Gemm& gemm, const Surroundings& around) const {
  std::vector<Offer> offers;
  for (const Candidate& candidate : candidates_)
    if (candidate.is_general && WithoutPromise(candidate.gemm.kind) == WithoutPromise(gemm.kind) &&
        OctavesTo(candidate, gemm) <= kFarthest && IsWorthTrying(candidate.plan, gemm, device_))
      offers.push_back(
          {.time_ns = PredictTimeNs(candidate.plan, gemm, device_) * CorrectionOf(candidate), .measured = &candidate});
  for (const General& general : general_)
    if (IsLegal(general.plan, gemm, device_))
      offers.push_back({.time_ns = PredictTimeNs(general.plan, gemm, device_) * around.own_ratio, .general = &general});
  std::stable_sort(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) { return a.time_ns < b.time_ns; });
  return offers;
}

std::optional<Choice> KernelChooser::FastestPredicted(const Gemm& gemm) const {
  const Surroundings around = SurroundingsOf(gemm);
  size_t asked = 0;
  for (const Offer& offer : OffersFor(gemm, around)) {
    if (offer.measured != nullptr && asked++ >= kMostAsked) continue;
    std::optional<Choice> choice = Serve(offer, gemm);
    if (!choice) continue;
    choice->time_ns = offer.time_ns;
    choice->library_ns = (MakeTask(gemm).ColdFloorNs(device_) + kCallNs) * around.library_ratio;
    choice->asked_lead = around.octaves > kFarthest ? std::numeric_limits<double>::infinity() : kMargin;
    const std::string by = offer.measured != nullptr ? Print(offer.measured->gemm)
                                                     : fmt::format("{} entries, without dimensions", around.entries);
    choice->reason = around.entries == 0 ? "without dimensions, predicted; no problem like it was measured"
                                         : fmt::format(
                                               "predicted from {}; the nearest problem that was measured is "
                                               "{:.1f} octaves away",
                                               by, around.octaves);
    return choice;
  }
  return std::nullopt;
}

}  // namespace gemmsmith
