#include "policy/spoken.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gemmsmith {
namespace {

int ValueOf(const Family& family, std::string_view axis, std::string_view word) {
  const Axis& found = family.axes[size_t(family.IndexOf(axis))];
  return found.values[size_t(std::ranges::find(found.words, word) - found.words.begin())];
}

TEST(SpokenTest, EveryAxisWithAWordHasSpokenValuesOnlyAndTheirFirstOnes) {
  for (const Family& family : Families()) {
    EXPECT_GT(SpokenAxisCount(family), 0u);
    for (size_t axis = 0; axis < family.axes.size(); ++axis) {
      const std::span<const int> spoken = SpokenValues(family, axis);
      EXPECT_EQ(spoken.empty(), axis >= SpokenAxisCount(family)) << family.axes[axis].name;
      EXPECT_TRUE(std::ranges::equal(spoken, family.axes[axis].values.first(spoken.size()))) << family.axes[axis].name;
    }
  }
}

TEST(SpokenTest, ASpokenValueIsSaidAsItselfAndEveryOtherAsASpokenOne) {
  for (const Family& family : Families())
    for (size_t axis = 0; axis < SpokenAxisCount(family); ++axis)
      for (const int value : family.axes[axis].values) {
        const std::span<const int> spoken = SpokenValues(family, axis);
        const bool has_word = std::ranges::find(spoken, value) != spoken.end();
        const int said = AsSpoken(family, axis, value);
        EXPECT_NE(std::ranges::find(spoken, said), spoken.end()) << family.axes[axis].name << " " << value;
        EXPECT_EQ(said == value, has_word) << family.axes[axis].name << " " << value;
        Plan plan = DefaultPlan(family.id);
        plan.values[axis] = value;
        EXPECT_EQ(IsSpokenWhole(plan), has_word) << Print(plan);
      }
}

TEST(SpokenTest, NamesTheValueThatIsSaidInstead) {
  const Family& wgmma = GetFamily(FamilyId::kWgmma);
  const auto said = [&](std::string_view axis, std::string_view word) {
    return wgmma.axes[size_t(wgmma.IndexOf(axis))].Print(
        AsSpoken(wgmma, size_t(wgmma.IndexOf(axis)), ValueOf(wgmma, axis, word)));
  };
  EXPECT_EQ(said("trigger", "last"), "late");
  EXPECT_EQ(said("schedule", "unaided"), "cooperative");
  EXPECT_EQ(said("ctas", "shared"), "all");
  EXPECT_EQ(said("keep", "3/2"), "1");
  EXPECT_EQ(said("place", "near"), "any") << "an axis without words";
}

TEST(SpokenTest, APlanIsWholeWhereAxesWithoutWordsStandAtTheirDefault) {
  EXPECT_TRUE(IsSpokenWhole(*ParsePlan("wgmma schedule=pingpong")));
  EXPECT_FALSE(IsSpokenWhole(*ParsePlan("wgmma schedule=pingpong place=near")));
  EXPECT_TRUE(IsSpokenWhole(*ParsePlan("direct trigger=late")));
  EXPECT_FALSE(IsSpokenWhole(*ParsePlan("direct trigger=last")));
}

}  // namespace
}  // namespace gemmsmith
