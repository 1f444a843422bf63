// Work of a GPU's stream that is launched again as a whole: a CUDA graph.
#pragma once

#include <c10/core/Stream.h>
#include <dlfcn.h>

#include <exception>
#include <stdexcept>
#include <string>

namespace gemmsmith {

// torch's own class is in its CUDA library, which is not linked. CUDA's runtime is open where a GPU is used.
//
// torch's allocator does not know of the graph. It gives memory that the work used for a while to others, and back to
// the device where that has none left. So nothing may be allocated there between Keep() and the last Launch().
class RepeatedLaunches {
 public:
  explicit RepeatedLaunches(c10::Stream stream) : stream_(stream) {}
  RepeatedLaunches(const RepeatedLaunches&) = delete;
  RepeatedLaunches& operator=(const RepeatedLaunches&) = delete;
  ~RepeatedLaunches() {
    if (graph_ != nullptr) Function<int(void*)>("cudaGraphExecDestroy")(graph_);
  }

  bool is_kept() const { return graph_ != nullptr; }

  // Keeps what the work launches on the stream, which is torch's current one. It is not launched yet.
  template <typename Work>
  void Keep(const Work& work) {
    Forget();
    Call<int(void*, int)>("cudaStreamBeginCapture", stream_.native_handle(), kRelaxed);
    std::exception_ptr failed;
    try {
      work();
    } catch (...) {
      failed = std::current_exception();
    }
    void* launches = nullptr;
    int error = Function<int(void*, void**)>("cudaStreamEndCapture")(stream_.native_handle(), &launches);
    if (!failed && error == 0)
      error = Function<int(void**, void*, unsigned long long)>("cudaGraphInstantiate")(&graph_, launches, 0);
    if (launches != nullptr) Function<int(void*)>("cudaGraphDestroy")(launches);
    if (failed) std::rethrow_exception(failed);
    if (error != 0) throw std::runtime_error("a CUDA graph: error " + std::to_string(error));
  }

  void Launch() const { Call<int(void*, void*)>("cudaGraphLaunch", graph_, stream_.native_handle()); }

  void Forget() {
    if (graph_ == nullptr) return;
    stream_.synchronize();
    Call<int(void*)>("cudaGraphExecDestroy", graph_);
    graph_ = nullptr;
  }

 private:
  static constexpr int kRelaxed = 2;  // torch's allocator may ask the driver for memory meanwhile

  template <typename Signature>
  static Signature* Function(const char* name) {
    void* const function = dlsym(RTLD_DEFAULT, name);
    if (function == nullptr) throw std::runtime_error(std::string("CUDA's runtime has no ") + name);
    return reinterpret_cast<Signature*>(function);
  }

  template <typename Signature, typename... Arguments>
  static void Call(const char* name, Arguments... arguments) {
    const int error = Function<Signature>(name)(arguments...);
    if (error != 0) throw std::runtime_error(std::string(name) + ": error " + std::to_string(error));
  }

  const c10::Stream stream_;
  void* graph_ = nullptr;
};

}  // namespace gemmsmith
