#include "agents/task_text.h"

#include <fmt/format.h>

#include <utility>

#include "program/free_form.h"

namespace gemmsmith {
namespace {

std::string StorageText(const char* matrix, const char* rows, const char* columns, Order order, int leading) {
  return fmt::format("{} is {} x {}, {}-major, {} elements from one {} to the next", matrix, rows, columns,
                     order == Order::kRow ? "row" : "column", leading, order == Order::kRow ? "row" : "column");
}

std::string ProblemText(const Gemm& gemm) {
  const auto& [shape, kind, lda, ldb, ldc] = gemm;
  return fmt::format(
      "# Problem\n\n{}\n\nC = A * B with m = {}, n = {}, k = {}.\n{}.\n{}.\n{}.\nElements are {}, sums are {}.\n"
      "The descriptor of a source is \"{}\".\n",
      Print(gemm), shape.m, shape.n, shape.k, StorageText("A", "m", "k", kind.layout.a, gemm.LeadingA()),
      StorageText("B", "k", "n", kind.layout.b, gemm.LeadingB()),
      StorageText("C", "m", "n", Order::kRow, gemm.LeadingC()), Name(kind.type), Name(kind.accumulation),
      PrintDescriptor(kind));
}

std::string FloorText(const Gemm& gemm, const Device& device) {
  const Task task = MakeTask(gemm);
  return fmt::format(
      "\n# Floor\n\n{:.4g} floating-point operations, {:.4g} bytes. No right kernel takes less than {:.2f} us on the "
      "clock `device_cold`, where operands come from memory ({:.2f} us where L2 holds them).\n",
      task.flops, task.bytes, task.ColdFloorNs(device) / 1e3, task.FloorNs(device) / 1e3);
}

std::string DeviceText(const Device& device) {
  return fmt::format(
      "\n# Device\n\n{} ({}): {} multiprocessors; {} bytes of shared memory a block at most, {} a multiprocessor; "
      "{} registers a block; {:.0f} MB of L2; {:.0f} TFLOP/s in half precision; {:.2f} TB/s of memory.\n",
      device.name, device.Architecture(), device.multiprocessors, device.smem_bytes_per_block,
      device.smem_bytes_per_multiprocessor, device.registers_per_block, double(device.l2_bytes) / (1 << 20),
      device.peak_half_tflops, device.memory_tbs);
}

void ReplaceAll(std::string& text, std::string_view mark, std::string_view value) {
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size()))
    text.replace(at, mark.size(), value);
}

}  // namespace

std::string ExampleSource(const GemmKind& kind) {
  const bool is_f16 = kind.type == ScalarType::kF16;
  std::string text(ExampleSourceTemplate());
  const std::pair<std::string_view, std::string> values[] = {
      {"@HEADER@", is_f16 ? "cuda_fp16.h" : "cuda_bf16.h"},
      {"@ELEMENT@", is_f16 ? "half" : "__nv_bfloat16"},
      {"@DESCRIPTOR@", PrintDescriptor(kind)},
      {"@INDEX_A@", kind.layout.a == Order::kRow ? "size_t(row) * k + i" : "size_t(i) * m + row"},
      {"@INDEX_B@", kind.layout.b == Order::kRow ? "size_t(j) * n + column" : "size_t(column) * k + j"}};
  for (const auto& [mark, value] : values) ReplaceAll(text, mark, value);
  return text;
}

std::string TaskText(const Gemm& gemm, const Device& device) {
  return fmt::format(
      "{}{}{}\n# Judgement\n\nA source is built in a sandbox, its machine code screened, its launches recorded, its "
      "output tested on many inputs, and then timed against cuBLAS, cuBLASLt's heuristic and cuBLASLt AutoTuning. "
      "The score is the speed-up over AutoTuning.\n\n# Example\n\nRight, and slow:\n\n```cuda\n{}```\n\n{}",
      ProblemText(gemm), FloorText(gemm, device), DeviceText(device), ExampleSource(gemm.kind), FreeFormPage());
}

}  // namespace gemmsmith
