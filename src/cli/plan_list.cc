#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "cli/exit.h"
#include "cli/run.h"
#include "cli/words.h"
#include "program/space.h"

namespace gemmsmith {

namespace {

std::vector<Plan> First(std::vector<Plan> plans, std::optional<int> count) {
  if (count) plans.resize(std::min(plans.size(), size_t(*count)));
  return plans;
}

}  // namespace

Result<int> Run(const PlanListCommand& command) {
  const std::vector<Plan> legal = RankedPlans(command.gemm, command.device, kLiveSpaceSize);
  const std::vector<Plan> chosen = First(legal, command.count);
  std::string text;
  if (command.json) {
    Json plans = Json::array();
    for (const Plan& plan : chosen) plans.push_back(Print(plan));
    text = PrintJson({{"command", "plan list"},
                      {"problem", JsonOf(command.gemm)},
                      {"device", command.device.key},
                      {"legal", legal.size()},
                      {"plans", plans}});
  } else {
    for (const Plan& plan : chosen) text += PrintShort(plan) + "\n";
  }
  RETURN_IF_ERROR(WriteOut(text));
  if (!command.json && chosen.size() < legal.size()) {
    WriteNote(fmt::format("{} of the {} that are predicted fastest", CountText(int64_t(chosen.size())),
                          Plural(int64_t(legal.size()), "legal plan")));
  }
  if (!legal.empty()) return kExitDone;
  WriteError(fmt::format("no plan is legal for {} on {}", Print(command.gemm), command.device.name));
  return kExitNoCandidate;
}

}  // namespace gemmsmith
