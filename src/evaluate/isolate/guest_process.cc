#include "evaluate/isolate/guest_process.h"

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>

#include "base/installation.h"
#include "base/sandbox.h"
#include "base/text.h"
#include "evaluate/isolate/messages.h"

namespace gemmsmith {

namespace fs = std::filesystem;

namespace {

using SteadyClock = std::chrono::steady_clock;

// Many times the host memory of a CUDA context and its libraries.
constexpr uint64_t kMemoryBytes = uint64_t{16} << 30;
constexpr uint64_t kFileBytes = uint64_t{64} << 20;
constexpr int kMaxThreads = 256;
constexpr double kCpuSeconds = 600;
constexpr std::chrono::milliseconds kLastMoments{2000};

SteadyClock::time_point After(double seconds) {
  return SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(seconds));
}

// The files that this process itself was loaded from: where it is carried about they need not stand in a system folder.
std::set<fs::path> OwnFiles() {
  std::set<fs::path> files;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const size_t at = line.find('/');
    if (at == std::string::npos || line.find(" (deleted)") != std::string::npos) continue;
    fs::path path = line.substr(at);
    std::error_code error;
    if (!path.string().starts_with("/dev/") && fs::is_regular_file(path, error)) files.insert(std::move(path));
  }
  return files;
}

std::vector<fs::path> NvidiaDevices() {
  std::vector<fs::path> devices;
  std::error_code error;
  for (fs::directory_iterator entry("/dev", error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().starts_with("nvidia") && entry->is_character_file(error))
      devices.push_back(entry->path());
  std::sort(devices.begin(), devices.end());
  return devices;
}

void AddFolderOf(const std::string& library, std::set<fs::path>& readable) {
  if (library.empty()) return;
  std::error_code error;
  readable.insert(fs::path(library).parent_path());
  readable.insert(fs::canonical(library, error).parent_path());
}

// CUPTI is looked for by the guest itself, and must be found where it is found here.
void AddToolkit(Sandbox& sandbox) {
  for (const char* name : {"GEMMSMITH_CUDA", "CUDA_HOME", "CUDA_PATH"})
    if (const char* const folder = std::getenv(name)) sandbox.environment.emplace_back(name, folder);
}

std::string OneLine(const std::string& text) {
  constexpr size_t kKept = 300;
  std::vector<std::string> words;
  for (std::string_view word : SplitWords(std::string_view(text).substr(text.size() > kKept ? text.size() - kKept : 0)))
    words.push_back(WithoutControls(word));
  return Join(words, " ");
}

std::string HowItEnded(int exit_code) {
  if (exit_code <= 128) return fmt::format("ended its process with exit code {}", exit_code);
  return fmt::format("was ended by signal {} ({})", exit_code - 128, ::strsignal(exit_code - 128));
}

// Those that must stay open in the guest.
std::vector<int> DescriptorsOf(const GuestSetup& setup) {
  const std::set<int> buffers = BufferDescriptors(setup);
  std::vector<int> descriptors(buffers.begin(), buffers.end());
  descriptors.push_back(setup.object_descriptor);
  std::erase_if(descriptors, [](int descriptor) { return descriptor < 0; });
  return descriptors;
}

}  // namespace

Result<GuestSetup> LibrariesForGuest() {
  GuestSetup setup;
  const std::optional<fs::path> runtime = FindLibrary("libcudart.so.13");
  if (!runtime)
    return Unavailable(
        "no libcudart.so.13 on this machine, which sources with a host side need: set GEMMSMITH_CUDA to the root of a "
        "CUDA 13 toolkit");
  setup.runtime_library = *runtime;
  std::optional<fs::path> observing = FindLibrary("libcupti.so.13");
  for (const fs::path& toolkit : ToolkitFolders()) {
    std::error_code error;
    const fs::path extra = toolkit / "extras/CUPTI/lib64/libcupti.so.13";
    if (!observing && fs::exists(extra, error)) observing = extra;
  }
  if (observing) setup.observing_library = *observing;
  return setup;
}

Result<std::vector<std::string>> SandboxedGuest(const std::string& gpu_uuid, bool counts) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return IoError(fmt::format("cannot tell where this program is: {}", error.message()));
  ASSIGN_OR_RETURN(const GuestSetup libraries, LibrariesForGuest());
  std::set<fs::path> readable = OwnFiles();
  AddFolderOf(libraries.runtime_library, readable);
  AddFolderOf(libraries.observing_library, readable);
  std::erase_if(readable, [](const fs::path& path) { return path.string().starts_with("/usr/"); });  // there anyway
  Sandbox sandbox;
  sandbox.readable.assign(readable.begin(), readable.end());
  sandbox.devices = NvidiaDevices();
  sandbox.environment = {{"CUDA_VISIBLE_DEVICES", gpu_uuid}, {"CUDA_CACHE_DISABLE", "1"}};
  if (counts) AddToolkit(sandbox);
  sandbox.may_profile = counts;
  sandbox.memory_bytes = kMemoryBytes;
  sandbox.file_bytes = kFileBytes;
  sandbox.max_processes = kMaxThreads;
  sandbox.cpu_seconds = kCpuSeconds;
  return SandboxedCommand(sandbox, {program.string(), "guest"});
}

GuestEnd EndOf(const Status& error, int exit_code, const std::string& words, double limit_seconds) {
  const std::string said = words.empty() ? "" : fmt::format("; it said: {}", OneLine(words));
  const bool is_named = words.find("forbidden system call") != std::string::npos;
  if (exit_code == 128 + SIGSYS || is_named)
    return {
        OutcomeKind::kCheated,
        fmt::format("the source made a system call that it may not make{}{}",
                    is_named ? "" : " (with signals blocked, as who starts a thread, so that it was not named)", said)};
  if (error.code() == StatusCode::kUnavailable)
    return {OutcomeKind::kTimedOut,
            fmt::format("the source gave no sign of life for {:g} s and was ended{}", limit_seconds, said)};
  if (error.code() == StatusCode::kDataLoss)
    return {OutcomeKind::kCheated,
            fmt::format("the source answered in its caller's place: {}{}", error.message(), said)};
  return {OutcomeKind::kLaunchFailed, fmt::format("the source {}{}", HowItEnded(exit_code), said)};
}

Result<GuestProcess> GuestProcess::Start(const std::vector<std::string>& command, const GuestSetup& setup,
                                         double limit_seconds) {
  ASSIGN_OR_RETURN(PipedProcess process, PipedProcess::Start(command, DescriptorsOf(setup)));
  GuestProcess guest(std::move(process));
  const Result<Frame> frame = guest.Exchange(FrameType::kSetUp, Encode(setup), limit_seconds);
  if (!frame.ok()) {
    const int exit_code = guest.process_.Reap(kLastMoments);
    return IoError(fmt::format("no guest for a source's code: {} (it {}{})", frame.status().message(),
                               HowItEnded(exit_code), OneLine(" " + guest.process_.StderrTail())));
  }
  if (frame->type == FrameType::kFailed) return DecodeFailure(frame->payload);
  if (frame->type != FrameType::kOpened) return DataLoss("a guest answered out of turn before it held anything");
  ASSIGN_OR_RETURN(guest.ready_, DecodeGuestReady(frame->payload));
  return guest;
}

Result<Frame> GuestProcess::Exchange(FrameType type, const std::string& payload, double limit_seconds) {
  const SteadyClock::time_point deadline = After(limit_seconds);
  // An answer that is there before the question would be taken for its answer, and stop the clock early.
  if (process_.HasOutput()) return DataLoss("it spoke before it was asked");
  RETURN_IF_ERROR(process_.Write(EncodeFrame(type, payload), deadline));
  std::string header, body;
  RETURN_IF_ERROR(process_.ReadExactly(kFrameHeaderBytes, header, deadline));
  ASSIGN_OR_RETURN(const FrameHeader decoded, DecodeFrameHeader(header));
  // No honest answer is longer.
  constexpr uint64_t kMaxBytes = 1 << 20;
  if (decoded.payload_bytes > kMaxBytes) return DataLoss(fmt::format("a frame of {} bytes", decoded.payload_bytes));
  RETURN_IF_ERROR(process_.ReadExactly(decoded.payload_bytes + kFrameChecksumBytes, body, deadline));
  return DecodeFrameBody(header, body);
}

std::optional<GuestAnswer> GuestProcess::Call(const GuestCall& call, double limit_seconds) {
  GEMMSMITH_CHECK(end_.reason.empty(), "a guest that has ended is asked: {}", end_.reason);
  const Result<Frame> frame = Exchange(FrameType::kCall, Encode(call), limit_seconds);
  Result<GuestAnswer> answer = DataLoss("a frame out of turn");
  if (!frame.ok()) answer = frame.status();
  if (frame.ok() && frame->type == FrameType::kCalled) answer = DecodeGuestAnswer(frame->payload);
  if (answer.ok()) return *std::move(answer);
  // A guest that closed its pipe may take a moment to end; only then its exit code is known.
  const bool is_gone = answer.status().code() == StatusCode::kIoError;
  const int exit_code = process_.Reap(is_gone ? kLastMoments : std::chrono::milliseconds(0));
  end_ = EndOf(answer.status(), exit_code, process_.StderrTail(), limit_seconds);
  return std::nullopt;
}

}  // namespace gemmsmith
