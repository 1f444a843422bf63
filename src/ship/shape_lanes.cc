#include "ship/shape_lanes.h"

#include <algorithm>
#include <deque>
#include <future>
#include <mutex>
#include <numeric>
#include <set>

namespace gemmsmith {

namespace {

// So many problems, in whatever layouts, get ready while another one is done.
constexpr size_t kProblemsAhead = 8;

// Items, by index, of one problem in several layouts.
using Layouts = std::vector<size_t>;

// The items that no lane has taken yet. For many threads.
class Untaken {
 public:
  explicit Untaken(const std::vector<Gemm>& items) : items_(items) {
    for (size_t i = 0; i < items.size(); ++i) left_.push_back(i);
  }

  // The problems of the next shape. None are left where it is empty.
  std::vector<Layouts> TakeShape() {
    const std::lock_guard lock(mutex_);
    std::vector<Layouts> taken;
    while (!left_.empty() && (taken.empty() || ShapeOf(left_.front()) == ShapeOf(taken.front().front()))) {
      const auto joined = std::ranges::find_if(taken, [&](const Layouts& layouts) {
        return layouts.size() < kMostLayouts && ProblemOf(layouts.front()) == ProblemOf(left_.front());
      });
      if (joined == taken.end())
        taken.push_back({left_.front()});
      else
        joined->push_back(left_.front());
      left_.pop_front();
    }
    return taken;
  }
  bool empty() {
    const std::lock_guard lock(mutex_);
    return left_.empty();
  }
  void GiveBack(const std::deque<Layouts>& taken) {
    const std::lock_guard lock(mutex_);
    for (auto layouts = taken.rbegin(); layouts != taken.rend(); ++layouts)
      left_.insert(left_.begin(), layouts->begin(), layouts->end());
  }

 private:
  const Shape& ShapeOf(size_t item) const { return items_[item].shape; }
  Gemm ProblemOf(size_t item) const { return WithoutLayout(items_[item]); }

  const std::vector<Gemm>& items_;
  std::mutex mutex_;
  std::deque<size_t> left_;
};

}  // namespace

Status DealOut(const std::vector<Gemm>& items, size_t lanes,
               const std::function<std::unique_ptr<ShapeLane>(size_t lane)>& make_lane, const LaneHooks& hooks) {
  Untaken untaken(items);
  std::mutex mutex;
  size_t begun = 0;
  const auto work = [&](size_t number) -> Status {
    const std::unique_ptr<ShapeLane> lane = make_lane(number);
    std::deque<Layouts> own;
    const auto take_more = [&] {
      while (own.size() <= kProblemsAhead) {
        const std::vector<Layouts> taken = untaken.TakeShape();
        if (taken.empty()) return;
        for (const Layouts& layouts : taken) lane->Expect(layouts);
        own.insert(own.end(), taken.begin(), taken.end());
      }
    };
    std::set<Shape> failed_in_a_row;
    Status world;
    const ReportItem report = [&](size_t item, const Status& status) {
      const Shape& shape = items[item].shape;
      if (status.ok() && !failed_in_a_row.contains(shape)) failed_in_a_row.clear();
      if (!status.ok()) failed_in_a_row.insert(shape);
      if (failed_in_a_row.size() == 2 && world.ok()) world = status;
    };
    for (take_more(); !own.empty() && !hooks.is_over(); take_more()) {
      const Layouts layouts = std::move(own.front());
      own.pop_front();
      {
        const std::lock_guard lock(mutex);
        for (const size_t i : layouts) hooks.on_begin(begun++, items[i]);
      }
      lane->Do(layouts, report);
      if (!world.ok()) break;
    }
    untaken.GiveBack(own);
    lane->Finish(report);
    return world;
  };
  // Who ended well begins again where another lane gave back what it could not do when nobody was left to take it.
  Status world;
  std::vector<size_t> able(lanes);
  std::iota(able.begin(), able.end(), size_t{0});
  do {
    std::vector<std::future<Status>> parts;
    for (const size_t lane : able) parts.push_back(std::async(std::launch::async, work, lane));
    std::vector<size_t> ended_well;
    for (size_t i = 0; i < parts.size(); ++i) {
      Status ended = parts[i].get();
      if (ended.ok())
        ended_well.push_back(able[i]);
      else
        world = std::move(ended);
    }
    able = std::move(ended_well);
  } while (!able.empty() && !untaken.empty() && !hooks.is_over());
  return world;
}

}  // namespace gemmsmith
