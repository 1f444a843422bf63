#include "problem/models.h"

#include "base/check.h"
#include "base/text.h"

namespace gemmsmith {

namespace {

Pass PassNamed(std::string_view name) {
  for (const Pass pass : {Pass::kForward, Pass::kInputGradient, Pass::kWeightGradient})
    if (Name(pass) == name) return pass;
  GEMMSMITH_CHECK(false, "'{}' is no pass", name);
  return Pass::kForward;
}

int Number(std::string_view field) {
  const std::optional<long long> value = ParseInteger(field);
  GEMMSMITH_CHECK(value && *value > 0, "'{}' in the table of models", field);
  return int(*value);
}

// The text came with the program, so what is wrong in it is our own bug.
std::vector<ModelProduct> ReadTable() {
  std::vector<ModelProduct> rows;
  bool is_header = true;
  for (const std::string_view line : Split(ModelProductsCsv(), '\n')) {
    if (line.empty()) continue;
    const std::vector<std::string_view> fields = Split(line, ',');
    GEMMSMITH_CHECK(fields.size() == 8, "'{}' in the table of models", line);
    if (!is_header)
      rows.push_back({.model = fields[0],
                      .layer = fields[1],
                      .pass = PassNamed(fields[2]),
                      .shape = {Number(fields[3]), Number(fields[4]), Number(fields[5])},
                      .layout = *ParseLayout(fields[6]),
                      .weight = Number(fields[7])});
    is_header = false;
  }
  return rows;
}

}  // namespace

std::string_view Name(Pass pass) {
  return pass == Pass::kForward ? "fwd" : pass == Pass::kInputGradient ? "dgrad" : "wgrad";
}

std::string_view Name(ModelGroup group) {
  return group == ModelGroup::kDecode ? "decode" : group == ModelGroup::kMiddle ? "middle" : "large";
}

ModelGroup GroupOf(const Shape& shape) {
  return shape.m <= 64 ? ModelGroup::kDecode : shape.m <= 512 ? ModelGroup::kMiddle : ModelGroup::kLarge;
}

const std::vector<ModelProduct>& ModelProducts() {
  static const std::vector<ModelProduct> rows = ReadTable();
  return rows;
}

}  // namespace gemmsmith
