// Plans of the wgmma family by their words, and the objections to them, for tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "problem/device_model.h"
#include "problem/example_device.h"
#include "program/legality.h"
#include "program/wgmma/wgmma_plan.h"

namespace gemmsmith {

inline Plan Wgmma(std::string_view words) { return *ParsePlan("wgmma " + std::string(words)); }
inline WgmmaPlan Typed(std::string_view words) { return WgmmaPlan(Wgmma(words)); }

inline std::string Lines(const std::vector<std::string>& reasons) {
  std::string lines;
  for (const std::string& reason : reasons) lines += reason + "\n";
  return lines;
}

// Why the plan cannot run; empty where it is legal.
inline std::string Refusals(std::string_view words, const Gemm& gemm) {
  return Lines(Check(Wgmma(words), gemm, H200()));
}
// Why a legal plan is not worth trying. A plan that cannot run has no advice: "illegal".
inline std::string Advice(std::string_view words, const Gemm& gemm) {
  if (!IsLegal(Wgmma(words), gemm, H200())) return "illegal: " + Refusals(words, gemm);
  return Lines(Advise(Wgmma(words), gemm, H200()));
}

}  // namespace gemmsmith
