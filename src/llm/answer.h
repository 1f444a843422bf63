// What a model wrote: analysis, design, and code as a whole file or as edits of one that it was shown.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace gemmsmith {

struct WrittenAnswer {
  std::string analysis, design;  // empty where they lack
  std::string source;
  int edits = 0;  // 0: a whole file
};

// `shown` are the sources that edits may be of, numbered from 1. InvalidArgument says to the author what is wrong.
Result<WrittenAnswer> ReadAnswer(std::string_view text, std::span<const std::string> shown);

}  // namespace gemmsmith
