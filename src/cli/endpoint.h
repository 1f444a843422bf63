// Where a language model is asked, unless the command line says it.
#pragma once

#include <string>

#include "base/installation.h"

namespace gemmsmith {

inline std::string EndpointOr(const std::string& given) {
  if (!given.empty()) return given;
  const std::string usual(Environment("OPENAI_BASE_URL"));
  return usual.empty() ? "http://127.0.0.1:8080/v1" : usual;
}
inline std::string EndpointKey() { return std::string(Environment("OPENAI_API_KEY")); }

}  // namespace gemmsmith
