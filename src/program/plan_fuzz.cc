// Plan, problem and shape text: no input crashes a parser, and what parses prints back to the same value.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "program/legality.h"
#include "program/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gemmsmith;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t middle = text.find('\n');
  const Result<Plan> plan = ParsePlan(text.substr(0, middle));
  if (plan.ok()) GEMMSMITH_CHECK(*ParsePlan(Print(*plan)) == *plan, "plan {}", Print(*plan));
  const Result<Shape> shape = ParseShape(text);
  if (shape.ok()) GEMMSMITH_CHECK(*ParseShape(Print(*shape)) == *shape, "shape {}", Print(*shape));
  const Result<Gemm> gemm = ParseGemm(middle == std::string_view::npos ? text : text.substr(middle + 1));
  if (gemm.ok()) GEMMSMITH_CHECK(*ParseGemm(Print(*gemm)) == *gemm, "problem {}", Print(*gemm));
  if (plan.ok() && gemm.ok())
    GEMMSMITH_CHECK(Check(*plan, *gemm, KnownDevices()[0]).empty() == IsLegal(*plan, *gemm, KnownDevices()[0]), "{}",
                    Print(*plan));
  return 0;
}
