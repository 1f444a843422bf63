// Batches in which every call works on other values. The judge draws the changes before each call in secret, the guest
// applies them (disturb.cu), and the judge computes the expected output.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "evaluate/verify/reference.h"

namespace gemmsmith {

inline constexpr int kDisturbedPlaces = 8;  // of a step
inline constexpr int kMaxDisturbedSteps = 2048;

// As disturb.cu declares it.
struct DisturbedPlace {
  int64_t a_patch = -1, b_patch = -1;  // offsets of the elements that change; -1: none
  int64_t sample = 0;                  // offset of the element of C that is looked at, in that row and column
  int32_t row = 0, column = 0;
  int32_t a_depth = 0, b_depth = 0;
  uint32_t a_bits = 0, b_bits = 0;  // what they become
  // The signs that are flipped during the step (0: none), and whether it is a renewal.
  uint32_t signs = 0, is_renewal = 0;
};
using DisturbedStep = std::array<DisturbedPlace, kDisturbedPlaces>;

// A renewal flips the signs of about half of all elements of A and B and poisons all of C. Other steps change eight
// elements of A and B and leave C alone. So nothing marks the elements of C that will be checked.

// A step a call, of both kinds. The last one is a renewal in which every sign stands as it stood at first, so that the
// whole output can be looked at behind it.
std::vector<DisturbedStep> DrawDisturbances(const MatrixView& a, const MatrixView& b, const MatrixView& c, int steps,
                                            Random& random);
// As many renewals as there may be, however many calls there will be: whoever reads the list does not learn which call
// is the last one. Each turns signs that were drawn for it alone, so that no earlier output is of any use, and has
// eight elements of C, drawn anew, set aside behind its call. Behind the last of the calls, and now and then before,
// every sign stands as it stood at first, so that the whole output can be looked at.
std::vector<DisturbedStep> DrawRenewals(size_t calls, const MatrixView& c, Random& random);

// Where state, steps and samples lie in the memory that is shared with the guest.
struct DisturbanceMemory {
  struct State {
    uint32_t next = 0, steps = 0;
    uint16_t a_originals[kDisturbedPlaces] = {}, b_originals[kDisturbedPlaces] = {};
  };
  static constexpr uint64_t kPlacesAt = 4096;
  static constexpr uint64_t kSamplesAt = kPlacesAt + kMaxDisturbedSteps * sizeof(DisturbedStep);
  static constexpr uint64_t kBytes = kSamplesAt + kMaxDisturbedSteps * kDisturbedPlaces * sizeof(uint16_t);
};

// The key that hides the steps.
using DisturbanceKey = std::array<uint32_t, 4>;
DisturbanceKey DrawKey(Random& random);
// Hides nothing: for steps that no guest sees the like of.
inline constexpr DisturbanceKey kOpenKey = {};
std::vector<DisturbedStep> Hidden(std::span<const DisturbedStep> steps, const DisturbanceKey& key);

struct DisturbedAnswer {
  float got = 0, expected = 0;
};
// Describes wrong answers, of kDisturbedPlaces a call: "call 3 of 10 left C as it was". Empty if all are right.
std::string WrongAnswer(std::span<const DisturbedAnswer> answers, const Acceptance& acceptance);

// Packed matrices of a problem, as the steps change them. In sham, a renewal writes to every element what it is
// already.
struct DisturbedMatrices {
  void *a = nullptr, *b = nullptr, *c = nullptr;
  Shape shape;
  bool is_sham = false;
};

// The kernels that apply the steps: in the guest, and in the judge, which times them. `memory` is laid out as
// DisturbanceMemory says.
class DisturbingKernels {
 public:
  static Result<DisturbingKernels> Load(Gpu& gpu, std::span<const uint8_t> cubin);
  // One step, on the stream.
  Status Disturb(const DisturbedMatrices& matrices, CUdeviceptr memory, const DisturbanceKey& key);
  // All steps of a graph that was captured for these matrices, with a key that is known only now.
  Status SetKey(const Graph& graph, const DisturbedMatrices& matrices, CUdeviceptr memory, const DisturbanceKey& key);
  Status Spin(int64_t cycles);
  Status Pause(int64_t ns);
  // All pauses of a graph, likewise.
  Status SetPause(const Graph& graph, int64_t ns);

 private:
  explicit DisturbingKernels(Gpu& gpu) : gpu_(&gpu) {}
  Gpu* gpu_;
  Kernel disturb_, renew_, spin_, pause_;
};

// The judge's part.
class DisturbanceJudge {
 public:
  static Result<DisturbanceJudge> Create(Gpu& gpu, Compiler& compiler);

  // For DisturbingKernels.
  const std::vector<uint8_t>& cubin() const { return cubin_; }
  DisturbingKernels& kernels() { return *kernels_; }
  // Writes the steps, hidden by the key, into the shared memory, and sets it to the first one.
  Status Prepare(std::span<const DisturbedStep> steps, CUdeviceptr memory, const DisturbanceKey& key);
  // Compares the calls' output with the expected values on the judge's private inputs, for the first of the last
  // prepared steps. Waits.
  Result<std::vector<DisturbedAnswer>> Collect(const Inputs& inputs, int64_t k, CUdeviceptr memory, size_t steps);

 private:
  explicit DisturbanceJudge(Gpu& gpu) : gpu_(&gpu) {}
  Gpu* gpu_;
  std::vector<uint8_t> cubin_;
  std::optional<DisturbingKernels> kernels_;
  Kernel expect_;
  DeviceMemory places_, answers_;
  size_t steps_ = 0;
};

}  // namespace gemmsmith
