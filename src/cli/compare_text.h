// A comparison of searches and policies for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "archive/json_text.h"
#include "cli/terminal.h"
#include "report/search_comparison.h"

namespace gemmsmith {

// What was compared, where it is kept.
struct ComparedTraces {
  const Traces& traces;
  const Recording& recording;
  const SearchComparison& comparison;
  std::vector<std::string> files;  // read or written; none where nothing was kept
};

std::string TextOf(const ComparedTraces& compared, const Terminal& terminal);
Json JsonOf(const ComparedTraces& compared);

}  // namespace gemmsmith
