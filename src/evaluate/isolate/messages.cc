#include "evaluate/isolate/messages.h"

#include "base/bytes.h"
#include "outcome/outcome_fields.h"

namespace gemmsmith {

namespace {

// A worker built from other sources would measure or encode differently.
constexpr uint32_t kProtocolVersion = 13;

Status Complete(const ByteReader& reader, std::string_view what) {
  if (reader.failed()) return DataLoss(fmt::format("a truncated {} message", what));
  if (reader.remaining() != 0)
    return DataLoss(fmt::format("a {} message with {} bytes too many", what, reader.remaining()));
  return OkStatus();
}

// Visits every field in the order of the wire, so that writing and reading cannot differ.
void VisitHello(auto& hello, auto&& visit) {
  auto& device = hello.device;
  visit(device.name), visit(device.key);
  visit(device.compute_major), visit(device.compute_minor), visit(device.multiprocessors);
  visit(device.max_threads_per_block), visit(device.registers_per_block);
  visit(device.smem_bytes_per_block), visit(device.smem_bytes_per_multiprocessor), visit(device.max_grid_y);
  visit(device.threads_per_multiprocessor), visit(device.ctas_per_multiprocessor), visit(device.l2_bytes);
  visit(device.peak_half_tflops), visit(device.l2_tbs), visit(device.l2_resident_mb), visit(device.memory_tbs);
  VisitFields(visit, hello.setting);
}

void VisitProblem(auto& problem, auto&& visit) {
  visit(problem.gemm), visit(problem.protocol), visit(problem.clocks), visit(problem.seed), visit(problem.time);
  visit(problem.baselines), visit(problem.only_baselines);
  visit(problem.tests), visit(problem.certify), visit(problem.counters);
  visit(problem.calls_of_fastest), visit(problem.brief);
}

void VisitLaunch(auto& launch, auto&& visit) {
  for (auto* dim : {&launch.grid, &launch.block, &launch.cluster}) visit(dim->x), visit(dim->y), visit(dim->z);
  visit(launch.smem_bytes), visit(launch.workspace_bytes);
  visit(launch.fills_gpu), visit(launch.even_waves), visit(launch.is_cooperative), visit(launch.chainable);
  visit(launch.deterministic), visit(launch.type);
  visit(launch.maps, [&](auto& map) {
    visit(map.matrix), visit(map.rank), visit(map.swizzle_bytes), visit(map.fetch_bytes);
    for (auto& extent : map.extent) visit(extent);
    for (auto& stride : map.stride_bytes) visit(stride);
    for (auto& box : map.box) visit(box);
  });
}

void VisitShape(auto& shape, auto&& visit) { visit(shape.m), visit(shape.n), visit(shape.k); }

void VisitCandidate(auto& candidate, auto&& visit) {
  VisitLaunch(candidate.launch, visit);
  visit(candidate.entry), visit(candidate.cubin);
  visit(candidate.other, [&](auto& other) {
    VisitShape(other.shape, visit);
    VisitLaunch(other.launch, visit);
  });
  visit(candidate.source, [&](auto& source) {
    visit(source.cubins, [&](auto& cubin) { visit(cubin); });
    visit(source.recipe);
    VisitShape(source.half_shape, visit);
    visit(source.half_recipe, [&](auto& recipe) { visit(recipe); });
  });
  visit(candidate.layout.a), visit(candidate.layout.b);
}

struct Writing {
  ByteWriter& writer;
  template <class Item>
  void operator()(const std::vector<Item>& items, auto&& fields) {
    writer.Put(uint8_t(items.size()));
    for (const Item& item : items) fields(item);
  }
  template <class Item>
  void operator()(const std::optional<Item>& item, auto&& fields) {
    writer.Put(uint8_t(item.has_value()));
    if (item) fields(*item);
  }
  void operator()(const std::string& text) { writer.PutString(text); }
  void operator()(const std::vector<uint8_t>& bytes) { writer.PutVector(bytes); }
  void operator()(const Recipe& recipe) { writer.PutString(Print(recipe)); }
  void operator()(const Gemm& gemm) { writer.PutString(Print(gemm)); }
  void operator()(const Protocol& protocol) { writer.PutString(Name(protocol)); }
  void operator()(const ClockSet& clocks) { writer.Put(clocks.bits()); }
  void operator()(const TestSet& tests) { writer.Put(tests.bits()); }
  void operator()(const BaselineSet& baselines) { writer.PutString(baselines.Print()); }
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(const T& value) { writer.Put(value); }
  void Text(RecordField, std::string_view, const std::string& text) { writer.PutString(text); }
};

struct Reading {
  ByteReader& reader;
  Status status;  // the first value that this program does not know
  template <class Item>
  void operator()(std::vector<Item>& items, auto&& fields) {
    for (int count = reader.Get<uint8_t>(); count > 0 && !reader.failed(); --count) fields(items.emplace_back());
  }
  template <class Item>
  void operator()(std::optional<Item>& item, auto&& fields) {
    if (reader.Get<uint8_t>() != 0) fields(item.emplace());
  }
  void operator()(std::string& text) { text = reader.GetString(); }
  void operator()(bool& flag) { flag = reader.Get<uint8_t>() != 0; }
  void operator()(std::vector<uint8_t>& bytes) { bytes = reader.GetVector<uint8_t>(); }
  // Parsed as strictly as any other text of a recipe.
  void operator()(Recipe& recipe) { Take(ParseRecipe(reader.GetString()), recipe); }
  void operator()(Order& order) {
    order = Order(reader.Get<uint8_t>());
    if (order > Order::kColumn) Take(std::optional<Order>(), order, "a layout that this program does not know");
  }
  void operator()(Gemm& gemm) { Take(ParseGemm(reader.GetString()), gemm); }
  void operator()(Protocol& protocol) {
    const std::string name = reader.GetString();
    Take(ParseProtocol(name), protocol, fmt::format("unknown protocol '{}'", name));
  }
  void operator()(ClockSet& clocks) {
    Take(ClockSet::FromBits(reader.Get<uint32_t>()), clocks, "clocks that this program does not know");
  }
  void operator()(TestSet& tests) {
    Take(TestSet::FromBits(reader.Get<uint32_t>()), tests, "tests that this program does not know");
  }
  void operator()(BaselineSet& baselines) { Take(BaselineSet::Parse(reader.GetString()), baselines); }
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(T& value) { value = reader.Get<T>(); }
  void Text(RecordField, std::string_view, std::string& text) { text = reader.GetString(); }

 private:
  template <class T>
  void Take(Result<T> parsed, T& value) {
    if (parsed.ok())
      value = *std::move(parsed);
    else if (status.ok())
      status = parsed.status();
  }
  template <class T>
  void Take(std::optional<T> parsed, T& value, std::string_view otherwise) {
    Take(parsed ? Result<T>(*parsed) : Result<T>(DataLoss(std::string(otherwise))), value);
  }
};

}  // namespace

std::string Encode(const WorkerHello& hello) {
  ByteWriter writer;
  writer.Put(kProtocolVersion);
  WorkerHello copy = hello;  // a Setting's visitor takes what may change
  VisitHello(copy, Writing{writer});
  return std::move(writer).Take();
}

Result<WorkerHello> DecodeHello(std::string_view bytes) {
  ByteReader reader(bytes);
  if (const auto version = reader.Get<uint32_t>(); version != kProtocolVersion)
    return DataLoss(fmt::format("the worker speaks protocol {}, this program {}", version, kProtocolVersion));
  WorkerHello hello;
  VisitHello(hello, Reading{reader});
  RETURN_IF_ERROR(Complete(reader, "hello"));
  return hello;
}

std::string Encode(const ProblemMessage& message) {
  ByteWriter writer;
  VisitProblem(message, Writing{writer});
  return std::move(writer).Take();
}

Result<ProblemMessage> DecodeProblem(std::string_view bytes) {
  ByteReader reader(bytes);
  ProblemMessage message;
  Reading reading{reader};
  VisitProblem(message, reading);
  RETURN_IF_ERROR(Complete(reader, "problem"));
  RETURN_IF_ERROR(reading.status);
  return message;
}

std::string Encode(std::span<const CandidateMessage> candidates) {
  ByteWriter writer;
  writer.Put(uint32_t(candidates.size()));
  for (const CandidateMessage& candidate : candidates) VisitCandidate(candidate, Writing{writer});
  return std::move(writer).Take();
}

Result<std::vector<CandidateMessage>> DecodeCandidates(std::string_view bytes) {
  ByteReader reader(bytes);
  std::vector<CandidateMessage> candidates;
  Reading reading{reader};
  for (uint32_t count = reader.Get<uint32_t>(); count > 0 && !reader.failed(); --count)
    VisitCandidate(candidates.emplace_back(), reading);
  RETURN_IF_ERROR(Complete(reader, "candidates"));
  RETURN_IF_ERROR(reading.status);
  return candidates;
}

uint64_t EncodedBytes(const CandidateMessage& candidate) {
  constexpr uint64_t kLaunchBytes = 128, kMapBytes = 128;
  const auto bytes_of = [](const Launch& launch) { return kLaunchBytes + kMapBytes * launch.maps.size(); };
  uint64_t bytes = bytes_of(candidate.launch) + (candidate.other ? bytes_of(candidate.other->launch) : 0) +
                   candidate.entry.size() + candidate.cubin.size();
  if (!candidate.source) return bytes;
  for (const std::vector<uint8_t>& cubin : candidate.source->cubins) bytes += cubin.size() + sizeof(uint64_t);
  bytes += Print(candidate.source->recipe).size();
  if (const auto& half = candidate.source->half_recipe) bytes += Print(*half).size();
  return bytes;
}

std::string Encode(const SingleCall& call) {
  ByteWriter writer;
  writer.Put(kProtocolVersion);
  writer.PutString(Encode(call.problem));
  writer.PutString(Encode(std::span(&call.candidate, 1)));
  return std::move(writer).Take();
}

Result<SingleCall> DecodeSingleCall(std::string_view bytes) {
  ByteReader reader(bytes);
  if (const auto version = reader.Get<uint32_t>(); version != kProtocolVersion)
    return DataLoss(fmt::format("a call of protocol {}, this program speaks {}", version, kProtocolVersion));
  const std::string problem = reader.GetString(), candidates = reader.GetString();
  RETURN_IF_ERROR(Complete(reader, "single call"));
  SingleCall call;
  ASSIGN_OR_RETURN(call.problem, DecodeProblem(problem));
  ASSIGN_OR_RETURN(std::vector<CandidateMessage> decoded, DecodeCandidates(candidates));
  if (decoded.size() != 1) return DataLoss(fmt::format("a single call of {} candidates", decoded.size()));
  call.candidate = std::move(decoded[0]);
  return call;
}

std::string Encode(const Step& step) {
  ByteWriter writer;
  writer.Put(step.candidate);
  writer.PutString(step.name);
  return std::move(writer).Take();
}

Result<Step> DecodeStep(std::string_view bytes) {
  ByteReader reader(bytes);
  Step step;
  step.candidate = reader.Get<int32_t>();
  step.name = reader.GetString();
  RETURN_IF_ERROR(Complete(reader, "step"));
  return step;
}

std::string Encode(const Judgements& judgements) {
  ByteWriter writer;
  writer.Put(uint8_t(judgements.worker_is_lost));
  writer.Put(uint8_t(judgements.one_by_one));
  writer.Put(uint32_t(judgements.outcomes.size()));
  for (const std::optional<Outcome>& outcome : judgements.outcomes)
    writer.PutString(outcome ? EncodeOutcome(*outcome) : "");
  return std::move(writer).Take();
}

Result<Judgements> DecodeJudgements(std::string_view bytes) {
  ByteReader reader(bytes);
  Judgements judgements;
  judgements.worker_is_lost = reader.Get<uint8_t>() != 0;
  judgements.one_by_one = reader.Get<uint8_t>() != 0;
  for (uint32_t count = reader.Get<uint32_t>(); count > 0 && !reader.failed(); --count) {
    const std::string bytes_of_one = reader.GetString();
    std::optional<Outcome>& outcome = judgements.outcomes.emplace_back();
    if (bytes_of_one.empty()) continue;
    ASSIGN_OR_RETURN(outcome, DecodeOutcome(bytes_of_one));
  }
  RETURN_IF_ERROR(Complete(reader, "judgements"));
  return judgements;
}

std::string EncodeFailure(const Status& status) {
  ByteWriter writer;
  writer.Put(uint8_t(status.code()));
  writer.PutString(status.message());
  return std::move(writer).Take();
}

Status DecodeFailure(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto code = reader.Get<uint8_t>();
  std::string message = reader.GetString();
  RETURN_IF_ERROR(Complete(reader, "failure"));
  if (code == uint8_t(StatusCode::kOk) || code > uint8_t(StatusCode::kInterrupted))
    return DataLoss(fmt::format("a failure of unknown code {}", code));
  return {StatusCode(code), std::move(message)};
}

}  // namespace gemmsmith
