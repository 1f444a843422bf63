// One stored judgement: who was judged for which problem where, and what became of it.
#pragma once

#include <cstdint>
#include <string>

#include "evaluate/outcome.h"
#include "evaluate/setting.h"
#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

struct Trial {
  Gemm gemm;
  Plan plan;
  Outcome outcome;
  Setting setting;
  uint64_t seed = 0;
  int64_t unix_ms = 0;   // when it was stored
  std::string campaign;  // which run stored it
  bool operator==(const Trial&) const = default;
};

// Protocols by how carefully they time: screen, heat, short, long.
inline bool MoreCareful(Protocol protocol, Protocol than) {
  const auto care = [](Protocol p) {
    return p == Protocol::kScreen ? 0 : p == Protocol::kHeat ? 1 : p == Protocol::kShort ? 2 : 3;
  };
  return care(protocol) > care(than);
}

}  // namespace gemmsmith
