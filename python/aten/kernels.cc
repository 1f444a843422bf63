// The kernels of gemmsmith::mm and explain, and of aten::mm where it is patched; and what Python calls, by ctypes.
#include <cinttypes>
#include <cstddef>
#include <cstdio>

#include "constant_weights.h"
#include "product.h"

namespace gemmsmith::aten {

namespace {

// In torch's words: programs look for them.
void CheckShapes(const View& a, const View& b) {
  if (a.dimensions != 2) throw std::runtime_error("self must be a matrix");
  if (b.dimensions != 2) throw std::runtime_error("mat2 must be a matrix");
  if (a.sizes[1] == b.sizes[0]) return;
  char text[160];
  std::snprintf(text, sizeof text,
                "mat1 and mat2 shapes cannot be multiplied (%" PRId64 "x%" PRId64 " and %" PRId64 "x%" PRId64 ")",
                a.sizes[0], a.sizes[1], b.sizes[0], b.sizes[1]);
  throw std::runtime_error(text);
}

void PassOn(const Tensor& out, const Tensor& a, const Tensor& b) {
  Check(torch_abi.aoti_torch_cuda_mm_out(out.handle(), a.handle(), b.handle()), "mm");
}

// mm(Tensor self, Tensor mat2) -> Tensor
void Mm(Value* stack, uint64_t, uint64_t) {
  const Tensor a(stack[0]), b(stack[1]);
  const Operand operand_a(a), operand_b(b);
  CheckShapes(operand_a.view, operand_b.view);
  Tensor out = Tensor::Empty(operand_a.view.sizes[0], operand_b.view.sizes[1], operand_a.view);
  if (!MultiplyByOurs(out, operand_a, operand_b)) PassOn(out, a, b);
  stack[0] = out.Release();
}

// mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)
void MmOut(Value* stack, uint64_t, uint64_t) {
  const Tensor a(stack[0]), b(stack[1]);
  Tensor out(stack[2]);
  if (!MultiplyByOurs(out, Operand(a), Operand(b))) PassOn(out, a, b);
  stack[0] = out.Release();
}

// explain(Tensor self, Tensor mat2) -> str
void ExplainMm(Value* stack, uint64_t, uint64_t) {
  const Tensor a(stack[0]), b(stack[1]);
  const Operand operand_a(a), operand_b(b);
  CheckShapes(operand_a.view, operand_b.view);
  const Tensor out = Tensor::Empty(operand_a.view.sizes[0], operand_b.view.sizes[1], operand_a.view);
  const std::string text = Explain(out, operand_a, operand_b);
  StringHandle string = nullptr;
  Check(torch_abi.torch_new_string_handle(text.data(), text.size(), &string), "new_string_handle");
  stack[0] = reinterpret_cast<Value>(string);
}

const char* Register(const char* name_space, const char* name, Kernel kernel, LibraryHandle& library) {
  if (library == nullptr &&
      torch_abi.aoti_torch_library_init_impl(name_space, "CUDA", "gemmsmith/kernels.cc", __LINE__, &library) != 0)
    return "torch refused a library";
  return torch_abi.torch_library_impl(library, name, kernel, kTorchVersion) == 0 ? nullptr : "torch refused a kernel";
}

LibraryHandle patch = nullptr;

}  // namespace

}  // namespace gemmsmith::aten

using namespace gemmsmith::aten;

#define GEMMSMITH_EXPORT extern "C" __attribute__((visibility("default")))

// Those that return text return null, or what is wrong in one line. Python calls them under its lock.

// gemmsmith::mm and gemmsmith::explain are defined before.
GEMMSMITH_EXPORT const char* gemmsmith_aten_open() {
  if (const char* const error = torch_abi.Open()) return error;
  static LibraryHandle own = nullptr;
  if (const char* const error = Register("gemmsmith", "mm", Mm, own)) return error;
  return Register("gemmsmith", "explain", ExplainMm, own);
}

GEMMSMITH_EXPORT const char* gemmsmith_aten_patch() {
  if (patch != nullptr) return nullptr;
  if (const char* const error = Register("aten", "mm", Mm, patch)) return error;
  return Register("aten", "mm.out", MmOut, patch);
}

// The original kernels are what torch calls again.
GEMMSMITH_EXPORT void gemmsmith_aten_unpatch() {
  if (patch != nullptr) torch_abi.aoti_torch_delete_library_object(patch);
  patch = nullptr;
}

GEMMSMITH_EXPORT void gemmsmith_aten_constant_weights(const AddressRange* ranges, size_t count) {
  SetConstantWeights(ranges, count);
}

GEMMSMITH_EXPORT int gemmsmith_aten_is_constant_weight(const void* address) { return IsConstantWeight(address); }

GEMMSMITH_EXPORT void gemmsmith_aten_calls(uint64_t* ours, uint64_t* passed_on) {
  const Calls calls = CountCalls();
  *ours = calls.ours, *passed_on = calls.passed_on;
}
