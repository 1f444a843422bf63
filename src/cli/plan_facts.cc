#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "archive/json_fields.h"
#include "archive/json_text.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/run.h"
#include "cli/words.h"
#include "program/emit.h"
#include "program/legality.h"
#include "workflow/instrument.h"

namespace gemmsmith {

namespace {

std::string PrintText(const PlanFactsCommand& command, const Compilation& compilation, const Launch& launch) {
  const CodeFacts& facts = compilation.binary.facts;
  std::string text =
      fmt::format("{}\nfor {} on {}\n\n", PrintShort(command.plan), Print(command.gemm), command.device.Architecture());
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<22}{}\n", name, value);
  };
  line("registers", fmt::format("{} a thread", facts.registers));
  line("local memory",
       fmt::format("{} B a thread, {} instructions", facts.local_bytes, facts.local_memory_instructions));
  line("shared memory",
       fmt::format("{} static, {} dynamic", BytesText(facts.static_smem_bytes), BytesText(launch.smem_bytes)));
  line("code", fmt::format("{}, {} instructions", BytesText(facts.code_bytes), CountText(facts.instructions)));
  line("matrix instructions", fmt::format("mma {} f32, {} f16; wgmma {} f32, {} f16", facts.mma_f32, facts.mma_f16,
                                          facts.wgmma_f32, facts.wgmma_f16));
  line("launch",
       fmt::format("grid {}x{}x{}{}, block {}x{}x{}, workspace {}", launch.grid.x, launch.grid.y, launch.grid.z,
                   launch.fills_gpu ? " cut to what the GPU holds at once" : "", launch.block.x, launch.block.y,
                   launch.block.z, BytesText(double(launch.workspace_bytes))));
  return text;
}

std::string JsonText(const PlanFactsCommand& command, const Compilation& compilation, const Launch& launch,
                     const std::string& toolchain) {
  return PrintJson({{"command", "plan facts"},
                    {"plan", Print(command.plan)},
                    {"problem", JsonOf(command.gemm)},
                    {"architecture", command.device.Architecture()},
                    {"toolchain", toolchain},
                    {"facts", JsonFacts(compilation.binary.facts)},
                    {"launch",
                     {{"grid", {launch.grid.x, launch.grid.y, launch.grid.z}},
                      {"fills_gpu", launch.fills_gpu},
                      {"block", {launch.block.x, launch.block.y, launch.block.z}},
                      {"cluster", {launch.cluster.x, launch.cluster.y, launch.cluster.z}},
                      {"smem_bytes", launch.smem_bytes},
                      {"workspace_bytes", launch.workspace_bytes}}}});
}

}  // namespace

Result<int> Run(const PlanFactsCommand& command) {
  if (const std::vector<std::string> reasons = Check(command.plan, command.gemm, command.device); !reasons.empty()) {
    WriteError(fmt::format("the plan is illegal for {}: {}", Print(command.gemm), Join(reasons, "; ")));
    return kExitNoCandidate;
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Compiler> compiler, OpenCompiler());
  ASSIGN_OR_RETURN(const Compilation compilation,
                   compiler->Compile(Emit(command.plan, command.gemm), command.device.Architecture()));
  if (!compilation.succeeded) {
    WriteError(fmt::format("the plan does not compile: {}", compilation.log));
    return kExitNoCandidate;
  }
  const Launch launch = LaunchFor(command.plan, command.gemm);
  RETURN_IF_ERROR(WriteOut(command.json ? JsonText(command, compilation, launch, compiler->Identity())
                                        : PrintText(command, compilation, launch)));
  return kExitDone;
}

}  // namespace gemmsmith
