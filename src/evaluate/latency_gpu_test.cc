// Where the time of a call goes, stage by stage, for a few short products. The judge's device clock times an empty
// launch, our kernel and cuBLASLt's. Our kernel also notes moments itself, in a build with src/device/stamps.cuh.
// Prints a table; docs/lab/latency.md reads it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.h"
#include "base/statistics.h"
#include "evaluate/gpu_test_fixtures.h"
#include "gpu/cublas.h"
#include "profile/range_profiler.h"
#include "program/emit.h"
#include "program/legality.h"
#include "program/plan.h"

namespace gemmsmith {
namespace {

// As src/device/stamps.cuh numbers them.
constexpr std::array<std::string_view, 8> kMoments = {"started",    "ready", "ordered", "loaded",
                                                      "multiplied", "sent",  "met",     "stored"};
constexpr int kStarted = 0, kStored = 7;
constexpr int kStampedLaunches = 20;
constexpr int kRounds = 30;

constexpr std::string_view kEmptyText = R"(
struct Block { char bytes[512]; };
extern "C" __global__ void empty(const __grid_constant__ Block block) {}
)";

struct LatencyCase {
  Shape shape;
  const char* plan;
};
// A fast plan of each shape, and the same geometry where splits meet in another way.
constexpr LatencyCase kCases[] = {
    {{64, 64, 64}, "direct tile_m=16 tile_n=16 warps_n=2 warps_k=1 chunks=2 fixed=all trigger=late"},
    {{128, 128, 256}, "direct tile_m=16 tile_n=8 warps_k=4 chunks=2 fixed=all trigger=late"},
    {{512, 512, 128},
     "wgmma tile_m=64 tile_n=32 warpgroups=1 step_k=128 stages=resident raster=m fixed=all trigger=late"},
    {{256, 128, 8192},
     "wgmma tile_m=64 tile_n=32 warpgroups=1 step_k=256 stages=resident split=8 reduction=add fixed=all trigger=late"},
    {{256, 128, 8192},
     "wgmma tile_m=64 tile_n=64 warpgroups=1 step_k=128 stages=6 split=8 reduction=exchange fixed=all trigger=late"},
    {{256, 128, 2048},
     "wgmma tile_m=64 tile_n=32 warpgroups=1 step_k=128 stages=4 split=4 reduction=exchange fixed=all trigger=late"},
    {{256, 128, 2048},
     "wgmma tile_m=64 tile_n=32 warpgroups=1 step_k=128 stages=4 split=4 reduction=cluster fixed=all trigger=late"},
    {{256, 128, 8192},
     "wgmma tile_m=64 tile_n=64 warpgroups=1 step_k=128 stages=6 split=8 reduction=cluster fixed=all trigger=late"},
    {{512, 512, 8192},
     "wgmma tile_m=64 tile_n=128 warpgroups=1 step_k=128 stages=4 split=4 reduction=add fixed=all trigger=late"},
    {{512, 512, 8192},
     "wgmma tile_m=64 tile_n=128 warpgroups=1 step_k=128 stages=4 split=4 reduction=exchange fixed=all trigger=late"},
    {{128, 16384, 4096},
     "wgmma tile_m=128 tile_n=128 warpgroups=1 step_k=64 stages=5 cluster_n=2 store=tma fixed=all trigger=late"},
};

struct Stamps {
  uint64_t ns = 0, cycles = 0;
};

class LatencyGpuTest : public TestWithJudge {
 protected:
  void SetUp() override {
    TestWithJudge::SetUp();
    if (!HasJudge()) return;
    if (judge_->hello().device.compute_capability() != 90) GTEST_SKIP() << "no Hopper GPU";
    Result<std::unique_ptr<Compiler>> compiler = MakeCompilerHere();
    ASSERT_TRUE(compiler.ok()) << compiler.status().message();
    compiler_ = *std::move(compiler);
    Result<std::unique_ptr<Cublas>> cublas = Cublas::Open();
    ASSERT_TRUE(cublas.ok()) << cublas.status().message();
    cublas_ = *std::move(cublas);
  }

  Gpu& gpu() { return judge_->gpu(); }
  PutCall LeadIn() {
    return [this] { return judge_->harness().LeadIn(); };
  }

  Result<Kernel> Load(const Source& source, uint32_t smem_bytes) {
    ASSIGN_OR_RETURN(const Compilation compilation, compiler_->Compile(source, judge_->hello().device.Architecture()));
    if (!compilation.succeeded) return Unavailable(compilation.log);
    return gpu().Load(compilation.binary.cubin, compilation.binary.entry, smem_bytes);
  }

  // Nanoseconds a call on the judge's device clock, all of them interleaved; medians.
  Result<std::vector<double>> TimeTogether(const std::vector<PutCall>& calls) {
    std::vector<CallGraph> graphs;
    for (const PutCall& call : calls) {
      ASSIGN_OR_RETURN(const double call_ns, EstimateNs(gpu(), LeadIn(), call));
      ASSIGN_OR_RETURN(CallGraph graph, CallGraph::Capture(gpu(), call, call_ns, Batch::kLong));
      graphs.push_back(std::move(graph));
    }
    std::vector<Visit> visits;
    std::vector<size_t> order;
    for (size_t i = 0; i < graphs.size(); ++i) visits.push_back({&graphs[i]}), order.push_back(i);
    ASSIGN_OR_RETURN(const std::unique_ptr<RoundClock> clock, DeviceClock::Create(gpu(), visits, LeadIn()));
    std::vector<std::vector<double>> samples(calls.size());
    for (int round = 0; round < kRounds; ++round) {
      ASSIGN_OR_RETURN(const std::vector<double> times, clock->TimeRound(order, [](size_t) {}));
      for (size_t i = 0; i < times.size(); ++i) samples[i].push_back(times[i]);
    }
    std::vector<double> medians;
    for (std::vector<double>& of_call : samples) medians.push_back(Median(of_call));
    return medians;
  }

  // Operands and what our kernels need beside them; stamps lie behind the plan's own workspace.
  struct Bench {
    Gemm gemm;
    Launch launch;
    uint64_t stamps_offset = 0;
    std::array<DeviceMemory, 3> matrices;
    DeviceMemory workspace;
  };
  Result<Bench> MakeBench(const LatencyCase& one) {
    Bench bench;
    bench.gemm = {one.shape, {kTn}};
    ASSIGN_OR_RETURN(const Plan plan, ParsePlan(one.plan));
    bench.launch = LaunchFor(plan, bench.gemm);
    const Shape& shape = one.shape;
    const int64_t counts[] = {int64_t(shape.m) * shape.k, int64_t(shape.n) * shape.k, int64_t(shape.m) * shape.n};
    for (size_t i = 0; i < 3; ++i) {
      ASSIGN_OR_RETURN(bench.matrices[i], gpu().Allocate(uint64_t(counts[i]) * sizeof(uint16_t)));
      RETURN_IF_ERROR(judge_->harness().Fill({bench.matrices[i].as<void>(), 1, counts[i], counts[i]}, Filling::kNormal,
                                             uint64_t(i)));
    }
    const uint64_t ctas = uint64_t(bench.launch.grid.x) * bench.launch.grid.y * bench.launch.grid.z;
    bench.stamps_offset = (bench.launch.workspace_bytes + 255) / 256 * 256;
    ASSIGN_OR_RETURN(bench.workspace, gpu().Allocate(bench.stamps_offset + ctas * kMoments.size() * sizeof(Stamps)));
    RETURN_IF_ERROR(gpu().Fill8(bench.workspace.address(), 0, bench.workspace.size_bytes()));
    return bench;
  }
  Result<GemmParameters> ParametersOf(const Bench& bench) {
    return gpu().ParametersFor(bench.launch,
                               ArgumentsFor(bench.gemm, bench.matrices[0].as<void>(), bench.matrices[1].as<void>(),
                                            bench.matrices[2].as<void>(), bench.workspace.as<void>()));
  }

  static Source Stamped(const Plan& plan, const Bench& bench) {
    Source source = Emit(plan, bench.gemm);
    source.text = fmt::format("#define GEMMSMITH_STAMPS {}ull\n{}", bench.stamps_offset, source.text);
    return source;
  }

  // When the median and the last CTA reached a moment, counted from the start of the launch's first CTA, and a CTA's
  // time since its moment before. Nanoseconds, medians over launches.
  struct Passing {
    double median_ns = 0, last_ns = 0, step_ns = 0;
  };
  using Passings = std::array<std::optional<Passing>, kMoments.size()>;
  Result<Passings> PassingsOf(const PutCall& put, const Bench& bench) {
    const size_t ctas = size_t(bench.launch.grid.x) * bench.launch.grid.y * bench.launch.grid.z;
    std::array<std::vector<double>, kMoments.size()> medians, lasts, steps;
    for (int launch = 0; launch < kStampedLaunches; ++launch) {
      std::vector<std::array<Stamps, kMoments.size()>> stamps(ctas);
      const uint64_t bytes = ctas * sizeof(stamps[0]);
      for (int warm = 0; warm < 2; ++warm) RETURN_IF_ERROR(put());
      // Not every CTA passes every moment in every launch: who arrives last does.
      RETURN_IF_ERROR(gpu().Fill8(bench.workspace.address() + bench.stamps_offset, 0, bytes));
      RETURN_IF_ERROR(put());
      RETURN_IF_ERROR(gpu().Synchronize());
      RETURN_IF_ERROR(gpu().CopyToHost({reinterpret_cast<uint8_t*>(stamps.data()), bytes},
                                       bench.workspace.address() + bench.stamps_offset));
      uint64_t first_ns = UINT64_MAX;
      double cycles = 0, ns = 0;
      for (const auto& cta : stamps) {
        first_ns = std::min(first_ns, cta[kStarted].ns);
        if (cta[kStored].ns == 0) continue;
        cycles += double(cta[kStored].cycles - cta[kStarted].cycles), ns += double(cta[kStored].ns - cta[kStarted].ns);
      }
      const double ns_per_cycle = cycles == 0 ? 0 : ns / cycles;
      for (size_t moment = 0; moment < kMoments.size(); ++moment) {
        std::vector<double> at, step;
        for (const auto& cta : stamps) {
          if (cta[moment].ns == 0) continue;
          at.push_back(double(cta[moment].ns - first_ns));
          size_t before = moment;
          while (before > 0 && cta[--before].ns == 0) {
          }
          step.push_back(double(int64_t(cta[moment].cycles - cta[before].cycles)) * ns_per_cycle);
        }
        if (at.empty()) continue;
        medians[moment].push_back(Median(at)), steps[moment].push_back(Median(step));
        lasts[moment].push_back(*std::max_element(at.begin(), at.end()));
      }
    }
    Passings passings;
    for (size_t moment = 0; moment < kMoments.size(); ++moment)
      if (!medians[moment].empty())
        passings[moment] = {Median(medians[moment]), Median(lasts[moment]), Median(steps[moment])};
    return passings;
  }

  // Counts of CTAs and warps, and the duration, as the profiler sees one call that is one kernel.
  std::string SeenFromOutside(const PutCall& put) {
    constexpr std::array<std::string_view, 3> kMetrics = {"sm__ctas_launched.sum", "sm__warps_launched.sum",
                                                          "gpu__time_duration.sum"};
    Result<std::unique_ptr<RangeProfiler>> profiler = RangeProfiler::Create(gpu(), kMetrics);
    if (!profiler.ok()) return profiler.status().message();
    if (const Status enabled = (*profiler)->Enable(); !enabled.ok()) return enabled.message();
    const Result<std::vector<KernelReadings>> kernels = (*profiler)->Read(put);
    (*profiler)->Disable();
    if (!kernels.ok()) return kernels.status().message();
    if (kernels->size() != 1) return fmt::format("{} kernels", kernels->size());
    std::string text;
    for (size_t i = 0; i < kernels->front().size(); ++i)
      text += fmt::format("{}{} {:.0f}", i == 0 ? "" : ", ", (*profiler)->schedule().metrics()[i], kernels->front()[i]);
    return text;
  }

  struct LtChoice {
    std::unique_ptr<LtGemm> lt;
    std::vector<PutCall> calls;
  };
  Result<LtChoice> LtCandidates(const Bench& bench, const DeviceMemory& workspace) {
    LtChoice choice;
    ASSIGN_OR_RETURN(choice.lt, LtGemm::Create(*cublas_, bench.gemm, workspace.size_bytes(), 8));
    const GemmBuffers buffers{bench.matrices[0].as<void>(), bench.matrices[1].as<void>(), bench.matrices[2].as<void>(),
                              workspace.as<void>(), workspace.size_bytes()};
    for (int i = 0; i < choice.lt->candidate_count(); ++i)
      choice.calls.push_back([this, i, buffers, lt = choice.lt.get()] { return lt->Run(i, buffers, gpu().stream()); });
    return choice;
  }

  Status PrintBudget(const LatencyCase& one) {
    ASSIGN_OR_RETURN(const Plan plan, ParsePlan(one.plan));
    ASSIGN_OR_RETURN(Bench bench, MakeBench(one));
    const Launch& launch = bench.launch;
    ASSIGN_OR_RETURN(const Kernel ours, Load(Emit(plan, bench.gemm), launch.smem_bytes));
    ASSIGN_OR_RETURN(const Kernel stamped, Load(Stamped(plan, bench), launch.smem_bytes));
    ASSIGN_OR_RETURN(const Kernel empty, Load({std::string(kEmptyText), "empty"}, launch.smem_bytes));
    ASSIGN_OR_RETURN(const GemmParameters parameters, ParametersOf(bench));
    const auto call = [&](const Kernel& kernel, Chaining chaining = Chaining::kNone) -> PutCall {
      return [&, chaining] { return gpu().StartGemm(kernel, launch, parameters, chaining); };
    };
    ASSIGN_OR_RETURN(const DeviceMemory lt_workspace, gpu().Allocate(kBaselineWorkspaceBytes));
    ASSIGN_OR_RETURN(const LtChoice lt, LtCandidates(bench, lt_workspace));

    std::vector<PutCall> calls = {call(empty), call(ours), call(stamped), call(ours, Chaining::kProgrammatic)};
    const size_t first_lt = calls.size();
    calls.insert(calls.end(), lt.calls.begin(), lt.calls.end());
    ASSIGN_OR_RETURN(const std::vector<double> ns, TimeTogether(calls));
    ASSIGN_OR_RETURN(const Passings passings, PassingsOf(call(stamped), bench));

    fmt::print("\n{} | {}\n", Print(bench.gemm), Print(plan));
    fmt::print("  grid {}x{}x{}, {} threads, {} B shared memory\n", launch.grid.x, launch.grid.y, launch.grid.z,
               launch.block.x, launch.smem_bytes);
    fmt::print("  a call: empty {:.0f}, ours {:.0f}, with stamps {:.0f}, chained {:.0f} ns\n", ns[0], ns[1], ns[2],
               ns[3]);
    if (!lt.calls.empty()) {
      const auto fastest = std::min_element(ns.begin() + long(first_lt), ns.end());
      const size_t index = size_t(fastest - ns.begin()) - first_lt;
      fmt::print("  cuBLASLt {:.0f} ns, {}: {}\n", *fastest, lt.lt->Describe(int(index)),
                 SeenFromOutside(lt.calls[index]));
    }
    fmt::print("  ours from outside: {}\n", SeenFromOutside(call(ours)));
    fmt::print("  {:<12}{:>12}{:>12}{:>16}\n", "moment", "median at", "last at", "since the last");
    for (size_t moment = 0; moment < kMoments.size(); ++moment)
      if (const auto& passing = passings[moment])
        fmt::print("  {:<12}{:>12.0f}{:>12.0f}{:>16.0f}\n", kMoments[moment], passing->median_ns, passing->last_ns,
                   passing->step_ns);
    EXPECT_TRUE(passings[kStarted] && passings[kStored]) << one.plan;
    if (passings[kStored]) fmt::print("  launch and exit: {:.0f} ns\n", ns[2] - passings[kStored]->last_ns);
    return OkStatus();
  }

  std::unique_ptr<Compiler> compiler_;
  std::unique_ptr<Cublas> cublas_;
};

TEST_F(LatencyGpuTest, TheStagesOfACallAddUpToItsTime) {
  for (const LatencyCase& one : kCases) {
    const Status printed = PrintBudget(one);
    EXPECT_TRUE(printed.ok()) << one.plan << ": " << printed.message();
  }
}

}  // namespace
}  // namespace gemmsmith
