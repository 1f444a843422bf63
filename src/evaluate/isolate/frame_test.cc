#include "evaluate/isolate/frame.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/hash.h"
#include "evaluate/isolate/messages.h"

namespace gemmsmith {
namespace {

// A pipe that holds these bytes and then ends.
class Stream {
 public:
  explicit Stream(std::string_view bytes) {
    EXPECT_EQ(::pipe(fds_), 0);
    EXPECT_EQ(::write(fds_[1], bytes.data(), bytes.size()), ssize_t(bytes.size()));
    ::close(fds_[1]);
  }
  ~Stream() { ::close(fds_[0]); }
  int fd() const { return fds_[0]; }

 private:
  int fds_[2];
};

TEST(Frame, RoundTripsThroughAPipe) {
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  ASSERT_TRUE(WriteFrame(fds[1], FrameType::kAlive, "step one").ok());
  ASSERT_TRUE(WriteFrame(fds[1], FrameType::kReady, "").ok());
  ::close(fds[1]);
  const Result<Frame> first = ReadFrame(fds[0]), second = ReadFrame(fds[0]), end = ReadFrame(fds[0]);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->type, FrameType::kAlive);
  EXPECT_EQ(first->payload, "step one");
  EXPECT_EQ(second->type, FrameType::kReady);
  EXPECT_EQ(end.status().code(), StatusCode::kNotFound);
  ::close(fds[0]);
}

TEST(Frame, TruncationAtEveryByteIsRefused) {
  const std::string bytes = EncodeFrame(FrameType::kProblem, "some payload");
  for (size_t length = 1; length < bytes.size(); ++length) {
    const Stream stream(std::string_view(bytes).substr(0, length));
    EXPECT_EQ(ReadFrame(stream.fd()).status().code(), StatusCode::kDataLoss) << length;
  }
}

TEST(Frame, EveryFlippedBitIsRefused) {
  const std::string bytes = EncodeFrame(FrameType::kProblem, "payload");
  for (size_t i = 0; i < bytes.size() * 8; ++i) {
    std::string damaged = bytes;
    damaged[i / 8] = char(damaged[i / 8] ^ (1 << i % 8));
    const Stream stream(damaged);
    EXPECT_FALSE(ReadFrame(stream.fd()).ok()) << i;
  }
}

ProblemMessage SomeProblem() {
  ProblemMessage problem;
  problem.gemm = {{3, 5, 7}, {kNn, ScalarType::kBf16}, 9};
  problem.protocol = Protocol::kShort;
  problem.clocks = {Clock::kDevice, Clock::kOffline};
  problem.seed = 0xfeedface;
  problem.time = false;
  problem.tests = *ParseTestSet("binary,repeat");
  problem.certify = true;
  problem.baselines = *BaselineSet::Parse("default,torch_nn,so:/x.so");
  problem.only_baselines = true;
  problem.counters = true;
  problem.calls_of_fastest = true;
  problem.brief = true;
  return problem;
}

std::vector<CandidateMessage> SomeCandidates() {
  CandidateMessage plain;
  plain.launch = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, 10, 11};
  plain.entry = "kernel";
  plain.cubin = {0, 255, 7};
  CandidateMessage mapped = plain;
  mapped.launch.chainable = true;
  mapped.launch.type = ScalarType::kBf16;
  mapped.launch.deterministic = false;
  mapped.layout = kNn;
  mapped.other = OtherShape{{9, 8, 7}, plain.launch};
  mapped.launch.maps = {{TensorMap::Matrix::kB, 3, {1, 2, 3}, {4, 5}, {6, 7, 8}, 64, 128}};
  CandidateMessage source;
  source.launch.workspace_bytes = 64 << 20;
  source.source.emplace().cubins = {{1, 2}, {3}};
  source.source->half_shape = {4, 5, 6};
  source.source->recipe.steps = {MemsetStep{{CallOperand::kWorkspace, 16}, 0, 32}};
  CandidateMessage halved = source;
  halved.source->half_recipe = source.source->recipe;
  return {plain, source, halved, mapped};
}

Judgements SomeJudgements() {
  Judgements judgements;
  judgements.outcomes.resize(3);
  judgements.outcomes[1].emplace().reason = "why";
  judgements.worker_is_lost = true;
  return judgements;
}

TEST(Messages, RoundTrip) {
  EXPECT_EQ(*DecodeProblem(Encode(SomeProblem())), SomeProblem());
  EXPECT_EQ(*DecodeCandidates(Encode(SomeCandidates())), SomeCandidates());
  for (const CandidateMessage& candidate : SomeCandidates())
    EXPECT_GE(EncodedBytes(candidate) + sizeof(uint32_t), Encode(std::span(&candidate, 1)).size());
  const Result<Judgements> judgements = DecodeJudgements(Encode(SomeJudgements()));
  ASSERT_TRUE(judgements.ok());
  EXPECT_TRUE(judgements->worker_is_lost);
  EXPECT_FALSE(judgements->one_by_one);
  EXPECT_EQ(judgements->outcomes, SomeJudgements().outcomes);
  const Result<Step> step = DecodeStep(Encode(Step{"load", 7}));
  ASSERT_TRUE(step.ok());
  EXPECT_EQ(step->name, "load");
  EXPECT_EQ(step->candidate, 7);
  WorkerHello hello;
  hello.device = *FindDevice("h100");
  hello.setting = {"h100", "NVIDIA H100", "GPU-1", "580 (CUDA 13.0)", "nvrtc", "cublas", "gemmsmith"};
  const Result<WorkerHello> decoded = DecodeHello(Encode(hello));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->setting, hello.setting);
  EXPECT_EQ(decoded->device.smem_bytes_per_block, hello.device.smem_bytes_per_block);
  EXPECT_EQ(decoded->device.memory_tbs, hello.device.memory_tbs);
  EXPECT_EQ(decoded->device.l2_bytes, hello.device.l2_bytes);
  const Status failure = DecodeFailure(EncodeFailure(NotFound("nothing there")));
  EXPECT_EQ(failure.code(), StatusCode::kNotFound);
  EXPECT_EQ(failure.message(), "nothing there");
}

// Both ends are built from the same sources; a change here is a new kProtocolVersion all the same.
TEST(Messages, HaveTheseBytes) {
  EXPECT_EQ(HashBytes(Encode(SomeProblem())).Hex(), "d6ca0d06874115bf138ae56b9cfad7a9");
  EXPECT_EQ(HashBytes(Encode(SomeCandidates())).Hex(), "890a542ed26a6c69a6732df35659c468");
  EXPECT_EQ(HashBytes(Encode(SomeJudgements())).Hex(), "3658dfb9b5bc0b9b08260915a145bdb7");
  WorkerHello hello;
  hello.device.name = "NVIDIA H100";
  hello.device.l2_tbs = 5.5;
  hello.setting = {"h100", "NVIDIA H100", "GPU-1", "580 (CUDA 13.0)", "nvrtc", "cublas", "gemmsmith"};
  EXPECT_EQ(HashBytes(Encode(hello)).Hex(), "25fb8617504c7358cf1224fa003ee747");
}

TEST(Messages, ASingleCallRoundTrips) {
  const SingleCall call{SomeProblem(), SomeCandidates()[2]};
  const Result<SingleCall> decoded = DecodeSingleCall(Encode(call));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(decoded->problem, call.problem);
  EXPECT_EQ(decoded->candidate, call.candidate);
}

TEST(Messages, TruncationAtEveryByteAndExtraBytesAreRefused) {
  const auto refused = [](const std::string& bytes, auto decode) {
    for (size_t length = 0; length < bytes.size(); ++length)
      EXPECT_FALSE(decode(std::string_view(bytes).substr(0, length)).ok()) << length << " of " << bytes.size();
    EXPECT_FALSE(decode(bytes + "x").ok());
  };
  refused(Encode(WorkerHello{}), [](auto bytes) { return DecodeHello(bytes); });
  refused(Encode(SomeProblem()), [](auto bytes) { return DecodeProblem(bytes); });
  refused(Encode(SomeCandidates()), [](auto bytes) { return DecodeCandidates(bytes); });
  refused(Encode(SingleCall{SomeProblem(), SomeCandidates()[0]}), [](auto bytes) { return DecodeSingleCall(bytes); });
  refused(Encode(Step{"load", 7}), [](auto bytes) { return DecodeStep(bytes); });
  refused(Encode(SomeJudgements()), [](auto bytes) { return DecodeJudgements(bytes); });
  const std::string failure = EncodeFailure(NotFound("x"));
  for (size_t length = 0; length < failure.size(); ++length)
    EXPECT_EQ(DecodeFailure(std::string_view(failure).substr(0, length)).code(), StatusCode::kDataLoss);
  EXPECT_EQ(DecodeFailure(std::string(5, '\0')).code(), StatusCode::kDataLoss);
}

TEST(Messages, ALayoutThatThereIsNotIsRefused) {
  std::string bytes = Encode(SomeCandidates());
  bytes.back() = 2;
  EXPECT_EQ(DecodeCandidates(bytes).status().code(), StatusCode::kDataLoss);
}

TEST(Messages, TheLengthOfAListIsKnownBeforehand) {
  uint64_t bytes = 4;
  for (const CandidateMessage& candidate : SomeCandidates()) bytes += EncodedBytes(candidate);
  EXPECT_GE(bytes, Encode(SomeCandidates()).size());
}

}  // namespace
}  // namespace gemmsmith
