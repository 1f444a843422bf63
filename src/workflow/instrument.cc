#include "workflow/instrument.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/all_cores.h"
#include "base/files.h"
#include "base/text.h"
#include "gpu/gpu.h"
#include "workflow/recordings.h"

namespace gemmsmith {

namespace {

// Thousands of kernels: a cubin has some 10 to 60 KB.
constexpr size_t kRememberedBytes = size_t{256} << 20;

Result<Instrument> OpenReplay(const std::optional<std::string>& key, std::string reason) {
  Instrument instrument;
  ASSIGN_OR_RETURN(instrument.recording, LoadRecording(key));
  instrument.evaluator = MakeReplayEvaluator(instrument.recording);
  instrument.reason = std::move(reason);
  return instrument;
}

}  // namespace

std::vector<Evaluator*> Instrument::Evaluators() const {
  std::vector<Evaluator*> all = {evaluator.get()};
  for (const std::unique_ptr<Evaluator>& other : others) all.push_back(other.get());
  return all;
}

std::string Instrument::Describe() const {
  if (live()) return evaluator->device().name;
  return fmt::format("recording of an {}, {}", recording->setting().device_name, recording->Date());
}

std::string Instrument::RecordedDate() const { return live() ? "" : recording->Date(); }

Space Instrument::SpaceFor(const Gemm& gemm) const {
  if (live()) return Space(RankedPlans(gemm, evaluator->device(), kLiveSpaceSize));
  return recording->SpaceFor(gemm);
}

bool AsksForAGpu(std::string_view device) { return device == "auto" || device.starts_with("gpu:"); }

Result<std::vector<int>> FindGpus(const std::string& device) {
  ASSIGN_OR_RETURN(const std::vector<GpuIdentity> gpus, ListGpus());
  std::vector<int> ordinals;
  for (const GpuIdentity& gpu : gpus) ordinals.push_back(gpu.ordinal);
  if (ordinals.empty()) return Unavailable("the driver sees no GPU");
  if (device == "all") return ordinals;
  if (device == "auto") return std::vector<int>{ordinals.front()};
  const std::optional<long long> wanted =
      device.starts_with("gpu:") ? ParseInteger(std::string_view(device).substr(4)) : std::nullopt;
  if (!wanted) return InvalidArgument(fmt::format("'{}' names no GPU", device));
  for (const int ordinal : ordinals)
    if (ordinal == *wanted) return std::vector<int>{ordinal};
  return Unavailable(fmt::format("no GPU {} here; this machine has 0 to {}", *wanted, ordinals.size() - 1));
}

Result<int> FindGpu(const std::string& device) {
  ASSIGN_OR_RETURN(const std::vector<int> gpus, FindGpus(device));
  return gpus.front();
}

Status CheckGpuMeasures(const std::string& device) {
  if (AsksForAGpu(device)) return OkStatus();
  return InvalidArgument(fmt::format("a GPU measures: --device auto or gpu:N, not {}", device));
}

Result<Instrument> OpenLiveInstrument(int gpu) {
  Instrument instrument;
  ASSIGN_OR_RETURN(instrument.compiler, OpenCompiler());
  ASSIGN_OR_RETURN(instrument.evaluator, MakeIsolatedEvaluator({.gpu_ordinal = gpu}));
  return instrument;
}

Result<Instrument> OpenGpus(const std::string& device) {
  if (device != "all") RETURN_IF_ERROR(CheckGpuMeasures(device));
  ASSIGN_OR_RETURN(const std::vector<int> gpus, FindGpus(device));
  ASSIGN_OR_RETURN(Instrument instrument, OpenLiveInstrument(gpus.front()));
  const Device& first = instrument.evaluator->device();
  for (const int gpu : std::span(gpus).subspan(1)) {
    ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> evaluator, MakeIsolatedEvaluator({.gpu_ordinal = gpu}));
    if (evaluator->device().key != first.key)
      return Unavailable(fmt::format(
          "GPU {} is an {}, GPU {} an {}: name one by --device gpu:N, or hide the others with CUDA_VISIBLE_DEVICES",
          gpus.front(), first.name, gpu, evaluator->device().name));
    instrument.others.push_back(std::move(evaluator));
  }
  return instrument;
}

Result<Instrument> OpenInstrument(const std::string& device) {
  if (!AsksForAGpu(device)) return OpenReplay(device, "");
  const Result<int> gpu = FindGpu(device);
  if (gpu.ok()) return OpenLiveInstrument(*gpu);
  if (device != "auto") return gpu.status();
  return OpenReplay(std::nullopt, gpu.status().message());
}

Result<std::unique_ptr<Compiler>> OpenCompiler() {
  Result<std::unique_ptr<Compiler>> compiler = MakeNvrtcCompiler();
  if (compiler.ok()) {
    compiler = MakeCompilerProcesses(*std::move(compiler), {"/proc/self/exe", "compiler"}, CoreCount());
  } else {
    // A user without either should read about NVRTC, the usual one.
    Result<std::unique_ptr<Compiler>> nvcc = MakeNvccCompiler();
    if (!nvcc.ok()) return compiler.status();
    compiler = std::move(nvcc);
  }
  return MakeRememberingCompiler(MakeCachedCompiler(*std::move(compiler), HomeFolder() / "compiled"), kRememberedBytes);
}

Result<std::unique_ptr<SourceCompiler>> OpenSourceCompiler() {
  ASSIGN_OR_RETURN(std::unique_ptr<SourceCompiler> compiler, MakeSourceCompiler());
  return MakeCachedSourceCompiler(std::move(compiler), HomeFolder() / "compiled");
}

Status OpenSources(Instrument& instrument) {
  ASSIGN_OR_RETURN(instrument.source_compiler, OpenSourceCompiler());
  return OkStatus();
}

std::filesystem::path DefaultArchivePath() { return HomeFolder() / "archive.sqlite"; }

Result<std::unique_ptr<Archive>> OpenArchive(const std::filesystem::path& path_or_empty) {
  return Archive::Open(path_or_empty.empty() ? DefaultArchivePath() : path_or_empty);
}

Result<std::unique_ptr<Archive>> OpenArchiveToRead(const std::filesystem::path& path_or_empty) {
  Result<std::unique_ptr<Archive>> archive =
      Archive::OpenToRead(path_or_empty.empty() ? DefaultArchivePath() : path_or_empty);
  if (archive.status().code() != StatusCode::kNotFound) return archive;
  return NotFound(
      fmt::format("{}; 'gemmsmith optimize' and 'gemmsmith records import' make one", archive.status().message()));
}

}  // namespace gemmsmith
