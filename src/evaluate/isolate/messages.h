// Payloads of the frames. Every Decode refuses bytes that are truncated, too long or out of range.
#pragma once

#include "evaluate/isolate/judge.h"
#include "problem/device_model.h"

namespace gemmsmith {

struct WorkerHello {
  Device device;
  Setting setting;
};
std::string Encode(const WorkerHello& hello);
Result<WorkerHello> DecodeHello(std::string_view bytes);

std::string Encode(const ProblemMessage& message);
Result<ProblemMessage> DecodeProblem(std::string_view bytes);

std::string Encode(std::span<const CandidateMessage> candidates);
Result<std::vector<CandidateMessage>> DecodeCandidates(std::string_view bytes);
// An upper bound, and a close one, of the bytes that a candidate adds to a list.
uint64_t EncodedBytes(const CandidateMessage& candidate);

// A candidate with its problem, as the verb `once` reads it from a file.
struct SingleCall {
  ProblemMessage problem;
  CandidateMessage candidate;
};
std::string Encode(const SingleCall& call);
Result<SingleCall> DecodeSingleCall(std::string_view bytes);

std::string Encode(const Step& step);
Result<Step> DecodeStep(std::string_view bytes);

std::string Encode(const Judgements& judgements);
Result<Judgements> DecodeJudgements(std::string_view bytes);

// A Status that is not OK. Bytes that hold none decode to DataLoss.
std::string EncodeFailure(const Status& status);
Status DecodeFailure(std::string_view bytes);

}  // namespace gemmsmith
