// The recorder takes the place of NVIDIA's run-time library in a source's program (docs/free_form.md). It answers
// queries from numbers that it is given, and records launches instead of making them. The program is not trusted, so
// nothing here guards against the source: compile/recording.cc judges whatever is written.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gemmsmith::recorder {

constexpr unsigned kWarp = 32, kMaxGridYz = 65535, kMaxBlockZ = 64;
constexpr int kOrdinarySmem = 48 << 10, kReservedSmem = 1 << 10;  // of a CTA, in bytes

struct Parameter {
  size_t offset = 0, bytes = 0;
};

struct Kernel {
  std::string name;
  size_t parameter_bytes = 0;
  unsigned registers = 0, static_smem_bytes = 0, local_bytes = 0, max_threads = 0;
  dim3 cluster{0, 0, 0};  // of its own; zeros: none
  std::vector<Parameter> parameters;

  // Set by the source.
  size_t dynamic_smem_limit = 0;
  bool takes_any_cluster = false;
  int carveout_percent = -1;
};

struct DeviceNumbers {
  std::string name;
  int major = 0, minor = 0, multiprocessors = 0, smem_block = 0, smem_multiprocessor = 0, registers = 0,
      threads_block = 0, threads_multiprocessor = 0, ctas_multiprocessor = 0, l2_bytes = 0;
  // Resident clusters by cluster size and CTAs a multiprocessor, both from 1.
  static constexpr int kMaxCluster = 16, kMaxCtas = 32;
  int clusters[kMaxCluster][kMaxCtas] = {};
};

struct Ask {
  int m = 0, n = 0, k = 0;
  uint64_t a = 0, b = 0, c = 0, workspace = 0, workspace_bytes = 0, stream = 0;
};

struct Request {
  DeviceNumbers device;
  std::vector<Kernel> kernels;
  uint64_t secret = 0;
  std::vector<Ask> asks;
};

// Read from standard input at the first use, which may be in a constructor of the source's.
Request& TheRequest();

// The work that the present call of gemm() has asked for.
struct CallRecord {
  cudaStream_t stream = nullptr;
  std::string maps, steps;         // lines of a recipe (program/recipe.h) whose addresses count from zero
  std::vector<uint64_t> map_uses;  // the encoded maps behind `maps`
  std::string refusal;             // the first reason why there is no recipe
};
CallRecord& PresentCall();
// Keeps the reason; returns the error that the source is given.
cudaError_t Refuse(const std::string& reason);
// Keeps an error for cudaGetLastError().
cudaError_t Remember(cudaError_t error);
const char* NameOf(cudaError_t error);

// The kernel behind a function's address or a handle of __cudaGetKernel(); null where there is none.
Kernel* FindKernel(const void* function);

struct LaunchShape {
  dim3 grid, block, cluster{1, 1, 1};
  size_t dynamic_smem = 0;
  cudaStream_t stream = nullptr;
  bool is_cooperative = false, is_programmatic = false;
  int carveout_percent = -1;
};
// Refuses attributes that a recipe cannot hold.
cudaError_t ReadLaunchConfig(const cudaLaunchConfig_t& config, LaunchShape& shape);
// The cluster of a launch, or else the kernel's own.
dim3 ClusterOf(const Kernel& kernel, const LaunchShape& shape);
unsigned MaxThreads(const Kernel& kernel);  // of a CTA
// By registers, warps, shared memory and CTAs.
int CtasPerMultiprocessor(const Kernel& kernel, unsigned threads, size_t dynamic_smem);
// The clusters of a launch that the whole device holds at once.
int ResidentClusters(const Kernel& kernel, const LaunchShape& shape);
// Why the driver would not launch; cudaSuccess where it would.
cudaError_t CheckLaunch(const Kernel& kernel, const LaunchShape& shape);

// Appends the maps that stand in a kernel's parameters to the present call and clears their bytes. Returns their places
// as "at:map,at:map".
std::string TakeMaps(std::vector<uint8_t>& parameters);

}  // namespace gemmsmith::recorder
