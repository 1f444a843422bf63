#include "evaluate/counters.h"

#include "base/check.h"

namespace gemmsmith {

namespace {

constexpr CounterDefinition kDefinitions[] = {
    {Counter::kDuration, "duration_ns", "ns", "from the start of the kernel to its end", "gpu__time_duration.sum"},
    {Counter::kTensorPipe, "tensor_pipe_percent", "%", "share of the elapsed cycles in which a tensor pipe worked",
     "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"},
    {Counter::kTensorPipeHalf, "tensor_pipe_half_percent", "%",
     "the same, counting matrix instructions on half-precision inputs alone",
     "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_elapsed"},
    {Counter::kSmBusy, "sm_busy_percent", "%", "share of the elapsed cycles in which a multiprocessor held a warp",
     "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"},
    {Counter::kIssueActive, "issue_active_percent", "%",
     "share of the cycles with a warp in which a scheduler issued an instruction",
     "smsp__issue_active.avg.pct_of_peak_sustained_active"},
    {Counter::kInstructions, "instructions", "", "instructions executed, counted once a warp",
     "smsp__inst_executed.sum"},
    {Counter::kAchievedOccupancy, "achieved_occupancy_percent", "%",
     "warps on a multiprocessor, on average over the cycles with one, of the most it can hold",
     "sm__warps_active.avg.pct_of_peak_sustained_active"},
    {Counter::kTheoreticalOccupancy, "theoretical_occupancy_percent", "%",
     "warps of the CTAs that fit on a multiprocessor at once, of the most it can hold", ""},
    {Counter::kCtasPerMultiprocessor, "ctas_per_multiprocessor", "", "CTAs that fit on a multiprocessor at once", ""},
    {Counter::kWaves, "waves", "", "CTAs of the launch over those the device holds at once; clusters where it has them",
     ""},
    {Counter::kRegisters, "registers_per_thread", "", "registers the compiler gave a thread", ""},
    {Counter::kSmemBytes, "smem_bytes_per_cta", "B", "shared memory of a CTA, static and dynamic", ""},
    {Counter::kDramGbs, "dram_gbs", "GB/s", "bytes read from and written to device memory over the duration",
     "dram__bytes.sum.per_second", 1e-9},
    {Counter::kDramPercent, "dram_percent", "%", "throughput of device memory, of what it can sustain",
     "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
    {Counter::kL2Percent, "l2_percent", "%", "sectors (32 bytes) looked up in L2, of what it can sustain",
     "lts__t_sectors.avg.pct_of_peak_sustained_elapsed"},
    {Counter::kL2HitPercent, "l2_hit_percent", "%", "sectors found in L2, of those looked up",
     "lts__t_sector_hit_rate.pct"},
    {Counter::kBankConflictsLoad, "bank_conflicts_load", "",
     "additional cycles that loads from shared memory took because of bank conflicts",
     "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"},
    {Counter::kBankConflictsStore, "bank_conflicts_store", "", "the same of stores to shared memory",
     "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"},
    {Counter::kBankConflictsWgmma, "bank_conflicts_wgmma", "",
     "the same of warpgroup matrix instructions that read shared memory",
     "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_gmma.sum"},
    {Counter::kStallLongScoreboard, "stall_long_scoreboard", "warps/issue",
     "warps that wait for global or local memory, each time a scheduler issues",
     "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"},
    {Counter::kStallShortScoreboard, "stall_short_scoreboard", "warps/issue",
     "warps that wait for shared memory or another unit of variable latency",
     "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio"},
    {Counter::kStallBarrier, "stall_barrier", "warps/issue", "warps that wait for others at a barrier of the CTA",
     "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"},
    {Counter::kStallMembar, "stall_membar", "warps/issue", "warps that wait at a memory fence",
     "smsp__average_warps_issue_stalled_membar_per_issue_active.ratio"},
    {Counter::kStallWgmma, "stall_wgmma", "warps/issue", "warps that wait for warpgroup matrix instructions",
     "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio"},
    {Counter::kStallMathPipe, "stall_math_pipe", "warps/issue", "warps whose next instruction finds its pipe taken",
     "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio"},
    {Counter::kStallMioThrottle, "stall_mio_throttle", "warps/issue",
     "warps that find the queue to shared memory and special units full",
     "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio"},
    {Counter::kStallLgThrottle, "stall_lg_throttle", "warps/issue",
     "warps that find the queue to global and local memory full",
     "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio"},
    {Counter::kStallWait, "stall_wait", "warps/issue", "warps that wait out an instruction of fixed latency",
     "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"},
    {Counter::kStallBranch, "stall_branch", "warps/issue", "warps that wait for the target of a branch",
     "smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio"},
    {Counter::kStallNoInstruction, "stall_no_instruction", "warps/issue",
     "warps whose next instruction has not been fetched",
     "smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio"},
    {Counter::kStallSleeping, "stall_sleeping", "warps/issue", "warps that sleep",
     "smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio"},
    {Counter::kStallDispatch, "stall_dispatch", "warps/issue", "warps that the dispatcher holds back",
     "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio"},
    {Counter::kStallNotSelected, "stall_not_selected", "warps/issue",
     "warps that could issue while another one was chosen",
     "smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio"},
};
static_assert(std::size(kDefinitions) == kCounterCount && kCounterCount < 64);

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

}  // namespace gemmsmith
