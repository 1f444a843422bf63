#include "compile/relocation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

namespace gemmsmith {

namespace {

constexpr size_t kWordBytes = 8;
constexpr std::array kOperandNames = {"A", "B", "C", "the workspace"};
// Farther from an operand than this, a constant is a number. Two dimensions in one word must not come so near.
constexpr uint64_t kReachBytes = uint64_t{1} << 29;

using Calls = std::span<const RecordedCall>;

// The operand that a value follows through all calls. `value` gives that of a call.
template <class Value>
std::optional<OperandAddress> Follow(Calls calls, Value value) {
  for (size_t operand = 0; operand < kOperandNames.size(); ++operand) {
    const auto offset = [&](const RecordedCall& call) { return value(call) - call.addresses[operand]; };
    const bool follows = std::all_of(calls.begin(), calls.end(),
                                     [&](const RecordedCall& call) { return offset(call) == offset(calls.front()); });
    if (follows) return OperandAddress{CallOperand(operand), int64_t(offset(calls.front()))};
  }
  return std::nullopt;
}

// Whether a constant is an address that one of the calls was given.
const char* OperandNear(Calls calls, uint64_t value) {
  for (const RecordedCall& call : calls)
    for (size_t operand = 0; operand < kOperandNames.size(); ++operand)
      if (value - call.addresses[operand] + kReachBytes < 2 * kReachBytes) return kOperandNames[operand];
  return nullptr;
}

uint64_t WordAt(const KernelStep& step, size_t at) {
  uint64_t word = 0;
  std::memcpy(&word, step.parameters.data() + at, std::min(kWordBytes, step.parameters.size() - at));
  return word;
}

const KernelStep& KernelOf(const RecordedCall& call, size_t step) {
  return std::get<KernelStep>(call.recipe.steps[step]);
}

std::string RelocateWord(Calls calls, size_t index, size_t at, KernelStep& step) {
  const auto word = [&](const RecordedCall& call) { return WordAt(KernelOf(call, index), at); };
  const bool is_constant =
      std::all_of(calls.begin(), calls.end(), [&](const auto& call) { return word(call) == word(calls.front()); });
  if (is_constant) {
    const char* const operand = OperandNear(calls, word(calls.front()));
    if (operand == nullptr) return "";
    return fmt::format("kernel {} keeps an address of {} from an earlier call in byte {} of its parameters",
                       step.kernel, operand, at);
  }
  const std::optional<OperandAddress> address = Follow(calls, word);
  if (!address || at + kWordBytes > step.parameters.size())
    return fmt::format(
        "byte {} of the parameters of kernel {} differs between calls of the same shape, and not as an operand's "
        "address does",
        at, step.kernel);
  step.addresses.push_back({uint32_t(at), *address});
  std::memset(step.parameters.data() + at, 0, kWordBytes);
  return "";
}

// The part of a launch that must not differ; empty where nothing does.
std::string_view DifferenceOf(const KernelStep& a, const KernelStep& b) {
  if (a.kernel != b.kernel) return "kernel";
  if (!(a.grid == b.grid)) return "grid";
  if (!(a.block == b.block)) return "block";
  if (!(a.cluster == b.cluster)) return "cluster";
  if (a.smem_bytes != b.smem_bytes) return "shared memory";
  if (a.is_cooperative != b.is_cooperative || a.is_programmatic != b.is_programmatic) return "attributes";
  if (a.carveout_percent != b.carveout_percent) return "carveout";
  if (a.parameters.size() != b.parameters.size()) return "parameters";
  if (a.maps != b.maps) return "tensor maps";
  return "";
}

std::string RelocateKernel(Calls calls, size_t index, KernelStep& step) {
  for (const RecordedCall& call : calls)
    if (const std::string_view part = DifferenceOf(KernelOf(call, index), step); !part.empty())
      return fmt::format("the {} of launch {} ({}) differs between calls of the same shape", part, index + 1,
                         step.kernel);
  for (size_t at = 0; at < step.parameters.size(); at += kWordBytes)
    if (std::string reason = RelocateWord(calls, index, at, step); !reason.empty()) return reason;
  return "";
}

std::string RelocateMemset(Calls calls, size_t index, MemsetStep& step) {
  const auto memset_of = [&](const RecordedCall& call) { return std::get<MemsetStep>(call.recipe.steps[index]); };
  for (const RecordedCall& call : calls) {
    MemsetStep other = memset_of(call);
    other.address = step.address;
    if (!(other == step)) return fmt::format("memset {} differs between calls of the same shape", index + 1);
  }
  const auto address =
      Follow(calls, [&](const RecordedCall& call) { return uint64_t(memset_of(call).address.offset); });
  if (!address) return fmt::format("memset {} is of memory that is no operand's", index + 1);
  step.address = *address;
  return "";
}

std::string RelocateMap(Calls calls, size_t index, RecipeMap& map) {
  for (const RecordedCall& call : calls) {
    RecipeMap other = call.recipe.maps[index];
    other.address = map.address;
    if (!(other == map)) return fmt::format("tensor map {} differs between calls of the same shape", index + 1);
  }
  const auto address =
      Follow(calls, [&](const RecordedCall& call) { return uint64_t(call.recipe.maps[index].address.offset); });
  if (!address) return fmt::format("tensor map {} is of memory that is no operand's of this call", index + 1);
  map.address = *address;
  return "";
}

bool HaveSameSteps(const Recipe& a, const Recipe& b) {
  const auto same_kind = [](const auto& x, const auto& y) { return x.index() == y.index(); };
  return a.maps.size() == b.maps.size() &&
         std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(), same_kind);
}

}  // namespace

std::string Relocate(Calls calls, Recipe& recipe) {
  recipe = calls.front().recipe;
  for (const RecordedCall& call : calls)
    if (!HaveSameSteps(call.recipe, recipe))
      return fmt::format("it launches {} kernels and memsets in one call and {} in another one of the same shape",
                         recipe.steps.size(), call.recipe.steps.size());
  for (size_t i = 0; i < recipe.maps.size(); ++i)
    if (std::string reason = RelocateMap(calls, i, recipe.maps[i]); !reason.empty()) return reason;
  for (size_t i = 0; i < recipe.steps.size(); ++i) {
    auto* const kernel = std::get_if<KernelStep>(&recipe.steps[i]);
    std::string reason = kernel != nullptr ? RelocateKernel(calls, i, *kernel)
                                           : RelocateMemset(calls, i, std::get<MemsetStep>(recipe.steps[i]));
    if (!reason.empty()) return reason;
  }
  return "";
}

}  // namespace gemmsmith
