// Runs untrusted commands. The process tree sees only the files it is given, no network and no other process, and ends
// with its starter. bubblewrap makes it from Linux namespaces.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace gemmsmith {

struct Sandbox {
  std::vector<std::filesystem::path> readable;  // files and folders that are shown where they are, besides the system's
  // The one folder of ours that may be written to; also the working folder. Empty: only /tmp, which is the sandbox's
  // own and goes with it.
  std::filesystem::path writable;
  std::vector<std::pair<std::string, std::string>> environment;  // besides PATH, HOME, TMPDIR and LC_ALL

  bool is_filtered = false;  // system calls, as base/confine.h says

  // 0: no limit of ours.
  uint64_t memory_bytes = 0;   // private memory that one process writes to (RLIMIT_DATA)
  uint64_t address_bytes = 0;  // address space of one process
  uint64_t file_bytes = 0;     // one file; also the size of /tmp and of /dev/shm
  int max_processes = 0;       // threads count
  double cpu_seconds = 0;      // of one process
};

// The command line that runs `command` in there. Standard input, output and error stay, and so does every descriptor
// that the caller lets it inherit (one without close-on-exec: bubblewrap passes it on), which is how a socket gets in.
// A process that is killed for its limits shows as 128 + signal in the exit code. The tree dies when the thread that
// started the command ends, or when the started process is killed.
//
// Root becomes an ordinary user without capabilities inside, another one every time, because the
// limit on processes does not bind root; `writable` then changes hands, with what is in it, and `readable` must be
// readable to everybody. Anybody else needs user namespaces.
//
// NotFound without bubblewrap, Unavailable where the system refuses it: one line says what to do.
Result<std::vector<std::string>> SandboxedCommand(const Sandbox& sandbox, std::vector<std::string> command);

// Whether sandboxes can be made here: ok, or what SandboxedCommand() would answer. Tries once a process.
Status SandboxWorks();

}  // namespace gemmsmith
