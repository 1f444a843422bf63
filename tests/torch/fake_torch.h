// A pretended torch: the C functions of its stable ABI over matrices in the host's memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

using FakeKernel = void (*)(uint64_t* stack, uint64_t inputs, uint64_t outputs);

struct AtenTensorOpaque {
  std::vector<int64_t> sizes, strides;
  int32_t type = 0, device_type = 0, device = 0;
  char* data = nullptr;
};

struct StringOpaque {
  std::string text;
};

inline constexpr int32_t kFakeHalf = 5, kFakeFloat = 6, kFakeBrain = 15, kFakeCpu = 0, kFakeGpu = 1;

struct FakeTorch {
  std::map<std::string, FakeKernel> kernels;  // registered now, by "aten::mm"
  int64_t tensors = 0;                        // that live
  int64_t originals = 0;                      // calls of the original kernel
  int32_t device = 0;                         // the current one
  void* stream = nullptr;                     // the current one
  std::vector<std::vector<char>> memory;      // of results
};
FakeTorch& TheFakeTorch();
