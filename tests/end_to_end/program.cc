#include "tests/end_to_end/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "archive/segment.h"
#include "base/hash.h"
#include "base/text.h"
#include "program/space.h"

namespace gemmsmith {

Home::Home() : folder_(*TemporaryFolder::Create("end_to_end")) { std::filesystem::create_directories(Path("records")); }

std::string Home::File(const std::string& name, const std::string& content) const {
  EXPECT_TRUE(WriteFileAtomic(Path(name), content).ok());
  return Path(name);
}

void Home::BecomeProgram(const Words& words) const {
  setenv("GEMMSMITH_HOME", Path("home").c_str(), 1);
  setenv("GEMMSMITH_RECORDS", Path("records").c_str(), 1);
  std::vector<char*> arguments = {const_cast<char*>("gemmsmith")};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(GEMMSMITH_PROGRAM, arguments.data());
  _exit(127);
}

pid_t Home::Start(const Words& words, const std::string& out_path, const std::string& error_path) const {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(open(out_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
  dup2(open(error_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
  setenv("LC_ALL", "C", 1);
  BecomeProgram(words);
  return 0;
}

int Home::Wait(pid_t pid) {
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Finished Home::Run(const Words& words, const std::string& out_path) const {
  const std::string out = out_path.empty() ? Path("out").string() : out_path, error = Path("error");
  Finished finished{.exit_code = Wait(Start(words, out, error)), .error = *ReadFile(error)};
  if (out_path.empty()) finished.out = *ReadFile(out);
  return finished;
}

Finished Home::RunAtTerminal(const Words& words, int columns, const Words& environment) const {
  winsize size{.ws_row = 24, .ws_col = static_cast<unsigned short>(columns), .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  const pid_t pid = forkpty(&terminal, nullptr, nullptr, &size);
  if (pid == 0) {
    setenv("TERM", "xterm-256color", 1);
    unsetenv("NO_COLOR");
    for (const std::string& setting : environment) putenv(const_cast<char*>(setting.c_str()));
    BecomeProgram(words);
  }
  Finished finished;
  char buffer[4096];
  for (ssize_t count = 0; (count = read(terminal, buffer, sizeof buffer)) > 0;)
    finished.out.append(buffer, size_t(count));
  finished.exit_code = Wait(pid);
  close(terminal);
  return finished;
}

void Home::Record(const std::vector<Trial>& trials) const {
  int number = 0;
  for (const std::string& segment : EncodeSegments(trials)) {
    File("records/" + trials.front().setting.device_key + "/part" + std::to_string(number++) + ".gsr", segment);
  }
}

namespace {

Timing MadeUpTiming(const std::string& contender, double time_ns) {
  return {.contender = contender,
          .clock = Clock::kDevice,
          .median_ns = time_ns,
          .mean_ns = time_ns,
          .interval = {time_ns * 0.99, time_ns * 1.01},
          .sample_count = 3,
          .samples_ns = {float(time_ns * 0.99), float(time_ns), float(time_ns * 1.01)}};
}

Outcome MadeUpOutcome(const Plan& plan) {
  const uint64_t hash = HashBytes(Print(plan)).low;
  Outcome outcome{
      .kind = OutcomeKind::kWrong, .stage = "correctness", .reason = "made up", .protocol = Protocol::kScreen};
  if (hash % 10 == 0) return outcome;
  const double time_ns = 10000 + double(hash % 40000);
  outcome = {.kind = OutcomeKind::kMeasured, .stage = "timing", .protocol = Protocol::kScreen};
  outcome.verdict.passed = true;
  outcome.timings.push_back(MadeUpTiming("ours", time_ns));
  for (const char* baseline : {"lt_auto_nn", "lt_auto_tn", "lt_heuristic_nn", "cublas_tn"}) {
    outcome.timings.push_back(MadeUpTiming(baseline, 20000));
    const double ratio = 20000 / time_ns;
    outcome.comparisons.push_back(
        {baseline,
         Clock::kDevice,
         {.median = ratio, .mean = ratio, .interval = {ratio * 0.98, ratio * 1.02}, .pairs = 3}});
  }
  return outcome;
}

}  // namespace

std::vector<Trial> MadeUpTrials(const Shape& shape, size_t plans, Layout layout) {
  const Gemm gemm{.shape = shape, .kind = {.layout = layout}};
  const std::vector<Plan> legal = Space(RankedPlans(gemm, *FindDevice("l40s"), kLiveSpaceSize)).plans();
  std::vector<Trial> trials;
  for (size_t i = 0; i < std::min(plans, legal.size()); ++i) {
    const Plan& plan = legal[i * legal.size() / std::min(plans, legal.size())];
    trials.push_back(
        {.gemm = gemm,
         .subject = plan,
         .outcome = MadeUpOutcome(plan),
         .setting = {.device_key = "l40s", .device_name = kMadeUpDevice, .gpu_uuid = "none", .driver = "none"},
         .seed = 1,
         .unix_ms = 1'000'000'000'000,  // 2001-09-09
         .campaign = "made up"});
  }
  return trials;
}

std::string JsonLines(const std::vector<Trial>& trials) {
  std::string lines;
  for (const Trial& trial : trials) lines += ToJsonLine(trial) + "\n";
  return lines;
}

nlohmann::json Parsed(const std::string& text) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << text;
  return json;
}

void ExpectOneError(const Finished& finished, int exit_code, const std::string& part) {
  EXPECT_EQ(finished.exit_code, exit_code) << finished.error;
  EXPECT_NE(finished.error.find(part), std::string::npos) << "no '" << part << "' in: " << finished.error;
  int errors = 0;
  for (const std::string_view line : Split(finished.error, '\n')) errors += line.starts_with("gemmsmith: ");
  EXPECT_EQ(errors, 1) << finished.error;
  EXPECT_TRUE(finished.error.ends_with('\n'));
  for (const char c : finished.error) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << int(c);
}

}  // namespace gemmsmith
