#include "runtime/workspace_slots.h"

#include <algorithm>

namespace gemmsmith {

Result<std::unique_ptr<WorkspaceSlots>> WorkspaceSlots::Make(const Driver& driver) {
  std::unique_ptr<WorkspaceSlots> slots(new WorkspaceSlots(driver));
  RETURN_IF_CUDA_ERROR(driver.cuMemAlloc(&slots->memory_, kSlots * kSlotBytes));
  RETURN_IF_ERROR(slots->Zero());
  return slots;
}

WorkspaceSlots::~WorkspaceSlots() {
  if (memory_ != 0) driver_.cuMemFree(memory_);
}

// On a stream of its own: whoever captures others is not disturbed.
Status WorkspaceSlots::Zero() const {
  CUstream stream = nullptr;
  RETURN_IF_CUDA_ERROR(driver_.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  Status zeroed = DriverStatus(driver_.cuMemsetD8Async(memory_, 0, kSlots * kSlotBytes, stream), "cuMemsetD8Async");
  if (zeroed.ok()) zeroed = DriverStatus(driver_.cuStreamSynchronize(stream), "cuStreamSynchronize");
  driver_.cuStreamDestroy(stream);
  return zeroed;
}

// A slot of this user's does not change hands meanwhile; any other may, and then the versions differ.
bool WorkspaceSlots::Slot::BelongsTo(const User& user) const {
  const uint32_t before = version.load(std::memory_order_acquire);
  const bool is_theirs = is_taken.load(std::memory_order_acquire) &&
                         stream.load(std::memory_order_relaxed) == user.stream &&
                         capture.load(std::memory_order_relaxed) == user.capture;
  std::atomic_thread_fence(std::memory_order_acquire);
  return is_theirs && before % 2 == 0 && version.load(std::memory_order_relaxed) == before;
}

void WorkspaceSlots::Slot::GiveTo(const User& user) {
  version.fetch_add(1, std::memory_order_acq_rel);
  stream.store(user.stream, std::memory_order_relaxed);
  capture.store(user.capture, std::memory_order_relaxed);
  version.fetch_add(1, std::memory_order_release);
  is_taken.store(true, std::memory_order_release);
}

WorkspaceSlots::Slot* WorkspaceSlots::Find(const User& user) const {
  const auto found = std::ranges::find_if(*slots_, [&](const Slot& slot) { return slot.BelongsTo(user); });
  return found == slots_->end() ? nullptr : &*found;
}

// The driver calls back when the graph and all that was made from it are gone, and what they launched is done.
bool WorkspaceSlots::LendTo(CUgraph graph, Slot& slot) const {
  const auto give_back = [](void* lent) {
    Slot& back = *static_cast<Slot*>(lent);
    const std::shared_ptr<Slots> kept = std::move(back.kept_for_graph);
    back.is_taken.store(false, std::memory_order_release);
  };
  CUuserObject object = nullptr;
  slot.kept_for_graph = slots_;
  if (driver_.cuUserObjectCreate(&object, &slot, give_back, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) != CUDA_SUCCESS) {
    give_back(&slot);
    return false;
  }
  if (driver_.cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE) == CUDA_SUCCESS) return true;
  driver_.cuUserObjectRelease(object, 1);  // gives it back
  return false;
}

// Two threads may put their first calls on one stream.
WorkspaceSlots::Slot* WorkspaceSlots::Claim(const User& user, CUgraph graph) {
  const std::lock_guard lock(claim_);
  if (Slot* const known = Find(user)) return known;
  for (Slot& slot : *slots_) {
    if (slot.is_taken.load(std::memory_order_acquire)) continue;
    slot.GiveTo(user);
    return user.capture == 0 || LendTo(graph, slot) ? &slot : nullptr;
  }
  return nullptr;
}

void* WorkspaceSlots::SlotFor(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t capture = 0;
  unsigned long long identity = 0;
  CUgraph graph = nullptr;
  if (driver_.cuStreamGetCaptureInfo(stream, &status, &capture, &graph, nullptr, nullptr, nullptr) != CUDA_SUCCESS ||
      status == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
    return nullptr;
  const bool is_captured = status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
  // To ask a stream that is captured for its identity ends the capture. Its handle is its own as long as it lives.
  if (!is_captured && driver_.cuStreamGetId(stream, &identity) != CUDA_SUCCESS) return nullptr;
  const User user = is_captured ? User{uint64_t(reinterpret_cast<uintptr_t>(stream)), capture} : User{identity, 0};
  const Slot* slot = Find(user);
  if (slot == nullptr) slot = Claim(user, graph);
  if (slot == nullptr) return nullptr;
  return reinterpret_cast<void*>(memory_ + uint64_t(slot - slots_->data()) * kSlotBytes);
}

}  // namespace gemmsmith
