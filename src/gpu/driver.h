// The CUDA driver API, opened at run time: every program starts and explains itself on a machine without a driver.
#pragma once

#include <cuda.h>

#include <string>
#include <string_view>

#include "base/status.h"

namespace gemmsmith {

// The driver functions we call, by their own names. One list, so that a missing symbol is named when the driver is
// opened.
// clang-format off
#define GEMMSMITH_DRIVER_FUNCTIONS(X)                                                                                 \
  X(cuInit) X(cuDriverGetVersion) X(cuDeviceGet) X(cuDeviceGetCount) X(cuDeviceGetName) X(cuDeviceGetUuid)            \
  X(cuDeviceGetAttribute) X(cuDeviceTotalMem) X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease)                \
  X(cuCtxSetCurrent) X(cuCtxSynchronize) X(cuGetErrorName) X(cuGetErrorString) X(cuMemAlloc) X(cuMemFree)             \
  X(cuMemGetInfo) X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync) X(cuMemcpyDtoDAsync) X(cuMemsetD8Async)                   \
  X(cuMemsetD16Async) X(cuMemHostAlloc) X(cuMemFreeHost) X(cuModuleLoadDataEx) X(cuModuleUnload)                      \
  X(cuModuleGetFunction) X(cuFuncGetAttribute) X(cuFuncSetAttribute) X(cuLaunchKernelEx) X(cuStreamCreate)            \
  X(cuStreamDestroy) X(cuStreamSynchronize) X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuStreamIsCapturing)      \
  X(cuThreadExchangeStreamCaptureMode)                                                                                \
  X(cuGraphInstantiateWithFlags) X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGraphDestroy) X(cuEventCreate)            \
  X(cuEventDestroy) X(cuEventRecord) X(cuEventSynchronize) X(cuEventElapsedTime) X(cuCtxSetLimit)                     \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor) X(cuOccupancyMaxActiveClusters) X(cuTensorMapEncodeTiled)            \
  X(cuMemGetAllocationGranularity) X(cuMemCreate) X(cuMemRelease) X(cuMemAddressReserve) X(cuMemAddressFree)          \
  X(cuMemMap) X(cuMemUnmap) X(cuMemSetAccess) X(cuGraphGetNodes) X(cuGraphNodeGetType) X(cuGraphKernelNodeGetParams)  \
  X(cuGraphExecKernelNodeSetParams) X(cuCtxResetPersistingL2Cache) X(cuFuncGetParamInfo)  \
  X(cuTensorMapReplaceAddress) X(cuCtxGetCurrent) X(cuCtxPushCurrent) X(cuCtxPopCurrent) X(cuCtxGetDevice)             \
  X(cuStreamGetCaptureInfo) X(cuStreamGetId) X(cuUserObjectCreate) X(cuUserObjectRelease) X(cuGraphRetainUserObject)
// clang-format on

struct Driver {
#define GEMMSMITH_DECLARE(function) decltype(&::function) function = nullptr;
  GEMMSMITH_DRIVER_FUNCTIONS(GEMMSMITH_DECLARE)
#undef GEMMSMITH_DECLARE

  // Opens libcuda.so.1 once per process and calls cuInit. Unavailable, with the reason in words, where there is no
  // driver, it is too old, or it sees no GPU. A child made by fork() after this cannot use the GPU: it must exec first.
  static Result<const Driver*> Open();
  // The same with a library of another name, each time anew.
  static Result<Driver> Load(const std::string& library);
};

// "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)" as an IoError; OK for
// CUDA_SUCCESS. `call` is the text of the call.
Status DriverStatus(CUresult result, std::string_view call);
#define RETURN_IF_CUDA_ERROR(call) RETURN_IF_ERROR(::gemmsmith::DriverStatus((call), #call))

}  // namespace gemmsmith
