// One message on the pipe between a program and its worker; docs/worker_protocol.md describes the bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace gemmsmith {

enum class FrameType : uint16_t {
  kHello = 1,   // worker: it is ready (WorkerHello)
  kFailed,      // worker: the environment failed (a Status); the request is over
  kProblem,     // program: prepare a problem (ProblemMessage)
  kReady,       // worker: it is prepared
  kCandidates,  // program: judge these for the problem just prepared (a list of CandidateMessage)
  kAlive,       // worker: a step of the work is done and the next one begins (Step)
  kJudged,      // worker: the answer (Judgements)
  kRace,        // program: race the baselines of the problem just prepared; answered with one judgement
};
inline constexpr FrameType kLastFrameType = FrameType::kRace;

struct Frame {
  FrameType type = FrameType::kHello;
  std::string payload;
};

inline constexpr size_t kFrameHeaderBytes = 16;
inline constexpr size_t kFrameChecksumBytes = 8;
inline constexpr uint64_t kMaxPayloadBytes = uint64_t{1} << 28;

struct FrameHeader {
  FrameType type = FrameType::kHello;
  uint64_t payload_bytes = 0;
};

std::string EncodeFrame(FrameType type, std::string_view payload);
// DataLoss for anything that no EncodeFrame() wrote.
Result<FrameHeader> DecodeFrameHeader(std::string_view header);
// `body` is the payload and its checksum.
Result<Frame> DecodeFrameBody(std::string_view header, std::string_view body);

// Blocking frames on file descriptors, the worker's end. Read: NotFound at a clean end of the stream.
Status WriteFrame(int fd, FrameType type, std::string_view payload);
Result<Frame> ReadFrame(int fd);

}  // namespace gemmsmith
