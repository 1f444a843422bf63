#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "base/files.h"
#include "base/statistics.h"
#include "catalogue/catalogue.h"
#include "certify/certificate_journal.h"
#include "cli/catalogue_job.h"
#include "cli/exit.h"
#include "cli/promotion_text.h"
#include "cli/run.h"
#include "cli/selected_trials.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/words.h"
#include "problem/grids.h"
#include "ship/proofs.h"
#include "ship/recorded_races.h"
#include "ship/remeasured.h"

namespace gemmsmith {

namespace {

std::string TimesText(const Entry& entry) {
  std::string text;
  for (const ModeTime& time : entry.times)
    text += fmt::format("  {:<14}  {}, {:.3f}x AutoTuning [{:.3f} to {:.3f}]\n", time.mode, TimeText(time.ns),
                        time.speed_up, time.speed_up_interval.low, time.speed_up_interval.high);
  return text;
}

Json JsonOf(const Entry& entry) {
  Json json = {{"problem", Print(entry.gemm)}, {"plan", Print(entry.plan)}, {"proof", Name(entry.proof)},
               {"date", entry.date},           {"harness", entry.harness},  {"modes", Json::object()}};
  for (const ModeTime& time : entry.times)
    json["modes"][time.mode] = {{"ns", time.ns},
                                {"low_ns", time.interval.low},
                                {"high_ns", time.interval.high},
                                {"speed_up", time.speed_up},
                                {"speed_up_low", time.speed_up_interval.low},
                                {"speed_up_high", time.speed_up_interval.high}};
  return json;
}

struct ClassSum {
  int entries = 0, faster = 0, certified = 0, memchecked = 0;
  double logs = 0;
};

// "mid tn" of "f16, f32 sums".
using NumberTypesAndClass = std::pair<std::string, std::string>;
NumberTypesAndClass ClassOf(const Gemm& gemm) {
  const std::optional<ShapeClass> shape_class = ClassOnGrid(gemm.shape);
  return {fmt::format("{}, {} sums{}", Name(gemm.kind.type), Name(gemm.kind.accumulation),
                      gemm.kind.constant_b ? ", constant B" : ""),
          fmt::format("{} {}", shape_class ? Name(*shape_class) : "off the grid", Name(gemm.kind.layout))};
}

std::string TextOf(const CatalogueShowCommand& command, const Catalogue& catalogue) {
  std::map<NumberTypesAndClass, ClassSum> classes;
  std::map<Proof, int> proofs;
  for (const auto& [gemm, entry] : catalogue.entries()) {
    ClassSum& sum = classes[ClassOf(gemm)];
    ++sum.entries, ++proofs[entry.proof];
    sum.certified += entry.proof >= Proof::kCertified, sum.memchecked += entry.proof == Proof::kMemchecked;
    sum.logs += std::log(entry.Deciding().speed_up);
    sum.faster += entry.Deciding().speed_up > 1;
  }
  std::string text = fmt::format("{}: kernels for {} on {}\n", command.catalogue.string(),
                                 Plural(int64_t(catalogue.entries().size()), "problem"), catalogue.device_key());
  for (const auto& [proof, count] : proofs) text += fmt::format("  {} {}\n", CountText(count), Name(proof));
  text += "\nOver AutoTuning: on the first clock of each entry (constant B: in chains), geometric mean.\n\n";
  Table table({{"numbers"},
               {"class, layout"},
               {"problems", Table::Align::kRight},
               {"over AutoTuning", Table::Align::kRight},
               {"faster", Table::Align::kRight},
               {"certified", Table::Align::kRight},
               {"memchecked", Table::Align::kRight}});
  for (const auto& [name, sum] : classes)
    table.Add({name.first, name.second, CountText(sum.entries),
               fmt::format("{:.3f}x", std::exp(sum.logs / sum.entries)), CountText(sum.faster),
               CountText(sum.certified), CountText(sum.memchecked)});
  return text + table.Print(DescribeTerminal(STDOUT_FILENO));
}

// Of one mode: what times and speed-ups over AutoTuning are now, over what they were.
struct AgreementOfMode {
  std::vector<double> times, speed_ups;
  explicit AgreementOfMode(const std::vector<Remeasured::Ratios>& entries) {
    for (const Remeasured::Ratios& entry : entries) {
      times.push_back(entry.time);
      speed_ups.push_back(entry.speed_up);
    }
  }
};

Json JsonOf(const std::vector<double>& ratios) {
  return {{"geomean", GeometricMean(ratios)},
          {"median", Median(ratios)},
          {"min", Quantile(ratios, 0)},
          {"max", Quantile(ratios, 1)}};
}

std::string JsonText(const CatalogueCompareCommand& command, const std::string& source, const Remeasured& remeasured) {
  Json json = {{"command", "catalogue compare"},
               {"catalogue", command.catalogue.string()},
               {"source", source},
               {"entries", remeasured.entries},
               {"failures", Json::array()},
               {"modes", Json::object()}};
  for (const auto& [gemm, reason] : remeasured.failures)
    json["failures"].push_back({{"problem", Print(gemm)}, {"reason", reason}});
  for (const auto& [mode, entries] : remeasured.by_mode) {
    const AgreementOfMode agreement(entries);
    json["modes"][mode] = {
        {"entries", entries.size()}, {"time", JsonOf(agreement.times)}, {"speed_up", JsonOf(agreement.speed_ups)}};
  }
  return PrintJson(json);
}

std::string TextOf(const CatalogueCompareCommand& command, const Catalogue& catalogue, const std::string& source,
                   const Remeasured& remeasured) {
  std::string text =
      fmt::format("{}: {} of {} entries measured again in {}, {} did not pass\n", command.catalogue.string(),
                  CountText(int64_t(remeasured.entries)), CountText(int64_t(catalogue.entries().size())), source,
                  CountText(int64_t(remeasured.failures.size())));
  for (const auto& [gemm, reason] : remeasured.failures) text += fmt::format("  {}: {}\n", Print(gemm), reason);
  if (remeasured.by_mode.empty()) return text;
  Table table({{"mode"},
               {"entries", Table::Align::kRight},
               {"time, now / then", Table::Align::kRight},
               {"lowest", Table::Align::kRight},
               {"highest", Table::Align::kRight},
               {"speed-up, now / then", Table::Align::kRight},
               {"lowest", Table::Align::kRight},
               {"highest", Table::Align::kRight}});
  const auto ratio = [](double value) { return fmt::format("{:.3f}", value); };
  for (const auto& [mode, entries] : remeasured.by_mode) {
    const AgreementOfMode agreement(entries);
    std::vector<std::string> row = {mode, CountText(entries.size())};
    for (const std::vector<double>& ratios : {agreement.times, agreement.speed_ups})
      for (const double value : {GeometricMean(ratios), Quantile(ratios, 0), Quantile(ratios, 1)})
        row.push_back(ratio(value));
    table.Add(std::move(row));
  }
  return text + "\n" + table.Print(DescribeTerminal(STDOUT_FILENO));
}

}  // namespace

Result<int> Run(const CatalogueShowCommand& command) {
  ASSIGN_OR_RETURN(const Catalogue catalogue, Catalogue::Read(command.catalogue));
  if (!command.json) {
    RETURN_IF_ERROR(WriteOut(TextOf(command, catalogue)));
    return kExitDone;
  }
  Json json = {{"command", "catalogue show"},
               {"catalogue", command.catalogue.string()},
               {"device", catalogue.device_key()},
               {"entries", Json::array()}};
  for (const auto& [gemm, entry] : catalogue.entries()) json["entries"].push_back(JsonOf(entry));
  RETURN_IF_ERROR(WriteOut(PrintJson(json)));
  return kExitDone;
}

// What a program would be given for the problem, and why.
Result<int> Run(const CatalogueFindCommand& command) {
  const Gemm& gemm = command.gemm;
  ASSIGN_OR_RETURN(const Catalogue catalogue, Catalogue::Read(command.catalogue));
  ASSIGN_OR_RETURN(const Device device, FindDevice(catalogue.device_key()));
  const Entry* const own = catalogue.Find(gemm);
  const Entry* const entry = own != nullptr ? own : catalogue.Nearest(gemm, device);
  if (entry == nullptr)
    return NotFound(fmt::format("{} has no kernel for {}", command.catalogue.string(), Print(gemm)));
  const std::string_view why = own != nullptr ? "its own entry" : "the nearest entry whose plan runs it";
  if (command.json) {
    Json json = {{"command", "catalogue find"}, {"asked", Print(gemm)}, {"own", own != nullptr}};
    json.update(JsonOf(*entry));
    RETURN_IF_ERROR(WriteOut(PrintJson(json)));
    return kExitDone;
  }
  RETURN_IF_ERROR(WriteOut(
      fmt::format("{}: {}\n  problem         {}\n  plan            {}\n  proof           {}, {}\n{}", Print(gemm), why,
                  Print(entry->gemm), PrintShort(entry->plan), Name(entry->proof), entry->date, TimesText(*entry))));
  return kExitDone;
}

Result<int> Run(const CatalogueCompareCommand& command) {
  if (!command.job.empty()) return CompareForJob(command);
  ASSIGN_OR_RETURN(const Catalogue catalogue, Catalogue::Read(command.catalogue));
  ASSIGN_OR_RETURN(const SelectedTrials selected, SelectTrials(command.selection, false));
  const Remeasured remeasured = Remeasure(catalogue, selected.trials);
  if (remeasured.entries == 0)
    return NotFound(fmt::format("{} holds no race of an entry of {} on {}; bench with plans:FILE makes some",
                                selected.source, command.catalogue.string(), catalogue.device_key()));
  RETURN_IF_ERROR(WriteOut(command.json ? JsonText(command, selected.source, remeasured)
                                        : TextOf(command, catalogue, selected.source, remeasured)));
  return remeasured.failures.empty() ? kExitDone : kExitNoCandidate;
}

Result<int> Run(const CatalogueSettleCommand& command) {
  ASSIGN_OR_RETURN(const SelectedTrials selected, SelectTrials(command.selection, false));
  ASSIGN_OR_RETURN(const std::unique_ptr<CatalogueOnDisk> catalogue, CatalogueOnDisk::OpenExisting(command.catalogue));
  ASSIGN_OR_RETURN(const RecordedDecisions decisions, DecideByRecords(*catalogue, selected.trials));
  if (decisions.races == 0)
    return NotFound(fmt::format("{} holds no race of the short or long protocol on {}{}", selected.source,
                                catalogue->device_key(),
                                selected.replayed > 0 ? ", and what a replay answered is none" : ""));
  RETURN_IF_ERROR(WriteOut(PrintDecisions(decisions, catalogue->size(), command.catalogue, command.json)));
  return kExitDone;
}

Result<int> Run(const CatalogueProveCommand& command) {
  std::vector<Certificate> certificates;
  for (const std::filesystem::path& path : command.journals) {
    ASSIGN_OR_RETURN(const bool is_there, Exists(path));
    if (!is_there) return NotFound(fmt::format("{} does not exist", path.string()));
    ASSIGN_OR_RETURN(const CertificateJournal journal, CertificateJournal::Open(path));
    certificates.insert(certificates.end(), journal.certificates().begin(), journal.certificates().end());
  }
  ASSIGN_OR_RETURN(const ProofChanges changes, ApplyCertificates(command.catalogue, certificates));
  const Json json = {{"command", "catalogue prove"},        {"catalogue", command.catalogue.string()},
                     {"certificates", certificates.size()}, {"raised", changes.raised},
                     {"lowered", changes.lowered},          {"withdrawn", changes.withdrawn}};
  RETURN_IF_ERROR(WriteOut(command.json ? PrintJson(json)
                                        : fmt::format("{}: {}, by {}\n", command.catalogue.string(), Print(changes),
                                                      Plural(int64_t(certificates.size()), "certificate"))));
  return kExitDone;
}

}  // namespace gemmsmith
