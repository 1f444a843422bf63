// The source of measurements: GPUs of this machine, or the recording of one.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "archive/archive.h"
#include "archive/replay.h"
#include "compile/compiler.h"
#include "compile/source_program.h"
#include "evaluate/evaluator.h"

namespace gemmsmith {

struct Instrument {
  std::shared_ptr<const Recording> recording;       // null: a GPU of this machine judges
  std::unique_ptr<Compiler> compiler;               // null in replay, which needs no binary
  std::unique_ptr<SourceCompiler> source_compiler;  // null until OpenSources()
  std::unique_ptr<Evaluator> evaluator;
  std::vector<std::unique_ptr<Evaluator>> others;  // one for each further GPU of OpenGpus("all"), all of one model
  std::string reason;                              // why it is a replay, where none was asked for

  bool live() const { return recording == nullptr; }
  std::vector<Evaluator*> Evaluators() const;  // the first and the others
  // "NVIDIA H200" or "recording of an NVIDIA H200, 2026-11-21".
  std::string Describe() const;
  std::string RecordedDate() const;  // of a replay; empty: a GPU measures
  // The plans from which a search may choose.
  Space SpaceFor(const Gemm& gemm) const;
};

// Devices are named "auto", "gpu:N", "all", or by the key of a recorded device.
bool AsksForAGpu(std::string_view device);  // "auto" or "gpu:N"
// "auto": the first GPU, else the first recording.
Result<Instrument> OpenInstrument(const std::string& device);
// The ordinals of "auto", "gpu:N" or "all"; Unavailable where this machine has no such GPU.
Result<std::vector<int>> FindGpus(const std::string& device);
Result<int> FindGpu(const std::string& device);
// InvalidArgument where `device` is a recorded one: for work that makes records.
Status CheckGpuMeasures(const std::string& device);
Result<Instrument> OpenLiveInstrument(int gpu);
// InvalidArgument for recorded devices; Unavailable where there is no such GPU, or where the GPUs are of several
// models.
Result<Instrument> OpenGpus(const std::string& device);

// NVRTC, else nvcc. Keeps compiled kernels under HomeFolder().
Result<std::unique_ptr<Compiler>> OpenCompiler();
// Builds free-form sources: nvcc in a sandbox, which not every machine has.
Result<std::unique_ptr<SourceCompiler>> OpenSourceCompiler();
Status OpenSources(Instrument& instrument);

std::filesystem::path DefaultArchivePath();
Result<std::unique_ptr<Archive>> OpenArchive(const std::filesystem::path& path_or_empty);
// NotFound where there is no archive, with the commands that make one.
Result<std::unique_ptr<Archive>> OpenArchiveToRead(const std::filesystem::path& path_or_empty);

}  // namespace gemmsmith
