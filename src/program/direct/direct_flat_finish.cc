// The sums of a flat direct kernel on their way to C.
#include <fmt/format.h>

#include <algorithm>

#include "program/direct/direct_flat.h"

namespace gemmsmith {

namespace {

// Where the warp's tile stands in the CTA's, and this lane in it: an extent and an index a warp.
std::string HeldRow(const DirectFlat& flat) {
  return flat.plan.warps_m > 1 ? fmt::format("warp_m * {} + group", flat.plan.warp_tile_m()) : "group";
}
std::string HeldColumn(const DirectFlat& flat) {
  const std::string lane = fmt::format("quad * {}", 2 * flat.columns);
  return flat.plan.warps_n > 1 ? fmt::format("warp_n * {} + {}", flat.plan.warp_tile_n(), lane) : lane;
}

// `held`: 2 * columns neighbouring sums of a row.
void AddHeld(const DirectFlat& flat, const FlatIndex& i, const FlatIndex& h, FlatText& text) {
  text.Add(fmt::format("float held[{}];", 2 * flat.columns));
  text.Loop("j", flat.columns, [&](FlatText& one, const FlatIndex& j) {
    const std::string sums = Element("sums", {{i, flat.row_blocks}, {j, flat.columns}});
    const std::string low = fmt::format("held[{}]", j.Print()),
                      high = fmt::format("held[{}]", (j + flat.columns).Print());
    if (flat.sums_f16) return one.Add(fmt::format("Unpack({}[{}], {}, {});", sums, h.Print(), low, high));
    one.Add(fmt::format("{} = {}[{}];", low, sums, (h * 2).Print()));
    one.Add(fmt::format("{} = {}[{}];", high, sums, (h * 2 + 1).Print()));
  });
}

// Calls `use` for each row of sums of this lane, with the row's distance from its first.
void AddHeldRows(const DirectFlat& flat, const std::function<void(FlatText&, const std::string& distance)>& use,
                 FlatText& text) {
  text.Loop(
      "i", flat.row_blocks,
      [&](FlatText& block, const FlatIndex& i) {
        block.Loop(
            "h", 2,
            [&](FlatText& half, const FlatIndex& h) {
              AddHeld(flat, i, h, half);
              use(half, i.factor == 0 ? (h * 8).After("") : fmt::format(" + 16 * i + {}", (h * 8).Print()));
            },
            true);
      },
      true);
}

void AddStoreCall(const DirectFlat& flat, const std::string& row, const std::string& column, const std::string& values,
                  FlatText& text) {
  const bool is_inside = flat.inside_m && flat.inside_n;
  const auto call = [&](FlatText& one) {
    one.Add(fmt::format("StoreRow(c + i64({}) * {} + {}, {}{});", row, flat.ldc, column, values,
                        is_inside ? "" : fmt::format(", {} - {}", flat.n, column)));
  };
  if (is_inside)
    call(text);
  else
    text.Block(fmt::format("if ({} < {})", row, flat.m), call);
}

void AddStoreOfHeld(const DirectFlat& flat, FlatText& text) {
  text.Add(fmt::format("const int c_row = blockIdx.x * TILE_M + {};", HeldRow(flat)));
  text.Add(fmt::format("const int c_column = blockIdx.y * TILE_N + {};", HeldColumn(flat)));
  AddHeldRows(
      flat,
      [&](FlatText& half, const std::string& distance) {
        AddStoreCall(flat, distance.empty() ? "c_row" : "c_row" + distance, "c_column", "held", half);
      },
      text);
}

void AddPartialTiles(const DirectFlat& flat, FlatText& text) {
  const DirectPlan& plan = flat.plan;
  const int stride = PartialTileRow(plan.tile_n);
  text.Add(
      fmt::format("// The warps' sums meet in shared memory, in rows of {} floats against bank conflicts.", stride));
  text.Add(fmt::format("float* const warp_tile = partial + warp_k * {};", PartialTileFloats(plan.tile_m, plan.tile_n)));
  text.Add(fmt::format("const int held_row = {}, held_column = {};", HeldRow(flat), HeldColumn(flat)));
  AddHeldRows(
      flat,
      [&](FlatText& half, const std::string& distance) {
        half.Loop("q", 2 * flat.columns, [&](FlatText& one, const FlatIndex& q) {
          one.Add(fmt::format("warp_tile[(held_row{}) * {} + {}] = held[{}];", distance, stride, q.After("held_column"),
                              q.Print()));
        });
      },
      text);
}

void AddTotals(const DirectFlat& flat, FlatText& text) {
  const DirectPlan& plan = flat.plan;
  const int piece = flat.stored(), pieces = plan.tile_m * plan.tile_n / piece, across = plan.tile_n / piece;
  const int stride = PartialTileRow(plan.tile_n), floats = PartialTileFloats(plan.tile_m, plan.tile_n);
  text.Add(fmt::format("// Each thread adds up {} neighbouring sums at a time.", piece));
  text.Add(
      fmt::format("int offset = int(threadIdx.x) / {0} * {2} + int(threadIdx.x) % {0} * {1};", across, piece, stride));
  text.Add("asm volatile(\"\" : \"+r\"(offset));  // computed while the other warps still multiply\n__syncthreads();");
  const int passes = CeilDivide(pieces, plan.threads());
  text.Loop(
      "pass", passes,
      [&](FlatText& one, const FlatIndex& pass) {
        one.Add(fmt::format("const int piece = {};", (pass * plan.threads()).After("threadIdx.x")));
        const auto add = [&](FlatText& body) {
          body.Add(
              fmt::format("const int total_row = piece / {}, total_column = piece % {} * {};", across, across, piece));
          body.Add(fmt::format(
              "const float* const from = partial + {};",
              passes == 1 ? "offset" : fmt::format("(pass == 0 ? offset : total_row * {} + total_column)", stride)));
          body.Add(fmt::format("float total[{}];", piece));
          body.Loop("q", piece, [&](FlatText& sum, const FlatIndex& q) {
            sum.Add(fmt::format("total[{0}] = from[{0}];", q.Print()));
          });
          body.Add(
              fmt::format("#pragma unroll\nfor (int w = 1; w < {}; ++w)\n#pragma unroll\n  for (int q = 0; q < {}; "
                          "++q) total[q] += from[w * {} + q];",
                          plan.warps_k, piece, floats));
          body.Add(fmt::format(
              "const int c_row = blockIdx.x * TILE_M + total_row, c_column = blockIdx.y * TILE_N + total_column;"));
          AddStoreCall(flat, "c_row", "c_column", "total", body);
        };
        if (pieces % plan.threads() != 0)
          one.Block(fmt::format("if (piece < {})", pieces), add);
        else
          add(one);
      },
      true);
}

}  // namespace

void AddDirectFinish(const DirectFlat& flat, FlatText& text) {
  if (flat.plan.warps_k == 1) return AddStoreOfHeld(flat, text);
  AddPartialTiles(flat, text);
  AddTotals(flat, text);
}

}  // namespace gemmsmith
