// A status of the C interface with its reason in one line.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "gemmsmith/gemmsmith.h"

namespace gemmsmith {

struct [[nodiscard]] Failure {
  gemmsmith_status status = GEMMSMITH_OK;
  std::string reason;
  bool ok() const { return status == GEMMSMITH_OK; }
};

inline Failure Done() { return {}; }
inline Failure Fail(gemmsmith_status status, std::string reason) { return {status, std::move(reason)}; }
inline Failure FailIfNot(const Status& status, gemmsmith_status otherwise) {
  return status.ok() ? Done() : Fail(otherwise, status.message());
}

// Callers that leave cuBLASLt out meet it at every other call: the reason is short enough to be stored without memory.
inline Failure NotOurs() { return Fail(GEMMSMITH_NOT_SUPPORTED, "not ours"); }

}  // namespace gemmsmith

#define RETURN_FAILURE(expression)                                                     \
  do {                                                                                 \
    if (::gemmsmith::Failure failure_ = (expression); !failure_.ok()) return failure_; \
  } while (0)
