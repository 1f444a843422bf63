// Reading a JSON object field by field; the first field that is missing or wrong is remembered by its path.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compile/binary.h"

namespace gemmsmith {

class JsonFields {
 public:
  // `object` and `status` outlive this. Whatever `object` is: when it is no object, every field of it is missing.
  JsonFields(const nlohmann::json& object, std::string path, Status& status)
      : object_(object), path_(std::move(path)), status_(status) {}

  // For fields that older records lack.
  bool Has(const char* name) const { return object_.contains(name); }
  template <class Int>
  void Integer(const char* name, Int& value) {
    const nlohmann::json* field = Find(name);
    if (field == nullptr) return;
    const bool in_range = field->is_number_unsigned()
                              ? field->get<uint64_t>() <= uint64_t(std::numeric_limits<Int>::max())
                              : field->is_number_integer() && std::numeric_limits<Int>::is_signed &&
                                    field->get<int64_t>() >= int64_t(std::numeric_limits<Int>::min());
    if (!in_range) return Fail(name, "must be a whole number in range");
    value = field->get<Int>();
  }
  void Real(const char* name, double& value);  // also "nan", "inf", "-inf"
  void Flag(const char* name, bool& value);
  void Text(const char* name, std::string& value);
  // A text that `parse` (returning a Result or an optional) understands.
  template <class T>
  void Parsed(const char* name, T& value, auto&& parse) {
    std::string text;
    Text(name, text);
    if (!status_.ok()) return;
    auto parsed = parse(text);
    if constexpr (requires { parsed.status(); }) {
      if (!parsed.ok()) return Fail(name, parsed.status().message());
    } else {
      if (!parsed) return Fail(name, fmt::format("'{}' is unknown", text));
    }
    value = *parsed;
  }
  JsonFields Object(const char* name);
  // Fields that may be missing.
  template <class Item>
  void OptionalObject(const char* name, std::optional<Item>& item, auto&& fields) {
    if (!status_.ok() || !object_.is_object() || !object_.contains(name)) return;
    fields(Object(name), item.emplace());
  }
  void OptionalReal(const char* name, std::optional<double>& value) {
    if (status_.ok() && object_.is_object() && object_.contains(name)) Real(name, value.emplace());
  }
  // [low, high]
  void Pair(const char* name, double& low, double& high);
  void Floats(const char* name, std::vector<float>& values);  // may be missing
  template <class Item>
  void List(const char* name, std::vector<Item>& items, auto&& fields) {
    const nlohmann::json* field = Find(name);
    if (field == nullptr) return;
    if (!field->is_array()) return Fail(name, "must be a list");
    for (size_t i = 0; i < field->size() && status_.ok(); ++i) {
      JsonFields item((*field)[i], fmt::format("{}{}[{}].", path_, name, i), status_);
      fields(item, items.emplace_back());
    }
  }

 private:
  const nlohmann::json* Find(const char* name);  // null, and a failure, where it is missing
  bool ReadReal(const nlohmann::json& field, double& value);
  void Fail(const char* name, std::string_view reason);

  const nlohmann::json& object_;
  std::string path_;
  Status& status_;
};

// What JsonFields::Real() reads.
nlohmann::ordered_json JsonReal(double value);
// The facts as records and the command line both write them.
nlohmann::ordered_json JsonFacts(const CodeFacts& facts);

}  // namespace gemmsmith
