// Batches whose every call works on other values: the judge draws in secret what changes before each call, the guest
// carries it out (disturb.cu), and the judge computes what the calls must have written.
#pragma once

#include <array>
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
};
using DisturbedStep = std::array<DisturbedPlace, kDisturbedPlaces>;

// A step a call. The last one changes nothing, so that the whole output can be looked at behind it.
std::vector<DisturbedStep> DrawDisturbances(const MatrixView& a, const MatrixView& b, const MatrixView& c, int steps,
                                            Random& random);

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

struct DisturbedAnswer {
  float got = 0, expected = 0;
};
// What is wrong with the answers, kDisturbedPlaces a call, or nothing: "call 3 of 10 left C as it was", ...
std::string WrongAnswer(std::span<const DisturbedAnswer> answers, double tolerance);

// The guest's part. `memory` is laid out as DisturbanceMemory says.
class DisturbingKernels {
 public:
  static Result<DisturbingKernels> Load(Gpu& gpu, std::span<const uint8_t> cubin);
  Status Disturb(void* a, void* b, void* c, CUdeviceptr memory);
  Status Spin(int64_t cycles);

 private:
  explicit DisturbingKernels(Gpu& gpu) : gpu_(&gpu) {}
  Gpu* gpu_;
  Kernel disturb_, spin_;
};

// The judge's part.
class DisturbanceJudge {
 public:
  static Result<DisturbanceJudge> Create(Gpu& gpu, Compiler& compiler);

  // For DisturbingKernels.
  const std::vector<uint8_t>& cubin() const { return cubin_; }
  // Writes the steps into the shared memory, and sets it to the first one.
  Status Prepare(std::span<const DisturbedStep> steps, CUdeviceptr memory);
  // What the calls have written by what they must have, on these inputs, which no guest can reach. For the steps
  // prepared last; waits.
  Result<std::vector<DisturbedAnswer>> Collect(const Inputs& inputs, int64_t k, CUdeviceptr memory);

 private:
  explicit DisturbanceJudge(Gpu& gpu) : gpu_(&gpu) {}
  Gpu* gpu_;
  std::vector<uint8_t> cubin_;
  Kernel expect_;
  DeviceMemory places_, answers_;
  size_t steps_ = 0;
};

}  // namespace gemmsmith
