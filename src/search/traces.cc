#include "search/traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/compression.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/text.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kMagic = "GTR\n";
constexpr uint16_t kVersion = 1;
constexpr uint32_t kMaxBytes = 256u << 20;  // uncompressed

// Cells as two runs of bytes, the lower ones first: the higher ones are mostly 0.
void PutProposer(const TracedProposer& proposer, ByteWriter& body) {
  body.PutString(proposer.name);
  body.PutString(proposer.origin);
  for (const Trace& trace : proposer.traces) body.Put(uint8_t(trace.size()));
  for (const int shift : {0, 8})
    for (const Trace& trace : proposer.traces)
      for (const uint16_t cell : trace) body.Put(uint8_t(cell >> shift));
}

std::string BodyOf(const Traces& traces) {
  ByteWriter body;
  body.PutString(traces.held_out);
  body.Put(traces.seed);
  body.Put(traces.repeats);
  body.Put(traces.batch);
  body.Put(uint32_t(traces.problems.size()));
  for (const TracedProblem& problem : traces.problems) {
    body.PutString(Print(problem.gemm));
    body.Put(problem.cells);
    body.Put(problem.fingerprint);
  }
  body.Put(uint32_t(traces.proposers.size()));
  for (const TracedProposer& proposer : traces.proposers) PutProposer(proposer, body);
  return std::move(body).Take();
}

Status Damaged(std::string_view what) { return DataLoss(fmt::format("the traces are damaged: {}", what)); }

Status ReadProblems(ByteReader& body, Traces& traces) {
  const uint32_t count = body.Get<uint32_t>();
  std::set<Gemm> known;
  for (uint32_t i = 0; i < count && !body.failed(); ++i) {
    const Result<Gemm> gemm = ParseGemm(body.GetString());
    const uint16_t cells = body.Get<uint16_t>();
    const uint64_t fingerprint = body.Get<uint64_t>();
    if (!gemm.ok() || !known.insert(*gemm).second) return Damaged("a problem");
    traces.problems.push_back({*gemm, cells, fingerprint});
  }
  return OkStatus();
}

bool IsTraceOf(const Trace& trace, uint16_t cells) {
  const std::set<uint16_t> distinct(trace.begin(), trace.end());
  return distinct.size() == trace.size() && (distinct.empty() || *distinct.rbegin() < cells);
}

Status ReadProposer(ByteReader& body, Traces& traces) {
  TracedProposer proposer{.name = body.GetString(), .origin = body.GetString()};
  const size_t count = traces.problems.size() * traces.repeats;
  const std::string_view lengths = body.Take(count);
  for (const char length : lengths) {
    if (uint8_t(length) > kMaxEvaluations) return Damaged("a trace is too long");
    proposer.traces.emplace_back(uint8_t(length));
  }
  for (const int shift : {0, 8})
    for (Trace& trace : proposer.traces)
      for (uint16_t& cell : trace) cell = uint16_t(cell | body.Get<uint8_t>() << shift);
  if (body.failed()) return Damaged("they end too early");
  for (size_t i = 0; i < count; ++i)
    if (!IsTraceOf(proposer.traces[i], traces.problems[i / traces.repeats].cells))
      return Damaged("a plan comes twice or is none");
  const bool is_known = std::any_of(traces.proposers.begin(), traces.proposers.end(),
                                    [&](const TracedProposer& other) { return other.name == proposer.name; });
  if (proposer.name.empty() || is_known) return Damaged("a proposer's name");
  traces.proposers.push_back(std::move(proposer));
  return OkStatus();
}

Result<Traces> ReadBody(std::string_view bytes) {
  ByteReader body(bytes);
  Traces traces{.held_out = body.GetString(),
                .seed = body.Get<uint64_t>(),
                .repeats = body.Get<uint32_t>(),
                .batch = body.Get<uint32_t>()};
  RETURN_IF_ERROR(ReadProblems(body, traces));
  if (traces.repeats == 0 || traces.repeats > kMaxRepeats || traces.problems.empty()) return Damaged("their counts");
  const uint32_t proposers = body.Get<uint32_t>();
  for (uint32_t i = 0; i < proposers && !body.failed(); ++i) RETURN_IF_ERROR(ReadProposer(body, traces));
  if (body.failed()) return Damaged("they end too early");
  if (body.remaining() > 0) return Damaged("there is more behind their end");
  return traces;
}

}  // namespace

std::string EncodeTraces(const Traces& traces) {
  const std::string body = BodyOf(traces);
  GEMMSMITH_CHECK(body.size() <= kMaxBytes, "traces of {} bytes", body.size());
  ByteWriter file;
  for (const char letter : kMagic) file.Put(letter);
  file.Put(kVersion);
  file.Put(uint32_t(body.size()));
  file.Put(HashBytes(body).low);
  return std::move(file).Take() + Compress(body);
}

Result<Traces> DecodeTraces(std::string_view bytes) {
  ByteReader file(bytes);
  if (file.Take(kMagic.size()) != kMagic) return DataLoss("not a file of traces");
  const uint16_t version = file.Get<uint16_t>();
  const uint32_t size = file.Get<uint32_t>();
  const uint64_t checksum = file.Get<uint64_t>();
  if (file.failed()) return Damaged("they end too early");
  if (version != kVersion)
    return InvalidArgument(
        fmt::format("the traces have format {}, this program knows {}: use another one", version, kVersion));
  if (size > kMaxBytes) return Damaged("their size");
  const std::optional<std::string> body = Decompress(file.Take(file.remaining()), size);
  if (!body || HashBytes(*body).low != checksum) return Damaged("their checksum");
  return ReadBody(*body);
}

Result<Traces> JoinTraces(std::vector<Traces> parts) {
  GEMMSMITH_CHECK(!parts.empty(), "no traces to join");
  Traces joined = std::move(parts.front());
  for (size_t i = 1; i < parts.size(); ++i) {
    Traces& part = parts[i];
    if (part.problems != joined.problems || part.repeats != joined.repeats || part.batch != joined.batch ||
        part.seed != joined.seed || part.held_out != joined.held_out)
      return InvalidArgument(
          "these traces are of different comparisons: their problems, records, repeats, batch, seed or held-out shapes "
          "differ");
    for (TracedProposer& proposer : part.proposers) {
      for (const TracedProposer& known : joined.proposers)
        if (known.name == proposer.name)
          return InvalidArgument(fmt::format("'{}' is in more than one of these traces", WithoutControls(known.name)));
      joined.proposers.push_back(std::move(proposer));
    }
  }
  return joined;
}

}  // namespace gemmsmith
