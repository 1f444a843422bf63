#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "archive/json_text.h"
#include "base/files.h"
#include "base/installation.h"
#include "base/sandbox.h"
#include "cli/exit.h"
#include "cli/run.h"
#include "cli/terminal.h"
#include "cli/words.h"
#include "compile/source_program.h"
#include "gpu/gpu.h"
#include "profile/counter_reader.h"
#include "program/emit.h"
#include "search/nvmmh.h"
#include "workflow/instrument.h"
#include "workflow/recordings.h"

namespace gemmsmith {

namespace {

enum class State { kGood, kLacking, kUnneeded };
constexpr std::string_view kStateNames[] = {"ok", "lacking", "not needed"};

struct Finding {
  std::string name;
  State state = State::kGood;
  std::string text;  // what there is, or what is wrong and what to do
};

template <class T>
Finding FindingOf(std::string name, const Result<T>& result, const std::string& good,
                  State otherwise = State::kLacking) {
  if (result.ok()) return {std::move(name), State::kGood, good};
  return {std::move(name), otherwise, result.status().message()};
}

void LookAtGpus(std::vector<Finding>& findings) {
  const Result<std::vector<GpuIdentity>> gpus = ListGpus();
  if (!gpus.ok()) {
    findings.push_back({"GPU", State::kLacking, gpus.status().message()});
    return;
  }
  for (const GpuIdentity& gpu : *gpus) {
    const bool direct = gpu.device.compute_capability() >= 80;
    findings.push_back(
        {fmt::format("GPU {}", gpu.ordinal), direct ? State::kGood : State::kLacking,
         fmt::format("{}, {} multiprocessors, {}, compute {}.{}, driver {}{}", gpu.device.name,
                     gpu.device.multiprocessors, BytesText(double(gpu.memory_bytes)), gpu.device.compute_major,
                     gpu.device.compute_minor,
                     gpu.driver_release.empty() ? fmt::format("{}", gpu.driver_version) : gpu.driver_release,
                     direct ? "" : "; every family needs compute 8.0")});
  }
  if (gpus->empty()) findings.push_back({"GPU", State::kLacking, "the driver sees none"});
}

void LookAtToolkit(std::vector<Finding>& findings) {
  for (const char* library : {"libnvrtc.so.13", "libcublas.so.13", "libcublasLt.so.13"}) {
    findings.push_back(FindingOf(library, OpenLibrary(library), "opens"));
  }
  const std::optional<std::filesystem::path> nvcc = FindProgram("nvcc");
  findings.push_back({"nvcc", nvcc ? State::kGood : State::kUnneeded,
                      nvcc ? nvcc->string() : "not found; plans compile without it through libnvrtc"});
}

Finding LookAtSandbox() {
  const Status works = SandboxWorks();
  return {"bubblewrap", works.ok() ? State::kGood : State::kLacking,
          works.ok() ? "makes sandboxes, in which sources that are not ours are built and run" : works.message()};
}

Finding LookAtCutlass() {
  const std::vector<std::filesystem::path> includes = CutlassIncludes();
  return {"CUTLASS", includes.empty() ? State::kUnneeded : State::kGood,
          includes.empty() ? "not found; free-form sources that include it want the Python package nvidia-cutlass, or "
                             "GEMMSMITH_CUTLASS set to its tree"
                           : includes.front().string()};
}

Finding LookAtNvmmh() {
  const Result<std::filesystem::path> library = FindNvmmh();
  return FindingOf("nvMatmulHeuristics", library, library.ok() ? library->string() : "", State::kUnneeded);
}

Finding CompileSomething() {
  const Gemm gemm{.shape = {256, 512, 4096}, .kind = {.layout = kTn}};
  const Device& device = KnownDevices().front();
  const std::vector<Plan> legal = RankedPlans(gemm, device, 1);
  if (legal.empty()) return {"compilation", State::kLacking, fmt::format("no plan is legal for {}", Print(gemm))};
  Result<std::unique_ptr<Compiler>> compiler = MakeNvrtcCompiler();
  if (!compiler.ok()) compiler = MakeNvccCompiler();
  if (!compiler.ok()) return {"compilation", State::kLacking, compiler.status().message()};
  const Result<Compilation> compilation = (*compiler)->Compile(Emit(legal.front(), gemm), device.Architecture());
  if (!compilation.ok()) return {"compilation", State::kLacking, compilation.status().message()};
  if (!compilation->succeeded) return {"compilation", State::kLacking, compilation->log};
  const CodeFacts& facts = compilation->binary.facts;
  return {"compilation", State::kGood,
          fmt::format("a kernel for {} in {:.2f} s, {} matrix instructions; {}", device.Architecture(),
                      compilation->seconds, facts.mma_f32 + facts.wgmma_f32, (*compiler)->Identity())};
}

Finding StartWorker() {
  const Result<int> gpu = FindGpu("auto");
  if (!gpu.ok()) return {"worker", State::kUnneeded, "nothing to do without a GPU"};
  const Result<std::unique_ptr<Evaluator>> evaluator = MakeIsolatedEvaluator({.gpu_ordinal = *gpu});
  return FindingOf("worker", evaluator, "starts, and holds the lock of the GPU while it runs");
}

// Reading counters is no need of anybody's: where nothing can, that is no lack.
Finding LookForCounters() {
  const Result<int> ordinal = FindGpu("auto");
  if (!ordinal.ok()) return {"counters", State::kUnneeded, "there is nothing to count without a GPU"};
  const Result<std::unique_ptr<Gpu>> gpu = Gpu::Open(*ordinal);
  if (!gpu.ok()) return {"counters", State::kUnneeded, gpu.status().message()};
  CounterReader reader(**gpu, {});
  return {"counters", reader.Observer().empty() ? State::kUnneeded : State::kGood, reader.Describe()};
}

Finding LookAtDisk() {
  const std::filesystem::path folder = HomeFolder();
  const std::filesystem::path probe = folder / fmt::format("doctor-{}", getpid());
  if (const Status written = WriteFileAtomic(probe, "probe"); !written.ok()) {
    return {"disk", State::kLacking, written.message() + "; set GEMMSMITH_HOME to a folder that can be written"};
  }
  std::error_code error;
  std::filesystem::remove(probe, error);
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  if (error) return {"disk", State::kLacking, fmt::format("{}: {}", folder.string(), error.message())};
  constexpr double kEnoughBytes = 1 << 30;
  return {"disk", double(space.available) < kEnoughBytes ? State::kLacking : State::kGood,
          fmt::format("{}, {} free", folder.string(), BytesText(double(space.available)))};
}

Finding LookAtArchive(const std::filesystem::path& given) {
  const std::filesystem::path path = given.empty() ? DefaultArchivePath() : given;
  const Result<bool> exists = Exists(path);
  if (!exists.ok()) return {"archive", State::kLacking, exists.status().message()};
  if (!*exists) return {"archive", State::kGood, fmt::format("{}, none yet", path.string())};
  const Result<std::unique_ptr<Archive>> archive = Archive::OpenToRead(path);
  if (!archive.ok()) return {"archive", State::kLacking, archive.status().message()};
  const Result<ArchiveStats> stats = (*archive)->Stats();
  return FindingOf("archive", stats,
                   stats.ok() ? fmt::format("{}, {}", path.string(), Plural(stats->trials, "trial")) : "");
}

void LookAtRecordings(std::vector<Finding>& findings) {
  const std::vector<RecordingPlace> places = FindReplayable();
  if (places.empty())
    findings.push_back({"recording", State::kLacking, LoadRecording(std::nullopt).status().message()});
  for (const RecordingPlace& place : places) {
    const Result<std::shared_ptr<const Recording>> recording = LoadRecording(place.key);
    findings.push_back(FindingOf(
        "recording", recording,
        recording.ok() ? fmt::format("{} of {}, {} problems, {}", (*recording)->setting().device_name,
                                     (*recording)->Date(), (*recording)->Problems().size(), place.path.string())
                       : ""));
  }
}

bool Has(const std::vector<Finding>& findings, std::string_view name) {
  for (const Finding& finding : findings) {
    if (finding.name.starts_with(name) && finding.state == State::kGood) return true;
  }
  return false;
}

// What optimize can do here, in the words of its user.
std::string Prospect(const std::vector<Finding>& findings) {
  const bool toolkit = Has(findings, "libcublasLt") && Has(findings, "compilation");
  if (Has(findings, "GPU") && toolkit) return "optimize measures on this machine";
  if (Has(findings, "recording")) return "optimize answers from recorded measurements";
  return "";
}

std::string PrintText(const std::vector<Finding>& findings, const std::string& prospect, const Terminal& terminal) {
  constexpr Tint kTints[] = {Tint::kGreen, Tint::kYellow, Tint::kDim};
  std::string text;
  for (const Finding& finding : findings) {
    const std::string state = fmt::format("{:<10}", kStateNames[int(finding.state)]);
    text += fmt::format("{}  {:<18}  {}\n", Tinted(state, kTints[int(finding.state)], terminal), finding.name,
                        finding.text);
  }
  return text + "\n" + (prospect.empty() ? "optimize can do nothing here yet" : prospect) + "\n";
}

std::string JsonText(const std::vector<Finding>& findings, const std::string& prospect) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"name", finding.name}, {"state", kStateNames[int(finding.state)]}, {"text", finding.text}});
  }
  return PrintJson({{"command", "doctor"}, {"findings", list}, {"prospect", prospect}});
}

}  // namespace

Result<int> Run(const DoctorCommand& command) {
  std::vector<Finding> findings;
  LookAtGpus(findings);
  LookAtToolkit(findings);
  findings.push_back(LookAtSandbox());
  findings.push_back(LookAtCutlass());
  findings.push_back(LookAtNvmmh());
  findings.push_back(CompileSomething());
  findings.push_back(StartWorker());
  findings.push_back(LookForCounters());
  findings.push_back(LookAtDisk());
  findings.push_back(LookAtArchive(command.archive));
  LookAtRecordings(findings);
  const std::string prospect = Prospect(findings);
  RETURN_IF_ERROR(WriteOut(command.json ? JsonText(findings, prospect)
                                        : PrintText(findings, prospect, DescribeTerminal(STDOUT_FILENO))));
  return prospect.empty() ? kExitLacking : kExitDone;
}

}  // namespace gemmsmith
