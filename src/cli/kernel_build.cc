#include "cli/kernel_build.h"

#include <fmt/format.h>

#include "base/files.h"
#include "base/interrupt.h"
#include "cli/exit.h"
#include "cli/outputs.h"
#include "cli/plan_lines.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "cli/words.h"
#include "ship/build_kernels.h"
#include "workflow/instrument.h"

namespace gemmsmith {

Result<std::string> BuildKernelFile(const std::filesystem::path& catalogue_path, const std::filesystem::path& output,
                                    std::vector<Plan> general) {
  ASSIGN_OR_RETURN(const Catalogue catalogue, Catalogue::Read(catalogue_path));
  ASSIGN_OR_RETURN(const std::unique_ptr<Compiler> compiler, OpenCompiler());
  Progress progress("compiling kernels", std::nullopt);
  const BuildKernelsOptions options{
      .general = std::move(general),
      .on_progress = [&](size_t done, size_t all) { progress.Update(int64_t(done), fmt::format("of {}", all)); },
      .stop = InterruptArrived};
  ASSIGN_OR_RETURN(const KernelFile file, BuildKernels(catalogue, *compiler, options));
  RETURN_IF_ERROR(WriteFileAtomic(output, file.Print()));
  const std::string others =
      file.general().empty() ? "" : fmt::format(" and any other by {}", Plural(int64_t(file.general().size()), "plan"));
  return fmt::format("{} for {}{} in {}", Plural(int64_t(file.kernels().size()), "kernel"),
                     Plural(int64_t(file.problems().size()), "problem"), others, output.string());
}

Result<int> Run(const CatalogueBuildCommand& command) {
  RETURN_IF_ERROR(CheckOutput(command.output));
  WatchForInterrupts();
  std::vector<Plan> general;
  if (!command.general.empty()) {
    ASSIGN_OR_RETURN(general, ReadPlansOfAll(command.general));
  }
  ASSIGN_OR_RETURN(const std::string built, BuildKernelFile(command.catalogue, command.output, std::move(general)));
  RETURN_IF_ERROR(WriteOut(built + "\n"));
  return kExitDone;
}

}  // namespace gemmsmith
