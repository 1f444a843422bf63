#include "policy/tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/text.h"
#include "policy/spoken.h"
#include "program/family.h"

namespace gemmsmith {

namespace {

// Digits of 4 bits behind the leading one.
constexpr int kCounterDigits = 1, kOtherDigits = 2;
int DigitsOf(RealField field) { return field == RealField::kCounter ? kCounterDigits : kOtherDigits; }

// value = mantissa * 2^(exponent - 4 * digits), the mantissa's leading bit set.
struct ScaledReal {
  int exponent = 0;
  int mantissa = 0;
};

ScaledReal Scale(double value, int digits) {
  const double lowest = std::ldexp(1.0, kLowestExponent);
  const double highest = std::ldexp((2 << (4 * digits)) - 1, kHighestExponent - 4 * digits);
  value = std::clamp(value, lowest, highest);
  int exponent = std::ilogb(value);
  int mantissa = int(std::lround(std::ldexp(value, 4 * digits - exponent)));
  if (mantissa == 2 << (4 * digits)) mantissa /= 2, ++exponent;
  return {exponent, mantissa};
}

double RoundReal(double value, RealField field) {
  if (!(value > 0)) return 0;
  const int digits = DigitsOf(field);
  const ScaledReal scaled = Scale(value, digits);
  return std::ldexp(scaled.mantissa, scaled.exponent - 4 * digits);
}

class Writer {
 public:
  void Put(Token token) { tokens_.push_back(token); }
  void Put(Mark mark) { Put(words_[mark]); }

  // The exponent, then the bits below the leading one, four a digit, as far as they are not all zero.
  void PutInteger(IntegerField field, int value) {
    GEMMSMITH_CHECK(value >= 1, "{} in a field of whole numbers from 1", value);
    const int exponent = std::bit_width(unsigned(value)) - 1;
    Put(words_.Integers(field)[exponent]);
    uint64_t rest = (uint64_t(value) << (32 - exponent)) & 0xffffffffu;
    for (; rest != 0; rest = rest << 4 & 0xffffffffu) Put(words_.digits[int(rest >> 28)]);
  }

  void PutReal(RealField field, double value) {
    const TokenBlock& block = words_.Reals(field);
    if (!(value > 0)) return Put(block[kRealExponents]);
    const int digits = DigitsOf(field);
    const ScaledReal scaled = Scale(value, digits);
    Put(block[scaled.exponent - kLowestExponent]);
    for (int digit = digits - 1; digit >= 0; --digit) Put(words_.digits[scaled.mantissa >> (4 * digit) & 15]);
  }

  void PutProblem(const Gemm& gemm) {
    Put(words_.layouts[int(gemm.kind.layout.a) * 2 + int(gemm.kind.layout.b)]);
    Put(words_.types[int(gemm.kind.type)]);
    Put(words_.accumulations[int(gemm.kind.accumulation)]);
    PutInteger(IntegerField::kM, gemm.shape.m);
    PutInteger(IntegerField::kN, gemm.shape.n);
    PutInteger(IntegerField::kK, gemm.shape.k);
    if (gemm.lda != 0) PutInteger(IntegerField::kLda, gemm.lda);
    if (gemm.ldb != 0) PutInteger(IntegerField::kLdb, gemm.ldb);
    if (gemm.ldc != 0) PutInteger(IntegerField::kLdc, gemm.ldc);
  }

  void PutDevice(const DeviceFacts& device) {
    PutInteger(IntegerField::kCompute, device.compute_capability);
    PutInteger(IntegerField::kMultiprocessors, device.multiprocessors);
    PutInteger(IntegerField::kSmemCta, device.smem_bytes_per_block);
    PutInteger(IntegerField::kSmemSm, device.smem_bytes_per_multiprocessor);
    PutReal(RealField::kTflops, device.peak_half_tflops);
    PutReal(RealField::kL2Tbs, device.l2_tbs);
    PutReal(RealField::kL2Mb, device.l2_resident_mb);
    PutReal(RealField::kMemoryTbs, device.memory_tbs);
  }

  void PutPlan(const Plan& plan) {
    const Family& family = GetFamily(plan.family);
    Put(words_.families[int(plan.family)]);
    for (size_t i = 0; i < SpokenAxisCount(family); ++i)
      Put(words_.Values(plan.family, i)[family.axes[i].IndexOf(AsSpoken(family, i, plan.values[i]))]);
  }

  void PutJudged(const JudgedAs& judged) {
    Put(words_.kinds[int(judged.kind)]);
    if (!judged.stage.empty()) Put(words_.stages[StageIndex(judged.stage)]);
    if (judged.score) PutReal(RealField::kScore, *judged.score);
    for (const auto& [counter, value] : judged.counters) {
      Put(words_.counters[int(counter)]);
      PutReal(RealField::kCounter, value);
    }
  }

  void PutContext(const Document& document) {
    Put(Mark::kBegin);
    PutProblem(document.gemm);
    PutDevice(document.device);
    for (const Exemplar& exemplar : document.exemplars) {
      Put(Mark::kExemplar);
      PutPlan(exemplar.plan);
      PutJudged(exemplar.judged);
    }
    if (document.analysis) PutAnalysis(*document.analysis);
    if (document.goal) Put(words_.goals[*document.goal]);
    Put(Mark::kCandidate);
  }

  std::vector<Token> Take() && { return std::move(tokens_); }

 private:
  void PutAnalysis(const Analysis& analysis) {
    Put(Mark::kAnalysis);
    Put(analysis.faster);
    for (const Analysis::Reason& reason : analysis.reasons)
      Put((reason.is_higher ? words_.higher : words_.lower)[int(reason.counter)]);
  }

  static int StageIndex(std::string_view stage) {
    const auto found = std::find(kStages.begin(), kStages.end(), stage);
    return int(std::min<size_t>(size_t(found - kStages.begin()), kStages.size() - 1));
  }

  const Vocabulary& words_ = TokenVocabulary();
  std::vector<Token> tokens_;
};

// Reads from the front. The first thing that is not what it should be ends it: failure() says which.
class Reader {
 public:
  explicit Reader(std::span<const Token> tokens) : tokens_(tokens) {}

  bool failed() const { return !failure_.ok(); }
  const Status& failure() const { return failure_; }
  bool AtEnd() const { return at_ == tokens_.size(); }

  bool NextIsIn(const TokenBlock& block) const { return !failed() && !AtEnd() && block.Has(tokens_[at_]); }
  bool NextIs(Mark mark) const { return NextIsIn({words_[mark], 1}); }

  // The index within the block; 0 where something else stands there.
  int Take(const TokenBlock& block, std::string_view expected) {
    if (failed()) return 0;
    if (!NextIsIn(block)) return Fail(expected), 0;
    return block.IndexOf(tokens_[at_++]);
  }
  bool TakeIf(Mark mark) { return NextIs(mark) ? (++at_, true) : false; }
  void Expect(Mark mark) { Take({words_[mark], 1}, words_.Word(words_[mark])); }

  int TakeInteger(IntegerField field, std::string_view expected) {
    const int exponent = Take(words_.Integers(field), expected);
    uint64_t bits = uint64_t{1} << 32;
    int digits = 0;
    bool ends_in_zero = false;
    for (; NextIsIn(words_.digits); ++digits) {
      if (digits == 8) return Fail("no ninth digit"), 1;
      const int digit = Take(words_.digits, "a digit");
      bits |= uint64_t(digit) << (28 - 4 * digits);
      ends_in_zero = digit == 0;
    }
    const uint64_t below = (uint64_t{1} << (32 - exponent)) - 1;
    if (!failed() && (ends_in_zero || (bits & below) != 0)) return Fail("a whole number in its shortest form"), 1;
    return int(bits >> (32 - exponent));
  }

  double TakeReal(RealField field, std::string_view expected) {
    const int exponent = Take(words_.Reals(field), expected) + kLowestExponent;
    if (failed() || exponent > kHighestExponent) return 0;
    int mantissa = 1;
    for (int i = 0; i < DigitsOf(field); ++i) mantissa = mantissa * 16 + Take(words_.digits, "a digit");
    return std::ldexp(mantissa, exponent - 4 * DigitsOf(field));
  }

  Gemm TakeProblem() {
    Gemm gemm;
    const int layout = Take(words_.layouts, "a layout");
    gemm.kind.layout = {Order(layout / 2), Order(layout % 2)};
    gemm.kind.type = ScalarType(Take(words_.types, "a type"));
    gemm.kind.accumulation = Accumulation(Take(words_.accumulations, "what sums are kept in"));
    gemm.shape.m = TakeInteger(IntegerField::kM, "m");
    gemm.shape.n = TakeInteger(IntegerField::kN, "n");
    gemm.shape.k = TakeInteger(IntegerField::kK, "k");
    if (NextIsIn(words_.Integers(IntegerField::kLda))) gemm.lda = TakeInteger(IntegerField::kLda, "lda");
    if (NextIsIn(words_.Integers(IntegerField::kLdb))) gemm.ldb = TakeInteger(IntegerField::kLdb, "ldb");
    if (NextIsIn(words_.Integers(IntegerField::kLdc))) gemm.ldc = TakeInteger(IntegerField::kLdc, "ldc");
    return gemm;
  }

  DeviceFacts TakeDevice() {
    DeviceFacts device;
    device.compute_capability = TakeInteger(IntegerField::kCompute, "the compute capability");
    device.multiprocessors = TakeInteger(IntegerField::kMultiprocessors, "the number of multiprocessors");
    device.smem_bytes_per_block = TakeInteger(IntegerField::kSmemCta, "the shared memory of a CTA");
    device.smem_bytes_per_multiprocessor = TakeInteger(IntegerField::kSmemSm, "the shared memory of a multiprocessor");
    device.peak_half_tflops = TakeReal(RealField::kTflops, "the peak");
    device.l2_tbs = TakeReal(RealField::kL2Tbs, "the bandwidth of L2");
    device.l2_resident_mb = TakeReal(RealField::kL2Mb, "what stays in L2");
    device.memory_tbs = TakeReal(RealField::kMemoryTbs, "the bandwidth of memory");
    return device;
  }

  Plan TakePlan() {
    Plan plan = DefaultPlan(FamilyId(Take(words_.families, "a family")));
    const Family& family = GetFamily(plan.family);
    for (size_t i = 0; i < SpokenAxisCount(family) && !failed(); ++i)
      plan.values[i] =
          family.axes[i].values[size_t(Take(words_.Values(plan.family, i), family.axes[i].name))];
    return plan;
  }

  JudgedAs TakeJudged() {
    JudgedAs judged;
    judged.kind = OutcomeKind(Take(words_.kinds, "what became of the plan"));
    if (NextIsIn(words_.stages)) judged.stage = kStages[size_t(Take(words_.stages, "a stage"))];
    if (NextIsIn(words_.Reals(RealField::kScore))) judged.score = TakeReal(RealField::kScore, "a score");
    while (NextIsIn(words_.counters)) {
      const Counter counter = Counter(Take(words_.counters, "a counter"));
      judged.counters.emplace_back(counter, TakeReal(RealField::kCounter, "a counter's value"));
    }
    return judged;
  }

  Analysis TakeAnalysis() {
    Analysis analysis;
    const int first = int(Mark::kFirst);
    analysis.faster = Mark(first + Take({words_[Mark::kFirst], 3}, "first, second or neither"));
    while (NextIsIn(words_.higher) || NextIsIn(words_.lower)) {
      const bool is_higher = NextIsIn(words_.higher);
      analysis.reasons.push_back({Counter(Take(is_higher ? words_.higher : words_.lower, "a counter")), is_higher});
    }
    return analysis;
  }

  void Fail(std::string_view expected) {
    if (failed()) return;
    const std::string found = AtEnd()                        ? "the end"
                              : tokens_[at_] < words_.size() ? fmt::format("'{}'", words_.Word(tokens_[at_]))
                                                             : fmt::format("token {} of no word", tokens_[at_]);
    failure_ = InvalidArgument(fmt::format("word {} should be {}, not {}", at_ + 1, expected, found));
  }

 private:
  const Vocabulary& words_ = TokenVocabulary();
  std::span<const Token> tokens_;
  size_t at_ = 0;
  Status failure_;
};

void RoundJudged(JudgedAs& judged) {
  if (judged.score) judged.score = RoundReal(*judged.score, RealField::kScore);
  for (auto& [counter, value] : judged.counters) value = RoundReal(value, RealField::kCounter);
}

}  // namespace

DeviceFacts FactsOf(const Device& device) {
  return {device.compute_capability(), device.multiprocessors,
          device.smem_bytes_per_block, device.smem_bytes_per_multiprocessor,
          device.peak_half_tflops,     device.l2_tbs,
          device.l2_resident_mb,       device.memory_tbs};
}

std::vector<Token> EncodeContext(const Document& document) {
  Writer writer;
  writer.PutContext(document);
  return std::move(writer).Take();
}

std::vector<Token> Encode(const Document& document) {
  Writer writer;
  writer.PutContext(document);
  if (document.candidate) {
    writer.PutPlan(*document.candidate);
    if (document.judged) writer.PutJudged(*document.judged);
    writer.Put(Mark::kEnd);
  }
  return std::move(writer).Take();
}

Result<Document> Decode(std::span<const Token> tokens) {
  const Vocabulary& words = TokenVocabulary();
  if (tokens.empty() || tokens[0] != words[Mark::kBegin])
    return InvalidArgument(fmt::format("tokens that do not begin with {}: of another version, or no document",
                                       words.Word(words[Mark::kBegin])));
  Reader reader(tokens);
  reader.Expect(Mark::kBegin);
  Document document{.gemm = reader.TakeProblem(), .device = reader.TakeDevice()};
  while (reader.TakeIf(Mark::kExemplar)) {
    const Plan plan = reader.TakePlan();
    document.exemplars.push_back({plan, reader.TakeJudged()});
  }
  if (reader.TakeIf(Mark::kAnalysis)) document.analysis = reader.TakeAnalysis();
  if (reader.NextIsIn(words.goals)) document.goal = reader.Take(words.goals, "a goal");
  reader.Expect(Mark::kCandidate);
  if (!reader.failed() && !reader.AtEnd()) {
    document.candidate = reader.TakePlan();
    if (!reader.NextIs(Mark::kEnd)) document.judged = reader.TakeJudged();
    reader.Expect(Mark::kEnd);
    if (!reader.failed() && !reader.AtEnd()) reader.Fail("the end");
  }
  if (reader.failed()) return reader.failure();
  return document;
}

Document Rounded(const Document& document) {
  Document rounded = document;
  DeviceFacts& device = rounded.device;
  device.peak_half_tflops = RoundReal(device.peak_half_tflops, RealField::kTflops);
  device.l2_tbs = RoundReal(device.l2_tbs, RealField::kL2Tbs);
  device.l2_resident_mb = RoundReal(device.l2_resident_mb, RealField::kL2Mb);
  device.memory_tbs = RoundReal(device.memory_tbs, RealField::kMemoryTbs);
  for (Exemplar& exemplar : rounded.exemplars) RoundJudged(exemplar.judged);
  if (rounded.judged) RoundJudged(*rounded.judged);
  return rounded;
}

std::vector<Token> EncodePlan(const Plan& plan) {
  Writer writer;
  writer.PutPlan(plan);
  return std::move(writer).Take();
}

Result<Plan> DecodePlan(std::span<const Token> tokens) {
  Reader reader(tokens);
  const Plan plan = reader.TakePlan();
  if (!reader.failed() && !reader.AtEnd()) reader.Fail("the end");
  if (reader.failed()) return reader.failure();
  return plan;
}

std::string PrintTokens(std::span<const Token> tokens) {
  std::string text;
  for (const Token token : tokens) {
    if (!text.empty()) text += ' ';
    text += TokenVocabulary().Word(token);
  }
  return text;
}

Result<std::vector<Token>> ParseTokens(std::string_view text) {
  std::vector<Token> tokens;
  for (const std::string_view word : SplitWords(text)) {
    const std::optional<Token> token = TokenVocabulary().Find(word);
    if (!token) return InvalidArgument(fmt::format("'{}' is no word of {}", word, TokenVocabulary().identity()));
    tokens.push_back(*token);
  }
  return tokens;
}

}  // namespace gemmsmith
