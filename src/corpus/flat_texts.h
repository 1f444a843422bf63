// Training texts: flat kernels (program/flat_form.h) of random plans, each with its prompt. A fast plan is as likely as
// a slow one: speed is to be learned by reward.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "corpus/text_shards.h"
#include "problem/device_model.h"
#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

// A plan that was measured on the device.
struct MeasuredPlan {
  Plan plan;
  double time_ns = 0;
};

struct FlatTextOptions {
  std::vector<Gemm> problems;  // packed
  Device device;
  int64_t count = 0;
  uint64_t seed = 1;
  std::string origin;  // says all of the above but the count
  int shard_texts = 500;
  // Every other prompt, at random, shows so many kernels of its problem: plans of `measured` with their times, else
  // random plans without. The texts do not depend on it.
  int contrast = 0;
  std::map<Gemm, std::vector<MeasuredPlan>> measured;  // of family direct
};

struct FlatTextHooks {
  std::function<bool()> stop;                // between two shards
  std::function<void(int64_t texts)> watch;  // after each shard
};

struct FlatTextSummary {
  int64_t texts = 0, found = 0;  // in the folder now; of these found there
  size_t plans = 0;              // different ones
  int64_t bytes = 0;             // of kernels
};

// Writes texts_00000.jsonl and so on, no two kernels alike. Depends on the options alone. Shards that are there are
// kept, so a stopped run goes on and a larger count adds texts. InvalidArgument where the folder holds other texts, or
// more; NotFound where there are not so many different kernels.
Result<FlatTextSummary> WriteFlatTexts(const FlatTextOptions& options, const std::filesystem::path& folder,
                                       const FlatTextHooks& hooks);

}  // namespace gemmsmith
