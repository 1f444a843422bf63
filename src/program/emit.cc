#include "program/emit.h"

#include <fmt/format.h>

#include <set>

#include "base/bytes.h"
#include "base/check.h"
#include "base/text.h"
#include "program/family.h"
#include "program/free_form.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kEntry = "gemmsmith_gemm";

std::string Definition(const KernelText& text) {
  return fmt::format(
      "{}\nusing Kernel = {}<Config>;\n\n"
      "extern \"C\" __global__ void __launch_bounds__(Kernel::kThreads{})\n"
      "    {}(const __grid_constant__ Kernel::Arguments arguments) {{\n"
      "  Kernel::Run(arguments);\n}}\n",
      text.config, text.kernel, text.fills_multiprocessor ? ", 1" : "", kEntry);
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

}  // namespace

Source Emit(const Plan& plan, const Gemm& gemm) {
  const KernelText text = GetFamily(plan.family).TextOf(plan, gemm);
  return {fmt::format("// {}\n#include \"{}\"\n\n{}", Print(plan), text.header, Definition(text)), std::string(kEntry)};
}

std::string EmitStandalone(const Plan& plan, const Gemm& gemm) {
  const KernelText text = GetFamily(plan.family).TextOf(plan, gemm);
  std::set<std::string_view> done{text.launcher};
  return fmt::format(
      "// {0}\n// for {1}\n//\n// One self-contained file: nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a\n"
      "// A and B as the layout says, packed; pointers aligned to 16 bytes; the workspace arrives zeroed and is left "
      "zeroed.\n#include <cuda_runtime.h>\n\n{2}\n{3}\n"
      "// The contract this file was written for: version, layout, types, accumulation.\n"
      "extern \"C\" const char gemmsmith_descriptor_v1[] = \"{4}\";\n\n"
      "extern \"C\" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void* workspace,\n"
      "                            size_t workspace_bytes, cudaStream_t stream) {{\n"
      "  return gemmsmith::LaunchGemm<Config>({5}, a, b, c, m, n, k, workspace, workspace_bytes, stream);\n}}\n",
      Print(plan), Print(gemm), Inlined(text.launcher, done), Definition(text), PrintDescriptor(gemm.kind), kEntry);
}

Hash128 HashOfDeviceHeaders() {
  static const Hash128 hash = [] {
    ByteWriter headers;
    for (const DeviceHeader& header : DeviceHeaders()) {
      headers.PutString(header.name);
      headers.PutString(header.text);
    }
    return HashBytes(std::move(headers).Take());
  }();
  return hash;
}

}  // namespace gemmsmith
