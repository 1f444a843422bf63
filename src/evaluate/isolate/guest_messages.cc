#include "evaluate/isolate/guest_messages.h"

#include <cmath>

#include "base/bytes.h"

namespace gemmsmith {

namespace {

// More would come from no honest source.
constexpr uint32_t kMaxItems = 4096;

// Visits every field in the order of the wire, so that writing and reading cannot differ.
void Visit(auto& buffer, auto&& visit) requires requires { buffer.data_at; }
{ visit(buffer.descriptor), visit(buffer.bytes), visit(buffer.data_at); }

void Visit(auto& setup, auto&& visit) requires requires { setup.runtime_library; }
{
  visit(setup.runtime_library), visit(setup.observing_library), visit(setup.kernels), visit(setup.object_descriptor);
  visit(setup.sets, [&](auto& set) { Visit(set.a, visit), Visit(set.b, visit), Visit(set.c, visit); });
  Visit(setup.workspace, visit), visit(setup.workspace_bytes), Visit(setup.disturbances, visit), visit(setup.counts);
}

void Visit(auto& ready, auto&& visit) requires requires { ready.observer; }
{ visit(ready.observer); }

void Visit(auto& call, auto&& visit) requires requires { call.work; }
{
  visit(call.work), visit(call.set), visit(call.shape.m), visit(call.shape.n), visit(call.shape.k);
  visit(call.calls), visit(call.replays), visit(call.twin), visit(call.is_only_capture);
  for (auto& word : call.key) visit(word);
  visit(call.pause_ns), visit(call.calls_before);
}

void VisitCounters(auto& counters, auto&& visit) {
  visit(counters.observer), visit(counters.lacks), visit.Present(counters);
  for (size_t i = 0; i < kCounterCount; ++i)
    if (auto& value = counters[Counter(i)]) visit(*value);
}

void Visit(auto& answer, auto&& visit) requires requires { answer.misdeeds; }
{
  visit(answer.failure), visit(answer.is_lost);
  visit(answer.event_ns), visit(answer.stream_ns), visit(answer.device_ns), visit(answer.observed_calls);
  visit(answer.kernels, [&](auto& kernel) { visit(kernel.name), visit(kernel.launches); });
  visit(answer.misdeeds, [&](auto& misdeed) { visit(misdeed); });
  VisitCounters(answer.counters, visit);
}

struct Writing {
  ByteWriter& writer;
  void operator()(const std::string& text) { writer.PutString(text); }
  void operator()(const std::vector<uint8_t>& bytes) { writer.PutVector(bytes); }
  void operator()(bool flag) { writer.Put(uint8_t(flag)); }
  void Present(const Counters& counters) { writer.Put(counters.PresentBits()); }
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) && (!std::is_same_v<T, bool>)void operator()(const T& value) {
    writer.Put(value);
  }
  template <class Item>
  void operator()(const std::vector<Item>& items, auto&& fields) {
    writer.Put(uint32_t(items.size()));
    for (const Item& item : items) fields(item);
  }
};

struct Reading {
  ByteReader& reader;
  bool& is_valid;
  void operator()(std::string& text) { text = reader.GetString(); }
  void operator()(std::vector<uint8_t>& bytes) { bytes = reader.GetVector<uint8_t>(); }
  void operator()(bool& flag) {
    const auto byte = reader.Get<uint8_t>();
    is_valid = is_valid && byte <= 1;
    flag = byte == 1;
  }
  void Present(Counters& counters) {
    const auto bits = reader.Get<uint64_t>();
    is_valid = is_valid && bits >> kCounterCount == 0;
    counters.MarkPresent(is_valid ? bits : 0);
  }
  void operator()(GuestWork& work) {
    work = reader.Get<GuestWork>();
    is_valid = is_valid && work <= GuestWork::kCountedCall;
  }
  void operator()(double& value) {
    value = reader.Get<double>();
    is_valid = is_valid && std::isfinite(value) && value >= 0;
  }
  template <class T>
  requires std::is_integral_v<T> &&(!std::is_same_v<T, bool>)void operator()(T& value) { value = reader.Get<T>(); }
  template <class Item>
  void operator()(std::vector<Item>& items, auto&& fields) {
    const auto count = reader.Get<uint32_t>();
    is_valid = is_valid && count <= kMaxItems;
    for (uint32_t i = 0; i < count && is_valid && !reader.failed(); ++i) fields(items.emplace_back());
  }
};

std::string EncodeAny(const auto& message) {
  ByteWriter writer;
  Visit(message, Writing{writer});
  return std::move(writer).Take();
}

template <class Message>
Result<Message> DecodeAny(std::string_view bytes, std::string_view what) {
  ByteReader reader(bytes);
  Message message;
  bool is_valid = true;
  Visit(message, Reading{reader, is_valid});
  // First: what stands behind such a value is not read.
  if (!is_valid) return DataLoss(fmt::format("{} with a value out of range", what));
  if (reader.failed()) return DataLoss(fmt::format("{}, truncated", what));
  if (reader.remaining() != 0) return DataLoss(fmt::format("{} with {} bytes too many", what, reader.remaining()));
  return message;
}

}  // namespace

std::set<int> BufferDescriptors(const GuestSetup& setup) {
  std::set<int> descriptors = {setup.workspace.descriptor, setup.disturbances.descriptor};
  for (const BufferSet& set : setup.sets)
    for (const SharedBuffer& buffer : {set.a, set.b, set.c}) descriptors.insert(buffer.descriptor);
  return descriptors;
}

std::string Encode(const GuestSetup& setup) { return EncodeAny(setup); }
Result<GuestSetup> DecodeGuestSetup(std::string_view bytes) {
  return DecodeAny<GuestSetup>(bytes, "a setup of a guest");
}

std::string Encode(const GuestReady& ready) { return EncodeAny(ready); }
Result<GuestReady> DecodeGuestReady(std::string_view bytes) {
  return DecodeAny<GuestReady>(bytes, "a greeting of a guest");
}

std::string Encode(const GuestCall& call) { return EncodeAny(call); }
Result<GuestCall> DecodeGuestCall(std::string_view bytes) { return DecodeAny<GuestCall>(bytes, "a call of a guest"); }

std::string Encode(const GuestAnswer& answer) { return EncodeAny(answer); }
Result<GuestAnswer> DecodeGuestAnswer(std::string_view bytes) {
  return DecodeAny<GuestAnswer>(bytes, "an answer of a guest");
}

}  // namespace gemmsmith
