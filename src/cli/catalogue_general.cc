#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "catalogue/catalogue.h"
#include "cli/exit.h"
#include "cli/run.h"
#include "cli/words.h"
#include "ship/general_plans.h"

namespace gemmsmith {

namespace {

// A file for `catalogue build --general`: what is for people is a comment. A plan of two classes stands in the first.
std::string TextOf(const CatalogueGeneralCommand& command, const std::vector<RowClass>& classes) {
  std::string text = fmt::format(
      "# gemmsmith catalogue general {} --count {}\n"
      "# Before each plan: entries that use it, and what all so far of its class reach, by the cost model.\n",
      command.catalogue.filename().string(), command.count);
  std::set<Plan> listed;
  for (const RowClass& rows : classes) {
    const bool is_last = rows.most_rows == std::numeric_limits<int>::max();
    text += fmt::format("\n# {} with {}\n", Plural(int64_t(rows.entries), "problem"),
                        is_last ? "more rows" : fmt::format("up to {} rows", rows.most_rows));
    for (const GeneralPlan& general : rows.plans)
      text += fmt::format("# {:>4}  {:.3f}\n{}{}\n", general.entries, general.covered,
                          listed.insert(general.plan).second ? "" : "# as above: ", PrintShort(general.plan));
  }
  return text;
}

}  // namespace

Result<int> Run(const CatalogueGeneralCommand& command) {
  ASSIGN_OR_RETURN(const Catalogue catalogue, Catalogue::Read(command.catalogue));
  ASSIGN_OR_RETURN(const Device device, FindDevice(catalogue.device_key()));
  const std::vector<RowClass> classes = ChooseGeneralPlans(catalogue, device, size_t(command.count));
  if (std::all_of(classes.begin(), classes.end(), [](const RowClass& rows) { return rows.plans.empty(); }))
    return NotFound(
        fmt::format("{} has no entry with f32 sums whose plan serves other shapes", command.catalogue.string()));
  RETURN_IF_ERROR(WriteOut(TextOf(command, classes)));
  return kExitDone;
}

}  // namespace gemmsmith
