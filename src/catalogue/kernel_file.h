// The compiled kernels of a catalogue in one file, made at build time: what a program loads that calls them. Knows
// nothing of how they are compiled. docs/catalogue.md describes the bytes.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

// Where the user's own kernels lie, which go before those that ship: DEVICE.kernels, made from DEVICE.catalogue.
// $XDG_CONFIG_HOME/gemmsmith/overlay, else ~/.config/gemmsmith/overlay; empty where neither is known.
std::filesystem::path OverlayFolder();

// Kernels of one skeleton are near-copies, so many share a compressed frame. A frame is decompressed as a whole.
class KernelFile {
 public:
  struct Kernel {
    std::string entry;  // the name of its function
    Hash128 text;       // of the text it was compiled from: equal texts are equal kernels
    uint32_t frame = 0, offset = 0, size = 0;
    bool operator==(const Kernel&) const = default;
  };
  struct Assignment {
    uint32_t kernel = 0;
    double time_ns = 0;   // of its entry, in the mode that decided
    double speed_up = 0;  // over AutoTuning, in the same race
    // Both are of another kernel: of the entry's, where this one is its plan for the other half-precision type or
    // without dimensions of its own.
    bool is_derived = false;
    bool operator==(const Assignment&) const = default;
  };

  explicit KernelFile(std::string device_key) : device_key_(std::move(device_key)) {}
  // DataLoss for bytes that are not whole or were changed; an unknown version is refused.
  static Result<KernelFile> Parse(std::string_view bytes);
  // NotFound where there is no such file.
  static Result<KernelFile> Read(const std::filesystem::path& path);
  std::string Print() const;

  const std::string& device_key() const { return device_key_; }
  // Its number, for Assign().
  uint32_t Add(std::string entry, const Hash128& text, std::string_view cubin);
  // Several problems may share a kernel; each plan of a problem has one.
  void Assign(const Gemm& gemm, const Plan& plan, const Assignment& assignment) {
    of_problem_[{gemm, plan}] = assignment;
  }
  // A kernel of a plan without dimensions: it serves every problem whose text it was compiled from.
  void AddGeneral(const Plan& plan, uint32_t kernel) { general_[plan].insert(kernel); }
  const Kernel* Find(const Gemm& gemm, const Plan& plan) const;  // null: not in this file
  Result<std::string> CubinOf(const Kernel& kernel) const;
  const std::vector<Kernel>& kernels() const { return kernels_; }
  const std::map<std::pair<Gemm, Plan>, Assignment>& problems() const { return of_problem_; }
  const std::map<Plan, std::set<uint32_t>>& general() const { return general_; }

 private:
  struct Frame {
    std::string packed;  // empty: not compressed yet
    std::string plain;   // empty: compressed
    uint32_t plain_size = 0;
  };
  std::string device_key_;
  std::vector<Frame> frames_;
  std::vector<Kernel> kernels_;
  std::map<std::pair<Gemm, Plan>, Assignment> of_problem_;
  std::map<Plan, std::set<uint32_t>> general_;
};

}  // namespace gemmsmith
