#include "base/sandbox.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "base/confine.h"
#include "base/installation.h"
#include "base/subprocess.h"
#include "base/text.h"

namespace gemmsmith {

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

void Append(Words& words, Words more) {
  words.insert(words.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

bool Exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

Result<fs::path> FindBubblewrap() {
  if (const char* given = std::getenv("GEMMSMITH_BWRAP"); given != nullptr && *given != '\0') {
    if (::access(given, X_OK) == 0) return fs::path(given);
    return NotFound(fmt::format("GEMMSMITH_BWRAP is {}, which is no program", given));
  }
  std::error_code error;
  const fs::path beside = fs::read_symlink("/proc/self/exe", error).parent_path() / "bwrap";
  if (!error && ::access(beside.c_str(), X_OK) == 0) return beside;
  if (const std::optional<fs::path> program = FindProgram("bwrap")) return *program;
  return NotFound(
      "no bubblewrap on this machine, without which no source that is not ours is built or run: install the package "
      "bubblewrap, or set GEMMSMITH_BWRAP to a bwrap");
}

// A user for one sandbox, so that processes of two are not counted together. The range is the one that systems leave to
// such users.
uid_t PassingUser() {
  static std::atomic<uint32_t> count = 0;
  constexpr uid_t kFirst = 61184, kUsers = 4096;
  return kFirst + (uint32_t(::getpid()) * 64 + count++) % kUsers;
}

Words Namespaces(bool from_root) {
  Words words = {"--unshare-ipc",        "--unshare-pid",     "--unshare-net", "--unshare-uts",
                 "--unshare-cgroup-try", "--die-with-parent", "--new-session"};
  // What it takes to enter the folder of somebody else and to become him; lost by becoming him.
  if (from_root) {
    Append(words, {"--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add",
                   "CAP_DAC_READ_SEARCH"});
  } else {
    Append(words, {"--unshare-user"});
  }
  return words;
}

Words Scratch(const char* path, uint64_t bytes) {
  Words words = {"--perms", "1777"};
  if (bytes > 0) Append(words, {"--size", fmt::format("{}", bytes)});
  Append(words, {"--tmpfs", path});
  return words;
}

// The folders on the way to what is shown. bubblewrap would make them for the first user of the sandbox only.
Words WayTo(const fs::path& path) {
  Words words;
  fs::path folder;
  for (const fs::path& part : path.parent_path()) {
    folder /= part;
    if (folder != "/" && folder != "/tmp") Append(words, {"--perms", "0755", "--dir", folder});
  }
  return words;
}

bool IsSystems(const fs::path& path) { return path.string().starts_with("/usr/"); }

Words Show(const char* how, const fs::path& path) {
  Words words = WayTo(path);
  Append(words, {how, path, path});
  return words;
}

// The system's programs and libraries, links as links.
Words SystemFiles() {
  Words words;
  for (const char* path : {"/usr", "/bin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives"}) {
    std::error_code error;
    if (fs::is_symlink(path, error)) {
      Append(words, {"--symlink", fs::read_symlink(path, error).string(), path});
    } else if (Exists(path)) {
      Append(words, Show("--ro-bind", path));
    }
  }
  return words;
}

Words Files(const Sandbox& sandbox) {
  Words words = SystemFiles();
  Append(words, {"--proc", "/proc", "--dev", "/dev"});
  Append(words, Scratch("/dev/shm", sandbox.file_bytes));
  Append(words, Scratch("/tmp", sandbox.file_bytes));
  for (const fs::path& path : sandbox.readable)
    if (!IsSystems(path)) Append(words, Show("--ro-bind", path));
  if (!sandbox.writable.empty()) Append(words, Show("--bind", sandbox.writable));
  Append(words, {"--remount-ro", "/dev", "--remount-ro", "/"});
  return words;
}

Words Environment(const Sandbox& sandbox) {
  const std::string folder = sandbox.writable.empty() ? "/tmp" : sandbox.writable.string();
  Words words = {"--clearenv", "--setenv", "PATH",     "/usr/local/bin:/usr/bin:/bin",
                 "--setenv",   "HOME",     folder,     "--setenv",
                 "TMPDIR",     folder,     "--setenv", "LC_ALL",
                 "C.UTF-8",    "--chdir",  folder};
  for (const auto& [name, value] : sandbox.environment) Append(words, {"--setenv", name, value});
  return words;
}

Words Limits(const Sandbox& sandbox) {
  Words words = {"prlimit", "--core=0"};
  const auto add = [&](const char* option, uint64_t limit) {
    if (limit > 0) words.push_back(fmt::format("{}={}", option, limit));
  };
  add("--data", sandbox.memory_bytes);
  add("--as", sandbox.address_bytes);
  add("--fsize", sandbox.file_bytes);
  add("--nproc", uint64_t(sandbox.max_processes));
  add("--cpu", uint64_t(std::ceil(sandbox.cpu_seconds)));
  words.push_back("--");
  return words;
}

Status GiveTo(uid_t user, const fs::path& folder) {
  Words paths = {folder};
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    paths.push_back(entry->path());
  if (error) return IoError(fmt::format("cannot read {}: {}", folder.string(), error.message()));
  for (const std::string& path : paths)
    if (::lchown(path.c_str(), user, user) != 0)
      return IoError(fmt::format("cannot give {} to a sandbox: {}", path, std::generic_category().message(errno)));
  return OkStatus();
}

Result<Words> CommandThrough(const fs::path& bubblewrap, const Sandbox& sandbox, Words command) {
  const bool from_root = ::geteuid() == 0;
  Words words;
  if (sandbox.is_filtered) {
    // A shell hands the filter over, so that no other process that is started meanwhile inherits its descriptor.
    ASSIGN_OR_RETURN(const int filter, SystemCallFilter());
    const std::string handing_over = fmt::format("exec \"$@\" 9</proc/{}/fd/{}", ::getpid(), filter);
    words = {"sh", "-c", handing_over, "sh", bubblewrap, "--seccomp", "9"};
  } else {
    words = {bubblewrap};
  }
  Append(words, Namespaces(from_root));
  Append(words, Files(sandbox));
  Append(words, Environment(sandbox));
  words.push_back("--");
  if (from_root) {
    const uid_t user = PassingUser();
    if (!sandbox.writable.empty()) RETURN_IF_ERROR(GiveTo(user, sandbox.writable));
    Append(words, {"setpriv", fmt::format("--reuid={}", user), fmt::format("--regid={}", user), "--clear-groups",
                   "--inh-caps=-all", "--no-new-privs", "--"});
  }
  Append(words, Limits(sandbox));
  Append(words, std::move(command));
  return words;
}

Result<fs::path> FindWorkingBubblewrap() {
  ASSIGN_OR_RETURN(fs::path program, FindBubblewrap());
  ASSIGN_OR_RETURN(const Words trial, CommandThrough(program, {.max_processes = 8}, {"true"}));
  ASSIGN_OR_RETURN(const ProcessResult result, RunProcess(trial, std::chrono::seconds(10)));
  if (result.exit_code == 0) return program;
  std::string_view words = result.output;
  return Unavailable(fmt::format(
      "{} cannot make a sandbox here ({}): allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, "
      "kernel.apparmor_restrict_unprivileged_userns=0), or run as root outside of a container",
      program.string(), result.timed_out ? "it hangs" : words.substr(0, words.find('\n'))));
}

const Result<fs::path>& WorkingBubblewrap() {
  static const Result<fs::path> program = FindWorkingBubblewrap();
  return program;
}

}  // namespace

Result<Words> SandboxedCommand(const Sandbox& sandbox, Words command) {
  if (!WorkingBubblewrap().ok()) return WorkingBubblewrap().status();
  return CommandThrough(WorkingBubblewrap().value(), sandbox, std::move(command));
}

Status SandboxWorks() { return WorkingBubblewrap().status(); }

}  // namespace gemmsmith
