#include "compile/relocation.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

namespace gemmsmith {
namespace {

constexpr std::array<uint64_t, 4> kFirst = {0x100000000000, 0x200000000010, 0x300000000020, 0x400000000000},
                                  kSecond = {0x110000000100, 0x230000000000, 0x350000000070, 0x470000000000};

void PutWord(std::vector<uint8_t>& parameters, size_t at, uint64_t word) {
  std::memcpy(parameters.data() + at, &word, sizeof word);
}

// A memset of C, a map of B, and a kernel with a number, addresses of A and of C + 64, and the map.
RecordedCall CallAt(const std::array<uint64_t, 4>& addresses) {
  KernelStep kernel{.kernel = "k", .maps = {{128, 0}}};
  kernel.parameters.resize(260);
  PutWord(kernel.parameters, 0, 77);
  PutWord(kernel.parameters, 8, addresses[0]);
  PutWord(kernel.parameters, 24, addresses[2] + 64);
  const MemsetStep memset{{CallOperand::kA, int64_t(addresses[2])}, 0, 4096};
  const RecipeMap map{.address = {CallOperand::kA, int64_t(addresses[1]) - 16}, .rank = 2};
  return {addresses, {{map}, {memset, kernel}}};
}

KernelStep& KernelIn(RecordedCall& call) { return std::get<KernelStep>(call.recipe.steps[1]); }

std::string RefusalAfter(const std::function<void(RecordedCall&)>& change) {
  RecordedCall calls[] = {CallAt(kFirst), CallAt(kSecond)};
  change(calls[1]);
  Recipe recipe;
  return Relocate(calls, recipe);
}

TEST(RelocationTest, WordsThatFollowAnOperandBecomeAddresses) {
  const RecordedCall calls[] = {CallAt(kFirst), CallAt(kSecond)};
  Recipe recipe;
  ASSERT_EQ(Relocate(calls, recipe), "");
  EXPECT_EQ(recipe.maps[0].address, (OperandAddress{CallOperand::kB, -16}));
  EXPECT_EQ(std::get<MemsetStep>(recipe.steps[0]).address, (OperandAddress{CallOperand::kC, 0}));
  const auto& kernel = std::get<KernelStep>(recipe.steps[1]);
  EXPECT_EQ(kernel.addresses, (std::vector<AddressPlace>{{8, {CallOperand::kA, 0}}, {24, {CallOperand::kC, 64}}}));
  std::vector<uint8_t> expected(260);
  PutWord(expected, 0, 77);
  EXPECT_EQ(kernel.parameters, expected);
  EXPECT_EQ(*ParseRecipe(Print(recipe)), recipe);
}

TEST(RelocationTest, EveryOtherDifferenceIsRefusedWithItsPlace) {
  const auto expect = [](std::string_view words, const std::function<void(RecordedCall&)>& change) {
    const std::string refusal = RefusalAfter(change);
    EXPECT_NE(refusal.find(words), std::string::npos) << refusal;
  };
  expect("byte 0 of the parameters of kernel k", [](auto& call) { KernelIn(call).parameters[0] = 78; });
  expect("byte 256 of the parameters of kernel k", [](auto& call) { KernelIn(call).parameters[259] = 1; });
  expect("byte 8 of the parameters of kernel k", [](auto& call) { PutWord(KernelIn(call).parameters, 8, kSecond[1]); });
  expect("byte 8 of the parameters of kernel k",
         [](auto& call) { PutWord(KernelIn(call).parameters, 8, kSecond[0] + 8); });
  expect("keeps an address of A from an earlier call in byte 8",
         [](auto& call) { PutWord(KernelIn(call).parameters, 8, kFirst[0]); });
  expect("the kernel of launch 2", [](auto& call) { KernelIn(call).kernel = "other"; });
  expect("the grid of launch 2", [](auto& call) { KernelIn(call).grid.y = 2; });
  expect("the block of launch 2", [](auto& call) { KernelIn(call).block.x = 2; });
  expect("the cluster of launch 2", [](auto& call) { KernelIn(call).cluster.x = 2; });
  expect("the shared memory of launch 2", [](auto& call) { KernelIn(call).smem_bytes = 2; });
  expect("the attributes of launch 2", [](auto& call) { KernelIn(call).is_programmatic = true; });
  expect("the carveout of launch 2", [](auto& call) { KernelIn(call).carveout_percent = 2; });
  expect("the tensor maps of launch 2", [](auto& call) { KernelIn(call).maps = {}; });
  expect("memset 1 differs", [](auto& call) { std::get<MemsetStep>(call.recipe.steps[0]).bytes = 1; });
  expect("memset 1 is of memory that is no operand's",
         [](auto& call) { std::get<MemsetStep>(call.recipe.steps[0]).address.offset += 1; });
  expect("tensor map 1 differs", [](auto& call) { call.recipe.maps[0].box[0] = 1; });
  expect("tensor map 1 is of memory that is no operand's",
         [](auto& call) { call.recipe.maps[0].address.offset = int64_t(kFirst[1]) - 16; });
  expect("launches 2 kernels and memsets in one call and 1", [](auto& call) { call.recipe.steps.pop_back(); });
  expect("it launches", [](auto& call) { std::swap(call.recipe.steps[0], call.recipe.steps[1]); });
  expect("it launches", [](auto& call) { call.recipe.maps.clear(); });
}

}  // namespace
}  // namespace gemmsmith
