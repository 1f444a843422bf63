// The kernels that won on one device: for each problem the plan, what it took beside cuBLASLt, and how it was proven.
// docs/catalogue.md describes the file. Only src/ship writes one.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/statistics.h"
#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

// How far an entry's plan was tested on its problem; each of these is more than the one before.
enum class Proof : uint8_t {
  kTested,     // all tests of the short protocol, on the GPU
  kCertified,  // by the CPU's product of every element
  kMemchecked  // certified, and called under compute-sanitizer
};
std::string_view Name(Proof proof);  // "tested", "certified", "memchecked"

// The mode that decides, and that of entries whose race was of repeated calls alone.
inline constexpr std::string_view kLeadingMode = "device_cold", kRepeatedMode = "device",
                                  kChainedMode = "device_cold_chained";

// In one mode of calling it, beside the fastest of AutoTuning in the same race.
struct ModeTime {
  std::string mode;  // "device_cold", "device_cold_chained", "device", "device_chained", "offline", "server"
  double ns = 0;
  Interval interval;    // 95 %
  double speed_up = 0;  // AutoTuning's time over ours
  Interval speed_up_interval;
  bool operator==(const ModeTime&) const = default;
};

struct Entry {
  Gemm gemm;
  Plan plan;
  Proof proof = Proof::kTested;
  std::string date;             // of the race, UTC: 2026-11-26T13:36:18.803Z; of older entries the day alone
  std::string harness;          // version and hash of what judged it
  std::vector<ModeTime> times;  // that of the leading clock of its race first

  const ModeTime* Find(std::string_view mode) const;
  // The time that the entry won by: the first, or for a constant B the chained one where there is one.
  const ModeTime& Deciding() const;
  bool operator==(const Entry&) const = default;
};

class Catalogue {
 public:
  explicit Catalogue(std::string device_key) : device_key_(std::move(device_key)) {}
  // DataLoss names the line. An unknown version is refused.
  static Result<Catalogue> Parse(std::string_view text);
  // NotFound where there is no such file.
  static Result<Catalogue> Read(const std::filesystem::path& path);

  const std::string& device_key() const { return device_key_; }
  const std::map<Gemm, Entry>& entries() const { return entries_; }
  const Entry* Find(const Gemm& gemm) const;
  // The problem's own entry. Without one, the entry of the same kind of problem with the nearest extents, in octaves,
  // whose plan is worth trying for this problem when it knows no dimensions beforehand. nullptr: none.
  const Entry* Nearest(const Gemm& gemm, const Device& device) const;
  // In the place of what there was for its problem.
  void Put(Entry entry);
  void Withdraw(const Gemm& gemm) { entries_.erase(gemm); }

  // Parse(Print()) is the same catalogue; equal catalogues have equal texts.
  std::string Print() const;

 private:
  std::string device_key_;
  std::map<Gemm, Entry> entries_;
};

}  // namespace gemmsmith
