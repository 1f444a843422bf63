// Checks of a candidate that need no GPU.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/unpredictable.h"
#include "compile/recording.h"
#include "compile/screening.h"
#include "evaluate/evaluator.h"
#include "program/emit.h"
#include "program/free_form.h"
#include "program/legality.h"

namespace gemmsmith {

namespace {

// The first line of a compiler's log that says what is wrong.
std::string FirstError(const std::string& log) {
  std::string_view first;
  for (std::string_view line : Split(log, '\n')) {
    if (line.find("error") != std::string_view::npos) return WithoutControls(line);
    if (first.empty()) first = line;
  }
  return first.empty() ? "the compiler gave no reason" : WithoutControls(first);
}

// Registers are handed out to warps in units of 256.
int RegistersOfBlock(int registers_per_thread, const Dim3& block) {
  const int warps = int((block.x * block.y * block.z + 31) / 32);
  return warps * ((registers_per_thread * 32 + 255) / 256 * 256);
}

std::string ResourceExcess(const CodeFacts& facts, const Launch& launch, const Device& device) {
  const uint32_t threads = launch.block.x * launch.block.y * launch.block.z;
  if (threads > uint32_t(device.max_threads_per_block))
    return fmt::format("{} threads a block, the device allows {}", threads, device.max_threads_per_block);
  if (const int registers = RegistersOfBlock(facts.registers, launch.block); registers > device.registers_per_block)
    return fmt::format("{} registers a thread make {} a block, the device has {}", facts.registers, registers,
                       device.registers_per_block);
  if (const int64_t smem = int64_t(facts.static_smem_bytes) + launch.smem_bytes; smem > device.smem_bytes_per_block)
    return fmt::format("{} bytes of shared memory ({} of them dynamic), the device allows {}", smem, launch.smem_bytes,
                       device.smem_bytes_per_block);
  if (facts.local_bytes > 0 || facts.local_memory_instructions > 0)
    return fmt::format(
        "{} bytes of local memory a thread, {} instructions that use it (spilled registers or indexed arrays)",
        facts.local_bytes, facts.local_memory_instructions);
  return "";
}

std::string NarrowAccumulation(const CodeFacts& facts, const Gemm& gemm) {
  const int narrow = facts.mma_f16 + facts.wgmma_f16;
  if (gemm.kind.accumulation == Accumulation::kF16 || narrow == 0) return "";
  return fmt::format("{} matrix instructions accumulate in f16 where the problem says f32", narrow);
}

// Whether the machine code of a plan accumulates as the problem says.
std::string WrongAccumulation(const CodeFacts& facts, const Gemm& gemm) {
  const int wide = facts.mma_f32 + facts.wgmma_f32, narrow = facts.mma_f16 + facts.wgmma_f16;
  if (gemm.kind.accumulation == Accumulation::kF16)
    return wide + narrow > 0 ? "" : "no matrix instruction in the machine code";
  if (std::string reason = NarrowAccumulation(facts, gemm); !reason.empty()) return reason;
  if (wide == 0) return "no matrix instruction with an f32 accumulator in the machine code";
  return "";
}

void End(PreparedCandidate& candidate, const EvaluationRequest& request, OutcomeKind kind, std::string_view stage,
         std::string reason) {
  Outcome outcome;
  outcome.kind = kind;
  outcome.stage = stage;
  outcome.reason = std::move(reason);
  outcome.protocol = request.protocol;
  outcome.facts = candidate.compilation.binary.facts;
  outcome.compile_seconds = candidate.compilation.seconds;
  candidate.ended = std::move(outcome);
}

}  // namespace

const Plan& EvaluationRequest::plan() const {
  const Plan* const plan = std::get_if<Plan>(&subject);
  GEMMSMITH_CHECK(plan != nullptr, "the plan of a free-form source");
  return *plan;
}

namespace {

Result<PreparedCandidate> PreparePlan(const EvaluationRequest& request, const Device& device, Compiler& compiler) {
  PreparedCandidate candidate;
  if (const std::vector<std::string> reasons = Check(request.plan(), request.gemm, device); !reasons.empty()) {
    End(candidate, request, OutcomeKind::kIllegal, "check", Join(reasons, "; "));
    return candidate;
  }
  ASSIGN_OR_RETURN(candidate.compilation, compiler.Compile(Emit(request.plan(), request.gemm), device.Architecture()));
  if (!candidate.compilation.succeeded) {
    End(candidate, request, OutcomeKind::kCompileFailed, "compile", FirstError(candidate.compilation.log));
    return candidate;
  }
  const CodeFacts& facts = candidate.compilation.binary.facts;
  std::string excess = ResourceExcess(facts, LaunchFor(request.plan(), request.gemm), device);
  std::string wrong = WrongAccumulation(facts, request.gemm);
  if (!excess.empty())
    End(candidate, request, OutcomeKind::kResourceOver, "resources", std::move(excess));
  else if (!wrong.empty())
    End(candidate, request, OutcomeKind::kWrong, "resources", std::move(wrong));
  return candidate;
}

std::string DescriptorProblem(const SourceProgram& program, const GemmKind& kind) {
  const Result<std::string> descriptor = ReadDescriptor(program.bytes);
  return descriptor.ok() ? WhyNotFor(kind, *descriptor) : descriptor.status().message();
}

std::string ScreeningProblem(const SourceProgram& program) {
  std::vector<std::string> reasons;
  for (const std::vector<uint8_t>& cubin : program.cubins)
    for (std::string& reason : ScreenMachineCode(cubin)) reasons.push_back(std::move(reason));
  return Join(reasons, "; ");
}

OutcomeKind KindOf(RecordEnd end) {
  switch (end) {
    case RecordEnd::kTimedOut:
      return OutcomeKind::kTimedOut;
    case RecordEnd::kRefused:
      return OutcomeKind::kCheated;
    default:
      return OutcomeKind::kLaunchFailed;
  }
}

// Records the launches for the problem and for half of each dimension. A source may not support the latter.
Status RecordSource(const EvaluationRequest& request, const Device& device, SourceProgram program,
                    PreparedCandidate& candidate) {
  const Shape& shape = request.gemm.shape;
  const Shape half = {std::max(1, shape.m / 2), std::max(1, shape.n / 2), std::max(1, shape.k / 2)};
  ASSIGN_OR_RETURN(std::vector<LaunchRecord> recordings,
                   RecordLaunches(program, device, std::array{shape, half}, UnpredictableSeed()));
  for (size_t i = 0; i < recordings.size(); ++i) {
    const LaunchRecord& recording = recordings[i];
    const bool is_allowed = i > 0 && recording.end == RecordEnd::kReturnedError;
    if (recording.recipe || is_allowed) continue;
    End(candidate, request, KindOf(recording.end), "recording",
        fmt::format("{} (asked for {})", recording.reason, Print(i == 0 ? shape : half)));
    return OkStatus();
  }
  candidate.source = PreparedSource{std::move(program.cubins), *std::move(recordings[0].recipe), half,
                                    std::move(recordings[1].recipe)};
  return OkStatus();
}

// A source is not trusted: its machine code and its launches are screened. Registers and memory are its own affair.
Result<PreparedCandidate> PrepareFreeForm(const EvaluationRequest& request, const FreeForm& source,
                                          const Device& device, SourceCompiler& sources) {
  PreparedCandidate candidate;
  if (std::string reason = WhyNotFreeForm(source.text); !reason.empty()) {
    End(candidate, request, OutcomeKind::kIllegal, "check", std::move(reason));
    return candidate;
  }
  ASSIGN_OR_RETURN(SourceCompilation built, sources.Compile(source.text, device.Architecture()));
  candidate.compilation.log = std::move(built.log);
  candidate.compilation.seconds = built.seconds;
  candidate.compilation.from_cache = built.from_cache;
  if (!built.program) {
    End(candidate, request, OutcomeKind::kCompileFailed, "compile", FirstError(candidate.compilation.log));
    return candidate;
  }
  candidate.compilation.succeeded = true;
  candidate.compilation.binary.facts = built.program->facts;
  if (std::string illegal = DescriptorProblem(*built.program, request.gemm.kind); !illegal.empty())
    End(candidate, request, OutcomeKind::kIllegal, "check", std::move(illegal));
  else if (std::string refusals = ScreeningProblem(*built.program); !refusals.empty())
    End(candidate, request, OutcomeKind::kCheated, "screening", std::move(refusals));
  else if (std::string narrow = NarrowAccumulation(built.program->facts, request.gemm); !narrow.empty())
    End(candidate, request, OutcomeKind::kWrong, "resources", std::move(narrow));
  else
    RETURN_IF_ERROR(RecordSource(request, device, *std::move(built.program), candidate));
  return candidate;
}

}  // namespace

Result<PreparedCandidate> Prepare(const EvaluationRequest& request, const Device& device, Compiler& compiler,
                                  SourceCompiler* sources) {
  const FreeForm* const source = std::get_if<FreeForm>(&request.subject);
  if (source == nullptr) return PreparePlan(request, device, compiler);
  if (sources == nullptr)
    return Unavailable(fmt::format("{} is a free-form source, and nothing here builds those", source->name));
  return PrepareFreeForm(request, *source, device, *sources);
}

}  // namespace gemmsmith
