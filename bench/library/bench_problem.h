// Problems of programs, drawn at random or read, and where their operands lie.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/status.h"
#include "gemmsmith/gemmsmith.h"

namespace gemmsmith {

struct BenchProblem {
  gemmsmith_problem problem{};
  float alpha = 1, beta = 0;
  int64_t shift_bytes = 0;  // of every pointer from 256 bytes

  bool IsPlain() const;
  std::string Print() const;
};

// m, n and k from 1 to 20,000 evenly by octave; half of all plain, with dimensions that tensor maps take.
BenchProblem DrawProblem(std::mt19937_64& random);
BenchProblem DrawPlainProblem(std::mt19937_64& random);
// "16x4096x4096 tn bf16 [constant_b]"
Result<BenchProblem> ReadProblem(const std::string& line);
// One a line of the file, one at least; "#" begins a comment.
Result<std::vector<BenchProblem>> ReadProblems(const std::string& path);

// Bounds of an error: of a sum in f32, as a share of the sum of the products' sizes, and of rounding the result.
double ShareOfSum(int64_t k);
double RoundingOf(gemmsmith_type type);

// A matrix of a problem, packed dimensions put in.
struct PlacedMatrix {
  int64_t lines = 0, line = 0, leading = 0, step = 0, batch = 1;
  bool is_column = false;
  gemmsmith_type type = GEMMSMITH_F16;

  int64_t element_bytes() const { return type == GEMMSMITH_F32 ? 4 : 2; }
  // From its first element to behind its last one.
  int64_t SpanBytes() const { return ((batch - 1) * step + (lines - 1) * leading + line) * element_bytes(); }
};
PlacedMatrix MatrixOf(const BenchProblem& problem, char name);
// Lines of a, b and d begin at multiples of 128 bytes.
bool HasWholeLines(const BenchProblem& problem);

}  // namespace gemmsmith
