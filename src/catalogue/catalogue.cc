#include "catalogue/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/files.h"
#include "base/text.h"
#include "problem/octaves.h"
#include "program/family.h"
#include "program/legality.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kFormat = "gemmsmith-catalogue", kVersion = "1";
constexpr std::array kProofs = {Proof::kTested, Proof::kCertified, Proof::kMemchecked};
constexpr std::array<std::string_view, 6> kModes = {
    "device_cold", "device_cold_chained", "device", "device_chained", "offline", "server"};
constexpr size_t kFieldsBeforeTimes = 5;

std::string PrintTime(const ModeTime& time) {
  return fmt::format("{} {:.1f} {:.1f} {:.1f} {:.4f} {:.4f} {:.4f}", time.mode, time.ns, time.interval.low,
                     time.interval.high, time.speed_up, time.speed_up_interval.low, time.speed_up_interval.high);
}

std::string PrintEntry(const Entry& entry) {
  std::string line = fmt::format("{}\t{}\t{}\t{}\t{}", Print(entry.gemm), Print(entry.plan), Name(entry.proof),
                                 entry.date, entry.harness);
  for (const ModeTime& time : entry.times) line += "\t" + PrintTime(time);
  return line + "\n";
}

bool Leads(const ModeTime& time) { return time.mode == kLeadingMode || time.mode == kRepeatedMode; }

Result<ModeTime> ParseTime(std::string_view text) {
  const std::vector<std::string_view> words = SplitWords(text);
  if (words.size() != 7 || std::find(kModes.begin(), kModes.end(), words[0]) == kModes.end())
    return DataLoss(fmt::format("'{}' is no mode with six numbers", WithoutControls(text)));
  std::array<double, 6> numbers{};
  for (size_t i = 0; i < numbers.size(); ++i) {
    const std::optional<double> number = ParseDouble(words[i + 1]);
    if (!number || *number <= 0)
      return DataLoss(fmt::format("'{}' is no time or ratio", WithoutControls(words[i + 1])));
    numbers[i] = *number;
  }
  return ModeTime{std::string(words[0]), numbers[0], {numbers[1], numbers[2]}, numbers[3], {numbers[4], numbers[5]}};
}

Result<Proof> ParseProof(std::string_view text) {
  for (const Proof proof : kProofs)
    if (Name(proof) == text) return proof;
  return DataLoss(fmt::format("'{}' is no proof", WithoutControls(text)));
}

Result<Entry> ParseEntry(std::string_view line) {
  const std::vector<std::string_view> fields = Split(line, '\t');
  if (fields.size() <= kFieldsBeforeTimes) return DataLoss("fewer fields than an entry has");
  Entry entry;
  ASSIGN_OR_RETURN(entry.gemm, ParseGemm(fields[0]));
  ASSIGN_OR_RETURN(entry.plan, ParsePlan(fields[1]));
  ASSIGN_OR_RETURN(entry.proof, ParseProof(fields[2]));
  entry.date = fields[3], entry.harness = fields[4];
  for (size_t i = kFieldsBeforeTimes; i < fields.size(); ++i) {
    ASSIGN_OR_RETURN(ModeTime time, ParseTime(fields[i]));
    if (entry.Find(time.mode) != nullptr) return DataLoss(fmt::format("two times in mode {}", time.mode));
    entry.times.push_back(std::move(time));
  }
  if (!Leads(entry.times.front()))
    return DataLoss(fmt::format("the first time is not that of mode {} or {}", kLeadingMode, kRepeatedMode));
  return entry;
}

}  // namespace

std::string_view Name(Proof proof) {
  switch (proof) {
    case Proof::kTested:
      return "tested";
    case Proof::kCertified:
      return "certified";
    case Proof::kMemchecked:
      return "memchecked";
  }
  GEMMSMITH_CHECK(false, "no proof {}", int(proof));
}

const ModeTime* Entry::Find(std::string_view mode) const {
  const auto found = std::find_if(times.begin(), times.end(), [&](const ModeTime& time) { return time.mode == mode; });
  return found == times.end() ? nullptr : &*found;
}

const ModeTime& Entry::Deciding() const {
  const ModeTime* const chained = gemm.kind.constant_b ? Find(kChainedMode) : nullptr;
  return chained != nullptr ? *chained : times.front();
}

Result<Catalogue> Catalogue::Parse(std::string_view text) {
  std::vector<std::string_view> lines = Split(text, '\n');
  const std::vector<std::string_view> head = SplitWords(lines[0]);
  if (head.empty() || head[0] != kFormat) return DataLoss("not a catalogue of gemmsmith");
  if (!lines.back().empty()) return DataLoss("a catalogue whose last line is cut off; get it whole, or search anew");
  lines.pop_back();
  if (head.size() != 3) return DataLoss("not a catalogue of gemmsmith");
  if (head[1] != kVersion)
    return DataLoss(fmt::format("a catalogue of version {}, of which this program knows nothing", head[1]));
  Catalogue catalogue{std::string(head[2])};
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty() || lines[i].starts_with('#')) continue;
    Result<Entry> entry = ParseEntry(lines[i]);
    if (!entry.ok()) return DataLoss(fmt::format("line {} of a catalogue: {}", i + 1, entry.status().message()));
    if (catalogue.Find(entry->gemm) != nullptr)
      return DataLoss(
          fmt::format("line {} of a catalogue: a second entry of {}", i + 1, gemmsmith::Print(entry->gemm)));
    catalogue.Put(*std::move(entry));
  }
  return catalogue;
}

Result<Catalogue> Catalogue::Read(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const bool exists, Exists(path));
  if (!exists) return NotFound(fmt::format("no catalogue {}", path.string()));
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  Result<Catalogue> catalogue = Parse(text);
  if (!catalogue.ok()) return DataLoss(fmt::format("{} is damaged: {}", path.string(), catalogue.status().message()));
  return catalogue;
}

const Entry* Catalogue::Find(const Gemm& gemm) const {
  const auto found = entries_.find(gemm);
  return found == entries_.end() ? nullptr : &found->second;
}

const Entry* Catalogue::Nearest(const Gemm& gemm, const Device& device) const {
  if (const Entry* const own = Find(gemm)) return own;
  const Entry* nearest = nullptr;
  double least = 0;
  for (const auto& [known, entry] : entries_) {
    if (known.kind != gemm.kind) continue;
    const double octaves = OctavesBetween(known.shape, gemm.shape);
    if (nearest != nullptr && octaves >= least) continue;
    if (!IsWorthTrying(WithFixed(entry.plan, FixedDimensions::kNone), gemm, device)) continue;
    nearest = &entry;
    least = octaves;
  }
  return nearest;
}

void Catalogue::Put(Entry entry) {
  GEMMSMITH_CHECK(!entry.times.empty() && Leads(entry.times.front()), "an entry without a time on its leading clock");
  const Gemm gemm = entry.gemm;
  entries_.insert_or_assign(gemm, std::move(entry));
}

std::string Catalogue::Print() const {
  std::string text = fmt::format("{} {} {}\n", kFormat, kVersion, device_key_);
  for (const auto& [gemm, entry] : entries_) text += PrintEntry(entry);
  return text;
}

}  // namespace gemmsmith
