// The tools of an agent: what each takes, and what it answers. docs/agents.md lists them.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>

#include "agents/judge_queue.h"
#include "archive/archive.h"
#include "catalogue/catalogue.h"

namespace gemmsmith {

struct ToolAnswer {
  bool is_error = false;  // the call was wrong, or the machine failed; never the verdict of a subject
  std::string text;
  bool is_json = false;  // the text is an object, for readers of structured answers too
};

// A verdict that a call waits for, and until when.
struct AwaitedVerdict {
  std::string id;
  std::chrono::steady_clock::time_point deadline;
};
using BegunCall = std::variant<ToolAnswer, AwaitedVerdict>;

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
  // All are safe from many threads. The tool is there. Does not wait for the judge.
  BegunCall Begin(const std::string& name, const nlohmann::ordered_json& arguments);
  // Whether Answer() is the verdict, or its time is up. Before that, Answer() says that it is pending.
  bool IsDue(const AwaitedVerdict& verdict) const;
  ToolAnswer Answer(const AwaitedVerdict& verdict) const;
  // Waits until it is due.
  ToolAnswer Await(const AwaitedVerdict& verdict);

 private:
  Result<ToolAnswer> AnswerAtOnce(const std::string& name, const nlohmann::ordered_json& arguments) const;
  Result<AwaitedVerdict> Submit(const nlohmann::ordered_json& arguments);
  Result<ToolAnswer> GetTask(const nlohmann::ordered_json& arguments) const;
  Result<ToolAnswer> ListBest(const nlohmann::ordered_json& arguments) const;
  Result<ToolAnswer> ShowSource(const nlohmann::ordered_json& arguments) const;

  const ToolGround ground_;
};

}  // namespace gemmsmith
