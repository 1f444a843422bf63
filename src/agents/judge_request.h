// A request to the judge: a problem, a subject for it, and how thoroughly to judge.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/status.h"
#include "outcome/outcome.h"
#include "problem/gemm.h"
#include "program/subject.h"

namespace gemmsmith {

struct JudgeRequest {
  Gemm gemm;
  Subject subject;
  Protocol protocol = Protocol::kShort;  // or kScreen
  bool counters = false;
};

// "256x512x4096" (tn, f16, f32 sums), "256x512x4096 nn bf16 f32" or a canonical text. InvalidArgument where it is none,
// or where its matrices are too large for a GPU.
Result<Gemm> ParseProblem(std::string_view text);

// From {"problem", "source" or "plan", "name", "protocol", "counters"}. InvalidArgument names the member that is wrong,
// missing or unknown.
Result<JudgeRequest> ParseJudgeRequest(const nlohmann::ordered_json& json);
// ParseJudgeRequest(JsonOf(request)) is the same request.
nlohmann::ordered_json JsonOf(const JudgeRequest& request);

// 32 hexadecimal digits. Equal requests have equal ids, whatever name a source has. `judge` names the device and the
// version of the judge.
std::string IdOf(const JudgeRequest& request, std::string_view judge);

}  // namespace gemmsmith
