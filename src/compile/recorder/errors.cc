// Error codes, their names, and the last one.
#include <algorithm>
#include <iterator>

#include "compile/recorder/recorder.h"

namespace gemmsmith::recorder {

namespace {

struct ErrorWords {
  cudaError_t error;
  const char *name, *text;
};
#define GEMMSMITH_ERROR(name, text) \
  { name, #name, text }
constexpr ErrorWords kErrors[] = {
    GEMMSMITH_ERROR(cudaSuccess, "no error"),
    GEMMSMITH_ERROR(cudaErrorInvalidValue, "invalid argument"),
    GEMMSMITH_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    GEMMSMITH_ERROR(cudaErrorInitializationError, "initialization error"),
    GEMMSMITH_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    GEMMSMITH_ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    GEMMSMITH_ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
    GEMMSMITH_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    GEMMSMITH_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    GEMMSMITH_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    GEMMSMITH_ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    GEMMSMITH_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    GEMMSMITH_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    GEMMSMITH_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    GEMMSMITH_ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    GEMMSMITH_ERROR(cudaErrorNotPermitted, "operation not permitted"),
    GEMMSMITH_ERROR(cudaErrorNotSupported, "operation not supported"),
    GEMMSMITH_ERROR(cudaErrorInvalidClusterSize, "invalid cluster size"),
    GEMMSMITH_ERROR(cudaErrorUnknown, "unknown error"),
};
#undef GEMMSMITH_ERROR
constexpr ErrorWords kOther = {cudaErrorUnknown, "unrecognized error code", "unrecognized error code"};

const ErrorWords& WordsFor(cudaError_t error) {
  const auto* const found = std::find_if(std::begin(kErrors), std::end(kErrors),
                                         [&](const ErrorWords& words) { return words.error == error; });
  return found == std::end(kErrors) ? kOther : *found;
}

cudaError_t& LastError() {
  static cudaError_t error = cudaSuccess;
  return error;
}

}  // namespace

cudaError_t Remember(cudaError_t error) { return LastError() = error; }
const char* NameOf(cudaError_t error) { return WordsFor(error).name; }

}  // namespace gemmsmith::recorder

using namespace gemmsmith::recorder;

extern "C" {

const char* cudaGetErrorName(cudaError_t error) { return WordsFor(error).name; }
const char* cudaGetErrorString(cudaError_t error) { return WordsFor(error).text; }
cudaError_t cudaPeekAtLastError() { return LastError(); }
cudaError_t cudaGetLastError() {
  const cudaError_t error = LastError();
  LastError() = cudaSuccess;
  return error;
}
}
