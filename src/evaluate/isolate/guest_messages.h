// Messages between judge and guest; docs/guest_protocol.md describes the bytes. A guest's messages are checked, never
// trusted.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "evaluate/outcome.h"
#include "problem/gemm.h"

namespace gemmsmith {

// Device memory that the guest inherits a descriptor of. Buffers with the same one are the same memory.
struct SharedBuffer {
  int32_t descriptor = -1;
  uint64_t bytes = 0;
  uint64_t data_at = 0;  // where the elements begin, behind the canaries
  bool operator==(const SharedBuffer&) const = default;
};

struct BufferSet {
  SharedBuffer a, b, c;
  bool operator==(const BufferSet&) const = default;
};

// Once, before anything of the candidate's is loaded.
struct GuestSetup {
  std::string runtime_library;    // libcudart, by its full path
  std::string observing_library;  // libcupti, likewise; empty: there is none
  std::vector<uint8_t> kernels;   // of DisturbingKernels
  int32_t object_descriptor = -1;
  std::vector<BufferSet> sets;  // in pairs, of which one is idle
  SharedBuffer workspace;
  uint64_t workspace_bytes = 0;
  SharedBuffer disturbances;  // DisturbanceMemory
  bool counts = false;        // it reads counters and does nothing else: nobody observes its driver calls
  bool operator==(const GuestSetup&) const = default;
};
// The descriptors of all its buffers, each once.
std::set<int> BufferDescriptors(const GuestSetup& setup);
std::string Encode(const GuestSetup& setup);
Result<GuestSetup> DecodeGuestSetup(std::string_view bytes);

struct GuestReady {
  std::string observer;  // of launches: "cupti", "capture"
  bool operator==(const GuestReady&) const = default;
};
std::string Encode(const GuestReady& ready);
Result<GuestReady> DecodeGuestReady(std::string_view bytes);

enum class GuestWork : uint8_t {
  kLoad,            // the object; the first thing of the candidate's that runs
  kCalls,           // of gemm(), one behind the other
  kDisturbedCalls,  // the same with a step of the disturbance before each and after the last
  kRenewedCalls,    // of gemm() with a step before each, and none after the last
  kShamCalls,       // the same, but the steps write what is there already
  kHostCall,        // one call and the wait for its end, by the host's clock alone
  kChainedCalls,    // two, the second of which multiplies what the first one wrote
  kSpacedCalls,     // of gemm() with a pause before each, which is as long as the call says
  kFollowingCalls,  // of gemm(), behind others that are not timed: as on OfflineClock, or a replay of the graph
  kCountedCall,     // one call, made as often as its counters need; only of a guest that counts
};

struct GuestCall {
  GuestWork work = GuestWork::kCalls;
  uint32_t set = 0;  // of the setup's
  Shape shape;
  uint32_t calls = 1;
  // Captures the calls into a graph once and replays it so often, behind a kernel that keeps the GPU busy meanwhile.
  // 0: plain launches.
  uint32_t replays = 0;
  uint32_t twin = 0;                 // of the graphs of the same calls
  bool is_only_capture = false;      // runs nothing: the key comes when the graph is replayed
  std::array<uint32_t, 4> key = {};  // of the disturbance
  uint32_t pause_ns = 0;
  uint32_t calls_before = 0;  // that are not timed, of following calls that nobody replays
  bool operator==(const GuestCall&) const = default;
};
std::string Encode(const GuestCall& call);
Result<GuestCall> DecodeGuestCall(std::string_view bytes);

struct GuestAnswer {
  std::string failure;                  // what gemm() or the driver said; empty: all went well
  bool is_lost = false;                 // its context is: there will be no further answer
  double event_ns = 0;                  // on the device, from the first call to the last
  double stream_ns = 0;                 // on the host, until the stream was done
  double device_ns = 0;                 // on the host, until everything was done
  uint32_t observed_calls = 0;          // of gemm(): a graph that is replayed calls it no more
  std::vector<LaunchedKernel> kernels;  // launches during the observed calls, all together
  std::vector<std::string> misdeeds;    // driver calls during them that gemm() has no business with
  Counters counters;                    // of a counted call
  bool operator==(const GuestAnswer&) const = default;
};
std::string Encode(const GuestAnswer& answer);
// Times that are no times are refused.
Result<GuestAnswer> DecodeGuestAnswer(std::string_view bytes);

}  // namespace gemmsmith
