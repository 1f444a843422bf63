// The flat form of a direct plan: what src/device/gemm_direct.cuh does for it, written out.
#pragma once

#include "program/direct/direct_plan.h"
#include "program/flat_text.h"

namespace gemmsmith {

std::string DirectFlatText(const Plan& plan, const Gemm& gemm, const FlatStyle& style);

// What all parts of the text know.
struct DirectFlat {
  DirectFlat(const Plan& its_plan, const Gemm& its_gemm);

  DirectPlan plan;
  Gemm gemm;
  int row_blocks, columns;  // of a warp, in instructions
  int load, store;          // elements that an access may hold
  int column_load;          // of one load from a row-major B
  bool row_major_b, sums_f16;
  bool is_chained;                     // The launch before may still write A and B.
  bool has_even_k;                     // Every warp has the same whole number of rounds.
  bool inside_m, inside_n;             // No tile crosses the edge.
  std::string m, n, k, lda, ldb, ldc;  // Constants, or parameters of the kernel.

  int step_k() const { return kDirectChunkK * plan.chunks; }
  // Neighbouring sums that a thread stores.
  int stored() const;
};

// Accesses of `width` elements for `count` of a line, `stride` apart: "Load8(to, from);", or Load8UpTo where the line
// may end at `end`.
struct LineLoads {
  int count, width, stride;
  std::string to, from, at, end;  // an empty end: all elements are there
};
void AddLineLoads(const LineLoads& loads, FlatText& text);

// The device functions in front of the kernel.
void AddDirectHelpers(const DirectFlat& flat, FlatText& text);
// Warps, pointers and the product.
void AddDirectStart(const DirectFlat& flat, FlatText& text);
void AddDirectProduct(const DirectFlat& flat, FlatText& text);
// The sums on their way to C.
void AddDirectFinish(const DirectFlat& flat, FlatText& text);

}  // namespace gemmsmith
