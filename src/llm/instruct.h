// A stage of the corpus: a model words the instruction that each snippet answers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "corpus/snippet_stage.h"
#include "llm/chat.h"

namespace gemmsmith {

struct InstructOptions {
  std::filesystem::path input, output;
  std::string model;               // empty with a cassette: the one that answered there
  std::filesystem::path cassette;  // a folder of exchanges that answers alone; empty: none
};

struct InstructSummary {
  StageSummary stage;
  std::string model;
  int64_t written = 0;     // instructions, by this call
  int64_t unreadable = 0;  // answers that are none; the author's comment stays
  int64_t refused = 0;     // questions that the endpoint does not take; the same
};

// Sections stay as they are. Exchanges are kept in `output`/exchanges, a file for each shard: a stopped run asks
// nothing twice, and the folder is a cassette. `endpoint` is null with a cassette. Its failure ends the run; so does a
// refusal of the first questions, all of them. InvalidArgument where exchanges are of another model.
Result<InstructSummary> WriteInstructions(const InstructOptions& options, ChatModel* endpoint,
                                          std::function<bool()> stop,
                                          std::function<void(int64_t shards, int64_t of)> watch);

// The question to the model about a snippet.
ChatRequest InstructionRequest(const Snippet& snippet, const std::string& model);
// The instruction in an answer, on one line; empty where it is none: code, less than three words, or longer than 600
// bytes.
std::string InstructionInAnswer(const ChatAnswer& answer);

}  // namespace gemmsmith
