// The coders of JSON lines. A structure is an object, its fields have their names.
#pragma once

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "archive/json_fields.h"
#include "base/status.h"
#include "outcome/outcome_fields.h"

namespace gemmsmith {

// Appends fields to an object, which outlives it.
class JsonWriter : public CoderBase<JsonWriter> {
 public:
  using Json = nlohmann::ordered_json;
  static constexpr bool kNamesFields = true;

  explicit JsonWriter(Json& object) : object_(object) {}

  void Text(RecordField, std::string_view name, const std::string& text) { Put(name, text); }
  void UsualText(RecordField, std::string_view name, const std::string& text, std::string_view usual) {
    if (text != usual) Put(name, text);
  }
  template <class Value>
  void Printed(RecordField, std::string_view name, const Value& value, auto&& /*parse*/) {
    Put(name, Print(value));
  }
  void Integer(RecordField, std::string_view name, auto value) { Put(name, value); }
  void Flag(RecordField, std::string_view name, bool value) { Put(name, value); }
  void Real(RecordField, std::string_view name, double value) { Put(name, JsonReal(value)); }
  template <class Enum>
  void Choice(RecordField, std::string_view name, Enum value, Enum /*last*/) {
    Put(name, Name(value));
  }
  void Limits(RecordField, std::string_view name, const ClockLimits& limits) { Put(name, Print(limits)); }
  void Bounds(RecordField, std::string_view name, const Interval& interval, double /*middle*/) {
    Put(name, Json::array({JsonReal(interval.low), JsonReal(interval.high)}));
  }
  void Samples(RecordField, std::string_view name, const std::vector<float>& samples, double /*near*/) {
    if (samples.empty()) return;
    Json list = Json::array();
    for (const float sample : samples) list.push_back(JsonReal(double(sample)));
    Put(name, std::move(list));
  }
  void Presence(RecordField, uint64_t, std::span<const CounterDefinition>) {}
  void Object(std::string_view name, auto&& fields) { Put(name, ObjectOf(fields)); }
  template <class Item>
  void Optional(RecordField, std::string_view name, std::optional<Item>& item, auto&& fields) {
    if (item) Object(name, [&](JsonWriter& inner) { fields(inner, *item); });
  }
  template <class Item>
  void List(RecordField, std::string_view name, std::vector<Item>& items, auto&& fields) {
    Json list = Json::array();
    for (Item& item : items) list.push_back(ObjectOf([&](JsonWriter& inner) { fields(inner, item); }));
    Put(name, std::move(list));
  }

 private:
  static Json ObjectOf(auto&& fields) {
    Json object = Json::object();
    JsonWriter writer(object);
    fields(writer);
    return object;
  }
  void Put(std::string_view name, Json value) { object_[std::string(name)] = std::move(value); }

  Json& object_;
};

// Takes fields from an object. The first one that is missing or wrong is remembered by its path.
class JsonReader : public CoderBase<JsonReader> {
 public:
  using Json = nlohmann::json;
  static constexpr bool kNamesFields = true;

  // `object` and `status` outlive this. Every field of what is no object is missing.
  JsonReader(const Json& object, std::string path, Status& status)
      : object_(object), path_(std::move(path)), status_(status) {}

  bool Has(int /*version*/, std::string_view name) const { return object_.contains(name); }
  void Text(RecordField, std::string_view name, std::string& text);
  template <class Value>
  void Printed(RecordField field, std::string_view name, Value& value, auto&& parse) {
    std::string text;
    Text(field, name, text);
    if (!status_.ok()) return;
    auto parsed = parse(text);
    if (!parsed.ok()) return Fail(name, parsed.status().message());
    value = *std::move(parsed);
  }
  template <class Int>
  void Integer(RecordField, std::string_view name, Int& value) {
    const Json* field = Find(name);
    if (field == nullptr) return;
    const bool is_in_range = field->is_number_unsigned()
                                 ? field->get<uint64_t>() <= uint64_t(std::numeric_limits<Int>::max())
                                 : field->is_number_integer() && std::numeric_limits<Int>::is_signed &&
                                       field->get<int64_t>() >= int64_t(std::numeric_limits<Int>::min());
    if (!is_in_range) return Fail(name, "must be a whole number in range");
    value = field->get<Int>();
  }
  void Flag(RecordField, std::string_view name, bool& value);
  void Real(RecordField, std::string_view name, double& value);
  template <class Enum>
  void Choice(RecordField field, std::string_view name, Enum& value, Enum last) {
    std::string text;
    Text(field, name, text);
    if (!status_.ok()) return;
    int choice = 0;
    while (choice <= int(last) && Name(Enum(choice)) != text) ++choice;
    if (choice > int(last)) return Fail(name, fmt::format("'{}' is unknown", text));
    value = Enum(choice);
  }
  void Limits(RecordField, std::string_view name, ClockLimits& limits);
  void Bounds(RecordField, std::string_view name, Interval& interval, double /*middle*/);
  void Samples(RecordField, std::string_view name, std::vector<float>& samples, double /*near*/);  // may be missing
  void Presence(RecordField, uint64_t& bits, std::span<const CounterDefinition> all);
  void Object(std::string_view name, auto&& fields) {
    static const Json kNothing = Json::object();
    const Json* field = Find(name);
    if (field != nullptr && !field->is_object()) Fail(name, "must be an object");
    JsonReader inner(field == nullptr ? kNothing : *field, fmt::format("{}{}.", path_, name), status_);
    fields(inner);
  }
  template <class Item>
  void Optional(RecordField, std::string_view name, std::optional<Item>& item, auto&& fields) {
    if (!status_.ok() || !object_.contains(name)) return;
    Object(name, [&](JsonReader& inner) { fields(inner, item.emplace()); });
  }
  template <class Item>
  void List(RecordField, std::string_view name, std::vector<Item>& items, auto&& fields) {
    const Json* field = Find(name);
    if (field == nullptr) return;
    if (!field->is_array()) return Fail(name, "must be a list");
    for (size_t i = 0; i < field->size() && status_.ok(); ++i) {
      JsonReader inner((*field)[i], fmt::format("{}{}[{}].", path_, name, i), status_);
      fields(inner, items.emplace_back());
    }
  }

 private:
  const Json* Find(std::string_view name);  // null, and a failure, where it is missing
  void Fail(std::string_view name, std::string_view reason);

  const Json& object_;
  std::string path_;
  Status& status_;
};

}  // namespace gemmsmith
