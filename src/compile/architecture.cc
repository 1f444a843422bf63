#include "compile/architecture.h"

namespace gemmsmith {

Status CheckArchitecture(std::string_view architecture) {
  const Status refused = InvalidArgument(fmt::format("'{}' is no GPU architecture (such as sm_90a)", architecture));
  if (!architecture.starts_with("sm_")) return refused;
  std::string_view number = architecture.substr(3);
  if (number.ends_with('a') || number.ends_with('f')) number.remove_suffix(1);
  const bool digits = number.find_first_not_of("0123456789") == std::string_view::npos;
  return digits && (number.size() == 2 || number.size() == 3) ? OkStatus() : refused;
}

}  // namespace gemmsmith
