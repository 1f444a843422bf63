#include "profile/counter_reader.h"

#include <unistd.h>

#include <chrono>
#include <future>

#include "base/files.h"
#include "base/installation.h"
#include "base/subprocess.h"
#include "profile/nsight_compute.h"

namespace gemmsmith {

namespace {

constexpr auto kNsightComputeLimit = std::chrono::seconds(60);  // 2.6 s is usual

constexpr size_t kMaxKernels = 32;  // of a call
constexpr std::string_view kNoNsightCompute = "Nsight Compute (ncu) is not installed";

// Runs it while telling that it is still at it.
Result<ProcessResult> RunPatiently(const std::vector<std::string>& command,
                                   const std::function<void()>& still_waiting) {
  auto running = std::async(std::launch::async, [&] { return RunProcess(command, kNsightComputeLimit); });
  while (running.wait_for(std::chrono::seconds(1)) != std::future_status::ready) still_waiting();
  return running.get();
}

}  // namespace

CounterReader::CounterReader(Gpu& gpu, std::filesystem::path program, bool may_use_cupti)
    : gpu_(gpu), program_(std::move(program)), may_use_cupti_(may_use_cupti) {}
CounterReader::~CounterReader() = default;

void CounterReader::Probe() {
  if (is_probed_) return;
  is_probed_ = true;
  ncu_ = FindProgram("ncu");
  if (!may_use_cupti_) {
    why_no_cupti_ = "CUPTI was not to be used";
    return;
  }
  Result<std::unique_ptr<RangeProfiler>> cupti = RangeProfiler::Create(gpu_, CounterMetrics(), kMaxKernels);
  // Only a profiler that has been on is known to work: permission is asked for there.
  const Status works = cupti.ok() ? (*cupti)->Enable() : cupti.status();
  if (!works.ok()) {
    why_no_cupti_ = works.message();
    return;
  }
  (*cupti)->Disable();
  cupti_ = *std::move(cupti);
}

std::string CounterReader::Observer() {
  Probe();
  return cupti_ != nullptr ? "cupti" : ncu_ ? "ncu" : "";
}

std::string CounterReader::Describe() {
  Probe();
  if (cupti_ != nullptr) {
    std::string text = fmt::format("CUPTI, {} launches of a kernel", cupti_->schedule().passes());
    for (const std::string& metric : cupti_->schedule().unknown()) text += fmt::format("; this chip has no {}", metric);
    return text;
  }
  if (ncu_) return fmt::format("Nsight Compute at {}, some seconds a kernel ({})", ncu_->string(), why_no_cupti_);
  return fmt::format("{}; {}", why_no_cupti_, kNoNsightCompute);
}

Counters CounterReader::Read(const ObservedCandidate& candidate, const std::function<void()>& still_waiting) {
  Probe();
  ObservedKernels kernels;
  if (!candidate.kernels.ok()) {
    kernels.why_not_launched = candidate.kernels.status().message();
  } else {
    for (const KernelResidency& kernel : *candidate.kernels) AddResidency(kernel, kernels.launched.emplace_back());
  }
  if (cupti_ != nullptr) {
    Result<std::vector<Counters>> read = ReadThroughCupti(candidate);
    if (read.ok()) {
      kernels.profiled = *std::move(read);
      return CountersOf(kernels);
    }
    // It would fail again and again.
    cupti_.reset();
    is_enabled_ = false;
    why_no_cupti_ = read.status().message();
  }
  const Result<Counters> read = ReadThroughNsightCompute(candidate, still_waiting);
  if (read.ok())
    kernels.profiled = {*read};
  else
    kernels.why_not_profiled = fmt::format("{}; {}", why_no_cupti_, read.status().message());
  return CountersOf(kernels);
}

void CounterReader::Rest() {
  if (cupti_ != nullptr && is_enabled_) cupti_->Disable();
  is_enabled_ = false;
}

Result<std::vector<Counters>> CounterReader::ReadThroughCupti(const ObservedCandidate& candidate) {
  if (!is_enabled_) RETURN_IF_ERROR(cupti_->Enable());
  is_enabled_ = true;
  const auto run = [&]() -> Status {
    RETURN_IF_ERROR(candidate.put());
    return gpu_.Synchronize();
  };
  RETURN_IF_ERROR(run());  // brings operands and code to where back-to-back calls find them
  ASSIGN_OR_RETURN(const std::vector<KernelReadings> readings, cupti_->Read(run));
  std::vector<Counters> kernels;
  for (const KernelReadings& kernel : readings) AddReadings(cupti_->schedule(), kernel, kernels.emplace_back());
  return kernels;
}

Result<Counters> CounterReader::ReadThroughNsightCompute(const ObservedCandidate& candidate,
                                                         const std::function<void()>& still_waiting) {
  if (!ncu_) return Unavailable(std::string(kNoNsightCompute));
  ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Create("gemmsmith-once"));
  ASSIGN_OR_RETURN(const OtherProcess other, candidate.in_other_process(folder.path()));
  std::vector<std::string> watched = {program_};
  watched.insert(watched.end(), other.arguments.begin(), other.arguments.end());
  const std::vector<std::string> command = NsightComputeCommand(*ncu_, CounterMetrics(), other.kernel, watched);
  ASSIGN_OR_RETURN(const ProcessResult result, RunPatiently(command, still_waiting));
  if (result.timed_out)
    return Unavailable(fmt::format("Nsight Compute did not end within {} s", kNsightComputeLimit.count()));
  ASSIGN_OR_RETURN(const MetricValues values, ParseNsightCompute(result.output));
  Counters counters;
  AddReadings(values, counters);
  counters.observer = "ncu";
  return counters;
}

}  // namespace gemmsmith
