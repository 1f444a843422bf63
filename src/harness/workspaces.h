// The workspaces of candidates, kept by size: making one costs more than a test.
#pragma once

#include <map>
#include <set>

#include "harness/operands.h"

namespace gemmsmith {

class Workspaces {
 public:
  explicit Workspaces(Gpu& gpu) : gpu_(gpu) {}

  // Acquires a workspace of exactly these bytes, with canaries right behind them. It belongs to one candidate until
  // Release(), so that no candidate sees another one's data. Null: not enough memory.
  Result<const GuardedWorkspace*> Acquire(uint64_t bytes);
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
