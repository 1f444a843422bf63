#include "cli/catalogue_job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "catalogue/catalogue.h"
#include "cli/exit.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/words.h"
#include "problem/product_record.h"

namespace gemmsmith {

namespace {

constexpr size_t kMostRows = 20;

struct JobProduct {
  std::string problem;
  int64_t calls = 0;
  double ours_ns = 0, library_ns = 0;  // of a call, by the entry's race
  // A program is served by the library where that was faster.
  double SavedNs() const { return std::max(0.0, library_ns - ours_ns) * double(calls); }
};

struct JobSum {
  std::vector<JobProduct> products;  // with an entry, what saves most first
  int64_t calls = 0;                 // of the whole record
  size_t lines = 0;
  double share = 0;  // of the record's floor time that has an entry
  double ours_ns = 0, library_ns = 0;
};

JobSum SumOf(const Catalogue& catalogue, const ProductRecord& record) {
  JobSum sum;
  for (const ProductRecord::Line& line : record.Lines()) {
    ++sum.lines, sum.calls += line.calls;
    const Entry* const entry = line.gemm ? catalogue.Find(*line.gemm) : nullptr;
    if (entry == nullptr) continue;
    const ModeTime& time = entry->Deciding();
    const JobProduct product{line.text, line.calls, time.ns, time.ns * time.speed_up};
    sum.share += line.share;
    sum.library_ns += product.library_ns * double(line.calls);
    sum.ours_ns += product.library_ns * double(line.calls) - product.SavedNs();
    sum.products.push_back(product);
  }
  std::ranges::stable_sort(sum.products, std::greater(), &JobProduct::SavedNs);
  return sum;
}

double Seconds(double ns, int steps) { return ns / steps * 1e-9; }

std::string TextOf(const CatalogueCompareCommand& command, const JobSum& sum) {
  const std::string_view per = command.steps == 1 ? "all recorded calls" : "a step";
  std::string text = fmt::format(
      "{}: {} of {}, {:.1f} % of the floor time, have an entry in {}\n"
      "their calls, {}: {:.4g} s by AutoTuning, {:.4g} s with the entries, {:.4g} s less ({:.3f}x)\n\n",
      command.job.string(), CountText(int64_t(sum.products.size())), Plural(int64_t(sum.lines), "product"),
      100 * sum.share, command.catalogue.string(), per, Seconds(sum.library_ns, command.steps),
      Seconds(sum.ours_ns, command.steps), Seconds(sum.library_ns - sum.ours_ns, command.steps),
      sum.library_ns / sum.ours_ns);
  Table table({{"product"},
               {"calls", Table::Align::kRight},
               {"entry", Table::Align::kRight},
               {"AutoTuning", Table::Align::kRight},
               {"saved", Table::Align::kRight}});
  for (size_t i = 0; i < std::min(kMostRows, sum.products.size()); ++i) {
    const JobProduct& product = sum.products[i];
    table.Add({product.problem, CountText(product.calls), TimeText(product.ours_ns), TimeText(product.library_ns),
               TimeText(product.SavedNs())});
  }
  return text + table.Print(DescribeTerminal(STDOUT_FILENO));
}

std::string JsonText(const CatalogueCompareCommand& command, const JobSum& sum) {
  Json json = {{"command", "catalogue compare"},
               {"catalogue", command.catalogue.string()},
               {"job", command.job.string()},
               {"steps", command.steps},
               {"calls", sum.calls},
               {"products", sum.lines},
               {"with_entry", sum.products.size()},
               {"share_with_entry", sum.share},
               {"library_ns", sum.library_ns / command.steps},
               {"ours_ns", sum.ours_ns / command.steps},
               {"results", Json::array()}};
  for (const JobProduct& product : sum.products)
    json["results"].push_back({{"problem", product.problem},
                               {"calls", product.calls},
                               {"ours_ns", product.ours_ns},
                               {"library_ns", product.library_ns}});
  return PrintJson(json);
}

}  // namespace

Result<int> CompareForJob(const CatalogueCompareCommand& command) {
  ASSIGN_OR_RETURN(const Catalogue catalogue, Catalogue::Read(command.catalogue));
  ASSIGN_OR_RETURN(const std::optional<ProductRecord> record, ReadProductRecord(command.job));
  if (!record) return InvalidArgument(fmt::format("{} is no record of gemmsmith run", command.job.string()));
  const JobSum sum = SumOf(catalogue, *record);
  if (sum.products.empty())
    return NotFound(fmt::format("{} has an entry of no product of {}: gemmsmith optimize {} --promote makes some",
                                command.catalogue.string(), command.job.string(), command.job.string()));
  RETURN_IF_ERROR(WriteOut(command.json ? JsonText(command, sum) : TextOf(command, sum)));
  return kExitDone;
}

}  // namespace gemmsmith
