#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/installation.h"
#include "cli/exit.h"
#include "cli/run.h"
#include "problem/product_record.h"

namespace gemmsmith {

namespace {

namespace fs = std::filesystem;

constexpr const char* kPreload = "libgemmsmith_preload.so";

// lib beside bin, in the build folder and where it is installed.
Result<fs::path> PreloadLibrary() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path library = program.parent_path().parent_path() / "lib" / kPreload;
  if (error || !fs::exists(library, error))
    return NotFound(fmt::format("{} is not there: build the target gemmsmith_preload", library.string()));
  if (library.string().find_first_of(": ") != std::string::npos)
    return InvalidArgument(fmt::format("{}: LD_PRELOAD takes no path with a blank or a colon", library.string()));
  return library;
}

// A record begins anew. A pattern of records begins where its processes end.
Result<fs::path> BeginRecord(const fs::path& asked_for) {
  const fs::path path = fs::absolute(asked_for);
  if (path.string().find("%p") != std::string::npos) return path;
  RETURN_IF_ERROR(BeginProductRecord(path));
  return path;
}

void Set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

}  // namespace

Result<int> Run(const RunProgramCommand& command) {
  ASSIGN_OR_RETURN(const fs::path library, PreloadLibrary());
  std::error_code error;
  if (!command.overlay.empty() && !fs::exists(command.overlay, error))
    return NotFound(fmt::format("{} does not exist", command.overlay.string()));
  if (!command.record.empty()) {
    ASSIGN_OR_RETURN(const fs::path record, BeginRecord(command.record));
    Set("GEMMSMITH_RECORD", record);
  }
  if (command.record_only) Set("GEMMSMITH_PRELOAD", "record");
  if (!command.overlay.empty()) Set("GEMMSMITH_OVERLAY", fs::absolute(command.overlay));
  if (command.summary) Set("GEMMSMITH_LOG", "summary");
  const std::string_view others = Environment("LD_PRELOAD");
  Set("LD_PRELOAD", library.string() + (others.empty() ? "" : ":") + std::string(others));
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  for (const int ignored : {SIGPIPE, SIGXFSZ}) signal(ignored, SIG_DFL);
  execvp(words[0], words.data());
  const std::string reason = std::strerror(errno);
  return NotFound(fmt::format("{} does not start: {}", words[0], reason));
}

}  // namespace gemmsmith
