#include "compile/recording.h"

#include <signal.h>
#include <string.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>

#include "base/files.h"
#include "base/random.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "compile/relocation.h"

namespace gemmsmith {

namespace {

namespace fs = std::filesystem;
using Deadline = std::chrono::steady_clock::time_point;

constexpr double kCpuSeconds = 2;               // of all calls together
constexpr std::chrono::seconds kWallLimit{20};  // for a source that sleeps, and a machine that is busy
constexpr size_t kMaxAnswerBytes = kMaxRecipeTextBytes + 256, kMaxReason = 300;
constexpr int kCallsOfAShape = 4;

struct Question {
  size_t shape = 0;
  std::array<uint64_t, 4> addresses{};
  uint64_t stream = 0;
};

// Every operand in a part of the address space of its own, in which no process has anything. The low half is a number
// that no dimension has, because two dimensions in one word look like an address. Every second set begins at odd
// multiples of 16 bytes.
std::array<uint64_t, 4> InventAddresses(Random& random, bool is_aligned) {
  constexpr uint64_t kPart = uint64_t{1} << 43, kLow = uint64_t{1} << 30, kUnit = 256, kLeast = 16;
  std::array<uint64_t, 4> addresses{};
  for (size_t i = 0; i < addresses.size(); ++i) {
    const uint64_t high = (i + 1) * kPart + (random.Below(kPart / 2) >> 32 << 32);
    addresses[i] = high + kLow + random.Below(kLow / kUnit) * kUnit;
    const bool is_workspace = CallOperand(i) == CallOperand::kWorkspace;
    if (!is_aligned && !is_workspace) addresses[i] += kLeast * (2 * random.Below(kUnit / kLeast / 2) + 1);
  }
  return addresses;
}

// Shapes take turns, so that what is kept from one shape shows in the next. Every second turn is reversed, so that a
// launcher that counts its calls shows too.
std::vector<Question> MakeQuestions(size_t shapes, Random& random) {
  std::vector<Question> questions;
  for (int call = 0; call < kCallsOfAShape; ++call)
    for (size_t place = 0; place < shapes; ++place) {
      const size_t shape = call % 2 == 0 ? place : shapes - 1 - place;
      questions.push_back({shape, InventAddresses(random, call % 2 == 0), 4096 + 16 * random.Below(1 << 30)});
    }
  return questions;
}

std::string DeviceText(const Device& device) {
  constexpr int kMaxCluster = 16, kMaxCtas = 32;  // as in recorder/recorder.h
  std::string text =
      fmt::format("{}\n{} {} {} {} {} {} {} {} {} {} ", device.name, device.compute_major, device.compute_minor,
                  device.multiprocessors, device.smem_bytes_per_block, device.smem_bytes_per_multiprocessor,
                  device.registers_per_block, device.max_threads_per_block, device.threads_per_multiprocessor,
                  device.ctas_per_multiprocessor, device.l2_bytes);
  for (int cluster = 1; cluster <= kMaxCluster; ++cluster)
    for (int ctas = 1; ctas <= kMaxCtas; ++ctas)
      text += fmt::format("{} ", device.compute_major < 9 ? 0 : device.CtasInClusters(cluster, ctas) / cluster);
  return text;
}

std::string KernelText(const SourceKernel& kernel) {
  const KernelInterface& interface = kernel.interface;
  std::string text =
      fmt::format("{} {} {} {} {} {} {} {} {} {} ", kernel.name, interface.parameter_bytes, kernel.facts.registers,
                  kernel.facts.static_smem_bytes, kernel.facts.local_bytes, interface.max_threads, interface.cluster.x,
                  interface.cluster.y, interface.cluster.z, interface.parameters.size());
  for (const KernelParameter& parameter : interface.parameters)
    text += fmt::format("{} {} ", parameter.offset, parameter.bytes);
  return text;
}

std::string RequestText(const SourceProgram& program, const Device& device, std::span<const Shape> shapes,
                        std::span<const Question> questions, uint64_t secret) {
  std::string text = DeviceText(device) + fmt::format("{} ", program.kernels.size());
  for (const SourceKernel& kernel : program.kernels) text += KernelText(kernel);
  text += fmt::format("{} {} ", secret, questions.size());
  for (const Question& question : questions) {
    const Shape& shape = shapes[question.shape];
    text += fmt::format("{} {} {} {} {} {} ", shape.m, shape.n, shape.k, question.addresses[0], question.addresses[1],
                        question.addresses[2]);
    text += fmt::format("{} {} {} ", question.addresses[3], kSourceWorkspaceBytes, question.stream);
  }
  return fmt::format("{:08x}{}", text.size(), text);
}

LaunchRecord Refused(std::string reason) { return {.end = RecordEnd::kRefused, .reason = std::move(reason)}; }
LaunchRecord Forged() { return Refused("its process writes something else than the recorder does"); }
LaunchRecord TimedOut(double seconds) {
  return {.end = RecordEnd::kTimedOut, .reason = fmt::format("gemm does not return within {} s", seconds)};
}

LaunchRecord Ended(int exit_code) {
  const int signal = exit_code - 128;
  if (signal == SIGKILL || signal == SIGXCPU) return TimedOut(kCpuSeconds);
  if (signal == SIGSYS) return Refused("gemm makes a system call that no launcher needs");
  std::string reason = exit_code < 128 ? fmt::format("gemm ends its process with exit code {}", exit_code)
                                       : fmt::format("gemm crashes (SIG{})", ::sigabbrev_np(signal));
  return {.end = RecordEnd::kCrashed, .reason = std::move(reason)};
}

// The text of an answer, which may be forged. Recipes are absolute.
LaunchRecord ParseAnswer(std::string_view text) {
  constexpr std::string_view kRefused = "refused ", kReturned = "returned ";
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return Forged();
  const std::string_view line = text.substr(0, end), rest = text.substr(end + 1);
  if (line.starts_with(kRefused) && rest.empty())
    return Refused("gemm " + WithoutControls(line.substr(kRefused.size(), kMaxReason)));
  if (!line.starts_with(kReturned)) return Forged();
  const std::string error = WithoutControls(line.substr(kReturned.size(), kMaxReason));
  if (error != "cudaSuccess")
    return rest.empty() ? LaunchRecord{.end = RecordEnd::kReturnedError, .reason = "gemm returns " + error} : Forged();
  Result<Recipe> recipe = ParseRecipe(rest);
  return recipe.ok() ? LaunchRecord{.recipe = *std::move(recipe)} : Forged();
}

// Reads one answer. A process that ends, hangs or writes rubbish is refused with the reason.
LaunchRecord ReadAnswer(PipedProcess& process, Deadline deadline) {
  std::string size_text, text;
  Status read = process.ReadExactly(8, size_text, deadline);
  size_t size = 0;
  if (read.ok()) {
    const auto [end, error] = std::from_chars(size_text.data(), size_text.data() + size_text.size(), size, 16);
    if (error != std::errc() || end != size_text.data() + size_text.size() || size > kMaxAnswerBytes) return Forged();
    read = process.ReadExactly(size, text, deadline);
  }
  if (read.ok()) return ParseAnswer(text);
  if (read.code() == StatusCode::kUnavailable) return TimedOut(double(kWallLimit.count()));
  return Ended(process.Reap(std::chrono::seconds(1)));
}

bool EndsAll(const LaunchRecord& answer) {
  return answer.end != RecordEnd::kRecipe && answer.end != RecordEnd::kReturnedError;
}

// A sandbox that failed must fail for a harmless command too.
Status CheckSandbox(PipedProcess& process, const Sandbox& sandbox) {
  if (!process.StderrTail().starts_with("bwrap: ")) return OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::string> harmless, SandboxedCommand(sandbox, {"true"}));
  ASSIGN_OR_RETURN(const ProcessResult alone, RunProcess(harmless, kWallLimit));
  return alone.exit_code == 0 ? OkStatus() : IoError(fmt::format("no sandbox: {}", alone.output));
}

// The answers in the order of the questions. None follows one that ends all.
Result<std::vector<LaunchRecord>> AskAll(const SourceProgram& program, const std::string& request, size_t questions) {
  ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create("gemmsmith-recording"));
  const fs::path path = folder.path() / "program";
  RETURN_IF_ERROR(WriteFileAtomic(path, {reinterpret_cast<const char*>(program.bytes.data()), program.bytes.size()}));
  std::error_code error;
  fs::permissions(path, fs::perms(0755), error);
  if (error) return IoError(fmt::format("cannot make {} executable: {}", path.string(), error.message()));
  const Sandbox sandbox = RecordingSandbox(path);
  ASSIGN_OR_RETURN(const std::vector<std::string> command, SandboxedCommand(sandbox, {path.string()}));
  ASSIGN_OR_RETURN(PipedProcess process, PipedProcess::Start(command));
  const Deadline deadline = std::chrono::steady_clock::now() + kWallLimit;
  // A process that does not read shows when it does not answer.
  static_cast<void>(process.Write(request, deadline));
  std::vector<LaunchRecord> answers;
  while (answers.size() < questions) {
    answers.push_back(ReadAnswer(process, deadline));
    if (!EndsAll(answers.back())) continue;
    if (answers.size() == 1) RETURN_IF_ERROR(CheckSandbox(process, sandbox));
    break;
  }
  return answers;
}

LaunchRecord Judge(std::span<const Question> questions, std::span<const LaunchRecord> answers, size_t shape) {
  if (EndsAll(answers.back())) return answers.back();
  std::vector<RecordedCall> calls;
  const LaunchRecord* error = nullptr;
  for (size_t i = 0; i < answers.size(); ++i) {
    if (questions[i].shape != shape) continue;
    if (answers[i].recipe)
      calls.push_back({questions[i].addresses, *answers[i].recipe});
    else
      error = &answers[i];
  }
  if (error != nullptr && calls.empty()) return *error;
  if (error != nullptr)
    return Refused(fmt::format("{} in one call, and launches in another one of the same shape", error->reason));
  LaunchRecord recording{.recipe = Recipe{}};
  const std::string reason = Relocate(calls, *recording.recipe);
  return reason.empty() ? recording : Refused("gemm: " + reason);
}

}  // namespace

Sandbox RecordingSandbox(const fs::path& program) {
  Sandbox sandbox;
  sandbox.readable = {program};
  sandbox.is_filtered = true;  // the recorder gives up all the rest
  sandbox.memory_bytes = uint64_t{1} << 30;
  sandbox.file_bytes = uint64_t{1} << 20;
  sandbox.max_processes = 64;
  sandbox.cpu_seconds = kCpuSeconds;
  return sandbox;
}

Result<std::vector<LaunchRecord>> RecordLaunches(const SourceProgram& program, const Device& device,
                                                 std::span<const Shape> shapes, uint64_t seed) {
  Random random(seed);
  const std::vector<Question> questions = MakeQuestions(shapes.size(), random);
  const std::string request = RequestText(program, device, shapes, questions, random.Next());
  ASSIGN_OR_RETURN(const std::vector<LaunchRecord> answers, AskAll(program, request, questions.size()));
  std::vector<LaunchRecord> recordings;
  for (size_t shape = 0; shape < shapes.size(); ++shape) recordings.push_back(Judge(questions, answers, shape));
  return recordings;
}

}  // namespace gemmsmith
