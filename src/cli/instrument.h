// Where judgements come from: a GPU of this machine, or the recording of one.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "archive/archive.h"
#include "archive/replay.h"
#include "compile/compiler.h"
#include "compile/shared_object.h"
#include "evaluate/evaluator.h"

namespace gemmsmith {

struct Instrument {
  std::shared_ptr<const Recording> recording;  // null: a GPU of this machine judges
  std::unique_ptr<Compiler> compiler;          // null in replay, which needs no binary
  std::unique_ptr<ObjectCompiler> objects;     // null until OpenObjects()
  std::unique_ptr<Evaluator> evaluator;
  std::vector<std::unique_ptr<Evaluator>> others;  // of OpenGpus("all"): one for each further GPU, all of one model
  std::string reason;                              // why it is a replay, where the user did not ask for one

  bool live() const { return recording == nullptr; }
  std::vector<Evaluator*> Evaluators() const;  // all of them
  // "NVIDIA H200" or "recording of an NVIDIA H200, 2026-11-21".
  std::string Describe() const;
  // The plans a search may choose from for this problem.
  Space SpaceFor(const Gemm& gemm) const;
};

// "auto": the first GPU, else the first recording; "gpu:N"; or the key of a recorded device.
Result<Instrument> OpenInstrument(const std::string& device);
// Which GPU of this machine "auto" or "gpu:N" means; Unavailable where there is none.
Result<int> FindGpu(const std::string& device);
Result<std::vector<int>> FindGpus(const std::string& device);  // or "all"
// InvalidArgument where `device` is a recorded one: for verbs that make records.
Status CheckGpuMeasures(const std::string& device);
Result<Instrument> OpenLiveInstrument(int gpu);
// "all" GPUs of this machine, "auto" or "gpu:N"; InvalidArgument for other names, Unavailable where there is none, or
// where all are not of one model.
Result<Instrument> OpenGpus(const std::string& device);

// NVRTC, else nvcc; what was compiled once is kept under HomeFolder().
Result<std::unique_ptr<Compiler>> OpenCompiler();

// What builds free-form sources: nvcc in a sandbox. Only where such a source is judged, since not every machine has
// both.
Result<std::unique_ptr<ObjectCompiler>> OpenObjectCompiler();
Status OpenObjects(Instrument& instrument);

std::filesystem::path DefaultArchivePath();
Result<std::unique_ptr<Archive>> OpenArchive(const std::filesystem::path& path_or_empty);
// NotFound where there is none, with what makes one.
Result<std::unique_ptr<Archive>> OpenArchiveToRead(const std::filesystem::path& path_or_empty);

}  // namespace gemmsmith
