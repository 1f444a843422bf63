#include "program/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/text.h"
#include "program/direct_family.h"
#include "program/wgmma_family.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kEntry = "gemmsmith_gemm";

struct FamilyText {
  std::string_view header;  // of src/device
  std::string_view kernel;  // the template that runs a Config
  std::string config;
};

FamilyText TextOf(const Plan& plan, const Gemm& gemm) {
  switch (plan.family) {
    case FamilyId::kDirect:
      return {"gemm_direct.cuh", "gemmsmith::DirectKernel", DirectConfigText(DirectPlan(plan), gemm)};
    case FamilyId::kWgmma:
      return {"gemm_wgmma.cuh", "gemmsmith::WgmmaKernel", WgmmaConfigText(WgmmaPlan(plan), gemm)};
  }
  GEMMSMITH_CHECK(false, "family {}", int(plan.family));
  return {};
}

std::string KernelText(const FamilyText& family) {
  return fmt::format(
      "{}\nusing Kernel = {}<Config>;\n\n"
      "extern \"C\" __global__ void __launch_bounds__(Kernel::kThreads)\n"
      "    {}(const __grid_constant__ Kernel::Arguments arguments) {{\n"
      "  Kernel::Run(arguments);\n}}\n",
      family.config, family.kernel, kEntry);
}

std::string_view HeaderText(std::string_view name) {
  for (const DeviceHeader& header : DeviceHeaders())
    if (header.name == name) return header.text;
  GEMMSMITH_CHECK(false, "no device header {}", name);
  return {};
}

// A header with the headers it includes in their places, each once.
std::string Inlined(std::string_view name, std::set<std::string_view>& done) {
  std::string text;
  for (std::string_view line : Split(HeaderText(name), '\n')) {
    if (line == "#pragma once") continue;
    constexpr std::string_view kInclude = "#include \"";
    if (!line.starts_with(kInclude)) {
      text.append(line).append("\n");
      continue;
    }
    const std::string_view included = line.substr(kInclude.size(), line.size() - kInclude.size() - 1);
    if (done.insert(included).second) text += Inlined(included, done);
  }
  return text;
}

// What a standalone file says in place of the shape it was made for, where the plan leaves it open.
std::string GridText(const Plan& plan, const Gemm& gemm) {
  const Launch launch = LaunchFor(plan, gemm);
  return fmt::format(
      "  const dim3 grid((m + Config::kTileM - 1) / Config::kTileM, (n + Config::kTileN - 1) / Config::kTileN, "
      "Config::kSplit);\n"
      "  const size_t tiles = size_t(grid.x) * grid.y;\n"
      "  const size_t slots = Config::kReduction == gemmsmith::SplitReduction::kNone  ? 0\n"
      "                       : Config::kReduction == gemmsmith::SplitReduction::kAdd ? 1\n"
      "                                                                               : Config::kSplit;\n"
      "  const size_t needed = slots == 0 ? 0 : (tiles * 4 + 255) / 256 * 256 + tiles * slots * Config::kTileM * "
      "Config::kTileN * 4;\n"
      "  constexpr int kSmemBytes = {};\n",
      launch.smem_bytes);
}

// Refuses shapes that the text was not made for: fixed dimensions, and strides too odd for its access widths.
std::string ShapeGuardText(const Gemm& gemm) {
  const bool row_major_b = gemm.kind.layout.b == Order::kRow;
  return fmt::format(
      "  if (m < 1 || n < 1 || k < 1) return cudaErrorInvalidValue;\n"
      "  if ((Config::kFixedM && m != Config::kFixedM) || (Config::kFixedN && n != Config::kFixedN) ||\n"
      "      (Config::kFixedK && k != Config::kFixedK))\n"
      "    return cudaErrorInvalidValue;\n"
      "  const int lda = k, ldb = {}, ldc = n;\n"
      "  if (lda % Config::kLoadVector != 0 || ldb % Config::kLoadVector != 0 || ldc % Config::kStoreVector != 0)\n"
      "    return cudaErrorInvalidValue;\n"
      "  if ((Config::kFixedLdA && lda != Config::kFixedLdA) || (Config::kFixedLdB && ldb != Config::kFixedLdB) ||\n"
      "      (Config::kFixedLdC && ldc != Config::kFixedLdC))\n"
      "    return cudaErrorInvalidValue;\n",
      row_major_b ? "n" : "k");
}

}  // namespace

Source Emit(const Plan& plan, const Gemm& gemm) {
  const FamilyText family = TextOf(plan, gemm);
  return {fmt::format("// {}\n#include \"{}\"\n\n{}", Print(plan), family.header, KernelText(family)),
          std::string(kEntry)};
}

std::string EmitStandalone(const Plan& plan, const Gemm& gemm) {
  const FamilyText family = TextOf(plan, gemm);
  std::set<std::string_view> done{family.header};
  std::string text = fmt::format(
      "// {0}\n// for {1}\n//\n// One self-contained file: nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a\n"
      "// A and B as the layout says, packed; pointers aligned to 16 bytes; the workspace arrives zeroed and is left "
      "zeroed.\n#include <cuda_runtime.h>\n\n{2}\n{3}\n",
      Print(plan), Print(gemm), Inlined(family.header, done), KernelText(family));
  text += fmt::format(
      "// The contract this file was written for: version, layout, types, accumulation.\n"
      "extern \"C\" const char gemmsmith_descriptor_v1[] = \"gemm {} {} {}\";\n\n"
      "extern \"C\" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,\n"
      "                            size_t workspace_bytes, cudaStream_t stream) {{\n{}{}"
      "  if (workspace_bytes < needed) return cudaErrorInvalidValue;\n"
      "  static const cudaError_t prepared = cudaFuncSetAttribute({}, cudaFuncAttributeMaxDynamicSharedMemorySize, "
      "kSmemBytes);\n"
      "  if (prepared != cudaSuccess) return prepared;\n"
      "  {}<<<grid, gemmsmith::DirectKernel<Config>::kThreads, kSmemBytes, stream>>>(\n"
      "      {{a, b, c, workspace, m, n, k, lda, ldb, ldc}});\n"
      "  return cudaGetLastError();\n}}\n",
      Name(gemm.kind.layout), Name(gemm.kind.type), Name(gemm.kind.accumulation), ShapeGuardText(gemm),
      GridText(plan, gemm), kEntry, kEntry);
  return text;
}

}  // namespace gemmsmith
