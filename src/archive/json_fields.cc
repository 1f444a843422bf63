#include "archive/json_fields.h"

#include <cmath>

namespace gemmsmith {

using nlohmann::json;

nlohmann::ordered_json JsonReal(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

void JsonFields::Fail(const char* name, std::string_view reason) {
  if (status_.ok()) status_ = InvalidArgument(fmt::format("field {}{}: {}", path_, name, reason));
}

const json* JsonFields::Find(const char* name) {
  if (!status_.ok()) return nullptr;
  const auto field = object_.find(name);  // end() for anything but an object
  if (field != object_.end()) return &*field;
  Fail(name, "is missing");
  return nullptr;
}

bool JsonFields::ReadReal(const json& field, double& value) {
  if (field.is_number()) {
    value = field.get<double>();
    return true;
  }
  if (field == "nan") value = std::numeric_limits<double>::quiet_NaN();
  if (field == "inf") value = std::numeric_limits<double>::infinity();
  if (field == "-inf") value = -std::numeric_limits<double>::infinity();
  return field == "nan" || field == "inf" || field == "-inf";
}

void JsonFields::Real(const char* name, double& value) {
  const json* field = Find(name);
  if (field != nullptr && !ReadReal(*field, value)) Fail(name, "must be a number");
}

void JsonFields::Flag(const char* name, bool& value) {
  const json* field = Find(name);
  if (field == nullptr) return;
  if (!field->is_boolean()) return Fail(name, "must be true or false");
  value = field->get<bool>();
}

void JsonFields::Text(const char* name, std::string& value) {
  const json* field = Find(name);
  if (field == nullptr) return;
  if (!field->is_string()) return Fail(name, "must be a text");
  value = field->get<std::string>();
}

JsonFields JsonFields::Object(const char* name) {
  static const json kNothing = json::object();
  const json* field = Find(name);
  if (field != nullptr && !field->is_object()) Fail(name, "must be an object");
  return {field == nullptr ? kNothing : *field, fmt::format("{}{}.", path_, name), status_};
}

void JsonFields::Pair(const char* name, double& low, double& high) {
  const json* field = Find(name);
  if (field == nullptr) return;
  if (!field->is_array() || field->size() != 2 || !ReadReal((*field)[0], low) || !ReadReal((*field)[1], high))
    Fail(name, "must be a list of two numbers");
}

void JsonFields::Floats(const char* name, std::vector<float>& values) {
  if (!status_.ok() || !object_.contains(name)) return;
  const json& field = object_.at(name);
  if (!field.is_array()) return Fail(name, "must be a list of numbers");
  for (const json& element : field) {
    double value = 0;
    if (!ReadReal(element, value)) return Fail(name, "must be a list of numbers");
    values.push_back(float(value));
  }
}

nlohmann::ordered_json JsonFacts(const CodeFacts& facts) {
  return {{"registers", facts.registers},
          {"local_bytes", facts.local_bytes},
          {"static_smem_bytes", facts.static_smem_bytes},
          {"code_bytes", facts.code_bytes},
          {"instructions", facts.instructions},
          {"local_memory_instructions", facts.local_memory_instructions},
          {"mma_f32", facts.mma_f32},
          {"mma_f16", facts.mma_f16},
          {"wgmma_f32", facts.wgmma_f32},
          {"wgmma_f16", facts.wgmma_f16}};
}

}  // namespace gemmsmith
