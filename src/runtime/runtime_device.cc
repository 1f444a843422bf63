#include "runtime/runtime_device.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cmath>

#include "base/files.h"
#include "base/installation.h"
#include "program/plan.h"

namespace gemmsmith {

namespace fs = std::filesystem;

namespace {

class CurrentContext {
 public:
  CurrentContext(const Driver& driver, CUcontext context)
      : driver_(driver), status_(DriverStatus(driver.cuCtxPushCurrent(context), "cuCtxPushCurrent")) {}
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  ~CurrentContext() {
    CUcontext popped = nullptr;
    if (status_.ok()) driver_.cuCtxPopCurrent(&popped);
  }
  const Status& status() const { return status_; }

 private:
  const Driver& driver_;
  const Status status_;
};

// Loads are forbidden to a thread while any other captures, unless it says that it does not mind.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const Driver& driver) : driver_(driver) { Exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;
  ~RelaxedCapture() { Exchange(); }

 private:
  void Exchange() { driver_.cuThreadExchangeStreamCaptureMode(&mode_); }
  const Driver& driver_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

fs::path FolderOfThisLibrary() {
  Dl_info info{};
  static const int here = 0;
  if (dladdr(&here, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  return fs::weakly_canonical(info.dli_fname, error).parent_path();
}

std::string Expected(const Choice& choice) {
  return fmt::format("{:.2f} us, cuBLASLt {:.2f} us", choice.time_ns / 1e3, choice.library_ns / 1e3);
}

// Predictions are asked for more than measurements.
std::string WhyBehind(const Choice& choice) {
  if (choice.Lead() < 1) return fmt::format("cuBLASLt: expected to be faster (ours {})\n", Expected(choice));
  const std::string asked = std::isinf(choice.asked_lead) ? "none is trusted so far from what was measured"
                                                          : fmt::format("{:.2f} is asked", choice.asked_lead);
  return fmt::format("cuBLASLt: a lead of {:.2f} is expected, and {} (ours {})\nours: {}; {}\n", choice.Lead(), asked,
                     Expected(choice), PrintShort(choice.plan), choice.reason);
}

}  // namespace

std::vector<fs::path> KernelPaths(const std::string& overlay, const std::string& device_key) {
  std::vector<fs::path> paths;
  const std::string name = device_key + ".kernels";
  const auto add = [&](std::string_view place) {
    if (place.empty()) return;
    std::error_code error;
    paths.push_back(fs::is_directory(place, error) ? fs::path(place) / name : fs::path(place));
  };
  add(overlay);
  add(Environment("GEMMSMITH_OVERLAY"));
  if (const fs::path own = OverlayFolder(); !own.empty()) paths.push_back(own / name);
  if (const std::string_view shipped = Environment("GEMMSMITH_KERNELS"); !shipped.empty()) {
    add(shipped);
  } else if (const fs::path folder = FolderOfThisLibrary(); !folder.empty()) {
    paths.push_back(folder / "gemmsmith" / name);
    paths.push_back(folder / name);
  }
  return paths;
}

Failure RuntimeDevice::Open(const Driver& driver, int ordinal, const std::string& overlay,
                            std::shared_ptr<RuntimeDevice>& device) {
  Result<GpuIdentity> identity = IdentifyGpu(driver, ordinal);
  if (!identity.ok()) return Fail(GEMMSMITH_NO_DEVICE, fmt::format("GPU {}: {}", ordinal, identity.status().message()));
  std::shared_ptr<RuntimeDevice> opened(new RuntimeDevice(driver, *std::move(identity)));
  RETURN_FAILURE(opened->ReadKernels(overlay));
  RETURN_FAILURE(FailIfNot(
      DriverStatus(driver.cuDevicePrimaryCtxRetain(&opened->context_, CUdevice(ordinal)), "cuDevicePrimaryCtxRetain"),
      GEMMSMITH_NO_DEVICE));
  device = std::move(opened);
  return Done();
}

RuntimeDevice::~RuntimeDevice() {
  if (context_ == nullptr) return;
  {
    const CurrentContext current(driver_, context_);
    loaded_.clear();
    library_.reset();
    slots_.reset();
  }
  driver_.cuDevicePrimaryCtxRelease(CUdevice(identity_.ordinal));
}

Failure RuntimeDevice::ReadKernels(const std::string& overlay) {
  std::vector<const KernelFile*> files;
  for (const fs::path& path : KernelPaths(overlay, identity_.device.key)) {
    Result<KernelFile> file = KernelFile::Read(path);
    const bool is_asked_for = path == fs::path(overlay);
    if (file.status().code() == StatusCode::kNotFound && !is_asked_for) continue;
    if (!file.ok()) return Fail(GEMMSMITH_BAD_FILE, file.status().message());
    if (file->device_key() != identity_.device.key) {
      if (!is_asked_for) continue;  // a file of one device named for a process that sees several
      return Fail(GEMMSMITH_BAD_FILE, fmt::format("{} holds kernels for {}, and this GPU is {}", path.string(),
                                                  file->device_key(), identity_.device.name));
    }
    files_.push_back(std::make_unique<KernelFile>(*std::move(file)));
    files.push_back(files_.back().get());
  }
  chooser_.emplace(files, identity_.device);
  return Done();
}

Failure RuntimeDevice::Prepare(const Request& request, std::shared_ptr<const Product>& product) {
  const CurrentContext current(driver_, context_);
  RETURN_FAILURE(FailIfNot(current.status(), GEMMSMITH_INTERNAL));
  const RelaxedCapture relaxed(driver_);
  return PrepareWith(WorkspaceSlots::kSlotBytes, request, product);
}

// Where there is no memory for workspaces, kernels without one serve.
Failure RuntimeDevice::PrepareWith(uint64_t workspace_bytes, const Request& request,
                                   std::shared_ptr<const Product>& product) {
  const auto made = std::make_shared<Product>();
  made->request_ = request;
  made->device_ = shared_from_this();
  made->explanation_ = request.Print() + "\n";
  product = made;
  if (request.IsEmpty()) {
    made->explanation_ += "nothing to compute\n";
    return Done();
  }
  const std::optional<Gemm> gemm = request.AsGemm();
  std::optional<Choice> choice;
  if (gemm && Environment("GEMMSMITH_DISABLE") != "1") choice = chooser_->Choose(*gemm, workspace_bytes);
  const auto by_own = [&] {
    if (LaunchFor(choice->plan, *gemm).workspace_bytes > 0 && !EnsureSlots()) return PrepareWith(0, request, product);
    return PrepareOwn(*choice, *gemm, *made);
  };
  if (choice && (!choice->IsBehind() || Environment("GEMMSMITH_ALWAYS") == "1")) return by_own();
  const Failure by_library = request.own_only ? Done() : PrepareByLibrary(*made);
  if (by_library.ok()) {
    made->explanation_ += choice ? WhyBehind(*choice)
                          : gemm ? "cuBLASLt: no kernel of ours serves this problem\n"
                                 : "cuBLASLt: ours have no batches, epilogues, scales or f32 results\n";
    return Done();
  }
  if (choice) return by_own();
  return by_library;
}

bool RuntimeDevice::EnsureSlots() {
  if (slots_) return true;
  Result<std::unique_ptr<WorkspaceSlots>> made = WorkspaceSlots::Make(driver_);
  if (made.ok()) slots_ = *std::move(made);
  return made.ok();
}

Failure RuntimeDevice::PrepareOwn(const Choice& choice, const Gemm& gemm, Product& product) {
  auto own = std::make_unique<Product::Own>();
  own->launch = LaunchFor(choice.plan, gemm);
  own->gemm = gemm;
  // CTAs that wait for each other start all together: a chain would let them start one by one, beside other streams.
  const bool may_chain = choice.is_chained && own->launch.chainable && !own->launch.is_cooperative;
  own->chaining = product.request_.constant_b && may_chain ? Chaining::kProgrammatic : Chaining::kNone;
  Result<std::shared_ptr<const Kernel>> kernel = Load(choice, own->launch.smem_bytes);
  RETURN_FAILURE(FailIfNot(kernel.status(), GEMMSMITH_INTERNAL));
  own->kernel = *std::move(kernel);
  if (own->launch.workspace_bytes > 0) {
    own->slots = slots_;
    std::shared_ptr<const Product> other;
    if (PrepareWith(0, product.request_, other).ok()) product.without_workspace_ = std::move(other);
  }
  const Result<uint32_t> grid = own->kernel->GridFor(own->launch, identity_.device.multiprocessors);
  RETURN_FAILURE(FailIfNot(grid.status(), GEMMSMITH_INTERNAL));
  own->grid_x = *grid;
  // Any aligned address does: each call puts its own.
  const void* const somewhere = reinterpret_cast<const void*>(uintptr_t{4096});
  Result<GemmParameters> parameters = ParametersFor(
      driver_, own->launch, ArgumentsFor(gemm, somewhere, somewhere, const_cast<void*>(somewhere), nullptr));
  RETURN_FAILURE(FailIfNot(parameters.status(), GEMMSMITH_INTERNAL));
  own->parameters = *std::move(parameters);
  product.explanation_ +=
      fmt::format("kernel: {}\nchosen: {}\nexpected: {}\n", PrintShort(choice.plan), choice.reason, Expected(choice));
  if (own->slots)
    product.explanation_ += fmt::format("workspace: {} KiB for each stream; the first {} streams and graphs have one\n",
                                        own->launch.workspace_bytes >> 10, WorkspaceSlots::kSlots);
  product.own_ = std::move(own);
  return Done();
}

Failure RuntimeDevice::PrepareByLibrary(Product& product) {
  if (!library_) {
    Result<std::unique_ptr<LtLibrary>> library = LtLibrary::Open();
    RETURN_FAILURE(FailIfNot(library.status(), GEMMSMITH_NO_LIBRARY));
    library_ = *std::move(library);
  }
  return LtProduct::Make(*library_, product.request_, product.by_library_);
}

Result<std::shared_ptr<const Kernel>> RuntimeDevice::Load(const Choice& choice, uint32_t smem_bytes) {
  std::shared_ptr<const Kernel>& kernel = loaded_[{choice.kernel, smem_bytes}];
  if (kernel) return kernel;
  ASSIGN_OR_RETURN(const std::string cubin, choice.file->CubinOf(*choice.kernel));
  ASSIGN_OR_RETURN(Kernel loaded, Kernel::Load(driver_, {reinterpret_cast<const uint8_t*>(cubin.data()), cubin.size()},
                                               choice.kernel->entry, smem_bytes, identity_.device.compute_major >= 9));
  kernel = std::make_shared<const Kernel>(std::move(loaded));
  return kernel;
}

}  // namespace gemmsmith
