// Kernels by a language model as one call: the endpoint, the judge of this machine and the log of exchanges.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "agents/judge_room.h"
#include "llm/writing.h"

namespace gemmsmith {

struct WritingRequest {
  WritingOptions options;  // task, example, query, and a model that is empty are found here
  std::string endpoint, key;
  JudgeRoomOptions judge;
  std::string name;                     // of the log under HomeFolder(); empty: made from the options
  std::filesystem::path cassette;       // a log that is all there is: no endpoint, no compiler, no GPU, its own options
  const Passages* documents = nullptr;  // quoted in questions; null: none
};

struct WritingRun {
  WritingResult result;
  WritingOptions options;  // as they were used
  Device device;
  std::string why_not_timed;  // empty: a GPU timed, in this run or in that of the cassette
  std::string documents;      // the fingerprint of those that are quoted; empty: none
  std::filesystem::path exchanges;
};

// InvalidArgument where the log of this name is of other options, or the cassette of other documents. `on_begin` is
// told what will be used.
Result<WritingRun> WriteKernels(WritingRequest request, StopRule& stop, const std::function<bool()>& interrupted,
                                const std::function<void(const WritingRun&)>& on_begin,
                                const std::function<void(const WritingEvent&)>& on_event);

}  // namespace gemmsmith
