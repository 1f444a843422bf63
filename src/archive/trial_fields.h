// The fields of a trial. Its coders also have Printed(): a value by its canonical text.
#pragma once

#include "archive/trial.h"
#include "outcome/outcome_fields.h"

namespace gemmsmith {

void VisitFields(auto& coder, Trial& trial) {
  using enum RecordField;
  coder.Printed(kProblem, "problem", trial.gemm, ParseGemm);
  coder.Printed(kSubject, "plan", trial.subject, ParseTrialSubject);
  coder.Text(kCampaign, "campaign", trial.campaign);
  coder.Integer(kSeed, "seed", trial.seed);
  coder.Integer(kUnixMs, "unix_ms", trial.unix_ms);
  coder.Object("setting", [&](auto& inner) { VisitFields(inner, trial.setting); });
  coder.Object("outcome", [&](auto& inner) { VisitFields(inner, trial.outcome); });
}

}  // namespace gemmsmith
