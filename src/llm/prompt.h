// The words that a model is asked with.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "llm/chat.h"
#include "llm/population.h"

namespace gemmsmith {

// `task` states the problem, the floor, the device and the rules (agents/task_text.h). `documents` quotes passages
// (llm/documentation.h); empty: none.
std::vector<ChatMessage> OpeningMessages(const std::string& task, const std::string& documents,
                                         std::span<const Member* const> exemplars);
// After an answer that could not be read, or a source that was refused.
std::string TextAfterUnreadable(const std::string& why, bool is_cut);
std::string TextAfterRefusal(const SourceVerdict& verdict, const std::string& documents);

}  // namespace gemmsmith
