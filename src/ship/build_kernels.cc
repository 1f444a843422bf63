#include "ship/build_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "campaign/compile_ahead.h"
#include "evaluate/evaluator.h"
#include "program/emit.h"
#include "program/legality.h"

namespace gemmsmith {

namespace {

// At a time, between looks at whether to stop.
constexpr size_t kChunk = 64;

using Sharers = std::vector<const Entry*>;  // of one text; at least one

std::string NameOf(const Entry& entry) { return fmt::format("{} by {}", Print(entry.gemm), Print(entry.plan)); }

Result<std::vector<Sharers>> DistinctKernels(const Catalogue& catalogue, const Device& device) {
  std::map<std::string, Sharers> by_text;
  for (const auto& [gemm, entry] : catalogue.entries()) {
    if (const std::vector<std::string> reasons = Check(entry.plan, gemm, device); !reasons.empty())
      return InvalidArgument(fmt::format("{} is illegal: {}", NameOf(entry), reasons.front()));
    by_text[Emit(entry.plan, gemm).text].push_back(&entry);
  }
  std::vector<Sharers> distinct;
  for (auto& [text, sharers] : by_text) distinct.push_back(std::move(sharers));
  return distinct;
}

}  // namespace

Result<KernelFile> BuildKernels(const Catalogue& catalogue, Compiler& compiler, const BuildKernelsOptions& options) {
  ASSIGN_OR_RETURN(const Device device, FindDevice(catalogue.device_key()));
  ASSIGN_OR_RETURN(const std::vector<Sharers> distinct, DistinctKernels(catalogue, device));
  CompileAhead ahead(device, &compiler, options.compile_threads);
  KernelFile file(catalogue.device_key());
  for (size_t begin = 0; begin < distinct.size(); begin += kChunk) {
    if (options.stop()) return Interrupted("stopped; the same command begins again, with what was compiled at hand");
    const size_t end = std::min(distinct.size(), begin + kChunk);
    std::vector<EvaluationRequest> requests;
    for (size_t i = begin; i < end; ++i)
      requests.push_back({.gemm = distinct[i].front()->gemm, .subject = distinct[i].front()->plan, .time = false});
    ASSIGN_OR_RETURN(std::vector<Contender> built, ahead.PrepareNow(requests));
    for (size_t i = begin; i < end; ++i) {
      PreparedCandidate& candidate = built[i - begin].candidate;
      if (candidate.ended)
        return InvalidArgument(fmt::format("{} ended as {}: {}", NameOf(*distinct[i].front()),
                                           Name(candidate.ended->kind), candidate.ended->reason));
      const Binary& binary = candidate.compilation.binary;
      const uint32_t kernel = file.Add({binary.entry, {binary.cubin.begin(), binary.cubin.end()}});
      for (const Entry* entry : distinct[i]) file.Assign(entry->gemm, entry->plan, kernel);
    }
    if (options.on_progress) options.on_progress(end, distinct.size());
  }
  return file;
}

}  // namespace gemmsmith
