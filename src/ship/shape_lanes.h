// Work on many problems, dealt out to several evaluators shape by shape: the layouts of one problem are served from one
// session, so they are done together.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "problem/gemm.h"

namespace gemmsmith {

// Layouts of one problem are done together, up to so many.
inline constexpr size_t kMostLayouts = 2;

// That an item, or a problem by one of its items, is done: or that it is not, because the world failed.
using ReportItem = std::function<void(size_t item, const Status& world)>;

// One evaluator's part, for one thread. Items are named by their index; those of one call are one problem's in
// different layouts.
class ShapeLane {
 public:
  virtual ~ShapeLane() = default;
  // They will be given to Do() in this order, or to another lane after this one's last.
  virtual void Expect(std::span<const size_t> layouts) = 0;
  // Reports them now, or while it does later ones, or at the end.
  virtual void Do(std::span<const size_t> layouts, const ReportItem& report) = 0;
  // Waits for what is under way.
  virtual void Finish(const ReportItem&) {}
};

struct LaneHooks {
  std::function<bool()> is_over;                            // asked between two problems, by many threads
  std::function<void(size_t begun, const Gemm&)> on_begin;  // by one thread at a time
};

// Each lane takes the problems of one shape after the other. One shape may be too large for a GPU; of two in a row the
// machine is the reason, and that lane leaves what it has not begun to the others, of which new ones are made where
// they have ended already: the reason is returned.
Status DealOut(const std::vector<Gemm>& items, size_t lanes,
               const std::function<std::unique_ptr<ShapeLane>(size_t lane)>& make_lane, const LaneHooks& hooks);

}  // namespace gemmsmith
