#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <random>
#include <vector>

#include "bench_problem.h"
#include "commands.h"
#include "library_calls.h"
#include "race_summary.h"

namespace gemmsmith {

namespace {

constexpr uint64_t kWorkspaceBytes = 32 << 20;
constexpr uint64_t kRingBytes = 256 << 20;  // what all calls of a batch read and write, so that L2 keeps nothing of it
constexpr size_t kMostSets = 64, kRounds = 15;
constexpr double kBatchNs = 1e6;

struct Contender {
  OwnedProduct product;
  Graph graph;
  std::vector<double> call_ns;
};

struct Race {
  double own_ns = 0, library_ns = 0;
  double ratio = 0;  // the median of cuBLASLt's time over ours, round by round
};

double MedianOf(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + ptrdiff_t(values.size() / 2), values.end());
  return values[values.size() / 2];
}

class Racer {
 public:
  Racer(BenchGpu& bench) : bench_(bench) {}

  Status Open() {
    ASSIGN_OR_RETURN(own_, OpenLibrary());
    ASSIGN_OR_RETURN(library_, OpenLibrary());
    ASSIGN_OR_RETURN(workspace_, bench_.gpu().Allocate(kWorkspaceBytes));
    ASSIGN_OR_RETURN(events_, EventPair::Make(bench_.gpu()));
    return OkStatus();
  }

  // nullopt: no kernel of ours was chosen.
  Result<std::optional<Race>> Run(const BenchProblem& problem, std::string& explanation) {
    gemmsmith_problem asked = problem.problem;
    asked.workspace_bytes = kWorkspaceBytes;
    std::array<Contender, 2> contenders;
    ASSIGN_OR_RETURN(contenders[0].product, Prepare(own_.get(), asked));
    explanation = Explain(contenders[0].product.get());
    if (!IsOurs(explanation)) return std::optional<Race>();
    setenv("GEMMSMITH_DISABLE", "1", 1);
    Result<OwnedProduct> by_library = Prepare(library_.get(), asked);
    unsetenv("GEMMSMITH_DISABLE");
    ASSIGN_OR_RETURN(contenders[1].product, std::move(by_library));
    RETURN_IF_ERROR(PlaceOperands(problem));
    ASSIGN_OR_RETURN(const double first_ns, TimeOnce(contenders[1], sets_));
    const size_t calls = sets_ * std::max<size_t>(1, size_t(kBatchNs / (first_ns * double(sets_)) + 0.5));
    for (Contender& one : contenders) RETURN_IF_ERROR(CaptureCalls(one, calls));
    for (size_t round = 0; round <= kRounds; ++round)
      for (size_t i : round % 2 == 0 ? std::array<size_t, 2>{0, 1} : std::array<size_t, 2>{1, 0}) {
        ASSIGN_OR_RETURN(const double ns, TimeGraph(contenders[i]));
        if (round > 0) contenders[i].call_ns.push_back(ns / double(calls));  // the first one warms up
      }
    std::vector<double> ratios;
    for (size_t i = 0; i < kRounds; ++i) ratios.push_back(contenders[1].call_ns[i] / contenders[0].call_ns[i]);
    return std::optional<Race>(Race{.own_ns = MedianOf(contenders[0].call_ns),
                                    .library_ns = MedianOf(contenders[1].call_ns),
                                    .ratio = MedianOf(ratios)});
  }

 private:
  Status PlaceOperands(const BenchProblem& problem) {
    const auto rounded = [](int64_t bytes) { return uint64_t(bytes + 511) / 256 * 256; };
    const uint64_t a = rounded(MatrixOf(problem, 'a').SpanBytes()), b = rounded(MatrixOf(problem, 'b').SpanBytes()),
                   d = rounded(MatrixOf(problem, 'd').SpanBytes());
    sets_ = std::clamp<size_t>(size_t(kRingBytes / (a + b + d)) + 1, 2, kMostSets);
    if (const uint64_t needed = sets_ * (a + b + d); memory_.size_bytes() < needed) {
      memory_ = DeviceMemory();
      ASSIGN_OR_RETURN(memory_, bench_.gpu().Allocate(needed));
    }
    RETURN_IF_ERROR(bench_.Fill(memory_.address(), int64_t(sets_ * (a + b + d) / 2), 1, problem.problem.ab_type));
    operands_.clear();
    for (size_t i = 0; i < sets_; ++i) {
      const CUdeviceptr at = memory_.address() + i * (a + b + d);
      gemmsmith_operands one;
      gemmsmith_operands_default(&one);
      one.a = reinterpret_cast<const void*>(at);
      one.b = reinterpret_cast<const void*>(at + a);
      one.d = reinterpret_cast<void*>(at + a + b);
      one.workspace = workspace_.as<void>();
      operands_.push_back(one);
    }
    return bench_.gpu().Synchronize();
  }
  Status CallAll(const Contender& one, size_t calls) {
    for (size_t i = 0; i < calls; ++i)
      RETURN_IF_ERROR(LibraryStatus(gemmsmith_run(one.product.get(), &operands_[i % sets_], bench_.gpu().stream()),
                                    "gemmsmith_run"));
    return OkStatus();
  }
  Status CaptureCalls(Contender& one, size_t calls) {
    ASSIGN_OR_RETURN(one.graph, bench_.gpu().Capture([&] { return CallAll(one, calls); }));
    return OkStatus();
  }
  // The device's time for so many calls, after as many.
  Result<double> TimeOnce(Contender& one, size_t calls) {
    RETURN_IF_ERROR(CallAll(one, calls));
    RETURN_IF_ERROR(CaptureCalls(one, calls));
    ASSIGN_OR_RETURN(const double ns, TimeGraph(one));
    return ns / double(calls);
  }
  Result<double> TimeGraph(const Contender& one) {
    Gpu& gpu = bench_.gpu();
    RETURN_IF_ERROR(gpu.Record(events_.first));
    RETURN_IF_ERROR(gpu.Replay(one.graph));
    RETURN_IF_ERROR(gpu.Record(events_.last));
    return gpu.ElapsedNs(events_.first, events_.last);
  }

  BenchGpu& bench_;
  OwnedContext own_, library_;
  DeviceMemory workspace_, memory_;
  EventPair events_;
  size_t sets_ = 0;
  std::vector<gemmsmith_operands> operands_;
};

// Drawn ones are plain: others go to cuBLASLt on both sides.
Result<std::vector<BenchProblem>> ProblemsOf(const BenchOptions& options) {
  std::vector<BenchProblem> problems;
  if (options.problems.empty()) {
    std::mt19937_64 random(options.seed);
    while (int64_t(problems.size()) < options.count) problems.push_back(DrawPlainProblem(random));
    return problems;
  }
  return ReadProblems(options.problems);
}

}  // namespace

Status RaceProblems(BenchGpu& bench, const BenchOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<BenchProblem> problems, ProblemsOf(options));
  Racer racer(bench);
  RETURN_IF_ERROR(racer.Open());
  std::ofstream details(options.details);
  std::vector<Raced> races;
  size_t seen = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (const BenchProblem& problem : problems) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > options.seconds) break;
    std::string explanation;
    ASSIGN_OR_RETURN(const std::optional<Race> race, racer.Run(problem, explanation));
    ++seen;
    Raced raced{.shape_class = Classify({int(problem.problem.m), int(problem.problem.n), int(problem.problem.k)})};
    raced.whole_lines = HasWholeLines(problem);
    ReadExpected(explanation, raced);
    std::replace(explanation.begin(), explanation.end(), '\n', ';');
    details << fmt::format(R"({{"problem": "{}", "explanation": "{}")", problem.Print(), explanation);
    if (race) {
      raced.own_ns = race->own_ns, raced.library_ns = race->library_ns, raced.ratio = race->ratio;
      races.push_back(raced);
      details << fmt::format(R"(, "own_ns": {:.1f}, "library_ns": {:.1f}, "ratio": {:.4f})", race->own_ns,
                             race->library_ns, race->ratio);
    }
    details << "}\n";
  }
  if (races.empty()) return Unavailable("no kernel of ours was chosen");
  fmt::print("{} problems, {} by kernels of ours\n{}", seen, races.size(), SummaryOf(races));
  return OkStatus();
}

}  // namespace gemmsmith
