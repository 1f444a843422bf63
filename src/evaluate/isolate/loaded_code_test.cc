#include "evaluate/isolate/loaded_code.h"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <memory>

#include "compile/fatbin.h"

namespace gemmsmith {
namespace {

// Magic; version 1 and 16 bytes of header; 8 bytes of content. What is constant is loaded for reading.
constexpr std::array<uint32_t, 6> kContainer = {kFatbinMagic, 0x100001, 8, 0, 1, 2};
constexpr std::array<uint32_t, 4> kTooLong = {kFatbinMagic, 0x100001, 0, 1 << 20};
constexpr CodeWrapper Around(const void* code) { return {kFatbinWrapperMagic, 1, code, nullptr}; }

std::array<uint32_t, 6> in_a_variable = kContainer;

TEST(LoadedCode, StandsWhereNobodyCanWrite) {
  EXPECT_TRUE(IsAsLoaded(&kContainer, sizeof kContainer));
  const std::array<uint32_t, 6> on_the_stack = kContainer;
  const auto on_the_heap = std::make_unique<std::array<uint32_t, 6>>(kContainer);
  for (const void* elsewhere :
       std::initializer_list<const void*>{&in_a_variable, &on_the_stack, on_the_heap.get(), nullptr})
    EXPECT_FALSE(IsAsLoaded(elsewhere, sizeof kContainer)) << elsewhere;
  EXPECT_FALSE(IsAsLoaded(&kContainer, uint64_t{1} << 40));
  EXPECT_FALSE(IsAsLoaded(&kContainer, ~uint64_t{0}));
}

TEST(LoadedCode, AWrapperHoldsOneWholeContainer) {
  EXPECT_EQ(ContainerBytes(&kContainer), sizeof kContainer);
  EXPECT_TRUE(IsAsLoaded(Around(&kContainer)));
  EXPECT_FALSE(IsAsLoaded(Around(&in_a_variable)));
  EXPECT_FALSE(IsAsLoaded(Around(nullptr)));
  EXPECT_FALSE(IsAsLoaded(Around(&kTooLong)));
  CodeWrapper other = Around(&kContainer);
  other.version = 2;
  EXPECT_FALSE(IsAsLoaded(other));
  other = Around(&kContainer);
  other.linked = &kContainer;
  EXPECT_FALSE(IsAsLoaded(other));
}

}  // namespace
}  // namespace gemmsmith
