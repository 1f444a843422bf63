// For any bytes of a problem: no crash, a refusal is one line, and what is accepted fits its memory.
#include <cstring>

#include "base/check.h"
#include "base/text.h"
#include "runtime/request.h"

namespace {

using namespace gemmsmith;

void CheckLines(bool is_column, int64_t rows, int64_t columns, int64_t leading) {
  const int64_t line = is_column ? rows : columns, lines = is_column ? columns : rows;
  GEMMSMITH_CHECK(leading >= line && leading > 0, "{} of lines of {}", leading, line);
  GEMMSMITH_CHECK(lines == 0 || leading <= (int64_t{1} << 40) / lines, "{} lines of {}", lines, leading);
}

void CheckAccepted(const Request& request) {
  CheckLines(request.a_is_column != 0, request.m, request.k, request.lda);
  CheckLines(request.b_is_column != 0, request.k, request.n, request.ldb);
  CheckLines(false, request.m, request.n, request.ldd);
  CheckLines(false, request.m, request.n, request.ldc);
  GEMMSMITH_CHECK(request.IsEmpty() || request.k > 0, "{}", request.Print());
  if (const std::optional<Gemm> gemm = request.AsGemm())
    GEMMSMITH_CHECK(WhyInvalid(*gemm).empty() && gemm->LeadingC() == request.ldd, "{}", request.Print());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  gemmsmith_problem problem{};
  std::memcpy(&problem, data, std::min(size, sizeof problem));
  // Nearly every input would be refused for its size.
  if (size % 2 == 0) problem.size = sizeof problem;
  const Result<Request> request = MakeRequest(problem);
  if (request.ok()) {
    CheckAccepted(*request);
  } else {
    const std::string& reason = request.status().message();
    GEMMSMITH_CHECK(!reason.empty() && reason.find('\n') == std::string::npos, "{}", reason);
  }
  return 0;
}
