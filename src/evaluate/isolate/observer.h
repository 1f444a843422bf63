// Observes a candidate's driver calls while its gemm() runs: the kernels it launches, and forbidden calls.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "evaluate/outcome.h"
#include "gpu/gpu.h"
#include "program/launch.h"

namespace gemmsmith {

// Whether a gemm() must not make this driver call, by its CUPTI name. Forbidden are calls that allocate, create, block,
// change limits or copy from or to the host; loading code too, unless allowed.
bool IsMisdeed(std::string_view driver_call, bool may_load);

// Tells one thread, that which makes it, from all others: also from one that was started past the C library, which has
// the same pthread_self(), and that may have its stack inside of this one's.
class OwnThread {
 public:
  OwnThread();
  // At little cost, for every launch: another stack tells it.
  bool IsProbablyHere() const;
  // By asking the kernel.
  bool IsHere() const;

 private:
  pthread_t thread_;
  uintptr_t stack_;
  pid_t id_;
};

// Describes forbidden parameters of an allowed call; empty if there are none. Forbidden are a stream other than
// gemm()'s (null allows every one), host memory, a persisting part of L2, and events.
std::string WrongParameters(std::string_view driver_call, const void* parameters, CUstream stream);

class Observer {
 public:
  virtual ~Observer() = default;
  virtual std::string_view name() const = 0;
  virtual bool sees_calls() const { return true; }
  // Around the loading of the object and every call of gemm(), on the thread that does it. `stream` is the one that the
  // call is given, null where there is none. Code may be loaded until the first call is over.
  virtual void Enter(CUstream stream) = 0;
  virtual void Leave() = 0;

  // Observations since Forget().
  std::vector<LaunchedKernel> Kernels() const;
  std::vector<std::string> Misdeeds() const;
  void Forget();
  void AddMisdeed(std::string misdeed);
  // On any thread, at any time: one that is not the guest's own calls the driver. From then on it is among the
  // misdeeds.
  void HearAnotherThread() { has_heard_another_thread_ = true; }

 protected:
  void AddLaunch(std::string_view kernel) { ++launches_[std::string(kernel)]; }

 private:
  std::map<std::string, uint64_t> launches_;
  std::set<std::string> misdeeds_;
  std::atomic<bool> has_heard_another_thread_ = false;
};

// Through CUPTI's callbacks, on every driver call. Unavailable where `library` does not open or takes no subscriber.
Result<std::unique_ptr<Observer>> MakeCuptiObserver(const std::string& library);
// Sees nothing by itself: what a call launches is then read from a capture of it.
std::unique_ptr<Observer> MakeBlindObserver();

// A kernel among what a call puts on a stream.
struct CapturedLaunch {
  std::string kernel = "unknown";
  CUfunction function = nullptr;  // null where the driver does not say
  Launch launch;                  // its geometry
};
// In the order of the launches; what `call` puts on the GPU's stream is captured and thrown away.
Result<std::vector<CapturedLaunch>> CaptureLaunches(const Gpu& gpu, const std::function<Status()>& call);
// How often which.
std::vector<LaunchedKernel> CountLaunches(const std::vector<CapturedLaunch>& launches);

}  // namespace gemmsmith
