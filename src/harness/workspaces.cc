#include "harness/workspaces.h"

#include <algorithm>

namespace gemmsmith {

namespace {

constexpr uint64_t kKeptBytes = uint64_t{1} << 30;     // between exchanges
constexpr uint64_t kSpareBytes = uint64_t{512} << 20;  // that libraries may want

}  // namespace

Result<const GuardedWorkspace*> Workspaces::Acquire(uint64_t bytes) {
  const uint64_t size = GuardedWorkspace::SizeFor(bytes);
  const auto [first, last] = by_size_.equal_range(size);
  auto free = std::find_if(first, last, [this](const auto& entry) { return !taken_.contains(&entry.second); });
  if (free == last) {
    if (size + kSpareBytes > gpu_.FreeBytes()) DropUntaken();
    if (size + kSpareBytes > gpu_.FreeBytes()) return static_cast<const GuardedWorkspace*>(nullptr);
    ASSIGN_OR_RETURN(GuardedWorkspace workspace, GuardedWorkspace::Create(gpu_, bytes));
    free = by_size_.emplace(size, std::move(workspace));
  }
  taken_.insert(&free->second);
  return &free->second;
}

void Workspaces::Release() {
  taken_.clear();
  uint64_t bytes = 0;
  for (const auto& [size, workspace] : by_size_) bytes += size + 2 * kGuardBytes;
  if (bytes > kKeptBytes) by_size_.clear();
}

Status Workspaces::Restore() {
  for (const auto& [size, workspace] : by_size_) RETURN_IF_ERROR(workspace.Restore(gpu_));
  return OkStatus();
}

void Workspaces::Clear() {
  by_size_.clear();
  taken_.clear();
}

void Workspaces::DropUntaken() {
  std::erase_if(by_size_, [this](const auto& entry) { return !taken_.contains(&entry.second); });
}

}  // namespace gemmsmith
