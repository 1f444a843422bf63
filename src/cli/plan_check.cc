#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "cli/exit.h"
#include "cli/run.h"
#include "program/legality.h"

namespace gemmsmith {

Result<int> Run(const PlanCheckCommand& command) {
  const std::vector<std::string> reasons = Check(command.plan, command.gemm, command.device);
  const std::vector<std::string> advice =
      reasons.empty() ? Advise(command.plan, command.gemm, command.device) : std::vector<std::string>{};
  std::string text;
  if (command.json) {
    text = PrintJson({{"command", "plan check"},
                      {"plan", Print(command.plan)},
                      {"problem", JsonOf(command.gemm)},
                      {"device", command.device.key},
                      {"legal", reasons.empty()},
                      {"reasons", reasons},
                      {"advice", advice}});
  } else if (reasons.empty()) {
    text = fmt::format("legal: {} on {} for {}\n", PrintShort(command.plan), Print(command.gemm), command.device.name);
    for (const std::string& advice_line : advice) text += fmt::format("  not worth a measurement: {}\n", advice_line);
  } else {
    text =
        fmt::format("illegal: {} on {} for {}\n", PrintShort(command.plan), Print(command.gemm), command.device.name);
    for (const std::string& reason : reasons) text += fmt::format("  {}\n", reason);
  }
  RETURN_IF_ERROR(WriteOut(text));
  return reasons.empty() ? kExitDone : kExitNoCandidate;
}

}  // namespace gemmsmith
