#include <fmt/format.h>
#include <unistd.h>

#include "cli/exit.h"
#include "cli/json_text.h"
#include "cli/recordings.h"
#include "cli/run.h"
#include "cli/table.h"
#include "cli/words.h"
#include "search/order_quality.h"

namespace gemmsmith {

namespace {

std::string ClassText(const OrderQuality& quality) {
  return quality.shape_class ? std::string(Name(*quality.shape_class)) : "all";
}

std::vector<std::string> Cells(const Regret& regret) {
  return {fmt::format("{:.3f}", regret.median), fmt::format("{:.3f}", regret.p90),
          fmt::format("{:.0f} %", 100 * regret.share_within_2)};
}

std::string PrintText(const std::string& source, const std::vector<OrderQuality>& qualities, const Terminal& terminal) {
  using enum Table::Align;
  Table table({{"class"},
               {"order"},
               {"problems", kRight},
               {"plans", kRight},
               {"8: median", kRight},
               {"p90", kRight},
               {"in 2 %", kRight},
               {"16: median", kRight},
               {"p90", kRight},
               {"in 2 %", kRight},
               {"same tile", kRight}});
  for (const OrderQuality& quality : qualities) {
    if (quality.problems == 0) continue;
    std::vector<std::string> row = {ClassText(quality), std::string(Name(quality.order)), CountText(quality.problems),
                                    fmt::format("{:.1f}", quality.plans)};
    for (const Regret& regret : {quality.at_8, quality.at_16})
      for (std::string& cell : Cells(regret)) row.push_back(std::move(cell));
    row.push_back(quality.order == PlanOrder::kNvmmh ? fmt::format("{:.0f} %", 100 * quality.exact) : "");
    table.Add(std::move(row));
  }
  return fmt::format("{}: best of the first 8 and 16 plans of each order over the best measured\n{}\n", source,
                     table.Print(terminal));
}

Json JsonOf(const Regret& regret) {
  return {{"median", regret.median}, {"p90", regret.p90}, {"share_within_2_percent", regret.share_within_2}};
}

Json JsonOf(const std::vector<OrderQuality>& qualities) {
  Json list = Json::array();
  for (const OrderQuality& quality : qualities)
    list.push_back({{"class", quality.shape_class ? Json(Name(*quality.shape_class)) : Json()},
                    {"order", Name(quality.order)},
                    {"problems", quality.problems},
                    {"plans", quality.plans},
                    {"share_of_same_tile", quality.exact},
                    {"after_8", JsonOf(quality.at_8)},
                    {"after_16", JsonOf(quality.at_16)}});
  return list;
}

struct RankedSource {
  std::string name;
  std::shared_ptr<const Recording> recording;
};

Result<std::vector<RankedSource>> SourcesOf(const RecordsRankCommand& command) {
  std::vector<RankedSource> sources;
  for (const std::filesystem::path& path : command.sources) {
    ASSIGN_OR_RETURN(std::shared_ptr<const Recording> recording, Recording::Load(path));
    sources.push_back({path.string(), std::move(recording)});
  }
  if (!sources.empty()) return sources;
  ASSIGN_OR_RETURN(std::shared_ptr<const Recording> recording, LoadRecording(std::nullopt));
  const std::string name = fmt::format("recording of an {}, {}", recording->setting().device_name, recording->Date());
  sources.push_back({name, std::move(recording)});
  return sources;
}

}  // namespace

Result<int> Run(const RecordsRankCommand& command) {
  ASSIGN_OR_RETURN(const std::vector<RankedSource> sources, SourcesOf(command));
  const Terminal terminal = DescribeTerminal(STDOUT_FILENO);
  const AskForConfigs ask = [](const Gemm& gemm, const Device& device) {
    return AskNvmmh(gemm, device, kMostNvmmhConfigs);
  };
  std::string text;
  Json list = Json::array();
  for (const RankedSource& source : sources) {
    ASSIGN_OR_RETURN(const std::vector<OrderQuality> qualities, QualitiesOf(*source.recording, ask));
    text += PrintText(source.name, qualities, terminal);
    list.push_back({{"source", source.name}, {"orders", JsonOf(qualities)}});
  }
  RETURN_IF_ERROR(WriteOut(command.json ? PrintJson({{"command", "records rank"}, {"sources", list}}) : text));
  return kExitDone;
}

}  // namespace gemmsmith
