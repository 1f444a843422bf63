#include <filesystem>

#include "cli/exit.h"
#include "cli/run.h"
#include "cli/written_kernels_text.h"

namespace gemmsmith {

namespace {

// A folder of corpus judge, or its judged.jsonl under any name.
Result<NamedKernels> ReadNamed(const std::filesystem::path& path) {
  std::error_code none;
  const bool is_folder = std::filesystem::is_directory(path, none);
  ASSIGN_OR_RETURN(std::vector<JudgedKernel> kernels, ReadJudgedKernels(is_folder ? path / "judged.jsonl" : path));
  return NamedKernels{is_folder ? path.filename().string() : path.stem().string(), std::move(kernels)};
}

}  // namespace

Result<int> Run(const CorpusCompareCommand& command) {
  std::vector<NamedKernels> all;
  for (const std::filesystem::path& path : command.judged) {
    ASSIGN_OR_RETURN(all.emplace_back(), ReadNamed(path));
  }
  std::vector<KernelRatio> ratios;
  for (size_t i = 0; all.size() > 1 && i < all.size(); ++i) {
    Result<KernelRatio> ratio = CompareKernels(all[i].kernels, all.front().kernels);
    if (!ratio.ok())
      return WithContext(ratio.status(), command.judged[i].string() + " and " + command.judged.front().string());
    ratios.push_back(*ratio);
  }
  RETURN_IF_ERROR(WriteOut(WrittenKernelsText(all, ratios)));
  return kExitDone;
}

}  // namespace gemmsmith
