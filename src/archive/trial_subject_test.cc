#include "archive/trial_subject.h"

#include <gtest/gtest.h>

#include "archive/example_trials.h"

namespace gemmsmith {
namespace {

TEST(TrialSubject, EveryKindRoundTripsThroughItsText) {
  const TrialSubject source = SubjectOf(FreeForm{"fast.cu", "text"});
  for (const TrialSubject& subject : {TrialSubject(ExamplePlan(7)), source, TrialSubject(Nobody())}) {
    const Result<TrialSubject> parsed = ParseTrialSubject(Print(subject));
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    EXPECT_EQ(*parsed, subject);
  }
  EXPECT_EQ(Print(TrialSubject(Nobody())), "none");
  EXPECT_TRUE(Print(source).starts_with("source fast.cu "));
}

TEST(TrialSubject, SourcesOfOneNameAreToldApartByTheirText) {
  EXPECT_NE(SubjectOf(FreeForm{"a.cu", "one"}), SubjectOf(FreeForm{"a.cu", "two"}));
  EXPECT_EQ(SubjectOf(FreeForm{"a.cu", "one"}), SubjectOf(FreeForm{"a.cu", "one"}));
}

TEST(TrialSubject, NamesThatWouldNotReadBackAreTamed) {
  for (const char* name : {"my kernel.cu", "", "\n", "a\tb", "\x7f"}) {
    const TrialSubject subject = SubjectOf(FreeForm{name, "text"});
    EXPECT_EQ(*ParseTrialSubject(Print(subject)), subject) << name;
  }
}

TEST(TrialSubject, WhatIsNoneIsRefusedInWords) {
  for (const char* text : {"", "nobody", "source", "source a.cu", "source a.cu 12", "source a b c",
                           "source a.cu 0123456789ABCDEF0123456789ABCDEF", "direct nonsense=1", "none none"})
    EXPECT_FALSE(ParseTrialSubject(text).ok()) << text;
}

}  // namespace
}  // namespace gemmsmith
