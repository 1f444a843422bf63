#include "gpu/nvml.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <optional>
#include <vector>

namespace gemmsmith {

namespace {

// The few declarations of nvml.h that we need: a toolkit assembled from packages may come without it. The library keeps
// its binary interface under the versioned names.
using NvmlDevice = void*;
using NvmlReturn = int;
constexpr NvmlReturn kSuccess = 0, kNotSupported = 3, kNoPermission = 4, kInsufficientSize = 7;
constexpr int kClockSm = 1, kClockMemory = 2, kTemperatureGpu = 0;
// By bit; the first one says that the GPU is idle.
constexpr std::optional<ClockLimit> kReasons[] = {std::nullopt,
                                                  ClockLimit::kApplicationClocks,
                                                  ClockLimit::kPowerCap,
                                                  ClockLimit::kHardwareSlowdown,
                                                  ClockLimit::kSyncBoost,
                                                  ClockLimit::kSoftwareThermal,
                                                  ClockLimit::kHardwareThermal,
                                                  ClockLimit::kPowerBrake,
                                                  ClockLimit::kDisplayClocks};
struct NvmlProcess {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(NvmlProcess) == 24);

struct NvmlLibrary {
  NvmlReturn (*nvmlInit_v2)() = nullptr;
  NvmlReturn (*nvmlShutdown)() = nullptr;
  const char* (*nvmlErrorString)(NvmlReturn) = nullptr;
  NvmlReturn (*nvmlSystemGetDriverVersion)(char*, unsigned) = nullptr;
  NvmlReturn (*nvmlDeviceGetHandleByUUID)(const char*, NvmlDevice*) = nullptr;
  NvmlReturn (*nvmlDeviceGetClockInfo)(NvmlDevice, int, unsigned*) = nullptr;
  NvmlReturn (*nvmlDeviceGetPowerUsage)(NvmlDevice, unsigned*) = nullptr;
  NvmlReturn (*nvmlDeviceGetTotalEnergyConsumption)(NvmlDevice, unsigned long long*) = nullptr;
  NvmlReturn (*nvmlDeviceGetTemperature)(NvmlDevice, int, unsigned*) = nullptr;
  NvmlReturn (*nvmlDeviceGetCurrentClocksEventReasons)(NvmlDevice, unsigned long long*) = nullptr;
  NvmlReturn (*nvmlDeviceGetComputeRunningProcesses_v3)(NvmlDevice, unsigned*, NvmlProcess*) = nullptr;

  static Result<NvmlLibrary> Open() {
    constexpr const char* kName = "libnvidia-ml.so.1";
    void* const handle = dlopen(kName, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
      return Unavailable(fmt::format("no NVML: {} does not open; it comes with the driver", kName));
    NvmlLibrary library;
#define GEMMSMITH_RESOLVE(function)                                                          \
  library.function = reinterpret_cast<decltype(library.function)>(dlsym(handle, #function)); \
  if (library.function == nullptr) return Unavailable(fmt::format("{} has no {}", kName, #function));
    GEMMSMITH_RESOLVE(nvmlInit_v2)
    GEMMSMITH_RESOLVE(nvmlShutdown)
    GEMMSMITH_RESOLVE(nvmlErrorString)
    GEMMSMITH_RESOLVE(nvmlSystemGetDriverVersion)
    GEMMSMITH_RESOLVE(nvmlDeviceGetHandleByUUID)
    GEMMSMITH_RESOLVE(nvmlDeviceGetClockInfo)
    GEMMSMITH_RESOLVE(nvmlDeviceGetPowerUsage)
    GEMMSMITH_RESOLVE(nvmlDeviceGetTotalEnergyConsumption)
    GEMMSMITH_RESOLVE(nvmlDeviceGetTemperature)
    GEMMSMITH_RESOLVE(nvmlDeviceGetCurrentClocksEventReasons)
    GEMMSMITH_RESOLVE(nvmlDeviceGetComputeRunningProcesses_v3)
#undef GEMMSMITH_RESOLVE
    return library;
  }

  Status Failure(NvmlReturn result, const char* call) const {
    return Unavailable(fmt::format("NVML: {}: {}", call, nvmlErrorString(result)));
  }
};

// 0 where there is no such process.
int ParentOf(int pid) {
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(stat, line);
  const size_t name_end = line.rfind(')');  // the name may hold anything, blanks and brackets too
  if (name_end == std::string::npos) return 0;
  char state = 0;
  int parent = 0;
  return std::sscanf(line.c_str() + name_end + 1, " %c %d", &state, &parent) == 2 ? parent : 0;
}

bool IsAncestor(int ancestor, int pid) {
  for (; pid > 0; pid = ParentOf(pid))
    if (pid == ancestor) return true;
  return false;
}

}  // namespace

int CountForeignProcesses(std::span<const int> pids, int self) {
  int foreign = 0, unknown = 0;
  bool ours_seen = false;
  for (const int pid : pids) {
    const bool ours = IsAncestor(pid, self) || IsAncestor(self, pid);
    ours_seen |= ours;
    if (!ours) ++(kill(pid, 0) == 0 || errno == EPERM ? foreign : unknown);
  }
  if (!ours_seen && unknown > 0) --unknown;
  return foreign + unknown;
}

ClockLimits ClockLimitsOf(unsigned long long reasons) {
  ClockLimits limits;
  for (size_t bit = 0; bit < std::size(kReasons); ++bit)
    if ((reasons >> bit & 1) != 0 && kReasons[bit]) limits.Add(*kReasons[bit]);
  return limits;
}

struct Nvml::State {
  NvmlLibrary library;
  NvmlDevice device = nullptr;

  ~State() { library.nvmlShutdown(); }
};

Nvml::Nvml(std::unique_ptr<State> state) : state_(std::move(state)) {}
Nvml::~Nvml() = default;

Result<std::unique_ptr<Nvml>> Nvml::Open(const std::string& gpu_uuid) {
  ASSIGN_OR_RETURN(const NvmlLibrary library, NvmlLibrary::Open());
  if (const NvmlReturn started = library.nvmlInit_v2(); started != kSuccess)
    return library.Failure(started, "nvmlInit_v2");
  std::unique_ptr<State> state(new State{library});
  if (const NvmlReturn found = library.nvmlDeviceGetHandleByUUID(gpu_uuid.c_str(), &state->device); found != kSuccess)
    return library.Failure(found, "nvmlDeviceGetHandleByUUID");
  return std::unique_ptr<Nvml>(new Nvml(std::move(state)));
}

Result<GpuCondition> Nvml::Read() const {
  const NvmlLibrary& library = state_->library;
  NvmlReturn failed = kSuccess;
  const auto read = [&failed](NvmlReturn result) {
    if (result != kSuccess && result != kNotSupported && result != kNoPermission && failed == kSuccess) failed = result;
    return result == kSuccess;
  };
  GpuCondition condition;
  unsigned value = 0;
  if (read(library.nvmlDeviceGetClockInfo(state_->device, kClockSm, &value))) condition.sm_clock_mhz = int(value);
  if (read(library.nvmlDeviceGetClockInfo(state_->device, kClockMemory, &value)))
    condition.memory_clock_mhz = int(value);
  if (read(library.nvmlDeviceGetPowerUsage(state_->device, &value))) condition.power_watts = value / 1000.0;
  if (read(library.nvmlDeviceGetTemperature(state_->device, kTemperatureGpu, &value)))
    condition.temperature_c = int(value);
  unsigned long long reasons = 0;
  if (read(library.nvmlDeviceGetCurrentClocksEventReasons(state_->device, &reasons)))
    condition.limits = ClockLimitsOf(reasons);
  std::array<NvmlProcess, 64> processes{};
  unsigned count = unsigned(processes.size());
  const NvmlReturn listed = library.nvmlDeviceGetComputeRunningProcesses_v3(state_->device, &count, processes.data());
  if (listed == kInsufficientSize) {
    condition.other_processes = int(count);  // more than the list holds: the number says enough
  } else if (read(listed)) {
    std::vector<int> pids;
    for (unsigned i = 0; i < count; ++i) pids.push_back(int(processes[i].pid));
    condition.other_processes = CountForeignProcesses(pids, getpid());
  }
  if (failed != kSuccess) return library.Failure(failed, "reading the GPU's condition");
  return condition;
}

Result<double> Nvml::EnergyJoules() const {
  unsigned long long millijoules = 0;
  const NvmlReturn told = state_->library.nvmlDeviceGetTotalEnergyConsumption(state_->device, &millijoules);
  if (told != kSuccess) return state_->library.Failure(told, "nvmlDeviceGetTotalEnergyConsumption");
  return double(millijoules) / 1000;
}

Result<int> Nvml::SmClockMhz() const {
  unsigned mhz = 0;
  const NvmlReturn told = state_->library.nvmlDeviceGetClockInfo(state_->device, kClockSm, &mhz);
  if (told != kSuccess) return state_->library.Failure(told, "nvmlDeviceGetClockInfo");
  return int(mhz);
}

std::string Nvml::DriverRelease() const {
  std::array<char, 96> release{};
  const NvmlReturn told = state_->library.nvmlSystemGetDriverVersion(release.data(), unsigned(release.size()));
  return told == kSuccess ? release.data() : "";
}

}  // namespace gemmsmith
