// Warps, pointers and the product of a flat direct kernel.
#include <fmt/format.h>

#include "program/direct/direct_flat.h"

namespace gemmsmith {

namespace {

std::string ARow(const DirectFlat& flat, const FlatIndex& i) { return Element("a_row", {{i, 2 * flat.row_blocks}}); }
std::string BColumn(const DirectFlat& flat, const FlatIndex& j) {
  return Element("b_column", {{j, flat.row_major_b ? 1 : flat.columns}});
}
// A set of fragments of a chunk. Of a row-major B all columns arrive together, so they keep their dimension.
std::string AFragment(const DirectFlat& flat, const FlatIndex& u, const FlatIndex& i) {
  return Element("A_frag", {{u, flat.plan.chunks}}) + fmt::format("[{}]", i.Print());
}
std::string BFragments(const DirectFlat& flat, const FlatIndex& u) {
  return Element("B_frag", {{u, flat.plan.chunks}});
}

void AddWarps(const DirectFlat& flat, FlatText& text) {
  const DirectPlan& plan = flat.plan;
  if (plan.warps() == 1) return;
  const int below = plan.warps_k * plan.warps_n;
  text.Add("const int warp = threadIdx.x / 32;");
  const auto along_k = [&](FlatText& part) {
    if (plan.warps_k > 1) part.Add(fmt::format("const int warp_k = warp % {};", plan.warps_k));
  };
  text.Either(along_k, [&](FlatText& part) {
    const std::string tile = plan.warps_k > 1 ? fmt::format("warp / {}", plan.warps_k) : "warp";
    if (plan.warps_n > 1) part.Add(fmt::format("const int warp_n = {} % {};", tile, plan.warps_n));
    if (plan.warps_m > 1)
      part.Add(fmt::format("const int warp_m = warp{};", below > 1 ? fmt::format(" / {}", below) : ""));
  });
}

// "blockIdx.x * TILE_M + warp_m * 16 + group".
std::string FirstRow(const DirectFlat& flat) {
  const std::string warp = flat.plan.warps_m > 1 ? fmt::format(" + warp_m * {}", flat.plan.warp_tile_m()) : "";
  return "blockIdx.x * TILE_M" + warp + " + group";
}
std::string FirstColumn(const DirectFlat& flat) {
  const std::string warp = flat.plan.warps_n > 1 ? fmt::format(" + warp_n * {}", flat.plan.warp_tile_n()) : "";
  return "blockIdx.y * TILE_N" + warp + (flat.columns > 1 ? fmt::format(" + group * {}", flat.columns) : " + group");
}

// A pointer and what keeps it whole: else NVVM splits it, and adds up the parts again at each load.
void AddPointer(const std::string& pointer, const std::string& value, FlatText& text) {
  text.Add(fmt::format("{0} = {1};\nasm(\"\" : \"+l\"({0}));", pointer, value));
}

void AddPointersToA(const DirectFlat& flat, FlatText& text) {
  text.Add(fmt::format("const int row = {};", FirstRow(flat)));
  text.Add(fmt::format("const u16* a_row[{}];", 2 * flat.row_blocks));
  text.Loop("i", 2 * flat.row_blocks, [&](FlatText& one, const FlatIndex& i) {
    const std::string row = (i * 8).After("row");
    AddPointer(ARow(flat, i),
               fmt::format("a + first_k + i64({}) * {}",
                           flat.inside_m ? row : fmt::format("min({}, {} - 1)", row, flat.m), flat.lda),
               one);
  });
}

void AddPointersToB(const DirectFlat& flat, FlatText& text) {
  text.Add(fmt::format("const int column = {};", FirstColumn(flat)));
  text.Add(Declared("const u16* b_column", {flat.row_major_b ? 1 : flat.columns}) + ";");
  if (flat.row_major_b) return AddPointer("b_column", fmt::format("b + i64(first_k) * {} + column", flat.ldb), text);
  text.Loop("j", flat.columns, [&](FlatText& one, const FlatIndex& j) {
    const std::string column = j.After("column");
    AddPointer(BColumn(flat, j),
               fmt::format("b + i64({}) * {} + first_k",
                           flat.inside_n ? column : fmt::format("min({}, {} - 1)", column, flat.n), flat.ldb),
               one);
  });
}

void AddWaitForLaunchBefore(const DirectFlat& flat, FlatText& text) {
  text.Add(
      "// The launch before may still write A and B. The pointers are computed before the wait, not behind it.\n"
      "unsigned long long all_pointers = 0;");
  text.Loop("i", 2 * flat.row_blocks, [&](FlatText& one, const FlatIndex& i) {
    one.Add(fmt::format("all_pointers |= reinterpret_cast<unsigned long long>({});", ARow(flat, i)));
  });
  text.Loop("j", flat.row_major_b ? 1 : flat.columns, [&](FlatText& one, const FlatIndex& j) {
    one.Add(fmt::format("all_pointers |= reinterpret_cast<unsigned long long>({});", BColumn(flat, j)));
  });
  text.Add(
      "asm volatile(\"{ .reg .pred p; setp.ne.u64 p, %0, 0; @p griddepcontrol.wait; }\" ::\"l\"(all_pointers) : "
      "\"memory\");");
}

// The loads of chunk `u` at distance `at`.
void AddLoads(const DirectFlat& flat, const FlatIndex& u, bool is_whole, FlatText& text) {
  const std::string at = (u * kDirectChunkK).After("at");
  const std::string name = fmt::format("Load{}{}", flat.load == 8 ? "8" : "Line", is_whole ? "" : "UpTo");
  const std::string end = is_whole ? "" : fmt::format(", first_k + {}, {}", at, flat.k);
  text.Loop("i", 2 * flat.row_blocks, [&](FlatText& one, const FlatIndex& i) {
    one.Add(fmt::format("{}({}, {} + {}{});", name, AFragment(flat, u, i), ARow(flat, i), at, end));
  });
  if (flat.row_major_b) {
    text.Add("LoadColumns$suffix($to, b_column, $at$ends$ldb);",
             {{"suffix", is_whole ? "" : "UpTo"},
              {"to", BFragments(flat, u)},
              {"at", at},
              {"ends", std::string(is_whole ? "" : ", first_k") + (!is_whole && flat.k == "k" ? ", k" : "") +
                           (flat.inside_n   ? ""
                            : flat.n == "n" ? ", column, n"
                                            : ", column")},
              {"ldb", flat.ldb == "ldb" ? ", ldb" : ""}});
    return;
  }
  text.Loop("j", flat.columns, [&](FlatText& one, const FlatIndex& j) {
    one.Add(fmt::format("{}({}[{}], {} + {}{});", name, BFragments(flat, u), j.Print(), BColumn(flat, j), at, end));
  });
}

void AddMultiply(const DirectFlat& flat, const FlatIndex& u, FlatText& text) {
  text.Loop("h", 2, [&](FlatText& half, const FlatIndex& h) {
    half.Loop("i", flat.row_blocks, [&](FlatText& block, const FlatIndex& i) {
      block.Loop("j", flat.columns, [&](FlatText& one, const FlatIndex& j) {
        const std::string sums = Element("sums", {{i, flat.row_blocks}, {j, flat.columns}});
        const std::string first = AFragment(flat, u, i * 2), second = AFragment(flat, u, i * 2 + 1);
        const std::string b = fmt::format("{}[{}]", BFragments(flat, u), j.Print());
        const std::string low = (h * 2).Print(), high = (h * 2 + 1).Print();
        one.Add(fmt::format("Mma({0}, {1}[{4}], {2}[{4}],\n    {1}[{5}], {2}[{5}],\n    {3}[{4}], {3}[{5}]);", sums,
                            first, second, b, low, high));
      });
    });
  });
}

void AddStep(const DirectFlat& flat, FlatText& text) {
  text.Loop("u", flat.plan.chunks, [&](FlatText& chunk, const FlatIndex& u) { AddLoads(flat, u, true, chunk); });
  text.Loop("u", flat.plan.chunks, [&](FlatText& chunk, const FlatIndex& u) { AddMultiply(flat, u, chunk); });
}

}  // namespace

void AddDirectStart(const DirectFlat& flat, FlatText& text) {
  const DirectPlan& plan = flat.plan;
  AddWarps(flat, text);
  if (plan.trigger == Trigger::kEarly)
    text.Add(
        "// The next launch may start at once: it waits for this one before it reads.\n"
        "asm volatile(\"griddepcontrol.launch_dependents;\" ::: \"memory\");");
  text.Add("const int lane = threadIdx.x % 32, group = lane / 4, quad = lane % 4;");
  text.Add(fmt::format("// The four lanes of a group read {} neighbouring elements of a line.", 4 * flat.load));
  const std::string warp_k = plan.warps_k > 1 ? fmt::format("warp_k * {}", flat.step_k()) : "";
  const std::string lane_k = flat.load == 1 ? "quad" : fmt::format("quad * {}", flat.load);
  if (!flat.has_even_k)
    text.Add(fmt::format("const int share_k = {}{};", flat.k, warp_k.empty() ? "" : " - " + warp_k));
  text.Add(fmt::format("const int first_k = {}{}{};", warp_k, warp_k.empty() ? "" : " + ", lane_k));
  text.Add("// The empty asm keeps a pointer whole: else its parts are added up again at each load.");
  text.Either([&](FlatText& part) { AddPointersToA(flat, part); }, [&](FlatText& part) { AddPointersToB(flat, part); });
  text.Add(Declared(flat.sums_f16 ? "u32 sums" : "float sums", {flat.row_blocks, flat.columns, flat.sums_f16 ? 2 : 4}) +
           " = {};");
  if (flat.is_chained) AddWaitForLaunchBefore(flat, text);
  if (plan.trigger == Trigger::kSoon) text.Add("asm volatile(\"griddepcontrol.launch_dependents;\" ::: \"memory\");");
}

void AddDirectProduct(const DirectFlat& flat, FlatText& text) {
  const std::string chunks = flat.plan.chunks > 1 ? fmt::format("[{}]", flat.plan.chunks) : "";
  text.Add(fmt::format("u32 A_frag{0}[{1}][4], B_frag{0}[{2}][4];", chunks, 2 * flat.row_blocks, flat.columns));
  if (flat.has_even_k) {
    text.Add("#pragma unroll 2");
    text.Block(fmt::format("for (int round = 0, at = 0; round < {}; ++round, at += {})",
                           flat.gemm.shape.k / flat.plan.RoundK(), flat.plan.RoundK()),
               [&](FlatText& body) { AddStep(flat, body); });
  } else {
    text.Add("int at = 0;\n#pragma unroll 1");
    text.Block(fmt::format("for (; at + {} <= share_k; at += {})", flat.step_k(), flat.plan.RoundK()),
               [&](FlatText& body) { AddStep(flat, body); });
    text.Add("// The end of K cuts at most one step.");
    text.Block(fmt::format("for (; at < share_k; at += {})", kDirectChunkK), [&](FlatText& body) {
      AddLoads(flat, 0, false, body);
      AddMultiply(flat, 0, body);
    });
  }
  if (flat.plan.trigger == Trigger::kLate)
    text.Add("asm volatile(\"griddepcontrol.launch_dependents;\" ::: \"memory\");");
}

}  // namespace gemmsmith
