#include "campaign/round.h"

#include <algorithm>

namespace gemmsmith {

std::vector<Layouts> JoinLayouts(const std::vector<Gemm>& items) {
  std::vector<Layouts> problems;
  size_t first_of_shape = 0;  // in `problems`
  for (size_t item = 0; item < items.size(); ++item) {
    if (item > 0 && items[item].shape != items[item - 1].shape) first_of_shape = problems.size();
    const auto joined =
        std::find_if(problems.begin() + ptrdiff_t(first_of_shape), problems.end(), [&](const Layouts& layouts) {
          return layouts.size() < kMaxLayouts && WithoutLayout(items[layouts.front()]) == WithoutLayout(items[item]);
        });
    if (joined == problems.end())
      problems.push_back({item});
    else
      joined->push_back(item);
  }
  return problems;
}

}  // namespace gemmsmith
