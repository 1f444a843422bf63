// The launches that gemm() of a built source would make. The source's program is asked in a sandbox without GPU, driver
// and network (docs/free_form.md). Safe to call from many threads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/sandbox.h"
#include "base/status.h"
#include "compile/binary.h"
#include "problem/device_model.h"
#include "problem/gemm.h"
#include "program/recipe.h"

namespace gemmsmith {

enum class RecordEnd {
  kRecipe,
  kReturnedError,  // gemm() does not support the shape
  kCrashed,
  kTimedOut,
  kRefused,  // against the contract
};
struct LaunchRecord {
  RecordEnd end = RecordEnd::kRecipe;
  std::optional<Recipe> recipe;  // under kRecipe
  std::string reason;            // under all others: one line that begins with "gemm" or "its process"
};

inline constexpr uint64_t kSourceWorkspaceBytes = uint64_t{64} << 20;

// One recording for each shape. One process is asked for all shapes in turn, several times each. `seed` draws the
// invented addresses; recipes do not depend on it. Returns a Status only if the environment failed.
Result<std::vector<LaunchRecord>> RecordLaunches(const SourceProgram& program, const Device& device,
                                                 std::span<const Shape> shapes, uint64_t seed);

// Where `program` runs.
Sandbox RecordingSandbox(const std::filesystem::path& program);

}  // namespace gemmsmith
