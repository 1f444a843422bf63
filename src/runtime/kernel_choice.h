// Which kernel a problem gets, from the files of compiled kernels at hand. Knows no GPU.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catalogue/kernel_file.h"
#include "problem/device_model.h"

namespace gemmsmith {

struct Choice {
  const KernelFile* file = nullptr;
  const KernelFile::Kernel* kernel = nullptr;
  Plan plan;
  double time_ns = 0;      // expected
  double library_ns = 0;   // expected of cuBLASLt; 0: nothing near is known
  bool is_entry = false;   // made and measured for this very problem
  bool is_behind = false;  // cuBLASLt is expected to be faster
};

class KernelChooser {
 public:
  // Files in front go before those behind them. They outlive it.
  KernelChooser(std::vector<const KernelFile*> files, const Device& device);

  // The problem's own entry, else the kernel that is expected to be the fastest of those that serve it. Only kernels
  // that give equal bits call after call, and need no workspace. nullopt: none serves it.
  std::optional<Choice> Choose(const Gemm& gemm) const;

 private:
  struct Candidate {
    const KernelFile* file = nullptr;
    Gemm gemm;  // that it was measured on
    Plan plan;
    KernelFile::Assignment assignment;
    double correction = 1;               // of what the model predicts for this plan
    std::array<double, 3> octaves = {};  // of m, n and k
  };
  Candidate Describe(const KernelFile& file, const Gemm& gemm, const Plan& plan,
                     const KernelFile::Assignment& assignment) const;
  std::optional<Choice> Serve(const Candidate& candidate, const Gemm& gemm) const;
  std::optional<Choice> EntryFor(const Gemm& gemm) const;
  std::optional<Choice> FastestOfOthers(const Gemm& gemm) const;
  double LibraryNs(const Gemm& gemm) const;
  double PredictedNs(const Candidate& candidate, const Gemm& gemm) const;

  const std::vector<const KernelFile*> files_;
  const Device device_;
  std::vector<Candidate> entries_;  // all
  std::vector<Candidate> general_;  // of kernels without dimensions of their own, each once
};

}  // namespace gemmsmith
