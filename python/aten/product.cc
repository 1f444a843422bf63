#include "product.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "constant_weights.h"
#include "gemmsmith/gemmsmith.h"

namespace gemmsmith::aten {

namespace {

std::atomic<uint64_t> ours = 0, passed_on = 0;

struct Opened {
  gemmsmith_context* context = nullptr;  // null where there is no driver: everything is passed on then
  std::string error;
};
const Opened& Open() {
  static const Opened& opened = *[] {
    auto* const made = new Opened;
    if (gemmsmith_context_create(&made->context, nullptr) != GEMMSMITH_OK) made->error = gemmsmith_last_error();
    return made;
  }();
  return opened;
}

struct Matrix {
  gemmsmith_order order = GEMMSMITH_ROW;
  int64_t rows = 0, columns = 0, leading = 0;
};

// False: its strides are none that a product is made for. A dimension of size 1 has any stride.
bool Describe(const View& view, Matrix& matrix) {
  if (view.dimensions != 2) return false;
  const int64_t rows = view.sizes[0], columns = view.sizes[1];
  if ((view.strides[1] == 1 || columns == 1) && (view.strides[0] >= columns || rows == 1))
    matrix = {GEMMSMITH_ROW, rows, columns, rows == 1 ? columns : view.strides[0]};
  else if ((view.strides[0] == 1 || rows == 1) && (view.strides[1] >= rows || columns == 1))
    matrix = {GEMMSMITH_COLUMN, rows, columns, columns == 1 ? rows : view.strides[1]};
  else
    return false;
  return true;
}

// The current device is that of the tensors until the end of its life.
class OnDevice {
 public:
  explicit OnDevice(int32_t device) {
    int32_t current = -1;
    torch_abi.aoti_torch_get_current_device_index(&current);
    if (current != device) Check(torch_abi.aoti_torch_create_cuda_guard(device, &guard_), "create_cuda_guard");
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() {
    if (guard_ != nullptr) torch_abi.aoti_torch_delete_cuda_guard(guard_);
  }

 private:
  GuardHandle guard_ = nullptr;
};

const void* Address(const Tensor& tensor) {
  const void* address = nullptr;
  Check(torch_abi.torch_get_const_data_ptr(tensor.handle(), &address), "get_const_data_ptr");
  return address;
}

// One past the last element.
const void* EndOf(const void* address, const Matrix& matrix) {
  const int64_t lines = matrix.order == GEMMSMITH_ROW ? matrix.rows : matrix.columns;
  return static_cast<const char*>(address) + 2 * lines * matrix.leading;
}

// Fills everything but the addresses. False: not for us, whatever the kernels.
bool Describe(const View& type, const Matrix& out, const Matrix& a, const Matrix& b, gemmsmith_problem& problem) {
  if (a.columns != b.rows || out.rows != a.rows || out.columns != b.columns) return false;
  if (a.rows == 0 || a.columns == 0 || b.columns == 0) return false;
  gemmsmith_problem_default(&problem);
  problem.m = a.rows, problem.n = b.columns, problem.k = a.columns;
  problem.a_order = a.order, problem.b_order = b.order, problem.d_order = out.order;
  problem.lda = a.leading, problem.ldb = b.leading, problem.ldd = out.leading;
  problem.ab_type = problem.cd_type = type.type == torch_abi.float16 ? GEMMSMITH_F16 : GEMMSMITH_BF16;
  problem.own_only = 1;
  return true;
}

struct Call {
  gemmsmith_problem problem;
  gemmsmith_operands operands;
  int32_t device;
};

// False: not for us, whatever the kernels.
bool Describe(const Tensor& out_tensor, const Operand& a_operand, const Operand& b_operand, Call& call) {
  const View &view_a = a_operand.view, &view_b = b_operand.view;
  if (view_a.type != torch_abi.float16 && view_a.type != torch_abi.bfloat16) return false;
  const View view_out(out_tensor);
  if (view_a.device_type != torch_abi.cuda || !view_a.IsLike(view_b) || !view_a.IsLike(view_out)) return false;
  Matrix a, b, out;
  if (!Describe(view_a, a) || !Describe(view_b, b) || !Describe(view_out, out)) return false;
  if (!Describe(view_a, out, a, b, call.problem)) return false;
  gemmsmith_operands& operands = call.operands;
  gemmsmith_operands_default(&operands);
  operands.a = Address(a_operand.tensor), operands.b = Address(b_operand.tensor);
  Check(torch_abi.torch_get_mutable_data_ptr(out_tensor.handle(), &operands.d), "get_mutable_data_ptr");
  call.problem.constant_b = IsConstantWeight(operands.b);
  call.device = view_a.device;
  const auto overlaps = [&](const void* address, const Matrix& matrix) {
    return address < EndOf(operands.d, out) && operands.d < EndOf(address, matrix);
  };
  return !overlaps(operands.a, a) && !overlaps(operands.b, b);
}

bool TryOurs(const Tensor& out, const Operand& a, const Operand& b) {
  Call call;
  if (!Describe(out, a, b, call) || Open().context == nullptr) return false;
  const OnDevice on_device(call.device);
  void* stream = nullptr;
  Check(torch_abi.aoti_torch_get_current_cuda_stream(call.device, &stream), "get_current_cuda_stream");
  return gemmsmith_multiply(Open().context, &call.problem, &call.operands, stream) == GEMMSMITH_OK;
}

}  // namespace

bool MultiplyByOurs(const Tensor& out, const Operand& a, const Operand& b) {
  const bool is_ours = TryOurs(out, a, b);
  (is_ours ? ours : passed_on).fetch_add(1, std::memory_order_relaxed);
  return is_ours;
}

std::string Explain(const Tensor& out, const Operand& a, const Operand& b) {
  Call call;
  if (!Describe(out, a, b, call)) return "torch: not a product for us by its types, devices, sizes or strides";
  if (Open().context == nullptr) return "torch: " + Open().error;
  const auto bits = reinterpret_cast<uintptr_t>(call.operands.a) | reinterpret_cast<uintptr_t>(call.operands.b) |
                    call.problem.pointer_alignment;
  call.problem.pointer_alignment = uint32_t(1) << std::countr_zero(bits);
  gemmsmith_product* product = nullptr;
  if (gemmsmith_prepare(Open().context, &call.problem, call.device, &product) != GEMMSMITH_OK)
    return std::string("torch: ") + gemmsmith_last_error();
  std::string text(4096, 0);
  size_t bytes = text.size();
  gemmsmith_explain(product, text.data(), &bytes);
  gemmsmith_release(product);
  text.resize(std::min(bytes, text.size()) - 1);
  return text;
}

Calls CountCalls() { return {ours, passed_on}; }

}  // namespace gemmsmith::aten
