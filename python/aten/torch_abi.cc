#include "torch_abi.h"

#include <dlfcn.h>

namespace gemmsmith::aten {

TorchAbi torch_abi;

namespace {

template <class Function>
bool Find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

const char* TorchAbi::Open() {
  void* const library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return "torch is not loaded: import it first";
#define GEMMSMITH_FIND(name, ...) \
  if (!Find(library, #name, name)) return "this torch has no " #name ": torch 2.10 or later is needed";
  GEMMSMITH_TORCH_FUNCTIONS(GEMMSMITH_FIND)
#undef GEMMSMITH_FIND
  void* const cuda_library = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
  if (cuda_library == nullptr) return "this torch is built without CUDA";
#define GEMMSMITH_FIND(name, ...) \
  if (!Find(cuda_library, #name, name)) return "this torch has no " #name ": torch 2.10 or later is needed";
  GEMMSMITH_TORCH_CUDA_FUNCTIONS(GEMMSMITH_FIND)
#undef GEMMSMITH_FIND
  Find(library, "torch_exception_get_what_without_backtrace", torch_exception_get_what_without_backtrace);
  float16 = aoti_torch_dtype_float16();
  bfloat16 = aoti_torch_dtype_bfloat16();
  cuda = aoti_torch_device_type_cuda();
  return nullptr;
}

}  // namespace gemmsmith::aten
