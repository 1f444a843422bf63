#include "evaluate/isolate/guest_messages.h"

#include <gtest/gtest.h>

#include <limits>

#include "evaluate/isolate/messages.h"

namespace gemmsmith {
namespace {

GuestSetup ExampleSetup() {
  GuestSetup setup;
  setup.runtime_library = "/cuda/lib64/libcudart.so.13";
  setup.observing_library = "/cuda/lib64/libcupti.so.13";
  setup.kernels = {1, 2, 3};
  setup.object_descriptor = 9;
  setup.sets = {{{3, 100, 10}, {4, 200, 20}, {5, 300, 30}}, {{6, 100, 10}, {7, 200, 20}, {8, 300, 30}}};
  setup.workspace = {10, 400, 40};
  setup.workspace_bytes = 64 << 20;
  setup.disturbances = {11, 500, 0};
  setup.counts = true;
  return setup;
}

GuestAnswer ExampleAnswer() {
  GuestAnswer answer;
  answer.failure = "some";
  answer.event_ns = 1.5;
  answer.stream_ns = 2.5;
  answer.device_ns = 3.5;
  answer.observed_calls = 2;
  answer.kernels = {{"first", 2}, {"second", 4}};
  answer.misdeeds = {"cuMemAlloc_v2"};
  answer.counters.observer = "cupti";
  answer.counters.lacks = "waves";
  answer.counters[Counter::kDuration] = 1000;
  answer.counters[kLastCounter] = 0.25;
  return answer;
}

template <class Message>
void ExpectRoundTrip(const Message& message, Result<Message> (*decode)(std::string_view)) {
  const std::string bytes = Encode(message);
  const Result<Message> decoded = decode(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(*decoded, message);
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_EQ(decode(std::string_view(bytes).substr(0, length)).status().code(), StatusCode::kDataLoss) << length;
  EXPECT_EQ(decode(bytes + '\0').status().code(), StatusCode::kDataLoss);
}

TEST(GuestMessages, RoundTripAndRefuseEveryTruncationAndTail) {
  ExpectRoundTrip(ExampleSetup(), &DecodeGuestSetup);
  ExpectRoundTrip(GuestReady{"cupti"}, &DecodeGuestReady);
  ExpectRoundTrip(GuestCall{GuestWork::kDisturbedCalls, 1, {256, 512, 128}, 20, 3, 4, true, {5, 6, 7, 8}, 9, 10},
                  &DecodeGuestCall);
  ExpectRoundTrip(ExampleAnswer(), &DecodeGuestAnswer);
}

TEST(GuestMessages, TimesThatAreNoTimesAreRefused) {
  for (double time : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    for (double GuestAnswer::*clock : {&GuestAnswer::event_ns, &GuestAnswer::stream_ns, &GuestAnswer::device_ns}) {
      GuestAnswer answer = ExampleAnswer();
      answer.*clock = time;
      EXPECT_EQ(DecodeGuestAnswer(Encode(answer)).status().message(), "an answer of a guest with a value out of range");
    }
}

TEST(GuestMessages, CountersThatAreNoNumbersAreRefused) {
  for (double value : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    GuestAnswer answer;
    answer.counters[Counter::kTensorPipe] = value;
    EXPECT_EQ(DecodeGuestAnswer(Encode(answer)).status().message(), "an answer of a guest with a value out of range");
  }
}

TEST(GuestMessages, CountersThatThereAreNotAreRefused) {
  std::string bytes = Encode(GuestAnswer());
  bytes.back() = '\x40';  // the highest of the bits that say which ones there are
  EXPECT_EQ(DecodeGuestAnswer(bytes).status().message(), "an answer of a guest with a value out of range");
}

TEST(GuestMessages, ListsLongerThanAnySourceMakesAreRefused) {
  GuestAnswer answer;
  answer.kernels.resize(5000);
  EXPECT_EQ(DecodeGuestAnswer(Encode(answer)).status().code(), StatusCode::kDataLoss);
}

TEST(GuestMessages, AnObjectTravelsAsACandidate) {
  const std::vector<CandidateMessage> candidates = {{.object = {1, 2, 3}}};
  EXPECT_TRUE(candidates[0].is_source());
  EXPECT_EQ(*DecodeCandidates(Encode(candidates)), candidates);
  EXPECT_GE(EncodedBytes(candidates[0]) + 16, Encode(candidates).size());
}

}  // namespace
}  // namespace gemmsmith
