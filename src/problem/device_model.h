// What kernels may rely on of a GPU: limits for legality, peaks for the floor. Facts, no driver needed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

// "Device" in the words of docs/design.md.
struct Device {
  std::string name;  // as the driver says it, e.g. "NVIDIA H200"
  std::string key;   // short name in file paths and commands, e.g. "h200"
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  int max_threads_per_block = 1024;
  int registers_per_block = 65536;
  int smem_bytes_per_block = 0;  // the opt-in maximum of one CTA
  int smem_bytes_per_multiprocessor = 0;
  int threads_per_multiprocessor = 1536;
  int ctas_per_multiprocessor = 24;
  int l2_bytes = 96 << 20;
  int max_grid_y = 65535;  // y and z; x is 2^31 - 1

  // Ceilings for the floor, measured or (where never measured) from the datasheet.
  double peak_half_tflops = 0;
  double l2_tbs = 0;
  double l2_resident_mb = 0;  // operands up to here stay in L2 from call to call
  double memory_tbs = 0;

  int compute_capability() const { return compute_major * 10 + compute_minor; }
  // CTAs that the device is sure to hold at once, whatever registers they take.
  int64_t SureCtas(int threads, int64_t smem_bytes) const;
  // CTAs that the device's shared memory has room for at once, in clusters of so many.
  int64_t CtasBySmem(int64_t smem_bytes, int cluster = 1) const;
  // CTAs that are there at once in clusters of so many, where a multiprocessor has room for `each`.
  int64_t CtasInClusters(int cluster, int64_t each) const;
  // Shared memory that a CTA may take so that a multiprocessor holds two of them.
  int64_t RoomForTwoBytes() const;
  // The target kernels are compiled for: "sm_90a", "sm_80".
  std::string Architecture() const;
};

// Known devices: h200, h100, a100, l40s (sm_89), rtx5090 (sm_120). Used where no driver answers: legality,
// compilation and replay need no GPU.
const std::vector<Device>& KnownDevices();
Result<Device> FindDevice(std::string_view key);
// The known device whose driver name this is, else one made from nothing but the given limits (key "other").
Device DescribeDevice(std::string_view driver_name, int compute_major, int compute_minor, int multiprocessors,
                      int smem_bytes_per_block, int smem_bytes_per_multiprocessor);

}  // namespace gemmsmith
