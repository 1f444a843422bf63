// Which kernel a problem gets, from the files of compiled kernels at hand. Knows no GPU.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "catalogue/kernel_file.h"
#include "problem/device_model.h"

namespace gemmsmith {

struct Choice {
  const KernelFile* file = nullptr;
  const KernelFile::Kernel* kernel = nullptr;
  Plan plan;
  std::string reason;       // in words
  double time_ns = 0;       // expected
  double library_ns = 0;    // expected of cuBLASLt
  double asked_lead = 1;    // below it cuBLASLt is expected to be faster, or may well be
  bool is_chained = false;  // measured in chains with a constant B

  double Lead() const { return library_ns / time_ns; }
  bool IsBehind() const { return Lead() < asked_lead; }
};

class KernelChooser {
 public:
  // Files in front go before those behind them. They outlive it.
  KernelChooser(const std::vector<const KernelFile*>& files, const Device& device);

  // The problem's own entry, else the kernel that is expected to be the fastest of those measured nearby and of those
  // without dimensions. Only kernels that give equal bits call after call. An entry may need so much workspace, others
  // need none. nullopt: none serves it.
  std::optional<Choice> Choose(const Gemm& gemm, uint64_t workspace_bytes) const;

 private:
  struct Candidate {
    const KernelFile* file = nullptr;
    size_t place = 0;  // of the file; 0 goes first
    Gemm gemm;         // that it was measured on
    Plan plan;
    KernelFile::Assignment assignment;
    bool is_general = false;             // has no dimensions of its own
    std::array<double, 3> octaves = {};  // of m, n and k
  };
  // What comes first: form or rows, place, promise.
  using Ranked = std::vector<std::pair<std::tuple<int, size_t, bool>, const Candidate*>>;
  // A plan for any problem, and its kernels, one a text.
  struct General {
    const KernelFile* file = nullptr;
    Plan plan;
    std::vector<uint32_t> kernels;
  };
  // How far times nearby are from their predictions: geometric means over the entries nearest to a problem, the nearest
  // counting most.
  struct Surroundings {
    size_t entries = 0;
    double octaves = 0;                       // to the nearest
    double own_ratio = 1, library_ratio = 1;  // measured over predicted, measured over the floor's time
  };
  // A kernel for another problem than its own.
  struct Offer {
    double time_ns = 0;  // predicted
    const Candidate* measured = nullptr;
    const General* general = nullptr;
  };
  std::optional<Choice> ServeBy(const KernelFile& file, const Plan& plan, std::span<const uint32_t> kernels,
                                const Gemm& gemm, uint64_t workspace_bytes) const;
  std::optional<Choice> Serve(const Candidate& candidate, const Gemm& gemm, uint64_t workspace_bytes) const;
  std::optional<Choice> Serve(const Offer& offer, const Gemm& gemm) const;
  std::optional<Choice> FirstThatServes(Ranked ranked, const Gemm& gemm, uint64_t workspace_bytes) const;
  std::optional<Choice> EntryFor(const Gemm& gemm, uint64_t workspace_bytes) const;
  std::optional<Choice> EntryOfMoreRows(const Gemm& gemm) const;
  std::optional<Choice> BetweenEntries(const Gemm& gemm) const;
  std::optional<Choice> FastestPredicted(const Gemm& gemm) const;
  std::vector<Offer> OffersFor(const Gemm& gemm, const Surroundings& around) const;
  Surroundings SurroundingsOf(const Gemm& gemm) const;
  double CorrectionOf(const Candidate& candidate) const;
  double OctavesTo(const Candidate& candidate, const Gemm& gemm) const;

  const Device device_;
  std::vector<Candidate> candidates_;  // of files in front first
  std::vector<General> general_;
};

}  // namespace gemmsmith
