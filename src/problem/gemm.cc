#include "problem/gemm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kConstantB = "constant_b";
constexpr int kMaxDimension = 1 << 30;
constexpr int64_t kMaxMatrixBytes = int64_t{1} << 40;

Result<int> ParseDimension(std::string_view text, std::string_view name) {
  const std::optional<long long> value = ParseInteger(text);
  if (!value || *value < 1 || *value > kMaxDimension)
    return InvalidArgument(fmt::format("{} is '{}', not a whole number from 1 to 2^30", name, text));
  return int(*value);
}

int Alignment(int leading) {
  int alignment = 1;
  while (alignment < 8 && leading % (2 * alignment) == 0) alignment *= 2;
  return alignment;
}

Operand Matrix(std::string name, ScalarType type, Order order, int rows, int columns, int leading) {
  const bool row_major = order == Order::kRow;
  return {std::move(name), type, row_major ? rows : columns, row_major ? columns : rows, leading};
}

// Reads "constant_b", or "lda=5" into the field it names.
Status ParseProperty(std::string_view word, Gemm& gemm) {
  if (word == kConstantB && !gemm.kind.constant_b) {
    gemm.kind.constant_b = true;
    return OkStatus();
  }
  for (auto [name, field] : {std::pair{"lda=", &gemm.lda}, {"ldb=", &gemm.ldb}, {"ldc=", &gemm.ldc}}) {
    if (!word.starts_with(name)) continue;
    if (*field != 0) return InvalidArgument(fmt::format("'{}' is given twice", word.substr(0, 3)));
    ASSIGN_OR_RETURN(*field, ParseDimension(word.substr(4), word.substr(0, 3)));
    return OkStatus();
  }
  return InvalidArgument(fmt::format(
      "'{}' is no word of a problem; constant_b, lda=, ldb= and ldc= may follow the types, once each", word));
}

}  // namespace

std::string Print(const Shape& shape) { return fmt::format("{}x{}x{}", shape.m, shape.n, shape.k); }

Result<Shape> ParseShape(std::string_view text) {
  const char separator = text.find('x') != std::string_view::npos ? 'x' : '_';
  const std::vector<std::string_view> parts = Split(text, separator);
  if (parts.size() != 3)
    return InvalidArgument(fmt::format("'{}' is not a shape; write MxNxK, as in 256x512x4096", text));
  Shape shape;
  for (auto [name, part, field] :
       {std::tuple{"m", parts[0], &shape.m}, {"n", parts[1], &shape.n}, {"k", parts[2], &shape.k}}) {
    Result<int> value = ParseDimension(part, name);
    if (!value.ok()) return InvalidArgument(fmt::format("'{}' is not a shape: {}", text, value.status().message()));
    *field = *value;
  }
  return shape;
}

std::string_view Name(const Layout& layout) {
  if (layout.a == Order::kRow) return layout.b == Order::kRow ? "nn" : "tn";
  return layout.b == Order::kRow ? "col-row" : "col-col";
}

Result<Layout> ParseLayout(std::string_view text) {
  for (const Layout& layout : kLayouts)
    if (text == Name(layout)) return layout;
  return InvalidArgument(fmt::format("unknown layout '{}'; known: nn, tn, col-row, col-col", text));
}

std::string_view Name(Accumulation accumulation) { return accumulation == Accumulation::kF32 ? "f32" : "f16"; }

std::string PrintNumberTypes(const GemmKind& kind) {
  std::string text(Name(kind.type));
  if (kind.accumulation != Accumulation::kF32) text += fmt::format("_{}", Name(kind.accumulation));
  return kind.constant_b ? fmt::format("{}_{}", text, kConstantB) : text;
}

int Gemm::LeadingA() const { return lda != 0 ? lda : kind.layout.a == Order::kRow ? shape.k : shape.m; }
int Gemm::LeadingB() const { return ldb != 0 ? ldb : kind.layout.b == Order::kRow ? shape.n : shape.k; }
int Gemm::LeadingC() const { return ldc != 0 ? ldc : shape.n; }
int Gemm::AlignmentA() const { return Alignment(LeadingA()); }
int Gemm::AlignmentB() const { return Alignment(LeadingB()); }
int Gemm::AlignmentC() const { return Alignment(LeadingC()); }

Gemm WithoutLayout(const Gemm& gemm) {
  Gemm common = gemm;
  if (gemm.lda == 0 && gemm.ldb == 0 && gemm.kind.layout == kNn) common.kind.layout = kTn;
  return common;
}

std::string Print(const Gemm& gemm) {
  std::string text = fmt::format("gemm {} {} {} {}", Print(gemm.shape), Name(gemm.kind.layout), Name(gemm.kind.type),
                                 Name(gemm.kind.accumulation));
  if (gemm.kind.constant_b) text += fmt::format(" {}", kConstantB);
  const Gemm packed{gemm.shape, gemm.kind};
  if (gemm.LeadingA() != packed.LeadingA()) text += fmt::format(" lda={}", gemm.lda);
  if (gemm.LeadingB() != packed.LeadingB()) text += fmt::format(" ldb={}", gemm.ldb);
  if (gemm.LeadingC() != packed.LeadingC()) text += fmt::format(" ldc={}", gemm.ldc);
  return text;
}

Result<Gemm> ParseGemm(std::string_view text) {
  const std::vector<std::string_view> words = SplitWords(text);
  if (words.size() < 5 || words[0] != "gemm")
    return InvalidArgument(fmt::format("'{}' is not a problem; write 'gemm MxNxK LAYOUT TYPE ACCUMULATION'", text));
  Gemm gemm;
  ASSIGN_OR_RETURN(gemm.shape, ParseShape(words[1]));
  ASSIGN_OR_RETURN(gemm.kind.layout, ParseLayout(words[2]));
  if (words[3] != "f16" && words[3] != "bf16")
    return InvalidArgument(fmt::format("unknown type '{}'; known: f16, bf16", words[3]));
  gemm.kind.type = words[3] == "f16" ? ScalarType::kF16 : ScalarType::kBf16;
  if (words[4] != "f32" && words[4] != "f16")
    return InvalidArgument(fmt::format("unknown accumulation '{}'; known: f32, f16", words[4]));
  gemm.kind.accumulation = words[4] == "f32" ? Accumulation::kF32 : Accumulation::kF16;
  for (size_t i = 5; i < words.size(); ++i) RETURN_IF_ERROR(ParseProperty(words[i], gemm));
  if (const std::vector<std::string> reasons = WhyInvalid(gemm); !reasons.empty()) return InvalidArgument(reasons[0]);
  // One value, one text: a leading dimension that says "packed" is dropped.
  const Gemm packed{gemm.shape, gemm.kind};
  if (gemm.lda == packed.LeadingA()) gemm.lda = 0;
  if (gemm.ldb == packed.LeadingB()) gemm.ldb = 0;
  if (gemm.ldc == packed.LeadingC()) gemm.ldc = 0;
  return gemm;
}

std::vector<std::string> WhyInvalid(const Gemm& gemm) {
  std::vector<std::string> problems;
  const Task task = MakeTask(gemm);
  std::vector<Operand> operands = task.inputs;
  operands.push_back(task.output);
  for (const Operand& operand : operands) {
    if (operand.stride < operand.line_length)
      problems.push_back(fmt::format("ld{} = {} is shorter than a line of {} elements",
                                     char(std::tolower(operand.name[0])), operand.stride, operand.line_length));
    if (double(operand.lines) * double(operand.stride) * ByteSize(operand.type) > double(kMaxMatrixBytes))
      problems.push_back(fmt::format("matrix {} is over 2^40 bytes", operand.name));
  }
  return problems;
}

Task MakeTask(const Gemm& gemm) {
  const auto [m, n, k] = gemm.shape;
  const ScalarType type = gemm.kind.type;
  Task task;
  task.inputs = {Matrix("A", type, gemm.kind.layout.a, m, k, gemm.LeadingA()),
                 Matrix("B", type, gemm.kind.layout.b, k, n, gemm.LeadingB())};
  task.output = Matrix("C", type, Order::kRow, m, n, gemm.LeadingC());
  task.flops = 2 * gemm.shape.Volume();
  task.bytes = (double(m) * k + double(k) * n + double(m) * n) * ByteSize(type);
  return task;
}

}  // namespace gemmsmith
