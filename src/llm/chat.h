// A conversation with a language model.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant"
  std::string content;
  bool operator==(const ChatMessage&) const = default;
};

struct ChatRequest {
  std::string model;
  std::vector<ChatMessage> messages;
  double temperature = 1;
  int64_t answer_tokens = 8192;  // the most
  uint64_t seed = 0;
};
// The body of a request for a chat completion.
nlohmann::ordered_json JsonOf(const ChatRequest& request);

struct ChatAnswer {
  std::string text;
  bool is_cut = false;  // it reached the most tokens
  int64_t prompt_tokens = 0, answer_tokens = 0;
  bool operator==(const ChatAnswer&) const = default;
};
nlohmann::ordered_json JsonOf(const ChatAnswer& answer);
Result<ChatAnswer> ReadChatAnswer(const nlohmann::ordered_json& json);

inline bool IsRefusal(const Result<ChatAnswer>& answer) {
  return answer.status().code() == StatusCode::kInvalidArgument;
}

class ChatModel {
 public:
  virtual ~ChatModel() = default;
  // Safe from many threads. Unavailable where the model cannot be asked, InvalidArgument where this one
  // request is refused: it is too long, or of words that the model does not take.
  virtual Result<ChatAnswer> Ask(const ChatRequest& request) = 0;
};

}  // namespace gemmsmith
