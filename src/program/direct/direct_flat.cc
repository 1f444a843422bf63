#include "program/direct/direct_flat.h"

#include <fmt/format.h>

#include <algorithm>

#include "program/free_form.h"

namespace gemmsmith {

namespace {

void AddHead(const DirectFlat& flat, const Plan& plan, FlatText& text) {
  const GemmKind& kind = flat.gemm.kind;
  const DirectPlan& direct = flat.plan;
  text.Add(
      "// $gemm, by the plan\n// $plan\n//\n"
      "// A CTA of $warps computes a $tile_m x $tile_n tile of C$split.\n"
      "// Lanes load their fragments of A and B straight from global memory: 8 neighbouring k of a line, $width at a "
      "time.\n"
      "// Any order of k does, as long as A and B have the same.\n"
      "#include <cuda_runtime.h>\n\n"
      "typedef unsigned short u16;  // the bits of $an $type\n"
      "typedef unsigned int u32;    // of two of them\n"
      "typedef long long i64;\n",
      {{"gemm", Print(flat.gemm)},
       {"plan", Print(plan)},
       {"warps", direct.warps() == 1 ? "one warp" : fmt::format("{} warps", direct.warps())},
       {"tile_m", fmt::format("{}", direct.tile_m)},
       {"tile_n", fmt::format("{}", direct.tile_n)},
       {"split", direct.warps_k > 1 ? fmt::format("; {} of them split K", direct.warps_k) : ""},
       {"width", fmt::format("{}", flat.load)},
       {"an", kind.type == ScalarType::kF16 ? "an" : "a"},
       {"type", kind.type == ScalarType::kF16 ? "f16" : "bf16"}});
  text.Add("");
  const auto problem = [&](FlatText& part) {
    if (flat.m == "M")
      part.Add(fmt::format("constexpr int M = {}, N = {}, K = {};", flat.gemm.shape.m, flat.gemm.shape.n,
                           flat.gemm.shape.k));
    else if (flat.k == "K")
      part.Add(fmt::format("constexpr int K = {};", flat.gemm.shape.k));
  };
  text.Either(problem, [&](FlatText& part) {
    part.Add(fmt::format("constexpr int TILE_M = {}, TILE_N = {};", direct.tile_m, direct.tile_n));
  });
}

// The parameters that are no constants: "int m, int n", or with no type in front.
std::string Parameters(const DirectFlat& flat, std::string_view type) {
  std::string text;
  for (const std::string& name : {flat.m, flat.n, flat.k, flat.lda, flat.ldb, flat.ldc})
    if (name == "m" || name == "n" || name == "k" || name.starts_with("ld")) text += fmt::format(", {}{}", type, name);
  return text;
}

void AddKernel(const DirectFlat& flat, FlatText& text) {
  text.Add(fmt::format(
      "\nextern \"C\" __global__ void __launch_bounds__({})\n    {}(const u16* a, const u16* b, u16* c{}) {{",
      flat.plan.threads(), kFlatEntry, Parameters(flat, "int ")));
  FlatText body(text.style());
  if (flat.plan.warps_k > 1) body.Add("extern __shared__ float partial[];");
  AddDirectStart(flat, body);
  AddDirectProduct(flat, body);
  AddDirectFinish(flat, body);
  text.AddIndented(body);
  text.Add("}");
}

// Why the launcher refuses a problem: the condition.
std::string Refused(const DirectFlat& flat) {
  std::string text;
  const auto add = [&](const std::string& condition) { text += (text.empty() ? "" : " || ") + condition; };
  add(flat.m == "M"   ? "m != M || n != N || k != K"
      : flat.k == "K" ? "m < 1 || n < 1 || k != K"
                      : "m < 1 || n < 1 || k < 1");
  if (flat.load > 1 && flat.k == "k") add(fmt::format("k % {} != 0", flat.load));
  const int n_step = std::max(flat.row_major_b ? flat.load : 1, flat.store);
  if (n_step > 1 && flat.n == "n") add(fmt::format("n % {} != 0", n_step));
  return text;
}

void AddLauncher(const DirectFlat& flat, FlatText& text) {
  const DirectPlan& plan = flat.plan;
  const auto tiles = [](const std::string& extent, const char* tile) {
    return fmt::format("({0} + {1} - 1) / {1}", extent, tile);
  };
  std::string arguments;
  for (const auto& [name, argument] : {std::pair{flat.m, "m"},
                                       {flat.n, "n"},
                                       {flat.k, "k"},
                                       {flat.lda, "k"},
                                       {flat.ldb, flat.row_major_b ? "n" : "k"},
                                       {flat.ldc, "n"}})
    if (name == "m" || name == "n" || name == "k" || name.starts_with("ld")) arguments += fmt::format(", {}", argument);
  text.Add(
      "\nextern \"C\" const char gemmsmith_descriptor_v1[] = \"$descriptor\";\n\n"
      "extern \"C\" cudaError_t gemm(const void* a, const void* b, void* c, int m, int n, int k, void*, size_t,\n"
      "                            cudaStream_t stream) {\n"
      "  if ($refused) return cudaErrorInvalidValue;",
      {{"descriptor", PrintDescriptor(flat.gemm.kind)}, {"refused", Refused(flat)}});
  if (plan.SmemBytes() > 48 * 1024)
    text.Add(
        "  const cudaError_t prepared = cudaFuncSetAttribute($entry, cudaFuncAttributeMaxDynamicSharedMemorySize, "
        "$bytes);\n"
        "  if (prepared != cudaSuccess) return prepared;",
        {{"entry", kFlatEntry}, {"bytes", fmt::format("{}", plan.SmemBytes())}});
  text.Add(
      "  const dim3 grid($x, $y);\n"
      "  $entry<<<grid, $threads, $bytes, stream>>>(static_cast<const u16*>(a), static_cast<const u16*>(b),\n"
      "      static_cast<u16*>(c)$arguments);\n"
      "  return cudaGetLastError();\n}",
      {{"x", tiles(flat.m, "TILE_M")},
       {"y", tiles(flat.n, "TILE_N")},
       {"entry", kFlatEntry},
       {"threads", fmt::format("{}", plan.threads())},
       {"bytes", fmt::format("{}", plan.SmemBytes())},
       {"arguments", arguments}});
}

}  // namespace

DirectFlat::DirectFlat(const Plan& its_plan, const Gemm& its_gemm) : plan(its_plan), gemm(its_gemm) {
  const Shape& shape = gemm.shape;
  const bool all = plan.fixed == FixedDimensions::kAll, fixes_k = plan.fixed != FixedDimensions::kNone;
  row_blocks = plan.warp_tile_m() / 16, columns = plan.warp_tile_n() / 8;
  load = std::min(gemm.AlignmentA(), gemm.AlignmentB()), store = gemm.AlignmentC();
  column_load = std::min(load, columns);
  row_major_b = gemm.kind.layout.b == Order::kRow;
  sums_f16 = gemm.kind.accumulation == Accumulation::kF16;
  is_chained = plan.trigger != Trigger::kNone;
  has_even_k = fixes_k && shape.k % plan.RoundK() == 0;
  inside_m = all && shape.m % plan.tile_m == 0, inside_n = all && shape.n % plan.tile_n == 0;
  m = all ? "M" : "m", n = all ? "N" : "n", k = fixes_k ? "K" : "k";
  lda = fixes_k ? "K" : "lda";
  ldb = row_major_b ? (all ? "N" : "ldb") : fixes_k ? "K" : "ldb";
  ldc = all ? "N" : "ldc";
}

int DirectFlat::stored() const {
  if (plan.warps_k == 1) return 2 * columns;
  return std::min(8, std::max(2, plan.tile_m * plan.tile_n / plan.threads()));
}

std::string DirectFlatText(const Plan& plan, const Gemm& gemm, const FlatStyle& style) {
  const DirectFlat flat(plan, gemm);
  FlatText text(style);
  AddHead(flat, plan, text);
  AddDirectHelpers(flat, text);
  AddKernel(flat, text);
  AddLauncher(flat, text);
  return std::move(text).Take();
}

}  // namespace gemmsmith
