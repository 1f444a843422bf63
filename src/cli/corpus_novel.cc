#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <mutex>

#include "base/all_cores.h"
#include "cli/exit.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "corpus/plan_kernels.h"
#include "corpus/plan_samples.h"
#include "llm/judged_folder.h"

namespace gemmsmith {

namespace {

// The right kernels of a problem in all folders.
struct RightKernels {
  Gemm gemm;
  std::vector<JudgedKernel*> kernels;
  std::vector<std::string> sources;
};

std::vector<RightKernels> RightKernelsIn(std::vector<JudgedFolder>& folders) {
  std::map<Gemm, RightKernels> by_problem;
  for (JudgedFolder& folder : folders)
    for (size_t i = 0; i < folder.kernels.size(); ++i) {
      if (folder.kernels[i].outcome != OutcomeKind::kMeasured) continue;
      RightKernels& right = by_problem[folder.kernels[i].gemm];
      right.gemm = folder.kernels[i].gemm;
      right.kernels.push_back(&folder.kernels[i]), right.sources.push_back(folder.samples[i].source);
    }
  std::vector<RightKernels> all;
  for (auto& [gemm, right] : by_problem) all.push_back(std::move(right));
  return all;
}

void MarkNovel(const RightKernels& right, const Device& device) {
  const std::vector<bool> are_known = AreKernelsOf(LegalFlatPlans(right.gemm, device), right.gemm, right.sources);
  for (size_t i = 0; i < are_known.size(); ++i) right.kernels[i]->is_novel = !are_known[i];
}

}  // namespace

Result<int> Run(const CorpusNovelCommand& command) {
  std::vector<JudgedFolder> folders;
  for (const std::filesystem::path& folder : command.kernels) {
    ASSIGN_OR_RETURN(folders.emplace_back(), ReadJudgedFolder(folder));
  }
  const std::vector<RightKernels> problems = RightKernelsIn(folders);
  Progress bar("problems", int64_t(problems.size()));
  std::mutex mutex;
  int64_t done = 0;
  ForEachOnAllCores(problems.size(), [&](size_t i) {
    MarkNovel(problems[i], command.device);
    const std::lock_guard lock(mutex);
    bar.Update(++done, "");
  });
  for (const JudgedFolder& folder : folders) {
    RETURN_IF_ERROR(WriteJudgedKernels(folder.kernels, folder.judged));
    const KernelShares shares = SharesOf(folder.kernels);
    RETURN_IF_ERROR(WriteOut(fmt::format("{} of {} right kernels are novel  {}\n", CountText(int64_t(shares.novel)),
                                         CountText(int64_t(shares.right)), folder.judged.string())));
  }
  return kExitDone;
}

}  // namespace gemmsmith
