// The pretended libtorch_cpu.so.
#include "fake_torch.h"

#include <cstring>
#include <memory>

class TorchLibraryOpaque {
 public:
  std::string name_space;
  std::vector<std::string> names;
};

FakeTorch& TheFakeTorch() {
  static FakeTorch torch;
  return torch;
}

namespace {

using Error = int32_t;
FakeTorch& torch = TheFakeTorch();

}  // namespace

extern "C" {

int32_t aoti_torch_dtype_float16() { return kFakeHalf; }
int32_t aoti_torch_dtype_bfloat16() { return kFakeBrain; }
int32_t aoti_torch_device_type_cuda() { return kFakeGpu; }

Error aoti_torch_library_init_impl(const char* name_space, const char* key, const char*, uint32_t,
                                   TorchLibraryOpaque** library) {
  if (std::strcmp(key, "CUDA") != 0) return 1;
  *library = new TorchLibraryOpaque{name_space, {}};
  return 0;
}
Error torch_library_impl(TorchLibraryOpaque* library, const char* name, FakeKernel kernel, uint64_t version) {
  if (version != 0x020a000000000000) return 1;
  library->names.push_back(library->name_space + "::" + name);
  torch.kernels[library->names.back()] = kernel;
  return 0;
}
Error aoti_torch_delete_library_object(TorchLibraryOpaque* library) {
  for (const std::string& name : library->names) torch.kernels.erase(name);
  return delete library, 0;
}

Error torch_new_string_handle(const char* data, size_t length, StringOpaque** string) {
  return *string = new StringOpaque{std::string(data, length)}, 0;
}

Error aoti_torch_delete_tensor_object(AtenTensorOpaque* tensor) { return delete tensor, --torch.tensors, 0; }
Error aoti_torch_get_dim(AtenTensorOpaque* tensor, int64_t* value) { return *value = int64_t(tensor->sizes.size()), 0; }
Error aoti_torch_get_sizes(AtenTensorOpaque* tensor, int64_t** value) { return *value = tensor->sizes.data(), 0; }
Error aoti_torch_get_strides(AtenTensorOpaque* tensor, int64_t** value) { return *value = tensor->strides.data(), 0; }
Error aoti_torch_get_dtype(AtenTensorOpaque* tensor, int32_t* value) { return *value = tensor->type, 0; }
Error aoti_torch_get_device_type(AtenTensorOpaque* tensor, int32_t* value) { return *value = tensor->device_type, 0; }
Error aoti_torch_get_device_index(AtenTensorOpaque* tensor, int32_t* value) { return *value = tensor->device, 0; }
Error torch_get_const_data_ptr(AtenTensorOpaque* tensor, const void** value) { return *value = tensor->data, 0; }
Error torch_get_mutable_data_ptr(AtenTensorOpaque* tensor, void** value) { return *value = tensor->data, 0; }
Error aoti_torch_empty_strided(int64_t dimensions, const int64_t* sizes, const int64_t* strides, int32_t type,
                               int32_t device_type, int32_t device, AtenTensorOpaque** made) {
  auto tensor = std::make_unique<AtenTensorOpaque>();
  tensor->sizes.assign(sizes, sizes + dimensions), tensor->strides.assign(strides, strides + dimensions);
  tensor->type = type, tensor->device_type = device_type, tensor->device = device;
  torch.memory.emplace_back(size_t(sizes[0] * strides[0] * 4 + 64));
  tensor->data = torch.memory.back().data();
  tensor->data += (16 - reinterpret_cast<uintptr_t>(tensor->data) % 16) % 16;
  *made = tensor.release();
  return ++torch.tensors, 0;
}
Error aoti_torch_get_current_device_index(int32_t* device) { return *device = torch.device, 0; }

}  // extern "C"
