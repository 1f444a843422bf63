#include "evaluate/isolate/guest_runtime.h"

#include <dlfcn.h>

#include <deque>
#include <string_view>

#include "base/check.h"
#include "base/installation.h"
#include "evaluate/isolate/loaded_code.h"

namespace gemmsmith {

namespace {

using RegisterCode_t = void** (*)(const CodeWrapper* wrapper);
using FindFunction_t = int (*)(const char* symbol, void** function, unsigned version, unsigned long long flags,
                               int* found);

template <class Function>
Function Find(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

// Of a guest; nobody's elsewhere.
struct Answers {
  const Driver* driver = nullptr;
  Observer* observer = nullptr;
  RegisterCode_t register_code = nullptr;  // the runtime's own
};
Answers guest_answers;

// The driver's own functions stay out of sight: by their addresses our table of them could be found.
template <auto kFunction>
struct Relay;
template <class Answer, class... Arguments, Answer (*Driver::*kFunction)(Arguments...)>
struct Relay<kFunction> {
  static Answer Call(Arguments... arguments) { return (guest_answers.driver->*kFunction)(arguments...); }
};

// The one driver function that a candidate may get besides the runtime: it encodes tensor maps.
void* FindForCandidate(std::string_view symbol) {
  if (symbol == "cuTensorMapEncodeTiled") return reinterpret_cast<void*>(&Relay<&Driver::cuTensorMapEncodeTiled>::Call);
  if (symbol == "cuTensorMapEncodeIm2col")
    return reinterpret_cast<void*>(&Relay<&Driver::cuTensorMapEncodeIm2col>::Call);
  guest_answers.observer->AddMisdeed(std::string(symbol) + " asked for by name");
  return nullptr;
}

// The runtime reads what it is handed when a kernel is first launched. Where the candidate has it, it could be written
// until then.
void** RegisterForCandidate(const CodeWrapper& wrapper) {
  static std::deque<CodeWrapper> handed_over;
  if (!IsAsLoaded(wrapper)) guest_answers.observer->AddMisdeed("machine code that does not stand in its file");
  return guest_answers.register_code(&handed_over.emplace_back(wrapper));
}

// Libraries that are loaded elsewhere (torch, a contender) find the functions below as well: what they would have found
// without them, in themselves or in what they are linked with.
template <class Function>
Function OwnOf(const void* caller, const char* name, Function ours) {
  Dl_info file;
  void* const library = ::dladdr(caller, &file) != 0 ? ::dlopen(file.dli_fname, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  const auto own = library == nullptr ? nullptr : Find<Function>(library, name);
  GEMMSMITH_CHECK(own != nullptr && own != ours, "{} is called by who has none", name);
  return own;
}

}  // namespace

Status GuestRuntime::Open(const std::string& library) {
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) return Unavailable(fmt::format("{} does not open: {}", library, LoaderError()));
  const auto set_device = Find<int (*)(int)>(handle, "cudaSetDevice");
  const auto free = Find<int (*)(void*)>(handle, "cudaFree");
  last_error_ = Find<int (*)()>(handle, "cudaGetLastError");
  name_of_ = Find<const char* (*)(int)>(handle, "cudaGetErrorName");
  text_of_ = Find<const char* (*)(int)>(handle, "cudaGetErrorString");
  guest_answers.register_code = Find<RegisterCode_t>(handle, "__cudaRegisterFatBinary");
  if (set_device == nullptr || free == nullptr || last_error_ == nullptr || name_of_ == nullptr ||
      text_of_ == nullptr || guest_answers.register_code == nullptr)
    return Unavailable(fmt::format("{} is no CUDA runtime", library));
  if (const int error = set_device(0); error != 0) return IoError(fmt::format("cudaSetDevice: {}", name_of_(error)));
  if (const int error = free(nullptr); error != 0) return IoError(fmt::format("cudaFree: {}", name_of_(error)));
  return OkStatus();
}

void GuestRuntime::AnswerFor(const Driver& driver, Observer& observer) {
  guest_answers.driver = &driver;
  guest_answers.observer = &observer;
}

std::string GuestRuntime::Explain(int error) const { return fmt::format("{} ({})", name_of_(error), text_of_(error)); }

}  // namespace gemmsmith

// A candidate's calls of these find the program's own before libcudart's: the linker is told to export them
// (CMakeLists.txt). `found` is 0 for a function that is there, 1 for none.
extern "C" {

__attribute__((visibility("default"), used)) int cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                                                                  unsigned version,
                                                                                  unsigned long long flags,
                                                                                  int* found) {
  using namespace gemmsmith;
  if (guest_answers.observer == nullptr)
    return OwnOf<FindFunction_t>(__builtin_return_address(0), __func__, cudaGetDriverEntryPointByVersion)(
        symbol, function, version, flags, found);
  *function = symbol == nullptr ? nullptr : FindForCandidate(symbol);
  if (found != nullptr) *found = *function == nullptr ? 1 : 0;
  return 0;
}

__attribute__((visibility("default"), used)) int cudaGetDriverEntryPoint(const char* symbol, void** function,
                                                                         unsigned long long flags, int* found) {
  using namespace gemmsmith;
  if (guest_answers.observer == nullptr)
    return OwnOf(__builtin_return_address(0), __func__, cudaGetDriverEntryPoint)(symbol, function, flags, found);
  return cudaGetDriverEntryPointByVersion(symbol, function, 0, flags, found);
}

__attribute__((visibility("default"), used)) void** __cudaRegisterFatBinary(const gemmsmith::CodeWrapper* wrapper) {
  using namespace gemmsmith;
  if (guest_answers.observer == nullptr)
    return OwnOf(__builtin_return_address(0), __func__, __cudaRegisterFatBinary)(wrapper);
  return RegisterForCandidate(*wrapper);
}
}
