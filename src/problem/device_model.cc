#include "problem/device_model.h"

#include <fmt/format.h>

#include <algorithm>

namespace gemmsmith {

namespace {

// Limits of a CTA and of a multiprocessor by architecture (CUDA programming guide, compute capabilities).
struct Limits {
  int smem_bytes_per_block, smem_bytes_per_multiprocessor, threads_per_multiprocessor, ctas_per_multiprocessor;
};
constexpr Limits kLimits90{232448, 233472, 2048, 32}, kLimits80{166912, 167936, 2048, 32};
constexpr Limits kLimits89{101376, 102400, 1536, 24};

Device Make(std::string name, std::string key, int major, int minor, int multiprocessors, const Limits& limits,
            int l2_mib, double tflops, double l2_tbs, double l2_mb, double memory_tbs) {
  Device device;
  device.name = std::move(name);
  device.key = std::move(key);
  device.compute_major = major;
  device.compute_minor = minor;
  device.multiprocessors = multiprocessors;
  device.smem_bytes_per_block = limits.smem_bytes_per_block;
  device.smem_bytes_per_multiprocessor = limits.smem_bytes_per_multiprocessor;
  device.threads_per_multiprocessor = limits.threads_per_multiprocessor;
  device.ctas_per_multiprocessor = limits.ctas_per_multiprocessor;
  device.l2_bytes = l2_mib << 20;
  device.peak_half_tflops = tflops;
  device.l2_tbs = l2_tbs;
  device.l2_resident_mb = l2_mb;
  device.memory_tbs = memory_tbs;
  return device;
}

// What a CTA takes of shared memory beyond its own.
constexpr int64_t kOwnSmemBytes = 1024;

// Multiprocessors of which a cluster can have any: so 30 clusters of 4 or 15 of 8 find room, one CTA a multiprocessor,
// and 128 CTAs in clusters of 4 do not. By cudaOccupancyMaxActiveClusters of every size up to 16, the same on four
// H100s and on four H200s (2026-11-27); of another number of multiprocessors the same share is taken.
constexpr int kClusterRooms[] = {18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2};

int64_t CtasOfAMultiprocessor(const Device& device, int64_t smem_bytes) {
  return device.smem_bytes_per_multiprocessor / (smem_bytes + kOwnSmemBytes);
}

}  // namespace

int64_t Device::RoomForTwoBytes() const { return smem_bytes_per_multiprocessor / 2 - kOwnSmemBytes; }

int64_t Device::CtasBySmem(int64_t smem_bytes, int cluster) const {
  return CtasInClusters(cluster, CtasOfAMultiprocessor(*this, smem_bytes));
}

int64_t Device::CtasInClusters(int cluster, int64_t each) const {
  if (cluster == 1) return multiprocessors * each;
  int64_t found = 0, rooms = 0;
  for (const int room : kClusterRooms) found += room * each / cluster * cluster, rooms += room;
  return found * multiprocessors / rooms;
}

int64_t Device::SureCtas(int threads, int64_t smem_bytes) const {
  constexpr int kMaxRegisters = 256, kMaxCtas = 16;  // of a thread, a multiprocessor
  const int warps = (threads + 31) / 32;
  const int64_t by_registers = registers_per_block / (warps * 32 * kMaxRegisters);
  const int64_t by_smem = CtasOfAMultiprocessor(*this, smem_bytes);
  return multiprocessors * std::max<int64_t>(1, std::min({by_registers, by_smem, int64_t{kMaxCtas}}));
}

std::string Device::Architecture() const {
  // Only Hopper has a feature-specific target that our kernels use (wgmma).
  return fmt::format("sm_{}{}", compute_capability(), compute_capability() == 90 ? "a" : "");
}

const std::vector<Device>& KnownDevices() {
  // H200: measured on one board, 2026-11-21 (8192^3 in bursts, L2 and HBM copies). H100: its copy bandwidth measured
  // there; the rest taken from the H200, whose processor it shares. The others: vendors' datasheets, L2 a guess of
  // twice the memory's bandwidth; nothing was measured on them.
  // Never destroyed: a record of products is written while the process ends.
  static const std::vector<Device>& devices = *new std::vector<Device>{
      Make("NVIDIA H200", "h200", 9, 0, 132, kLimits90, 50, 800, 5.5, 40, 4.3),
      Make("NVIDIA H100 80GB HBM3", "h100", 9, 0, 132, kLimits90, 50, 800, 5.5, 40, 3.0),
      Make("NVIDIA A100-SXM4-80GB", "a100", 8, 0, 108, kLimits80, 40, 312, 4.0, 30, 2.0),
      Make("NVIDIA L40S", "l40s", 8, 9, 142, kLimits89, 96, 362, 1.7, 70, 0.86),
      Make("NVIDIA GeForce RTX 5090", "rtx5090", 12, 0, 170, kLimits89, 96, 209, 3.6, 70, 1.79),
  };
  return devices;
}

Result<Device> FindDevice(std::string_view key) {
  std::string known;
  for (const Device& device : KnownDevices()) {
    if (device.key == key) return device;
    known += (known.empty() ? "" : ", ") + device.key;
  }
  return NotFound(fmt::format("unknown device '{}'; known: {}", key, known));
}

Device DescribeDevice(std::string_view driver_name, int compute_major, int compute_minor, int multiprocessors,
                      int smem_bytes_per_block, int smem_bytes_per_multiprocessor) {
  Device device;
  device.key = "other";
  // Ceilings of the known device of the same architecture, so that a floor exists; its name says that it is another
  // board.
  for (const Device& known : KnownDevices()) {
    if (known.name == driver_name) {
      device = known;
      break;
    }
    if (known.compute_major == compute_major && known.compute_minor == compute_minor && device.peak_half_tflops == 0) {
      device = known;
      device.key = "other";
    }
  }
  device.name = driver_name;
  device.compute_major = compute_major;
  device.compute_minor = compute_minor;
  device.multiprocessors = multiprocessors;
  device.smem_bytes_per_block = smem_bytes_per_block;
  device.smem_bytes_per_multiprocessor = smem_bytes_per_multiprocessor;
  return device;
}

}  // namespace gemmsmith
