// Files of kernels that the pretended driver runs.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/hash.h"
#include "catalogue/kernel_file.h"
#include "program/emit.h"
#include "program/family.h"
#include "program/legality.h"
#include "program/space.h"

namespace gemmsmith {

inline const Device kFakeDevice = *FindDevice("h200");

// The fastest predicted plan without dimensions of its own that gives equal bits and needs no workspace.
inline Plan PlanFor(const Gemm& gemm, bool chainable = false) {
  for (Plan plan : RankedPlans(gemm, kFakeDevice, 400)) {
    plan = WithFixed(plan, FixedDimensions::kNone);
    plan = WithTrigger(plan, chainable ? Trigger::kLast : Trigger::kNone);
    if (!IsLegal(plan, gemm, kFakeDevice)) continue;
    const Launch launch = LaunchFor(plan, gemm);
    if (launch.deterministic && launch.workspace_bytes == 0 && launch.chainable == chainable) return plan;
  }
  ADD_FAILURE() << "no plan for " << Print(gemm);
  return DefaultPlan(FamilyId::kDirect);
}

inline uint32_t AddKernel(const Gemm& gemm, const Plan& plan, KernelFile& file) {
  const std::string code = std::string("fake ") + std::string(Name(gemm.kind.layout)) + " " +
                           std::string(Name(gemm.kind.type)) +
                           " maps=" + std::to_string(LaunchFor(plan, gemm).maps.size());
  return file.Add("gemm", HashBytes(Emit(plan, gemm).text), code + '\0');
}

inline void AddEntry(const Gemm& gemm, const Plan& plan, double speed_up, KernelFile& file) {
  file.Assign(gemm, plan, {.kernel = AddKernel(gemm, plan, file), .time_ns = 5000, .speed_up = speed_up});
}

}  // namespace gemmsmith
