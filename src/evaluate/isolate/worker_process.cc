#include "evaluate/isolate/worker_process.h"

#include <cstring>

#include "base/text.h"

namespace gemmsmith {

namespace {

using SteadyClock = std::chrono::steady_clock;

SteadyClock::time_point After(double seconds) {
  return SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(seconds));
}

std::string HowItEnded(int exit_code) {
  if (exit_code <= 128) return fmt::format("ended with exit code {}", exit_code);
  return fmt::format("was ended by signal {} ({})", exit_code - 128, ::strsignal(exit_code - 128));
}

// The last words of its standard error, on one line.
std::string LastWords(const std::string& text) {
  constexpr size_t kKept = 300;
  std::vector<std::string> words;
  for (std::string_view word : SplitWords(std::string_view(text).substr(text.size() > kKept ? text.size() - kKept : 0)))
    words.emplace_back(word);
  return words.empty() ? "" : fmt::format("; it said: {}", Join(words, " "));
}

}  // namespace

Result<WorkerProcess> WorkerProcess::Start(const std::vector<std::string>& command, double limit_seconds) {
  ASSIGN_OR_RETURN(PipedProcess process, PipedProcess::Start(command));
  WorkerProcess worker(std::move(process));
  const Result<Frame> frame = worker.Read(After(limit_seconds));
  if (!frame.ok()) {
    const WorkerFailure failure = worker.Explain(frame.status(), {"start"}, limit_seconds);
    return IoError(fmt::format("the worker '{}' {}", Join(command, " "), failure.explanation));
  }
  if (frame->type == FrameType::kFailed) return DecodeFailure(frame->payload);
  if (frame->type != FrameType::kHello) return DataLoss(fmt::format("'{}' is no worker: no hello", Join(command, " ")));
  ASSIGN_OR_RETURN(worker.hello_, DecodeHello(frame->payload));
  return worker;
}

Result<Frame> WorkerProcess::Read(SteadyClock::time_point deadline) {
  std::string header, body;
  RETURN_IF_ERROR(process_.ReadExactly(kFrameHeaderBytes, header, deadline));
  ASSIGN_OR_RETURN(const FrameHeader decoded, DecodeFrameHeader(header));
  RETURN_IF_ERROR(process_.ReadExactly(decoded.payload_bytes + kFrameChecksumBytes, body, deadline));
  return DecodeFrameBody(header, body);
}

WorkerFailure WorkerProcess::Explain(const Status& status, const Step& step, double seconds) {
  WorkerFailure failure;
  failure.step = step;
  const int exit_code = process_.KillAndReap();
  const std::string words = LastWords(process_.StderrTail());
  switch (status.code()) {
    case StatusCode::kUnavailable:
      failure.end = WorkerEnd::kTimedOut;
      failure.explanation =
          fmt::format("gave no sign of life for {:g} s in step '{}' and was killed{}", seconds, step.name, words);
      break;
    case StatusCode::kDataLoss:
      failure.end = WorkerEnd::kDamaged;
      failure.explanation = fmt::format("sent {} in step '{}' and was killed{}", status.message(), step.name, words);
      break;
    default:
      failure.end = WorkerEnd::kDied;
      failure.explanation = fmt::format("{} in step '{}'{}", HowItEnded(exit_code), step.name, words);
  }
  return failure;
}

std::optional<Frame> WorkerProcess::Ask(FrameType type, const std::string& payload, double step_seconds,
                                        double total_seconds, WorkerFailure& failure) {
  const SteadyClock::time_point end = After(total_seconds);
  Step step{"request"};
  const Status written = process_.Write(EncodeFrame(type, payload), std::min(end, After(step_seconds)));
  if (!written.ok()) {
    failure = Explain(written, step, step_seconds);
    return std::nullopt;
  }
  while (true) {
    const SteadyClock::time_point step_end = After(step_seconds);
    Result<Frame> frame = Read(std::min(end, step_end));
    if (frame.ok() && frame->type != FrameType::kAlive) return *std::move(frame);
    if (frame.ok() && SteadyClock::now() >= end) frame = Unavailable("over the limit for all steps");
    Result<Step> next = frame.ok() ? DecodeStep(frame->payload) : Result<Step>(frame.status());
    if (!next.ok()) {
      failure = Explain(next.status(), step, end < step_end ? total_seconds : step_seconds);
      return std::nullopt;
    }
    step = *std::move(next);
  }
}

}  // namespace gemmsmith
