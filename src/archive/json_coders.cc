#include "archive/json_coders.h"

#include <cmath>

namespace gemmsmith {

namespace {

std::optional<double> RealOf(const nlohmann::json& field) {
  if (field.is_number()) return field.get<double>();
  if (field == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (field == "inf") return std::numeric_limits<double>::infinity();
  if (field == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

}  // namespace

nlohmann::ordered_json JsonReal(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

nlohmann::ordered_json JsonFacts(const CodeFacts& facts) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  JsonWriter writer(object);
  CodeFacts copy = facts;
  VisitFields(writer, copy);
  return object;
}

void JsonReader::Fail(std::string_view name, std::string_view reason) {
  if (status_.ok()) status_ = InvalidArgument(fmt::format("field {}{}: {}", path_, name, reason));
}

const nlohmann::json* JsonReader::Find(std::string_view name) {
  if (!status_.ok()) return nullptr;
  const auto field = object_.find(name);  // end() for anything but an object
  if (field != object_.end()) return &*field;
  Fail(name, "is missing");
  return nullptr;
}

void JsonReader::Text(RecordField, std::string_view name, std::string& text) {
  const nlohmann::json* field = Find(name);
  if (field == nullptr) return;
  if (!field->is_string()) return Fail(name, "must be a text");
  text = field->get<std::string>();
}

void JsonReader::Flag(RecordField, std::string_view name, bool& value) {
  const nlohmann::json* field = Find(name);
  if (field == nullptr) return;
  if (!field->is_boolean()) return Fail(name, "must be true or false");
  value = field->get<bool>();
}

void JsonReader::Real(RecordField, std::string_view name, double& value) {
  const nlohmann::json* field = Find(name);
  if (field == nullptr) return;
  const std::optional<double> real = RealOf(*field);
  if (!real) return Fail(name, "must be a number");
  value = *real;
}

void JsonReader::Limits(RecordField field, std::string_view name, ClockLimits& limits) {
  std::string text;
  Text(field, name, text);
  if (!status_.ok()) return;
  const std::optional<ClockLimits> parsed = ParseClockLimits(text);
  if (!parsed) return Fail(name, fmt::format("'{}' is unknown", text));
  limits.Add(*parsed);
}

void JsonReader::Bounds(RecordField, std::string_view name, Interval& interval, double /*middle*/) {
  const nlohmann::json* field = Find(name);
  if (field == nullptr) return;
  const bool is_pair = field->is_array() && field->size() == 2;
  const std::optional<double> low = is_pair ? RealOf((*field)[0]) : std::nullopt;
  const std::optional<double> high = is_pair ? RealOf((*field)[1]) : std::nullopt;
  if (!low || !high) return Fail(name, "must be a list of two numbers");
  interval = {*low, *high};
}

void JsonReader::Samples(RecordField, std::string_view name, std::vector<float>& samples, double /*near*/) {
  if (!status_.ok() || !object_.contains(name)) return;
  const nlohmann::json& field = object_.at(std::string(name));
  if (!field.is_array()) return Fail(name, "must be a list of numbers");
  for (const nlohmann::json& element : field) {
    const std::optional<double> sample = RealOf(element);
    if (!sample) return Fail(name, "must be a list of numbers");
    samples.push_back(float(*sample));
  }
}

void JsonReader::Presence(RecordField, uint64_t& bits, std::span<const CounterDefinition> all) {
  for (size_t i = 0; i < all.size(); ++i)
    if (status_.ok() && object_.contains(all[i].name)) bits |= uint64_t{1} << i;
}

}  // namespace gemmsmith
