// Device functions of a flat direct kernel that hold one instruction each, and what they are made into.
#include "program/direct/direct_flat_accesses.h"

#include <fmt/format.h>

namespace gemmsmith {

namespace {

using Values = std::map<std::string, std::string>;

// "{%0,%1}": so many registers of an instruction.
std::string Registers(int count, int first) {
  std::string text;
  for (int i = first; i < first + count; ++i) text += fmt::format("{}%{}", i == first ? "" : ",", i);
  return count == 1 ? text : "{" + text + "}";
}

std::string Operands(std::string_view constraint, std::string_view array, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{}\"{}\"({}[{}])", i == 0 ? "" : ", ", constraint, array, i);
  return text;
}

std::string PtxVector(int words) { return words == 1 ? ".u32" : fmt::format(".v{}.u32", words); }
std::string CudaVector(int words) { return words == 1 ? "u32" : fmt::format("uint{}", words); }
std::string Member(int words, int i) { return words == 1 ? "" : fmt::format(".{}", "xyzw"[i]); }

}  // namespace

void AddLoad(int elements, bool is_read_only, FlatText& text) {
  const int words = elements / 2;
  const bool has_intrinsic = text.style().has_intrinsics && is_read_only;
  Values values = {{"count", Number(elements)},
                   {"path", is_read_only ? ".nc" : ""},
                   {"clobber", is_read_only ? "" : " : \"memory\""},
                   {"vector", elements == 1 ? ".u16" : PtxVector(words)},
                   {"type", CudaVector(words)},
                   {"to", Registers(words, 0)},
                   {"outputs", Operands("=r", "to", words)},
                   {"from", Number(words)}};
  text.Add("");
  if (elements == 1) {
    text.Add("__device__ __forceinline__ u32 Load1(const u16* from) {");
    if (has_intrinsic)
      text.Add("  return __ldg(from);");
    else
      text.Add(
          "  u16 part;\n  asm volatile(\"ld.global$path.u16 %0, [%1];\" : \"=h\"(part) : \"l\"(from)$clobber);\n"
          "  return part;",
          values);
  } else {
    text.Add("__device__ __forceinline__ void Load$count(u32* to, const u16* from) {", values);
    if (has_intrinsic) {
      text.Add("  const $type part = __ldg(reinterpret_cast<const $type*>(from));", values);
      for (int i = 0; i < words; ++i) text.Add(fmt::format("  to[{}] = part{};", i, Member(words, i)));
    } else {
      text.Add(
          "  asm volatile(\"ld.global$path$vector $to, [%$from];\"\n"
          "               : $outputs\n"
          "               : \"l\"(from)$clobber);",
          values);
    }
  }
  text.Add("}");
}

void AddLoadUpTo(int elements, FlatText& text) {
  const Values values = {{"count", Number(elements)}};
  if (elements == 1)
    return text.Add(
        "\n// Zero from `end` on.\n"
        "__device__ __forceinline__ u32 Load1UpTo(const u16* from, int at, int end) {\n"
        "  return at + 1 <= end ? Load1(from) : 0;\n}");
  text.Add(
      "\n// The same of a line that ends at `end`, with zeros behind it.\n"
      "__device__ __forceinline__ void Load${count}UpTo(u32* to, const u16* from, int at, int end) {\n"
      "  if (at + $count <= end) return Load$count(to, from);",
      values);
  FlatText body(text.style());
  body.Loop("i", elements / 2, [](FlatText& one, const FlatIndex& i) { one.Add("to[$i] = 0;", {{"i", i.Print()}}); });
  body.Loop("i", elements, [](FlatText& one, const FlatIndex& i) {
    one.Block(fmt::format("if ({} < end)", i.After("at")), [&](FlatText& inner) {
      inner.Add(i.factor != 0 ? "to[i / 2] |= Load1(from + i) << (i % 2 * 16);"
                              : fmt::format("to[{}] |= Load1({}){};", i.offset / 2, i.After("from"),
                                            i.offset % 2 == 0 ? "" : " << 16"));
    });
  });
  text.AddIndented(body);
  text.Add("}");
}

void AddStore(int elements, FlatText& text) {
  const int words = elements / 2;
  const bool has_intrinsics = text.style().has_intrinsics;
  text.Add("");
  if (elements == 1) {
    text.Add("__device__ __forceinline__ void Store1(u16* to, u32 from) {");
    text.Add(has_intrinsics
                 ? "  *to = u16(from);"
                 : "  asm volatile(\"st.global.u16 [%0], %1;\" ::\"l\"(to), \"h\"(u16(from)) : \"memory\");");
    return text.Add("}");
  }
  text.Add("__device__ __forceinline__ void Store$count(u16* to, const u32* from) {", {{"count", Number(elements)}});
  if (has_intrinsics)
    text.Add("  *reinterpret_cast<$type*>(to) = $value;",
             {{"type", CudaVector(words)},
              {"value", words == 1 ? "from[0]"
                                   : fmt::format("make_uint{}(from[0], from[1]{})", words,
                                                 words == 4 ? ", from[2], from[3]" : "")}});
  else
    text.Add(
        "  asm volatile(\"st.global$vector [%0], $from;\" ::\"l\"(to),\n               $inputs\n               : "
        "\"memory\");",
        {{"vector", PtxVector(words)}, {"from", Registers(words, 1)}, {"inputs", Operands("r", "from", words)}});
  text.Add("}");
}

void AddMma(bool is_bf16, bool sums_f16, FlatText& text) {
  const std::string type = is_bf16 ? "bf16" : "f16", sum = sums_f16 ? "f16" : "f32";
  const int sums = sums_f16 ? 2 : 4;
  text.Add(
      "\n// sums += A * B, 16 x 8 x 16. Lane 4 * g + t holds sums of rows g and g + 8.\n"
      "__device__ __forceinline__ void Mma($sum_type (&sums)[$count], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) "
      "{\n"
      "  asm volatile(\n"
      "      \"mma.sync.aligned.m16n8k16.row.col.$sum.$type.$type.$sum $sums, $a, $b, $sums;\"\n"
      "      : $outputs\n"
      "      : \"r\"(a0), \"r\"(a1), \"r\"(a2), \"r\"(a3), \"r\"(b0), \"r\"(b1));\n}",
      {{"sum_type", sums_f16 ? "u32" : "float"},
       {"count", Number(sums)},
       {"sum", sum},
       {"type", type},
       {"sums", Registers(sums, 0)},
       {"a", Registers(4, sums)},
       {"b", Registers(2, sums + 4)},
       {"outputs", Operands(sums_f16 ? "+r" : "+f", "sums", sums)}});
}

void AddPack(bool is_bf16, FlatText& text) {
  text.Add(
      "\n// Rounds two sums to one register.\n"
      "__device__ __forceinline__ u32 Pack(float low, float high) {\n"
      "  u32 pair;\n"
      "  asm(\"cvt.rn.$type.f32 %0, %1, %2;\" : \"=r\"(pair) : \"f\"(high), \"f\"(low));\n"
      "  return pair;\n}",
      {{"type", is_bf16 ? "bf16x2" : "f16x2"}});
}

void AddUnpack(FlatText& text) {
  text.Add(
      "\n// Two f16 sums of one register.\n"
      "__device__ __forceinline__ void Unpack(u32 pair, float& low, float& high) {\n"
      "  asm(\"{ .reg .b16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high; }\"\n"
      "      : \"=f\"(low), \"=f\"(high)\n"
      "      : \"r\"(pair));\n}");
}

}  // namespace gemmsmith
