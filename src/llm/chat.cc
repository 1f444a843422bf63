#include "llm/chat.h"

#include <nlohmann/json.hpp>

namespace gemmsmith {

using Json = nlohmann::ordered_json;

Json JsonOf(const ChatRequest& request) {
  Json messages = Json::array();
  for (const ChatMessage& message : request.messages)
    messages.push_back({{"role", message.role}, {"content", message.content}});
  return {{"model", request.model},
          {"messages", std::move(messages)},
          {"temperature", request.temperature},
          {"max_tokens", request.answer_tokens},
          {"seed", request.seed >> 11}};  // exact in the doubles that some servers read numbers as
}

Json JsonOf(const ChatAnswer& answer) {
  return {{"text", answer.text},
          {"is_cut", answer.is_cut},
          {"prompt_tokens", answer.prompt_tokens},
          {"answer_tokens", answer.answer_tokens}};
}

Result<ChatAnswer> ReadChatAnswer(const Json& json) try {
  return ChatAnswer{.text = json.at("text").get<std::string>(),
                    .is_cut = json.at("is_cut").get<bool>(),
                    .prompt_tokens = json.at("prompt_tokens").get<int64_t>(),
                    .answer_tokens = json.at("answer_tokens").get<int64_t>()};
} catch (const Json::exception& error) {
  return DataLoss(error.what());
}

}  // namespace gemmsmith
