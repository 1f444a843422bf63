// The device functions in front of a flat direct kernel.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "program/direct/direct_flat.h"
#include "program/direct/direct_flat_accesses.h"

namespace gemmsmith {

namespace {

// Which accesses a kernel makes.
struct Accesses {
  std::set<int, std::greater<>> loads, loads_up_to, stores;
};

Accesses AccessesOf(const DirectFlat& flat) {
  Accesses accesses;
  accesses.loads.insert(flat.load);
  if (!flat.has_even_k) accesses.loads_up_to.insert(flat.load);
  if (flat.row_major_b) (flat.inside_n ? accesses.loads : accesses.loads_up_to).insert(flat.column_load);
  for (const int elements : accesses.loads_up_to) accesses.loads.insert({elements, 1});
  const int width = std::min({flat.store, flat.stored(), 8});
  accesses.stores.insert(width);
  if (!flat.inside_m || !flat.inside_n) accesses.stores.insert(1);
  return accesses;
}

// Eight k of a line, for loads that hold fewer.
void AddLoadLine(const DirectFlat& flat, bool is_whole, FlatText& text) {
  text.Add(is_whole ? "\n// The lane's eight k of a chunk. The four lanes of a group read side by side.\n"
                      "__device__ __forceinline__ void LoadLine(u32* to, const u16* from) {"
                    : "\n// The same up to the end of K.\n"
                      "__device__ __forceinline__ void LoadLineUpTo(u32* to, const u16* from, int at, int end) {");
  FlatText body(text.style());
  AddLineLoads({8, flat.load, 4 * flat.load, "to", "from", is_whole ? "" : "at", is_whole ? "" : "end"}, body);
  text.AddIndented(body);
  text.Add("}");
}

// Rows of B become columns of fragments: two neighbouring k share a register.
void AddTranspose(const DirectFlat& flat, FlatText& text) {
  text.Loop("j", flat.columns, [](FlatText& column, const FlatIndex& j) {
    column.Add(
        "#pragma unroll\nfor (int p = 0; p < 4; ++p)\n  to[$j][p] = __byte_perm(rows[2 * p][$pair], rows[2 * p + "
        "1][$pair], $halves);",
        {{"j", j.Print()},
         {"pair", j.factor == 0 ? fmt::format("{}", j.offset / 2) : "j / 2"},
         {"halves", j.factor != 0       ? "j % 2 == 0 ? 0x5410 : 0x7632"
                    : j.offset % 2 == 0 ? "0x5410"
                                        : "0x7632"}});
  });
}

void AddLoadColumns(const DirectFlat& flat, bool is_whole, FlatText& text) {
  text.Add(
      "\n// $what rows of B, $columns neighbouring columns each; then two k share a register.\n"
      "__device__ __forceinline__ void LoadColumns$suffix(u32 (&to)[$columns][4], const u16* from,\n                   "
      "                           int at$ends$ldb) {\n"
      "  u32 rows[8][$pairs]$zeros;",
      {{"what", is_whole ? "The lane's eight" : "Up to the end of K, eight"},
       {"columns", fmt::format("{}", flat.columns)},
       {"pairs", fmt::format("{}", (flat.columns + 1) / 2)},
       {"suffix", is_whole ? "" : "UpTo"},
       {"zeros", is_whole ? "" : " = {}"},
       {"ends", std::string(is_whole ? "" : ", int first_k") + (!is_whole && flat.k == "k" ? ", int k" : "") +
                    (flat.inside_n   ? ""
                     : flat.n == "n" ? ", int column, int n"
                                     : ", int column")},
       {"ldb", flat.ldb == "ldb" ? ", int ldb" : ""}});
  FlatText body(text.style());
  body.Loop("e", 8, [&](FlatText& row, const FlatIndex& e) {
    const int v = flat.load;
    const std::string p = e.factor == 0 ? fmt::format("{}", e.offset / v * (4 * v) + e.offset % v)
                          : v == 8      ? "e"
                          : v == 1      ? "4 * e"
                                        : fmt::format("e / {} * {} + e % {}", v, 4 * v, v);
    const auto loads = [&](FlatText& inner) {
      AddLineLoads({flat.columns, flat.column_load, flat.column_load, fmt::format("rows[{}]", e.Print()),
                    fmt::format("from + i64(at + {}) * {}", p, flat.ldb), "column", flat.inside_n ? "" : flat.n},
                   inner);
    };
    if (is_whole) return loads(row);
    row.Block(fmt::format("if (first_k + at + {} < {})", p, flat.k), loads);
  });
  AddTranspose(flat, body);
  text.AddIndented(body);
  text.Add("}");
}

void AddStoreRow(const DirectFlat& flat, FlatText& text) {
  const int count = flat.stored(), width = std::min({flat.store, count, 8});
  const bool is_inside = flat.inside_m && flat.inside_n;
  text.Add(
      "\n// Rounds and stores neighbouring sums of a row$clipped.\n"
      "__device__ __forceinline__ void StoreRow(u16* to, const float (&values)[$count]$left) {\n"
      "  u32 packed[$pairs];",
      {{"clipped", is_inside ? "" : ", as far as columns are left"},
       {"count", fmt::format("{}", count)},
       {"pairs", fmt::format("{}", count / 2)},
       {"left", is_inside ? "" : ", int columns_left"}});
  FlatText body(text.style());
  body.Loop("i", count / 2, [](FlatText& one, const FlatIndex& i) {
    one.Add("packed[$i] = Pack(values[$low], values[$high]);",
            {{"i", i.Print()}, {"low", (i * 2).Print()}, {"high", (i * 2 + 1).Print()}});
  });
  const auto wide = [&](FlatText& inner) {
    inner.Loop("i", count / width, [&](FlatText& one, const FlatIndex& i) {
      one.Add(fmt::format("Store{}({}, {});", width, (i * width).After("to"), (i * (width / 2)).After("packed")));
    });
    if (!is_inside) inner.Add("return;");
  };
  if (width > 1 && is_inside) wide(body);
  if (width > 1 && !is_inside) body.Block(fmt::format("if (columns_left >= {})", count), wide);
  if (width == 1 || !is_inside)
    body.Loop("i", count, [&](FlatText& one, const FlatIndex& i) {
      const std::string element = i.factor != 0
                                      ? "i % 2 == 0 ? packed[i / 2] : packed[i / 2] >> 16"
                                      : fmt::format("packed[{}]{}", i.offset / 2, i.offset % 2 == 0 ? "" : " >> 16");
      const auto store = [&](FlatText& inner) { inner.Add(fmt::format("Store1({}, {});", i.After("to"), element)); };
      if (is_inside)
        store(one);
      else
        one.Block(fmt::format("if ({} < columns_left)", i.Print()), store);
    });
  text.AddIndented(body);
  text.Add("}");
}

}  // namespace

void AddLineLoads(const LineLoads& loads, FlatText& text) {
  const std::string up_to = loads.end.empty() ? "" : "UpTo";
  const auto ends = [&](const FlatIndex& offset) {
    return loads.end.empty() ? std::string() : fmt::format(", {}, {}", offset.After(loads.at), loads.end);
  };
  if (loads.width > 1)
    return text.Loop("q", loads.count / loads.width, [&](FlatText& one, const FlatIndex& q) {
      one.Add(fmt::format("Load{}{}({}, {}{});", loads.width, up_to, (q * (loads.width / 2)).After(loads.to),
                          (q * loads.stride).After(loads.from), ends(q * loads.stride)));
    });
  const auto element = [&](const FlatIndex& offset) {
    return fmt::format("Load1{}({}{})", up_to, offset.After(loads.from), ends(offset));
  };
  if (loads.count == 1) return text.Add(fmt::format("{}[0] = {};", loads.to, element(0)));
  text.Loop("q", loads.count / 2, [&](FlatText& one, const FlatIndex& q) {
    one.Add(fmt::format("{}[{}] = {};", loads.to, q.Print(), element(q * (2 * loads.stride))));
    one.Add(fmt::format("{}[{}] |= {} << 16;", loads.to, q.Print(), element(q * (2 * loads.stride) + loads.stride)));
  });
}

void AddDirectHelpers(const DirectFlat& flat, FlatText& text) {
  const Accesses accesses = AccessesOf(flat);
  const bool is_bf16 = flat.gemm.kind.type == ScalarType::kBf16;
  const auto loads = [&](FlatText& part) {
    for (const int elements : accesses.loads) AddLoad(elements, !flat.is_chained, part);
    for (const int elements : accesses.loads_up_to) AddLoadUpTo(elements, part);
    if (flat.load < 8) AddLoadLine(flat, true, part);
    if (flat.load < 8 && !flat.has_even_k) AddLoadLine(flat, false, part);
    if (flat.row_major_b) AddLoadColumns(flat, true, part);
    if (flat.row_major_b && !flat.has_even_k) AddLoadColumns(flat, false, part);
  };
  const auto stores = [&](FlatText& part) {
    AddPack(is_bf16, part);
    if (flat.sums_f16) AddUnpack(part);
    for (const int elements : accesses.stores) AddStore(elements, part);
    AddStoreRow(flat, part);
  };
  text.Either(loads, [&](FlatText& rest) {
    rest.Either([&](FlatText& part) { AddMma(is_bf16, flat.sums_f16, part); }, stores);
  });
}

}  // namespace gemmsmith
