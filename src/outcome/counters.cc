#include "outcome/counters.h"

#include <algorithm>

#include "base/check.h"

namespace gemmsmith {

namespace {

using enum Combining;
constexpr CounterDefinition kDefinitions[] = {
    {Counter::kDuration, kSum, "duration_ns", "ns", "from the start of the kernel to its end",
     "gpu__time_duration.sum"},
    {Counter::kTensorPipe, kByDuration, "tensor_pipe_percent", "%",
     "share of the elapsed cycles in which a tensor pipe worked",
     "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"},
    {Counter::kTensorPipeHalf, kByDuration, "tensor_pipe_half_percent", "%",
     "the same, counting matrix instructions on half-precision inputs alone",
     "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed"},
    {Counter::kSmBusy, kByDuration, "sm_busy_percent", "%",
     "share of the elapsed cycles in which a multiprocessor held a warp",
     "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"},
    {Counter::kIssueActive, kByDuration, "issue_active_percent", "%",
     "share of the cycles with a warp in which a scheduler issued an instruction",
     "smsp__issue_active.avg.pct_of_peak_sustained_active"},
    {Counter::kInstructions, kSum, "instructions", "", "instructions executed, counted once a warp",
     "smsp__inst_executed.sum"},
    {Counter::kAchievedOccupancy, kByDuration, "achieved_occupancy_percent", "%",
     "warps on a multiprocessor, on average over the cycles with one, of the most it can hold",
     "sm__warps_active.avg.pct_of_peak_sustained_active"},
    {Counter::kTheoreticalOccupancy, kOfLongest, "theoretical_occupancy_percent", "%",
     "warps of the CTAs that fit on a multiprocessor at once, of the most it can hold", ""},
    {Counter::kCtasPerMultiprocessor, kOfLongest, "ctas_per_multiprocessor", "",
     "CTAs that fit on a multiprocessor at once", ""},
    {Counter::kWaves, kOfLongest, "waves", "",
     "CTAs of the launch over those the device holds at once; clusters where it has them", ""},
    {Counter::kRegisters, kOfLongest, "registers_per_thread", "", "registers the compiler gave a thread", ""},
    {Counter::kSmemBytes, kOfLongest, "smem_bytes_per_cta", "B", "shared memory of a CTA, static and dynamic", ""},
    {Counter::kDramGbs, kByDuration, "dram_gbs", "GB/s",
     "bytes read from and written to device memory over the duration", "dram__bytes.sum.per_second", 1e-9},
    {Counter::kDramPercent, kByDuration, "dram_percent", "%", "throughput of device memory, of what it can sustain",
     "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
    {Counter::kL2Percent, kByDuration, "l2_percent", "%", "sectors (32 bytes) looked up in L2, of what it can sustain",
     "lts__t_sectors.avg.pct_of_peak_sustained_elapsed"},
    {Counter::kL2HitPercent, kByDuration, "l2_hit_percent", "%", "requests whose line was in L2, of those looked up",
     "lts__t_tag_requests_hit.sum", 100, "lts__t_tag_requests_miss.sum"},
    {Counter::kBankConflictsLoad, kSum, "bank_conflicts_load", "",
     "additional cycles that loads from shared memory took because of bank conflicts",
     "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"},
    {Counter::kBankConflictsStore, kSum, "bank_conflicts_store", "", "the same of stores to shared memory",
     "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"},
    {Counter::kBankConflictsWgmma, kSum, "bank_conflicts_wgmma", "",
     "the same of warpgroup matrix instructions that read shared memory",
     "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_gmma.sum"},
    {Counter::kStallLongScoreboard, kByInstructions, "stall_long_scoreboard", "warps/issue",
     "warps that wait for global or local memory, each time a scheduler issues",
     "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"},
    {Counter::kStallShortScoreboard, kByInstructions, "stall_short_scoreboard", "warps/issue",
     "warps that wait for shared memory or another unit of variable latency",
     "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio"},
    {Counter::kStallBarrier, kByInstructions, "stall_barrier", "warps/issue",
     "warps that wait for others at a barrier of the CTA",
     "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"},
    {Counter::kStallMembar, kByInstructions, "stall_membar", "warps/issue", "warps that wait at a memory fence",
     "smsp__average_warps_issue_stalled_membar_per_issue_active.ratio"},
    {Counter::kStallWgmma, kByInstructions, "stall_wgmma", "warps/issue",
     "warps that wait for warpgroup matrix instructions",
     "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio"},
    {Counter::kStallMathPipe, kByInstructions, "stall_math_pipe", "warps/issue",
     "warps whose next instruction finds its pipe taken",
     "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio"},
    {Counter::kStallMioThrottle, kByInstructions, "stall_mio_throttle", "warps/issue",
     "warps that find the queue to shared memory and special units full",
     "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio"},
    {Counter::kStallLgThrottle, kByInstructions, "stall_lg_throttle", "warps/issue",
     "warps that find the queue to global and local memory full",
     "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio"},
    {Counter::kStallWait, kByInstructions, "stall_wait", "warps/issue",
     "warps that wait out an instruction of fixed latency",
     "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"},
    {Counter::kStallBranch, kByInstructions, "stall_branch", "warps/issue",
     "warps that wait for the target of a branch",
     "smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio"},
    {Counter::kStallNoInstruction, kByInstructions, "stall_no_instruction", "warps/issue",
     "warps whose next instruction has not been fetched",
     "smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio"},
    {Counter::kStallSleeping, kByInstructions, "stall_sleeping", "warps/issue", "warps that sleep",
     "smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio"},
    {Counter::kStallDispatch, kByInstructions, "stall_dispatch", "warps/issue", "warps that the dispatcher holds back",
     "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio"},
    {Counter::kStallNotSelected, kByInstructions, "stall_not_selected", "warps/issue",
     "warps that could issue while another one was chosen",
     "smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio"},
};
static_assert(std::size(kDefinitions) == kCounterCount && kCounterCount < 64);

using Kernels = std::span<const Counters>;

std::optional<double> Sum(Kernels kernels, Counter counter) {
  double sum = 0;
  for (const Counters& kernel : kernels) {
    if (!kernel[counter]) return std::nullopt;
    sum += *kernel[counter];
  }
  return sum;
}

std::optional<double> Mean(Kernels kernels, Counter counter, Counter weight) {
  double sum = 0;
  for (const Counters& kernel : kernels) {
    if (!kernel[counter] || !kernel[weight]) return std::nullopt;
    sum += *kernel[counter] * *kernel[weight];
  }
  const double weights = *Sum(kernels, weight);
  return weights > 0 ? std::optional(sum / weights) : std::nullopt;
}

std::optional<double> OfLongest(Kernels kernels, Counter counter) {
  if (!Sum(kernels, Counter::kDuration)) return std::nullopt;
  return (*std::max_element(kernels.begin(), kernels.end(), [](const Counters& x, const Counters& y) {
    return x[Counter::kDuration] < y[Counter::kDuration];
  }))[counter];
}

std::optional<double> Combined(Kernels kernels, const CounterDefinition& definition) {
  switch (definition.combining) {
    case kSum:
      return Sum(kernels, definition.counter);
    case kByDuration:
      return Mean(kernels, definition.counter, Counter::kDuration);
    case kByInstructions:
      return Mean(kernels, definition.counter, Counter::kInstructions);
    case kOfLongest:
      return OfLongest(kernels, definition.counter);
  }
  return std::nullopt;
}

}  // namespace

std::span<const CounterDefinition> CounterDefinitions() { return kDefinitions; }

const CounterDefinition& DefinitionOf(Counter counter) { return kDefinitions[size_t(counter)]; }

uint64_t Counters::PresentBits() const {
  uint64_t bits = 0;
  for (size_t i = 0; i < kCounterCount; ++i)
    if (values_[i]) bits |= uint64_t{1} << i;
  return bits;
}

void Counters::MarkPresent(uint64_t bits) {
  GEMMSMITH_CHECK(bits >> kCounterCount == 0, "bits {:x} of {} counters", bits, kCounterCount);
  for (size_t i = 0; i < kCounterCount; ++i) {
    if ((bits >> i & 1) == 0)
      values_[i].reset();
    else if (!values_[i])
      values_[i] = 0;
  }
}

Counters Combine(std::span<const Counters> kernels) {
  if (kernels.size() == 1) return kernels[0];
  Counters combined;
  if (kernels.empty()) return combined;
  combined.observer = kernels[0].observer;
  for (const CounterDefinition& definition : kDefinitions) combined[definition.counter] = Combined(kernels, definition);
  return combined;
}

}  // namespace gemmsmith
