#include "ship/build_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/hash.h"
#include "campaign/compile_ahead.h"
#include "evaluate/evaluator.h"
#include "program/emit.h"
#include "program/legality.h"

namespace gemmsmith {

namespace {

using Sharers = std::vector<const Entry*>;  // of one text; at least one

std::string NameOf(const Entry& entry) { return fmt::format("{} by {}", Print(entry.gemm), PrintShort(entry.plan)); }

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
  size_t begun = 0;
  for (size_t done = 0; done < distinct.size(); ++done) {
    if (options.stop()) return Interrupted("stopped; the same command begins again, with what was compiled at hand");
    for (; begun < distinct.size() && ahead.pending() < ahead.window(); ++begun)
      ahead.AddTogether(begun,
                        {{{.gemm = distinct[begun].front()->gemm, .time = false}, distinct[begun].front()->plan}});
    ASSIGN_OR_RETURN(const std::vector<Candidate> built, ahead.TakeTogether(done));
    const PreparedCandidate& candidate = built.front().prepared;
    if (candidate.ended)
      return InvalidArgument(fmt::format("{} ended as {}: {}", NameOf(*distinct[done].front()),
                                         Name(candidate.ended->kind), candidate.ended->reason));
    const Binary& binary = candidate.compilation.binary;
    const Entry& first = *distinct[done].front();
    const uint32_t kernel = file.Add(binary.entry, HashBytes(Emit(first.plan, first.gemm).text),
                                     {reinterpret_cast<const char*>(binary.cubin.data()), binary.cubin.size()});
    for (const Entry* entry : distinct[done])
      file.Assign(entry->gemm, entry->plan,
                  {.kernel = kernel, .time_ns = entry->Deciding().ns, .speed_up = entry->Deciding().speed_up});
    if (options.on_progress) options.on_progress(done + 1, distinct.size());
  }
  return file;
}

}  // namespace gemmsmith
