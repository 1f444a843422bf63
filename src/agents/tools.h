// The tools of an agent: what each takes, and what it answers. docs/agents.md lists them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "agents/judge_queue.h"
#include "archive/archive.h"
#include "catalogue/catalogue.h"

namespace gemmsmith {

struct ToolAnswer {
  bool is_error = false;  // the call was wrong, or the machine failed; never the verdict of a subject
  std::string text;
  bool is_json = false;  // the text is an object, for readers of structured answers too
};

// What the tools stand on; all of it outlives them.
struct ToolGround {
  JudgeQueue& queue;
  const JudgeJournal& journal;
  const Archive& archive;
  Device device;
  std::optional<Catalogue> catalogue;  // of that device
};

class Tools {
 public:
  explicit Tools(ToolGround ground) : ground_(std::move(ground)) {}

  // Name, description and schema of the arguments of each.
  static nlohmann::ordered_json List();
  static bool Has(const std::string& name);
  // Of a tool that is there. May wait for the judge. Safe from many threads.
  ToolAnswer Call(const std::string& name, const nlohmann::ordered_json& arguments);

 private:
  Result<ToolAnswer> GetTask(const nlohmann::ordered_json& arguments) const;
  Result<ToolAnswer> Judge(const nlohmann::ordered_json& arguments);
  Result<ToolAnswer> GetResult(const nlohmann::ordered_json& arguments);
  Result<ToolAnswer> ListBest(const nlohmann::ordered_json& arguments) const;
  Result<ToolAnswer> ShowSource(const nlohmann::ordered_json& arguments) const;
  Result<ToolAnswer> Await(const std::string& id, std::chrono::milliseconds limit);

  const ToolGround ground_;
};

}  // namespace gemmsmith
