#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>

#include "base/installation.h"
#include "search/nvmmh.h"

namespace gemmsmith {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "libnvMatmulHeuristics.so.0";

// The part of the library's binary interface that we use, of versions 0.1.
using Handle = void*;
using DeviceDescription = void*;
constexpr unsigned kMajor = 0, kMinor = 1;
constexpr int kSuccess = 1, kLoadedInPart = 2;
constexpr int kTargetCutlass3 = 4;
constexpr unsigned kOrderByTimingModel = 8;
enum class StoredLayout : uint8_t { kRowMajorB = 0, kColumnMajorB = 1 };  // of row-major matrices, A not transposed

struct HeuristicProblem {
  uint32_t m, n, k, batches;
  uint8_t layout;
};
struct HeuristicConfig {
  uint16_t tile[3], warp[3], instruction[3];
  uint16_t split;
  uint8_t stages, swizzle, order, cluster[2];
};
static_assert(sizeof(HeuristicProblem) == 20 && sizeof(HeuristicConfig) == 26);

struct Library {
  unsigned (*nvMatmulHeuristicsGetVersionMajor)() = nullptr;
  unsigned (*nvMatmulHeuristicsGetVersionMinor)() = nullptr;
  int (*nvMatmulHeuristicsCreate)(Handle*) = nullptr;
  int (*nvMatmulHeuristicsDestroy)(Handle*) = nullptr;
  int (*nvMatmulHeuristicsHardwareDescriptorCreate)(DeviceDescription*) = nullptr;
  int (*nvMatmulHeuristicsHardwareDescriptorDestroy)(DeviceDescription*) = nullptr;
  int (*nvMatmulHeuristicsHardwareDescriptorSetPredefinedGpu)(DeviceDescription, int) = nullptr;
  int (*nvMatmulHeuristicsLoadInternalDiscoverySet)(Handle, const char*, int, int, DeviceDescription) = nullptr;
  unsigned (*nvMatmulHeuristicsGetGemmConfig)(Handle, const char*, unsigned flags, int target, const HeuristicProblem*,
                                              HeuristicConfig*, unsigned count, DeviceDescription) = nullptr;

  static Result<Library> Open() {
    ASSIGN_OR_RETURN(const fs::path path, FindNvmmh());
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return Unavailable(fmt::format("{} does not load: {}", path.string(), LoaderError()));
    Library library;
#define GEMMSMITH_RESOLVE(function)                                                          \
  library.function = reinterpret_cast<decltype(library.function)>(dlsym(handle, #function)); \
  if (library.function == nullptr) return Unavailable(fmt::format("{} has no {}", path.string(), #function));
    GEMMSMITH_RESOLVE(nvMatmulHeuristicsGetVersionMajor)
    GEMMSMITH_RESOLVE(nvMatmulHeuristicsGetVersionMinor)
    GEMMSMITH_RESOLVE(nvMatmulHeuristicsCreate)
    GEMMSMITH_RESOLVE(nvMatmulHeuristicsDestroy)
    GEMMSMITH_RESOLVE(nvMatmulHeuristicsHardwareDescriptorCreate)
    GEMMSMITH_RESOLVE(nvMatmulHeuristicsHardwareDescriptorDestroy)
    GEMMSMITH_RESOLVE(nvMatmulHeuristicsHardwareDescriptorSetPredefinedGpu)
    GEMMSMITH_RESOLVE(nvMatmulHeuristicsLoadInternalDiscoverySet)
    GEMMSMITH_RESOLVE(nvMatmulHeuristicsGetGemmConfig)
#undef GEMMSMITH_RESOLVE
    const unsigned major = library.nvMatmulHeuristicsGetVersionMajor();
    const unsigned minor = library.nvMatmulHeuristicsGetVersionMinor();
    if (major != kMajor || minor != kMinor)
      return Unavailable(fmt::format("{} is version {}.{}; install nvidia-matmul-heuristics {}.{}", path.string(),
                                     major, minor, kMajor, kMinor));
    return library;
  }
};

// Its number for a GPU.
Result<int> NumberOf(const Device& device) {
  if (device.key == "h100") return 9000;
  if (device.key == "h200") return 9003;
  return Unavailable(fmt::format("nvmmh is asked for the h100 and the h200, not for {}", device.name));
}

// Letters for the inputs, the sums and the output.
Result<std::string> PrecisionOf(const Gemm& gemm) {
  if (gemm.kind.accumulation != Accumulation::kF32) return Unavailable("nvmmh is asked for f32 accumulation only");
  return std::string(gemm.kind.type == ScalarType::kF16 ? "HSH" : "TST");
}

Result<StoredLayout> LayoutOf(const Gemm& gemm) {
  if (gemm.kind.layout == kNn) return StoredLayout::kRowMajorB;
  if (gemm.kind.layout == kTn) return StoredLayout::kColumnMajorB;
  return Unavailable(fmt::format("nvmmh is asked for the layouts nn and tn, not {}", Name(gemm.kind.layout)));
}

NvmmhConfig Translate(const HeuristicConfig& config) {
  return {.tile_m = config.tile[0],
          .tile_n = config.tile[1],
          .tile_k = config.tile[2],
          .warp_m = config.warp[0],
          .warp_n = config.warp[1],
          .warp_k = config.warp[2],
          .split = config.split,
          .stages = config.stages,
          .swizzle = config.swizzle,
          .along_m = config.order != 0,
          .cluster_m = config.cluster[0],
          .cluster_n = config.cluster[1]};
}

// The library's state for one device. It stays until the process ends: version 0.1.0.27 crashes when a handle is
// destroyed where there is no driver.
class Session {
 public:
  static Result<Session> Start(const Library& library, int gpu) {
    Session session(library);
    if (library.nvMatmulHeuristicsCreate(&session.handle_) != kSuccess ||
        library.nvMatmulHeuristicsHardwareDescriptorCreate(&session.device_) != kSuccess ||
        library.nvMatmulHeuristicsHardwareDescriptorSetPredefinedGpu(session.device_, gpu) != kSuccess)
      return Unavailable("nvMatmulHeuristics does not start for this device");
    return session;
  }

  Result<std::vector<NvmmhConfig>> Ask(const std::string& precision, const HeuristicProblem& problem, int count) {
    RETURN_IF_ERROR(LoadMeasurements(precision, problem.layout));
    std::vector<HeuristicConfig> configs(size_t(count), HeuristicConfig{});
    const unsigned answered =
        library_->nvMatmulHeuristicsGetGemmConfig(handle_, precision.c_str(), kOrderByTimingModel, kTargetCutlass3,
                                                  &problem, configs.data(), unsigned(count), device_);
    configs.resize(std::min(configs.size(), size_t(answered)));
    std::vector<NvmmhConfig> result;
    for (const HeuristicConfig& config : configs) result.push_back(Translate(config));
    return result;
  }

 private:
  explicit Session(const Library& library) : library_(&library) {}

  // Its order by timing model is meant for use with what was measured on the device; some of it may be missing.
  Status LoadMeasurements(const std::string& precision, uint8_t layout) {
    if (!loaded_.insert({precision, layout}).second) return OkStatus();
    const int loaded = library_->nvMatmulHeuristicsLoadInternalDiscoverySet(handle_, precision.c_str(), kTargetCutlass3,
                                                                            layout, device_);
    if (loaded == kSuccess || loaded == kLoadedInPart) return OkStatus();
    loaded_.erase({precision, layout});
    return Unavailable(fmt::format("nvMatmulHeuristics loads nothing measured of {}: status {}", precision, loaded));
  }

  const Library* library_;
  Handle handle_ = nullptr;
  DeviceDescription device_ = nullptr;
  std::set<std::pair<std::string, uint8_t>> loaded_;
};

}  // namespace

Result<fs::path> FindNvmmh() {
  std::error_code error;
  if (const char* const given = std::getenv("GEMMSMITH_NVMMH"); given != nullptr && *given != '\0') {
    if (fs::is_regular_file(given, error)) return fs::path(given);
    return Unavailable(fmt::format("GEMMSMITH_NVMMH={} is no file; name {}, or unset it", given, kFile));
  }
  for (const fs::path& folder : PythonPackageFolders())
    if (fs::path path = folder / "nvidia/nvMatmulHeuristics/lib" / kFile; fs::is_regular_file(path, error)) return path;
  return Unavailable(
      "no nvMatmulHeuristics on this machine: python3 -m pip install --target .deps/python nvidia-matmul-heuristics, "
      "or "
      "set GEMMSMITH_NVMMH to its library");
}

Result<std::vector<NvmmhConfig>> AskNvmmh(const Gemm& gemm, const Device& device, int count) {
  ASSIGN_OR_RETURN(const int gpu, NumberOf(device));
  ASSIGN_OR_RETURN(const std::string precision, PrecisionOf(gemm));
  ASSIGN_OR_RETURN(const StoredLayout layout, LayoutOf(gemm));
  static std::mutex mutex;
  static std::map<int, Session> sessions;
  const std::scoped_lock lock(mutex);
  auto session = sessions.find(gpu);
  if (session == sessions.end()) {
    static const Result<Library> library = Library::Open();
    RETURN_IF_ERROR(library.status());
    ASSIGN_OR_RETURN(Session started, Session::Start(*library, gpu));
    session = sessions.emplace(gpu, std::move(started)).first;
  }
  const HeuristicProblem problem{uint32_t(gemm.shape.m), uint32_t(gemm.shape.n), uint32_t(gemm.shape.k), 1,
                                 uint8_t(layout)};
  return session->second.Ask(precision, problem, count);
}

}  // namespace gemmsmith
