#include "bench_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

namespace gemmsmith {

namespace {

constexpr int64_t kMostElements = 400'000'000;  // of a matrix with its batch

const char* Word(gemmsmith_type type) {
  return type == GEMMSMITH_F32 ? "f32" : type == GEMMSMITH_BF16 ? "bf16" : "f16";
}
const char* Word(gemmsmith_order order) { return order == GEMMSMITH_ROW ? "row" : "col"; }

}  // namespace

bool BenchProblem::IsPlain() const {
  return alpha == 1 && beta == 0 && problem.batch == 1 && problem.has_bias == 0 &&
         problem.activation == GEMMSMITH_NO_ACTIVATION && problem.cd_type == problem.ab_type && shift_bytes % 16 == 0;
}

std::string BenchProblem::Print() const {
  const gemmsmith_problem& p = problem;
  return fmt::format(
      "{}x{}x{} {}-{}-{} {} to {}{}{}{}{}{}{}{}{}", p.m, p.n, p.k, Word(p.a_order), Word(p.b_order), Word(p.d_order),
      Word(p.ab_type), Word(p.cd_type), p.batch == 1 ? "" : fmt::format(" batch {}", p.batch),
      p.lda == 0 ? "" : fmt::format(" lda {} ldb {} ldc {} ldd {}", p.lda, p.ldb, p.ldc, p.ldd),
      alpha == 1 ? "" : fmt::format(" alpha {}", alpha), beta == 0 ? "" : fmt::format(" beta {}", beta),
      p.has_bias != 0 ? " bias" : "",
      p.activation == GEMMSMITH_RELU   ? " relu"
      : p.activation == GEMMSMITH_GELU ? " gelu"
                                       : "",
      shift_bytes == 0 ? "" : fmt::format(" shifted {}", shift_bytes), p.constant_b != 0 ? " constant_b" : "");
}

BenchProblem DrawProblem(std::mt19937_64& random) {
  const auto draw = [&](int64_t first, int64_t last) { return first + int64_t(random() % uint64_t(last - first + 1)); };
  const bool is_plain = draw(0, 1) == 1;
  const auto extent = [&] {
    const double octaves = std::log2(20000.0) * double(random() >> 11) / double(uint64_t{1} << 53);
    const auto any = int64_t(std::exp2(octaves));
    return is_plain ? (any + 7) / 8 * 8 : any;
  };
  BenchProblem drawn;
  gemmsmith_problem& p = drawn.problem;
  gemmsmith_problem_default(&p);
  p.m = extent(), p.n = extent(), p.k = extent();
  for (gemmsmith_order* order : {&p.a_order, &p.b_order, &p.d_order}) *order = gemmsmith_order(draw(0, 1));
  p.ab_type = p.cd_type = draw(0, 1) == 0 ? GEMMSMITH_F16 : GEMMSMITH_BF16;
  if (draw(0, 3) == 0) {
    const auto spare = [&] { return is_plain ? 8 * draw(0, 9) : draw(0, 30); };
    p.lda = (p.a_order == GEMMSMITH_ROW ? p.k : p.m) + spare();
    p.ldb = (p.b_order == GEMMSMITH_ROW ? p.n : p.k) + spare();
    p.ldc = (p.d_order == GEMMSMITH_ROW ? p.n : p.m) + spare();
    p.ldd = (p.d_order == GEMMSMITH_ROW ? p.n : p.m) + spare();
  }
  if (is_plain) {
    p.constant_b = int(draw(0, 1));
    return drawn;
  }
  if (draw(0, 2) == 0) p.cd_type = GEMMSMITH_F32;
  const int64_t largest = std::max({p.m * p.k, p.k * p.n, p.m * p.n});
  p.batch = std::clamp<int64_t>(kMostElements / largest, 1, draw(1, 8));
  p.a_step = p.b_step = 0;
  for (const char name : {'a', 'b', 'c', 'd'}) {
    const PlacedMatrix matrix = MatrixOf(drawn, name);
    const int64_t step = (matrix.lines - 1) * matrix.leading + matrix.line + draw(0, 9);
    (name == 'a' ? p.a_step : name == 'b' ? p.b_step : name == 'c' ? p.c_step : p.d_step) = step;
  }
  if (draw(0, 7) == 0) p.b_step = 0;  // one for all
  p.has_bias = int(draw(0, 1));
  p.activation = gemmsmith_activation(draw(0, 2));
  if (draw(0, 1) == 1) drawn.alpha = float(draw(1, 8)) * -0.25f;
  if (draw(0, 1) == 1) drawn.beta = float(draw(1, 8)) * 0.25f;
  p.alpha_is_one = drawn.alpha == 1;
  p.beta_is_zero = drawn.beta == 0;
  if (draw(0, 2) == 0) drawn.shift_bytes = p.cd_type == GEMMSMITH_F32 ? 4 * draw(1, 3) : 2 * draw(1, 7);
  while ((drawn.shift_bytes & (p.pointer_alignment - 1)) != 0) p.pointer_alignment /= 2;
  return drawn;
}

BenchProblem DrawPlainProblem(std::mt19937_64& random) {
  for (;;)
    if (BenchProblem drawn = DrawProblem(random); drawn.IsPlain()) return drawn;
}

Result<BenchProblem> ReadProblem(const std::string& line) {
  BenchProblem read;
  gemmsmith_problem& p = read.problem;
  gemmsmith_problem_default(&p);
  std::istringstream words(line);
  char by = 0, by_too = 0;
  std::string layout, type, promise;
  words >> p.m >> by >> p.n >> by_too >> p.k >> layout >> type >> promise;
  if (by != 'x' || by_too != 'x' || (layout != "nn" && layout != "tn") || (type != "f16" && type != "bf16") ||
      (!promise.empty() && promise != "constant_b"))
    return InvalidArgument(fmt::format("'{}' is no problem: write 16x4096x4096 tn bf16 constant_b", line));
  p.b_order = layout == "tn" ? GEMMSMITH_COLUMN : GEMMSMITH_ROW;
  p.ab_type = p.cd_type = type == "bf16" ? GEMMSMITH_BF16 : GEMMSMITH_F16;
  p.constant_b = promise.empty() ? 0 : 1;
  return read;
}

double ShareOfSum(int64_t k) { return 0x1p-20 * std::max(1.0, std::sqrt(double(k) / 1024)); }

double RoundingOf(gemmsmith_type type) {
  return 1.01 * (type == GEMMSMITH_F16 ? 0x1p-11 : type == GEMMSMITH_BF16 ? 0x1p-8 : 0x1p-23);
}

Result<std::vector<BenchProblem>> ReadProblems(const std::string& path) {
  std::ifstream file(path);
  if (!file) return NotFound(path + " cannot be read");
  std::vector<BenchProblem> problems;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    ASSIGN_OR_RETURN(problems.emplace_back(), ReadProblem(line));
  }
  if (problems.empty()) return InvalidArgument(path + " names no problem");
  return problems;
}

PlacedMatrix MatrixOf(const BenchProblem& problem, char name) {
  const gemmsmith_problem& p = problem.problem;
  const bool is_a = name == 'a', is_b = name == 'b';
  const gemmsmith_order order = is_a ? p.a_order : is_b ? p.b_order : p.d_order;
  const int64_t rows = is_b ? p.k : p.m, columns = is_a ? p.k : p.n;
  const bool is_column = order == GEMMSMITH_COLUMN;
  PlacedMatrix matrix{.lines = is_column ? columns : rows,
                      .line = is_column ? rows : columns,
                      .leading = is_a          ? p.lda
                                 : is_b        ? p.ldb
                                 : name == 'c' ? p.ldc
                                               : p.ldd,
                      .step = is_a          ? p.a_step
                              : is_b        ? p.b_step
                              : name == 'c' ? p.c_step
                                            : p.d_step,
                      .batch = p.batch,
                      .is_column = is_column,
                      .type = is_a || is_b ? p.ab_type : p.cd_type};
  if (matrix.leading == 0) matrix.leading = matrix.line;
  return matrix;
}

bool HasWholeLines(const BenchProblem& problem) {
  for (const char name : {'a', 'b', 'd'})
    if (const PlacedMatrix matrix = MatrixOf(problem, name); matrix.leading * matrix.element_bytes() % 128 != 0)
      return false;
  return true;
}

}  // namespace gemmsmith
