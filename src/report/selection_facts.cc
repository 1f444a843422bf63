#include "report/selection_facts.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/sheet.h"

namespace gemmsmith {

std::string MeasuredLine(const Selection& selection) {
  return fmt::format("measured on an {}, {}, {} protocol, {}", selection.setting.device_name,
                     DatesCell(selection.first_unix_ms, selection.last_unix_ms), Name(selection.protocol),
                     Print(selection.number_types));
}

nlohmann::ordered_json JsonFacts(const Selection& selection) {
  return {{"device", selection.setting.device_name},
          {"device_key", selection.setting.device_key},
          {"date", DateText(selection.last_unix_ms)},
          {"first_date", DateText(selection.first_unix_ms)},
          {"protocol", Name(selection.protocol)},
          {"type", Name(selection.number_types.type)},
          {"accumulation", Name(selection.number_types.accumulation)}};
}

}  // namespace gemmsmith
