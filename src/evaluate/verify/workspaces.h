// The workspaces of candidates, kept by size: making one costs more than a test.
#pragma once

#include <map>
#include <set>

#include "evaluate/verify/operands.h"

namespace gemmsmith {

class Workspaces {
 public:
  explicit Workspaces(Gpu& gpu) : gpu_(gpu) {}

  // Of exactly these bytes, so that its canaries stand right behind them, and for one candidate alone, so that none
  // works with what another one left; until Release(). Null: there is not that much memory.
  Result<const GuardedWorkspace*> Take(uint64_t bytes);
  // All that were taken may be taken again, or go.
  void Release();
  // Canaries and zeros as new, in all of them.
  Status Restore();
  void Clear();

 private:
  void DropUntaken();

  Gpu& gpu_;
  std::multimap<uint64_t, GuardedWorkspace> by_size_;
  std::set<const GuardedWorkspace*> taken_;
};

}  // namespace gemmsmith
