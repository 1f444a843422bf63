#include "evaluate/isolate/messages.h"

#include "base/bytes.h"

namespace gemmsmith {

namespace {

// A worker built from other sources would measure or encode differently.
constexpr uint32_t kProtocolVersion = 2;

Status Complete(const ByteReader& reader, std::string_view what) {
  if (reader.failed()) return DataLoss(fmt::format("a truncated {} message", what));
  if (reader.remaining() != 0)
    return DataLoss(fmt::format("a {} message with {} bytes too many", what, reader.remaining()));
  return OkStatus();
}

// Visits every field in the order of the wire, so that writing and reading cannot differ.
template <class Visit>
void VisitHello(auto& hello, Visit&& visit) {
  auto& device = hello.device;
  visit(device.name), visit(device.key);
  visit(device.compute_major), visit(device.compute_minor), visit(device.multiprocessors);
  visit(device.max_threads_per_block), visit(device.registers_per_block);
  visit(device.smem_bytes_per_block), visit(device.smem_bytes_per_multiprocessor), visit(device.max_grid_y);
  visit(device.peak_half_tflops), visit(device.l2_tbs), visit(device.l2_resident_mb), visit(device.memory_tbs);
  auto& setting = hello.setting;
  visit(setting.device_key), visit(setting.device_name), visit(setting.gpu_uuid), visit(setting.driver);
  visit(setting.toolchain), visit(setting.libraries), visit(setting.harness);
}

template <class Visit>
void VisitLaunch(auto& launch, Visit&& visit) {
  for (auto* dim : {&launch.grid, &launch.block, &launch.cluster}) visit(dim->x), visit(dim->y), visit(dim->z);
  visit(launch.smem_bytes), visit(launch.workspace_bytes);
  visit(launch.chainable), visit(launch.type);
  visit(launch.maps, [&](auto& map) {
    visit(map.matrix), visit(map.rank), visit(map.swizzle_bytes);
    for (auto& extent : map.extent) visit(extent);
    for (auto& stride : map.stride_bytes) visit(stride);
    for (auto& box : map.box) visit(box);
  });
}

struct Writing {
  ByteWriter& writer;
  template <class Item>
  void operator()(const std::vector<Item>& items, auto&& fields) {
    writer.Put(uint8_t(items.size()));
    for (const Item& item : items) fields(item);
  }
  void operator()(const std::string& text) { writer.PutString(text); }
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(const T& value) { writer.Put(value); }
};

struct Reading {
  ByteReader& reader;
  template <class Item>
  void operator()(std::vector<Item>& items, auto&& fields) {
    for (int count = reader.Get<uint8_t>(); count > 0 && !reader.failed(); --count) fields(items.emplace_back());
  }
  void operator()(std::string& text) { text = reader.GetString(); }
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(T& value) { value = reader.Get<T>(); }
};

}  // namespace

std::string Encode(const WorkerHello& hello) {
  ByteWriter writer;
  writer.Put(kProtocolVersion);
  VisitHello(hello, Writing{writer});
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
  writer.PutString(Print(message.gemm));
  writer.PutString(Name(message.protocol));
  writer.Put(uint8_t(message.offline_clock));
  writer.Put(message.seed);
  return std::move(writer).Take();
}

Result<ProblemMessage> DecodeProblem(std::string_view bytes) {
  ByteReader reader(bytes);
  const std::string gemm = reader.GetString(), protocol = reader.GetString();
  ProblemMessage message;
  message.offline_clock = reader.Get<uint8_t>() != 0;
  message.seed = reader.Get<uint64_t>();
  RETURN_IF_ERROR(Complete(reader, "problem"));
  ASSIGN_OR_RETURN(message.gemm, ParseGemm(gemm));
  const std::optional<Protocol> parsed = ParseProtocol(protocol);
  if (!parsed) return DataLoss(fmt::format("unknown protocol '{}'", protocol));
  message.protocol = *parsed;
  return message;
}

std::string Encode(const CandidateMessage& message) {
  ByteWriter writer;
  VisitLaunch(message.launch, Writing{writer});
  writer.PutString(message.entry);
  writer.PutVector(message.cubin);
  return std::move(writer).Take();
}

Result<CandidateMessage> DecodeCandidate(std::string_view bytes) {
  ByteReader reader(bytes);
  CandidateMessage message;
  VisitLaunch(message.launch, Reading{reader});
  message.entry = reader.GetString();
  message.cubin = reader.GetVector<uint8_t>();
  RETURN_IF_ERROR(Complete(reader, "candidate"));
  return message;
}

std::string Encode(const Judgement& judgement) {
  ByteWriter writer;
  writer.Put(uint8_t(judgement.worker_is_lost));
  writer.PutString(EncodeOutcome(judgement.outcome));
  return std::move(writer).Take();
}

Result<Judgement> DecodeJudgement(std::string_view bytes) {
  ByteReader reader(bytes);
  Judgement judgement;
  judgement.worker_is_lost = reader.Get<uint8_t>() != 0;
  const std::string outcome = reader.GetString();
  RETURN_IF_ERROR(Complete(reader, "judgement"));
  ASSIGN_OR_RETURN(judgement.outcome, DecodeOutcome(outcome));
  return judgement;
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
