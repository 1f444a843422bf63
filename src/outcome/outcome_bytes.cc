#include <fmt/format.h>

#include "base/bytes.h"
#include "outcome/outcome.h"
#include "outcome/outcome_fields.h"

namespace gemmsmith {
namespace {

// | version | brought |
// |---|---|
// | 2 | records of single tests, launched kernels, counters, contenders of comparisons other than ours |
// | 3 | limits of the clocks other than the power cap, whether a race was in steady state |
// | 4 | energies |
// | 5 | the recipe of a source, instead of its launched kernels |
constexpr uint8_t kVersion = 5;

// The fields of Unrecorded() have names, but no numbers.
constexpr RecordField kNoNumber = RecordField(kRecordFieldCount);

void VisitUnrecorded(auto& coder, Outcome& outcome) {
  coder.List(kNoNumber, "tests", outcome.verdict.tests, [](auto& inner, TestRecord& record) {
    inner.Text(kNoNumber, "test", record.test);
    inner.Flag(kNoNumber, "passed", record.passed);
    inner.Real(kNoNumber, "max_abs_error", record.max_abs_error);
    inner.Real(kNoNumber, "bound", record.bound);
    inner.Real(kNoNumber, "seconds", record.seconds);
  });
}

class Encoder : public CoderBase<Encoder> {
 public:
  static constexpr bool kGrewAtItsEnd = true;

  Encoder() { writer_.Put(kVersion); }
  void Text(RecordField, std::string_view, const std::string& text) { writer_.PutString(text); }
  void Flag(RecordField, std::string_view, bool flag) { writer_.Put(uint8_t(flag)); }
  void Integer(RecordField, std::string_view, int value) { writer_.Put(value); }
  void Real(RecordField, std::string_view, double value) { writer_.Put(value); }
  template <class Enum>
  void Choice(RecordField, std::string_view name, Enum value, Enum last) {
    GEMMSMITH_CHECK(value <= last, "{} {} of {}", name, int(value), int(last));
    writer_.Put(value);
  }
  void Limits(RecordField, std::string_view, const ClockLimits& limits) { writer_.Put(limits.NewerBits()); }
  void Samples(RecordField, std::string_view, const std::vector<float>& samples, double) { writer_.PutVector(samples); }
  void Presence(RecordField, uint64_t bits, std::span<const CounterDefinition>) { writer_.Put(bits); }
  template <class Item>
  void Optional(RecordField, std::string_view, std::optional<Item>& item, auto&& fields) {
    writer_.Put(uint8_t(item.has_value()));
    if (item) fields(*this, *item);
  }
  template <class Item>
  void List(RecordField, std::string_view, std::vector<Item>& items, auto&& fields) {
    writer_.Put(uint32_t(items.size()));
    for (Item& item : items) fields(*this, item);
  }
  void Unrecorded(Outcome& outcome) { VisitUnrecorded(*this, outcome); }
  std::string Take() && { return std::move(writer_).Take(); }

 private:
  ByteWriter writer_;
};

class Decoder : public CoderBase<Decoder> {
 public:
  static constexpr bool kGrewAtItsEnd = true;

  Decoder(uint8_t version, std::string_view bytes) : version_(version), reader_(bytes) {}
  bool Has(int version, std::string_view) const { return version_ >= version; }
  void Text(RecordField, std::string_view, std::string& text) { text = reader_.GetString(); }
  void Flag(RecordField, std::string_view, bool& flag) { flag = Byte(1) == 1; }
  void Integer(RecordField, std::string_view, int& value) { value = reader_.Get<int>(); }
  void Real(RecordField, std::string_view, double& value) { value = reader_.Get<double>(); }
  template <class Enum>
  void Choice(RecordField, std::string_view, Enum& value, Enum last) {
    value = Enum(Byte(uint8_t(last)));
  }
  void Limits(RecordField, std::string_view, ClockLimits& limits) {
    limits.AddNewerBits(Bits(ClockLimits::kNewerCount));
  }
  void Samples(RecordField, std::string_view, std::vector<float>& samples, double) {
    samples = reader_.GetVector<float>();
  }
  void Presence(RecordField, uint64_t& bits, std::span<const CounterDefinition> all) { bits = Bits(all.size()); }
  template <class Item>
  void Optional(RecordField, std::string_view, std::optional<Item>& item, auto&& fields) {
    if (Byte(1) == 1) fields(*this, item.emplace());
  }
  // Every item takes bytes, so the list never grows beyond the input.
  template <class Item>
  void List(RecordField, std::string_view, std::vector<Item>& items, auto&& fields) {
    const uint32_t count = reader_.Get<uint32_t>();
    for (uint32_t i = 0; i < count && !reader_.failed(); ++i) fields(*this, items.emplace_back());
  }
  void Unrecorded(Outcome& outcome) {
    if (version_ >= 2) VisitUnrecorded(*this, outcome);
    if (version_ >= 2 && version_ < 5) SkipLaunchedKernels();
  }

  Status Finish() const {
    if (reader_.failed()) return DataLoss("the encoded outcome is truncated");
    if (!in_range_) return DataLoss("the encoded outcome holds a value out of range");
    if (reader_.remaining() != 0) return DataLoss("the encoded outcome has bytes after its end");
    return OkStatus();
  }

 private:
  void SkipLaunchedKernels() {
    for (uint32_t count = reader_.Get<uint32_t>(); count > 0 && !reader_.failed(); --count) {
      (void)reader_.GetString();
      (void)reader_.Get<double>();
    }
    (void)reader_.GetString();
  }
  // From the first value out of range on, every byte and every set of bits is 0.
  uint8_t Byte(uint8_t last) {
    const uint8_t byte = reader_.Get<uint8_t>();
    in_range_ = in_range_ && byte <= last;
    return in_range_ ? byte : 0;
  }
  uint64_t Bits(size_t count) {
    const uint64_t bits = reader_.Get<uint64_t>();
    in_range_ = in_range_ && bits >> count == 0;
    return in_range_ ? bits : 0;
  }

  const uint8_t version_;
  ByteReader reader_;
  bool in_range_ = true;
};

}  // namespace

std::string EncodeOutcome(const Outcome& outcome) {
  Encoder encoder;
  Outcome copy = outcome;  // visitors are the same for reading, and so take what may change
  VisitFields(encoder, copy);
  return std::move(encoder).Take();
}

Result<Outcome> DecodeOutcome(std::string_view bytes) {
  if (bytes.empty()) return DataLoss("the encoded outcome is empty");
  const uint8_t version = uint8_t(bytes[0]);
  if (version < 1 || version > kVersion)
    return DataLoss(fmt::format("the encoded outcome is of version {}, known is {}", version, kVersion));
  Decoder decoder(version, bytes.substr(1));
  Outcome outcome;
  VisitFields(decoder, outcome);
  RETURN_IF_ERROR(decoder.Finish());
  return outcome;
}

}  // namespace gemmsmith
