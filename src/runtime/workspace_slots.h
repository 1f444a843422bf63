// Zeroed memory for kernels whose splits meet in memory. A stream takes a slot at its first call and keeps it. During a
// capture each stream takes one for the graph, which gives it back when it is destroyed.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include "gpu/driver.h"

namespace gemmsmith {

class WorkspaceSlots {
 public:
  // The largest entry needs 4 MiB and a counter a tile.
  static constexpr uint64_t kSlotBytes = (uint64_t{4} << 20) + (uint64_t{64} << 10);
  static constexpr size_t kSlots = 8;

  // In the current context, while it is destroyed too.
  static Result<std::unique_ptr<WorkspaceSlots>> Make(const Driver& driver);
  WorkspaceSlots(const WorkspaceSlots&) = delete;
  WorkspaceSlots& operator=(const WorkspaceSlots&) = delete;
  ~WorkspaceSlots();

  // Null: none is left. Takes a lock at the first call of a stream or of a capture alone.
  void* SlotFor(CUstream stream);

 private:
  // Who may use a slot: a stream by its identity, or, during a capture, by its handle and the capture's identity.
  // Identities are never given again.
  struct User {
    uint64_t stream = 0, capture = 0;  // capture 0: none
  };
  struct Slots;
  struct Slot {
    std::atomic<bool> is_taken = false;
    std::atomic<uint32_t> version = 0;  // odd while the user is written
    std::atomic<uint64_t> stream = 0, capture = 0;
    std::shared_ptr<Slots> kept_for_graph;

    bool BelongsTo(const User& user) const;
    void GiveTo(const User& user);
  };
  struct Slots : std::array<Slot, kSlots> {};

  explicit WorkspaceSlots(const Driver& driver) : driver_(driver), slots_(std::make_shared<Slots>()) {}
  Status Zero() const;
  Slot* Find(const User& user) const;
  Slot* Claim(const User& user, CUgraph graph);
  // Whether the graph gives the slot back.
  bool LendTo(CUgraph graph, Slot& slot) const;

  const Driver& driver_;
  CUdeviceptr memory_ = 0;
  std::mutex claim_;
  const std::shared_ptr<Slots> slots_;  // graphs may outlive this
};

}  // namespace gemmsmith
