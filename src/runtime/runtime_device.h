// One GPU as the library sees it: its files of kernels, what is loaded of them, and cuBLASLt's handle.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalogue/kernel_file.h"
#include "gpu/gpu.h"
#include "runtime/kernel_choice.h"
#include "runtime/lt_product.h"
#include "runtime/product.h"

namespace gemmsmith {

// Where compiled kernels for a device may lie: the overlay that the caller names, $GEMMSMITH_OVERLAY, the user's own
// (~/.config/gemmsmith/overlay), and those that ship: beside the library, or where $GEMMSMITH_KERNELS says. All that
// are there are used, in this order.
std::vector<std::filesystem::path> KernelPaths(const std::string& overlay, const std::string& device_key);

class RuntimeDevice : public std::enable_shared_from_this<RuntimeDevice> {
 public:
  // Retains the primary context. A file of another device or of another version is refused by its name.
  static Failure Open(const Driver& driver, int ordinal, const std::string& overlay,
                      std::shared_ptr<RuntimeDevice>& device);
  RuntimeDevice(const RuntimeDevice&) = delete;
  RuntimeDevice& operator=(const RuntimeDevice&) = delete;
  ~RuntimeDevice();

  const Driver& driver() const { return driver_; }
  // One call at a time.
  Failure Prepare(const Request& request, std::shared_ptr<const Product>& product);

 private:
  RuntimeDevice(const Driver& driver, GpuIdentity identity) : driver_(driver), identity_(std::move(identity)) {}
  Failure ReadKernels(const std::string& overlay);
  Failure PrepareWith(uint64_t workspace_bytes, const Request& request, std::shared_ptr<const Product>& product);
  bool EnsureSlots();
  Failure PrepareOwn(const Choice& choice, const Gemm& gemm, Product& product);
  Failure PrepareByLibrary(Product& product);
  Result<std::shared_ptr<const Kernel>> Load(const Choice& choice, uint32_t smem_bytes);

  const Driver& driver_;
  const GpuIdentity identity_;
  CUcontext context_ = nullptr;
  std::vector<std::unique_ptr<KernelFile>> files_;
  std::optional<KernelChooser> chooser_;
  // With their dynamic shared memory: one text may need another amount for another K.
  std::map<std::pair<const KernelFile::Kernel*, uint32_t>, std::shared_ptr<const Kernel>> loaded_;
  std::unique_ptr<LtLibrary> library_;
  std::shared_ptr<WorkspaceSlots> slots_;  // made for the first kernel that needs one
};

}  // namespace gemmsmith
