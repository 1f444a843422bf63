#include "program/recipe.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace gemmsmith {
namespace {

Recipe Example() {
  Recipe recipe;
  recipe.maps = {{.address = {CallOperand::kA, 32},
                  .type = 6,
                  .rank = 2,
                  .extent = {4096, 128},
                  .stride_bytes = {8192},
                  .box = {64, 128},
                  .element_strides = {1, 1},
                  .swizzle = 3,
                  .l2_promotion = 2},
                 {.address = {CallOperand::kWorkspace, 0}, .rank = 5, .extent = {~uint64_t{0}, 2, 3, 4, 5}}};
  KernelStep kernel;
  kernel.kernel = "_Z4gemmPKvS0_Pv";
  kernel.grid = {4294967295u, 2, 3};
  kernel.block = {384, 1, 1};
  kernel.cluster = {2, 1, 1};
  kernel.smem_bytes = 232448;
  kernel.is_cooperative = true;
  kernel.carveout_percent = 100;
  kernel.parameters.assign(272, 0);
  kernel.parameters[16] = 0xff;
  kernel.parameters[271] = 0x0a;
  kernel.addresses = {{0, {CallOperand::kC, INT64_MIN}}, {8, {CallOperand::kB, INT64_MAX}}};
  kernel.maps = {{128, 1}};
  recipe.steps = {MemsetStep{{CallOperand::kC, 16}, 255, uint64_t{1} << 40}, kernel,
                  KernelStep{.kernel = "finish", .is_programmatic = true}};
  return recipe;
}

TEST(RecipeTest, EveryFieldSurvivesPrintingAndParsing) {
  const Result<Recipe> parsed = ParseRecipe(Print(Example()));
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(*parsed, Example());
  EXPECT_EQ(*ParseRecipe(Print(Recipe{})), Recipe{});
}

TEST(RecipeTest, WorkspaceIsFoundInMemsetsParametersAndMaps) {
  const OperandAddress workspace = {CallOperand::kWorkspace, 64};
  EXPECT_FALSE((Recipe{{}, {MemsetStep{}, KernelStep{.addresses = {{0, {CallOperand::kC, 0}}}}}}.UsesWorkspace()));
  EXPECT_TRUE((Recipe{{}, {MemsetStep{.address = workspace}}}.UsesWorkspace()));
  EXPECT_TRUE((Recipe{{}, {KernelStep{.addresses = {{0, {}}, {8, workspace}}}}}.UsesWorkspace()));
  EXPECT_TRUE((Recipe{{RecipeMap{.address = workspace}}, {}}.UsesWorkspace()));
}

TEST(RecipeTest, EveryTruncationParsesToFewerStepsOrIsRefused) {
  const std::string text = Print(Example());
  for (size_t size = 0; size < text.size(); ++size) {
    const Result<Recipe> parsed = ParseRecipe(std::string_view(text).substr(0, size));
    EXPECT_EQ(parsed.ok(), size > 0 && text[size - 1] == '\n') << size;
  }
}

TEST(RecipeTest, WhateverParsesPrintsAsItWas) {
  const std::string text = Print(Example());
  Random random(53);
  for (int i = 0; i < 20000; ++i) {
    std::string changed = text;
    changed[random.Below(text.size())] = char(random.Below(256));
    const Result<Recipe> parsed = ParseRecipe(changed);
    EXPECT_EQ(parsed.ok() ? Print(*parsed) : changed, changed);
  }
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(RecipeTest, HostileTextsAreRefusedWithTheirLine) {
  const std::string text = Print(Example());
  const std::pair<const char*, const char*> changes[] = {
      {"grid=4294967295,", "grid=4294967296,"},  // past its type
      {"grid=4294967295,", "grid=0,"},
      {"grid=4294967295,", "grid=-1,"},
      {"smem=232448", "smem=0232448"},  // a second text for the same recipe
      {"smem=232448", "smem=+232448"},
      {"smem=232448", "smem= 232448"},
      {"cooperative=1", "cooperative=2"},
      {"carveout=100", "carveout=101"},
      {"0:c-9223372036854775808", "0:c-9223372036854775809"},
      {"0:c-9223372036854775808", "0:d-1"},
      {"0:c-9223372036854775808", "0:c"},
      {"0:c-9223372036854775808,", "4:c-1,"},  // overlaps the next
      {"8:b+", "16:b+"},                       // over bytes that are not zero
      {"8:b+", "4294967288:b+"},
      {"128:1", "128:2"},  // no such map
      {"128:1", "145:1"},  // past the end
      {"128:1", "128:1,"},
      {"name=_Z", "name=\t"},
      {"name=_Z", "name= _Z"},
      {"000a address", "000A address"},
      {"000a address", "00a address"},
      {"rank=5", "rank=6"},
      {"rank=5", "rank=0"},
      {"value=255", "value=256"},
      {"memset address", "memcpy address"},
      {"memset", "map address=a+0\nmemset"},
  };
  for (const auto& [from, to] : changes) {
    const Result<Recipe> parsed = ParseRecipe(Replaced(text, from, to));
    ASSERT_FALSE(parsed.ok()) << to;
    EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(parsed.status().message().find("line "), std::string::npos) << parsed.status().message();
  }
}

TEST(RecipeTest, SizesAreBounded) {
  EXPECT_FALSE(ParseRecipe("recipe 1\n" + std::string(kMaxRecipeTextBytes, '\n')).ok());
  Recipe steps, maps, name, parameters;
  steps.steps.assign(kMaxRecipeSteps, MemsetStep{});
  EXPECT_TRUE(ParseRecipe(Print(steps)).ok());
  steps.steps.emplace_back(MemsetStep{});
  maps.maps.assign(kMaxRecipeMaps + 1, RecipeMap{.rank = 1});
  name.steps = {KernelStep{.kernel = std::string(20000, 'k')}};
  parameters.steps = {KernelStep{.kernel = "k", .parameters = std::vector<uint8_t>(kMaxParameterBytes + 1)}};
  for (const Recipe& recipe : {steps, maps, name, parameters}) EXPECT_FALSE(ParseRecipe(Print(recipe)).ok());
}

}  // namespace
}  // namespace gemmsmith
