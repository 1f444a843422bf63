// The pretended libtorch_cuda.so.
#include <cuda.h>

#include "fake_torch.h"

struct CUDAGuardOpaque {
  int32_t before;
};

namespace {

using Error = int32_t;
FakeTorch& torch = TheFakeTorch();

void MakeCurrent(int32_t device) {
  CUcontext context = nullptr;
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  torch.device = device;
}

}  // namespace

extern "C" {

Error aoti_torch_get_current_cuda_stream(int32_t, void** stream) { return *stream = torch.stream, 0; }
Error aoti_torch_create_cuda_guard(int32_t device, CUDAGuardOpaque** guard) {
  *guard = new CUDAGuardOpaque{torch.device};
  return MakeCurrent(device), 0;
}
Error aoti_torch_delete_cuda_guard(CUDAGuardOpaque* guard) {
  MakeCurrent(guard->before);
  return delete guard, 0;
}
Error aoti_torch_cuda_mm_out(AtenTensorOpaque*, AtenTensorOpaque*, AtenTensorOpaque*) { return ++torch.originals, 0; }

}  // extern "C"
