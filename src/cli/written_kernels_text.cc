#include "cli/written_kernels_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "cli/table.h"

namespace gemmsmith {

namespace {

std::string Share(size_t part, size_t all) { return fmt::format("{:.1f} %", 100.0 * double(part) / double(all)); }

std::string With(double value, const Interval& interval) {
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", value, interval.low, interval.high);
}

std::string WinnersText(std::span<const JudgedKernel> kernels) {
  const std::optional<FinalSpeedUp> speed_up = FinalSpeedUpOf(kernels);
  return speed_up ? fmt::format("{}; {}", With(speed_up->mean, speed_up->interval), speed_up->problems) : "";
}

std::string SharesTable(std::span<const NamedKernels> all) {
  constexpr auto kRight = Table::Align::kRight;
  Table table({{""},
               {"kernels", kRight},
               {"end", kRight},
               {"compile", kRight},
               {"right", kRight},
               {"cheats", kRight},
               {"novel", kRight},
               {"winners", kRight}});
  for (const auto& [name, kernels] : all) {
    const KernelShares shares = SharesOf(kernels);
    table.Add({name, CountText(int64_t(shares.all)), Share(shares.finished, shares.all),
               Share(shares.compiled, shares.all), Share(shares.right, shares.all), Share(shares.cheats, shares.all),
               shares.looked_up == 0 ? "" : Share(shares.novel, shares.looked_up), WinnersText(kernels)});
  }
  return table.Print({});
}

std::string SpeedTable(std::span<const NamedKernels> all, std::span<const KernelRatio> ratios) {
  constexpr auto kRight = Table::Align::kRight;
  Table table({{""}, {"best of", kRight}, {"mean speed-up", kRight}, {ratios.empty() ? "" : "over the first", kRight}});
  for (size_t i = 0; i < all.size(); ++i) {
    for (const BestOf& best : BestOfKernels(all[i].kernels)) {
      const bool is_first = best.draws == 1;
      table.Add({is_first ? all[i].name : "", CountText(int64_t(best.draws)), With(best.mean, best.interval),
                 is_first && !ratios.empty() ? With(ratios[i].ratio, ratios[i].interval) : ""});
    }
  }
  return table.Print({});
}

}  // namespace

std::string WrittenKernelsText(std::span<const NamedKernels> all, std::span<const KernelRatio> ratios) {
  std::set<Gemm> problems;
  for (const JudgedKernel& kernel : all.front().kernels) problems.insert(kernel.gemm);
  return fmt::format(
      "{}\n{}  over cuBLASLt AutoTuning, {}; 0 where no kernel is right; intervals of 95 %, from problems drawn "
      "again\n",
      SharesTable(all), SpeedTable(all, ratios), Plural(int64_t(problems.size()), "problem"));
}

}  // namespace gemmsmith
