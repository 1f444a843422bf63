#include "llm/judged_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"

namespace gemmsmith {

namespace {

// The winners of a problem, and which of the sources each one has.
struct FinalHeat {
  WrittenTexts texts;
  std::vector<JudgedKernel*> winners;
  std::vector<size_t> source_of;

  void Add(JudgedKernel& winner, const std::string& source) {
    const auto found = std::ranges::find(texts.sources, source);
    source_of.push_back(size_t(found - texts.sources.begin()));
    if (found == texts.sources.end()) texts.sources.push_back(source);
    winners.push_back(&winner);
  }
};

std::vector<FinalHeat> FinalHeatsOf(std::span<JudgedFolder> folders) {
  std::map<Gemm, FinalHeat> by_problem;
  for (JudgedFolder& folder : folders) {
    for (JudgedKernel& kernel : folder.kernels) kernel.final_speed_up.reset();
    for (const auto& [gemm, fastest] : FastestKernels(folder.kernels))
      by_problem[gemm].Add(folder.kernels[fastest], folder.samples[fastest].source);
  }
  std::vector<FinalHeat> heats;
  for (auto& [gemm, heat] : by_problem) {
    heat.texts.gemm = gemm;
    heats.push_back(std::move(heat));
  }
  return heats;
}

}  // namespace

Result<JudgedFolder> ReadJudgedFolder(const std::filesystem::path& folder) {
  JudgedFolder read{.judged = folder / "judged.jsonl"};
  ASSIGN_OR_RETURN(read.samples, ReadSamples(folder));
  ASSIGN_OR_RETURN(read.kernels, ReadJudgedKernels(read.judged));
  const auto same_problem = [](const TextSample& sample, const JudgedKernel& kernel) {
    return sample.gemm == kernel.gemm;
  };
  if (!std::ranges::equal(read.samples, read.kernels, same_problem))
    return InvalidArgument(fmt::format("{} is not of the {} beside it: judge the folder again", read.judged.string(),
                                       Plural(int64_t(read.samples.size()), "kernel")));
  return read;
}

Status RaceWinners(std::span<JudgedFolder> folders, TextJudge& judge) {
  const std::vector<FinalHeat> heats = FinalHeatsOf(folders);
  std::vector<WrittenTexts> texts;
  for (const FinalHeat& heat : heats) texts.push_back(heat.texts);
  ASSIGN_OR_RETURN(const std::vector<std::vector<JudgedText>> judged, judge.Judge(texts));
  for (size_t i = 0; i < heats.size(); ++i)
    for (size_t j = 0; j < heats[i].winners.size() && !judged[i].empty(); ++j)
      heats[i].winners[j]->final_speed_up = judged[i][heats[i].source_of[j]].speed_up;
  return OkStatus();
}

}  // namespace gemmsmith
