// Runs the built program in a home of its own, and makes records for it to answer from.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "archive/trial.h"
#include "base/files.h"

namespace gemmsmith {

struct Finished {
  int exit_code = 0;  // 128 + signal where a signal ended it
  std::string out, error;
};

using Words = std::vector<std::string>;

// Every home has its own GEMMSMITH_HOME, GEMMSMITH_RECORDS and files.
class Home {
 public:
  Home();
  std::filesystem::path Path(const std::string& name) const { return folder_.path() / name; }
  std::string File(const std::string& name, const std::string& content) const;

  // Standard output goes to `out_path`, where one is given, instead of into Finished.
  Finished Run(const Words& words, const std::string& out_path = "") const;
  pid_t Start(const Words& words, const std::string& out_path, const std::string& error_path) const;
  static int Wait(pid_t pid);
  // At a terminal of so many columns; both streams in `out`.
  Finished RunAtTerminal(const Words& words, int columns, const Words& environment) const;
  // Writes the trials where the program looks for recordings.
  void Record(const std::vector<Trial>& trials) const;

 private:
  void BecomeProgram(const Words& words) const;

  TemporaryFolder folder_;
};

// Clearly made up: every time is a plain function of the plan. The device's key is a known one, since a recording of an
// unknown device is refused.
inline const char* kMadeUpDevice = "MADE-UP DEVICE";
std::vector<Trial> MadeUpTrials(const Shape& shape, size_t plans, Layout layout);
std::string JsonLines(const std::vector<Trial>& trials);

nlohmann::json Parsed(const std::string& text);  // a test failure where it is not JSON

// One line "gemmsmith: ..." on standard error, with nothing before it but notes, and no control characters.
void ExpectOneError(const Finished& finished, int exit_code, const std::string& part);

}  // namespace gemmsmith
