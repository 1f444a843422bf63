// A judge with all that stands around it: its journal, its queue and the tools of agents.
#pragma once

#include <memory>

#include "agents/machine_judge.h"
#include "agents/tools.h"

namespace gemmsmith {

struct JudgeRoomOptions {
  MachineJudgeOptions machine;
  std::filesystem::path journal;    // empty: judge.sqlite under HomeFolder()
  std::filesystem::path catalogue;  // empty: the user's for the device, else the shipped one, else none
  size_t capacity = 256;
  bool resumes = false;
};

struct JudgeRoom {
  std::unique_ptr<MachineJudge> judge;
  std::unique_ptr<JudgeJournal> journal;
  std::unique_ptr<JudgeQueue> queue;
  std::unique_ptr<Tools> tools;
};

// The file that the options name.
std::filesystem::path JournalPath(const JudgeRoomOptions& options);
Result<JudgeRoom> OpenJudgeRoom(const JudgeRoomOptions& options);

}  // namespace gemmsmith
