// A pretended libcudart.so.13 over the pretended driver: what the examples call. Memory is the host's.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>

#include "fake/driver.h"

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return cuDeviceGetCount(count), *count == 0 ? cudaErrorNoDevice : cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  CUdevice found = 0;
  if (cuDeviceGet(&found, device) != CUDA_SUCCESS) return cudaErrorInvalidDevice;
  CUcontext primary = nullptr;
  cuDevicePrimaryCtxRetain(&primary, found);
  return cuCtxSetCurrent(primary), cudaSuccess;
}
const char* cudaGetErrorString(cudaError_t) { return "as the fake runtime says"; }

cudaError_t cudaMalloc(void** address, size_t bytes) {
  *address = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  return *address == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  return std::memcpy(to, from, bytes), cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t) {
  return std::memcpy(to, from, bytes), cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return *stream = reinterpret_cast<cudaStream_t>(new char), cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  return FakeBeginCapture(stream), cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return *graph = reinterpret_cast<cudaGraph_t>(new FakeGraph(FakeEndCapture(stream))), cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  *executable = reinterpret_cast<cudaGraphExec_t>(new FakeGraph(*reinterpret_cast<FakeGraph*>(graph)));
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t) {
  for (const auto& work : *reinterpret_cast<FakeGraph*>(executable)) work();
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return delete reinterpret_cast<FakeGraph*>(executable), cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return delete reinterpret_cast<FakeGraph*>(graph), cudaSuccess; }

}  // extern "C"
