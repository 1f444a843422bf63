// The functions and variables that a free-form object may use, and in words what the others would allow.
#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "compile/screening.h"

namespace gemmsmith {

namespace {

using Names = std::span<const std::string_view>;

constexpr std::string_view kRuntime[] = {
    // Launching, and what nvcc writes around it.
    "cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel", "__cudaLaunchKernel", "__cudaGetKernel",
    "__cudaPushCallConfiguration", "__cudaPopCallConfiguration", "__cudaRegisterFatBinary",
    "__cudaRegisterFatBinaryEnd", "__cudaUnregisterFatBinary", "__cudaRegisterFunction", "__cudaRegisterVar",
    "__cudaInitModule",
    // Queries of attributes of kernels and devices.
    "cudaFuncSetAttribute", "cudaFuncGetAttributes", "cudaFuncSetCacheConfig", "cudaGetDevice", "cudaGetDeviceCount",
    "cudaDeviceGetLimit", "cudaDeviceGetAttribute", "cudaGetDeviceProperties", "cudaGetDeviceProperties_v2",
    "cudaDriverGetVersion", "cudaRuntimeGetVersion", "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "cudaOccupancyMaxActiveClusters",
    "cudaOccupancyMaxPotentialClusterSize", "cudaOccupancyAvailableDynamicSMemPerBlock",
    // The driver's encoders of tensor maps; the guest hands out nothing else.
    "cudaGetDriverEntryPoint", "cudaGetDriverEntryPointByVersion",
    // Errors.
    "cudaGetLastError", "cudaPeekAtLastError", "cudaGetErrorString", "cudaGetErrorName",
    // In the stream's order.
    "cudaMemsetAsync", "cudaMemset2DAsync", "cudaMemcpyAsync", "cudaMemcpy2DAsync"};

constexpr std::string_view kLibrary[] = {
    "memcpy", "memset", "memmove", "memcmp", "memchr", "strlen", "strcmp", "strncmp", "strcpy", "strncpy", "strchr",
    "strstr", "strerror", "malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign", "abort", "exit",
    "atexit", "__assert_fail", "__stack_chk_fail", "__memcpy_chk", "__memset_chk", "__memmove_chk", "__strcpy_chk",
    "__tls_get_addr", "_Unwind_Resume", "__gxx_personality_v0", "__dynamic_cast", "__gmon_start__",
    "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable", "__errno_location", "qsort", "bsearch", "atoi",
    "strtol", "strtoul", "strtoull", "strtoll", "strtod", "strtof", "abs", "labs", "rand", "srand", "strrchr", "sscanf",
    // As a C library of 2.38 and later calls them.
    "__isoc23_strtol", "__isoc23_strtoul", "__isoc23_strtoll", "__isoc23_strtoull", "__isoc23_sscanf",
    "__isoc99_sscanf", "tolower", "toupper", "__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc",
    // Words on standard output and error.
    "printf", "fprintf", "vprintf", "vfprintf", "snprintf", "sprintf", "vsnprintf", "vsprintf", "puts", "fputs",
    "putchar", "fputc", "putc", "fwrite", "fflush", "perror", "stdout", "stderr", "__printf_chk", "__fprintf_chk",
    "__snprintf_chk", "__sprintf_chk", "__vfprintf_chk", "__vsnprintf_chk",
    // Locks, which are idle with one thread.
    "pthread_mutex_lock", "pthread_mutex_unlock", "pthread_once", "__once_proxy", "__pthread_key_create"};

// Functions of libgcc that g++ calls for arithmetic that x86-64 lacks.
constexpr std::string_view kArithmetic[] = {
    "__udivti3",     "__umodti3",     "__divti3",     "__modti3",     "__udivmodti4",  "__divmodti4",   "__multi3",
    "__popcountdi2", "__popcountti2", "__clzti2",     "__ctzti2",     "__extendhfsf2", "__extendhfdf2", "__truncsfhf2",
    "__truncdfhf2",  "__extendbfsf2", "__truncsfbf2", "__truncdfbf2", "__floattisf",   "__floattidf",   "__floatuntisf",
    "__floatuntidf", "__fixsfti",     "__fixdfti",    "__fixunssfti", "__fixunsdfti",  "__powisf2",     "__powidf2"};

constexpr std::string_view kMath[] = {
    "acos",   "asin",   "atan",   "atan2",  "cbrt",      "ceil",      "copysign", "cos",       "cosh",  "erf",
    "erfc",   "exp",    "exp2",   "expm1",  "fabs",      "floor",     "fma",      "fmax",      "fmin",  "fmod",
    "frexp",  "hypot",  "ldexp",  "lgamma", "llrint",    "llround",   "log",      "log10",     "log1p", "log2",
    "lrint",  "lround", "modf",   "nan",    "nearbyint", "nextafter", "pow",      "remainder", "rint",  "round",
    "scalbn", "sin",    "sincos", "sinh",   "sqrt",      "tan",       "tanh",     "tgamma",    "trunc"};

struct Refusal {
  std::string_view prefix;
  std::string_view what;
};

constexpr Refusal kRefusals[] = {
    {"cudaMalloc", "takes memory beyond the workspace"},
    {"cudaFree", "gives memory back: all it may use is the workspace"},
    {"cudaHost", "shares the host's memory with the GPU"},
    {"cudaMemPool", "takes memory beyond the workspace"},
    {"cudaMemPrefetch", "moves memory about outside of the call's order"},
    {"cudaMemAdvise", "moves memory about outside of the call's order"},
    {"__cudaRegisterManagedVar", "shares memory between host and GPU"},
    {"cudaGetSymbol", "reaches into memory that outlives the call"},
    {"cudaMemcpyToSymbol", "writes memory that outlives the call"},
    {"cudaMemcpyFromSymbol", "reads memory that outlives the call"},
    {"cudaMemcpyPeer", "reaches other GPUs"},
    {"cudaMemcpy", "waits for the GPU inside of the call"},
    {"cudaMemset", "runs outside of the call's stream"},
    {"cudaStreamCreate", "opens a stream of its own: work must be in the stream of the call"},
    {"cudaStreamBeginCapture", "captures work instead of doing it"},
    {"cudaStreamEndCapture", "captures work instead of doing it"},
    {"cudaStreamGetCapture", "tells whether it is being captured"},
    {"cudaStreamIsCapturing", "tells whether it is being captured"},
    {"cudaThreadExchangeStreamCaptureMode", "captures work instead of doing it"},
    {"cudaStreamSetAttribute", "keeps a window of L2 for itself"},
    {"cudaCtxResetPersistingL2Cache", "changes what L2 holds"},
    {"cudaStreamSynchronize", "waits for the GPU inside of the call, which only launches"},
    {"cudaDeviceSynchronize", "waits for the GPU inside of the call, which only launches"},
    {"cudaStreamQuery", "looks at the work of others"},
    {"cudaStreamWaitEvent", "joins other streams"},
    {"cudaStreamAddCallback", "runs code behind the call's back"},
    {"cudaLaunchHostFunc", "runs code behind the call's back"},
    {"cudaEvent", "takes times or joins streams"},
    {"cudaGraph", "replays work instead of doing it"},
    {"cudaDeviceSetLimit", "changes the device for everybody"},
    {"cudaDeviceReset", "ends everybody's work on the device"},
    {"cudaDeviceSet", "changes the device for everybody"},
    {"cudaSetDevice", "changes the device"},
    {"cudaIpc", "reaches the memory of other processes"},
    {"cudaImportExternal", "reaches the memory of others"},
    {"cudaLibrary", "loads machine code that was not screened"},
    {"cudaModule", "loads machine code that was not screened"},
    {"cudaProfiler", "disturbs the observation"},
    {"cudaPointer", "looks at memory that it was not given"},
    {"cublas", "calls cuBLAS: the product is to be computed by its own kernels"},
    {"cudnn", "calls cuDNN: the product is to be computed by its own kernels"},
    {"cutensor", "calls cuTENSOR: the product is to be computed by its own kernels"},
    {"cusparse", "calls cuSPARSE: the product is to be computed by its own kernels"},
    {"nvrtc", "compiles machine code that was not screened"},
    {"nvml", "changes or watches the GPU"},
    {"cupti", "watches the judge"},
    {"cu", "goes past what the CUDA runtime allows"},
    {"fork", "starts processes"},
    {"vfork", "starts processes"},
    {"clone", "starts processes"},
    {"exec", "starts programs"},
    {"posix_spawn", "starts programs"},
    {"system", "starts programs"},
    {"popen", "starts programs"},
    {"wait", "waits for processes"},
    {"_exit", "ends without a word"},
    {"_Exit", "ends without a word"},
    {"quick_exit", "ends without a word"},
    {"on_exit", "runs code behind the call's back"},
    {"socket", "opens the network"},
    {"connect", "opens the network"},
    {"bind", "opens the network"},
    {"listen", "opens the network"},
    {"accept", "opens the network"},
    {"send", "talks to others"},
    {"recv", "talks to others"},
    {"getaddrinfo", "opens the network"},
    {"gethostby", "opens the network"},
    {"pipe", "talks to others"},
    {"shm", "shares memory with others"},
    {"mq_", "talks to others"},
    {"dlopen", "loads libraries"},
    {"dlmopen", "loads libraries"},
    {"dlsym", "finds functions past this list"},
    {"dlvsym", "finds functions past this list"},
    {"dladdr", "looks at the program around it"},
    {"dl_iterate", "looks at the program around it"},
    {"_dl_", "looks at the program around it"},
    {"__libc_", "goes past the C library"},
    {"ptrace", "looks into processes"},
    {"process_vm", "looks into processes"},
    {"prctl", "changes the process"},
    {"personality", "changes the process"},
    {"syscall", "enters the kernel past this list"},
    {"mmap", "changes the memory of the process"},
    {"munmap", "changes the memory of the process"},
    {"mremap", "changes the memory of the process"},
    {"mprotect", "changes the memory of the process"},
    {"madvise", "changes the memory of the process"},
    {"memfd", "makes files"},
    {"sig", "changes signals"},
    {"__sig", "changes signals"},
    {"raise", "sends signals"},
    {"kill", "sends signals"},
    {"tgkill", "sends signals"},
    {"alarm", "sends signals"},
    {"setitimer", "sends signals"},
    {"timer", "sends signals"},
    {"pthread_", "starts or steers threads"},
    {"thrd_", "starts threads"},
    {"sem_", "talks to others"},
    {"sched_", "steers the scheduler"},
    {"setpriority", "steers the scheduler"},
    {"nice", "steers the scheduler"},
    {"clock", "looks at the clock"},
    {"clock_gettime", "looks at the clock"},
    {"gettimeofday", "looks at the clock"},
    {"time", "looks at the clock"},
    {"ftime", "looks at the clock"},
    {"sleep", "waits"},
    {"usleep", "waits"},
    {"nanosleep", "waits"},
    {"open", "opens files"},
    {"creat", "opens files"},
    {"fopen", "opens files"},
    {"fclose", "opens files"},
    {"fseek", "reads files"},
    {"ftell", "reads files"},
    {"fdopen", "opens files"},
    {"freopen", "opens files"},
    {"read", "reads files"},
    {"pread", "reads files"},
    {"write", "writes to descriptors that are not its own"},
    {"pwrite", "writes to files"},
    {"fread", "reads files"},
    {"fgets", "reads files"},
    {"fscanf", "reads files"},
    {"scanf", "reads input"},
    {"getline", "reads files"},
    {"close", "closes descriptors that are not its own"},
    {"dup", "redirects descriptors"},
    {"fcntl", "redirects descriptors"},
    {"ioctl", "commands devices"},
    {"poll", "listens to descriptors"},
    {"select", "listens to descriptors"},
    {"epoll", "listens to descriptors"},
    {"stat", "looks at files"},
    {"fstat", "looks at files"},
    {"lstat", "looks at files"},
    {"access", "looks at files"},
    {"unlink", "removes files"},
    {"remove", "removes files"},
    {"rename", "moves files"},
    {"mkdir", "makes folders"},
    {"opendir", "looks at files"},
    {"readdir", "looks at files"},
    {"getenv", "looks at the environment"},
    {"secure_getenv", "looks at the environment"},
    {"setenv", "changes the environment"},
    {"putenv", "changes the environment"},
    {"environ", "looks at the environment"},
    {"__environ", "looks at the environment"},
    {"getpid", "looks at processes"},
    {"getppid", "looks at processes"},
    {"getrandom", "asks the system for chance"},
    {"setrlimit", "changes limits"},
    {"getrlimit", "looks at limits"},
    {"setjmp", "jumps out of the call"},
    {"_setjmp", "jumps out of the call"},
    {"longjmp", "jumps out of the call"},
    {"swapcontext", "jumps out of the call"},
    {"makecontext", "jumps out of the call"},
    {"backtrace", "looks at the program around it"}};

// By what their readable names contain.
constexpr Refusal kCxxRefusals[] = {{"std::thread", "starts threads"},
                                    {"std::jthread", "starts threads"},
                                    {"std::__future_base", "starts threads"},
                                    {"std::condition_variable", "waits for threads"},
                                    {"std::this_thread", "waits"},
                                    {"std::chrono", "looks at the clock"},
                                    {"std::cin", "reads input"},
                                    {"std::wcin", "reads input"},
                                    {"std::set_new_handler", "runs code behind the call's back"},
                                    {"std::set_terminate", "runs code behind the call's back"},
                                    {"std::random_device", "asks the system for chance"},
                                    {"std::filesystem", "looks at files"},
                                    {"std::experimental::filesystem", "looks at files"},
                                    {"std::basic_filebuf", "opens files"},
                                    {"std::basic_ifstream", "opens files"},
                                    {"std::basic_ofstream", "opens files"},
                                    {"std::basic_fstream", "opens files"},
                                    {"std::__basic_file", "opens files"},
                                    {"at::", "calls torch: the product is to be computed by its own kernels"},
                                    {"c10::", "calls torch: the product is to be computed by its own kernels"},
                                    {"torch::", "calls torch: the product is to be computed by its own kernels"}};

bool Holds(Names names, std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); }

// sin, sinf, sinl.
bool IsMath(std::string_view name) {
  if (Holds(kMath, name)) return true;
  const bool suffixed = name.ends_with('f') || name.ends_with('l');
  return suffixed && Holds(kMath, name.substr(0, name.size() - 1));
}

std::string Demangled(std::string_view symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(std::string(symbol).c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : std::string(symbol);
}

std::string Refuse(std::string_view name, std::string_view what) {
  return fmt::format("imports {}, which {}", name, what);
}

std::string WhyNotImportCxx(std::string_view symbol) {
  const std::string name = Demangled(symbol);
  for (const Refusal& refusal : kCxxRefusals)
    if (name.find(refusal.prefix) != std::string::npos) return Refuse(name, refusal.what);
  for (const std::string_view ours :
       {"std::", "operator new", "operator delete", "__cxxabiv1::", "__gnu_cxx::", "typeinfo for "})
    if (name.find(ours) != std::string::npos) return "";
  return Refuse(name, "is defined nowhere in it");
}

}  // namespace

std::string WhyNotImport(std::string_view symbol) {
  if (Holds(kRuntime, symbol) || Holds(kLibrary, symbol) || Holds(kArithmetic, symbol) || IsMath(symbol)) return "";
  if (symbol.starts_with("__cxa_")) return "";
  if (symbol.starts_with("_Z")) return WhyNotImportCxx(symbol);
  const Refusal* best = nullptr;
  for (const Refusal& refusal : kRefusals)
    if (symbol.starts_with(refusal.prefix) && (best == nullptr || refusal.prefix.size() > best->prefix.size()))
      best = &refusal;
  if (best != nullptr) return Refuse(symbol, best->what);
  return Refuse(symbol, "is not on the list of what the launcher of a kernel needs");
}

bool BelongsToOthers(std::string_view symbol) {
  for (const std::string_view prefix : {"cuda", "__cuda", "cublas", "cupti", "nvml"})
    if (symbol.starts_with(prefix)) return true;
  const bool driver = symbol.starts_with("cu") && symbol.size() > 2 && symbol[2] >= 'A' && symbol[2] <= 'Z';
  const bool refused = std::any_of(std::begin(kRefusals), std::end(kRefusals),
                                   [&](const Refusal& refusal) { return refusal.prefix == symbol; });
  return driver || refused || Holds(kLibrary, symbol);
}

}  // namespace gemmsmith
