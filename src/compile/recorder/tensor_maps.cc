// Tensor maps are recorded by the arguments of their encoding. The source gets a cookie of 128 bytes, by which the map
// is found again in a kernel's parameters.
#include <cuda.h>

#include <algorithm>
#include <cstring>

#include "compile/recorder/recorder.h"

namespace gemmsmith::recorder {

namespace {

constexpr size_t kMapBytes = sizeof(CUtensorMap), kMaxRank = 5;

struct Cookie {
  uint64_t words[kMapBytes / 8];
};

uint64_t Mix(uint64_t value) {  // splitmix64
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

// No two maps have a word in common, so that a part of one that is left over differs from call to call.
Cookie CookieOf(size_t map) {
  Cookie cookie;
  uint64_t word = Mix(TheRequest().secret + map);
  for (uint64_t& each : cookie.words) each = word = Mix(word);
  return cookie;
}

// The line of each map in a recipe, by its number.
std::vector<std::string>& Maps() {
  static std::vector<std::string> maps;
  return maps;
}

std::string ListOf(const uint64_t* numbers, size_t count, size_t slots) {
  std::string text;
  for (size_t i = 0; i < slots; ++i) text += (i > 0 ? "," : "") + std::to_string(i < count ? numbers[i] : 0);
  return text;
}
std::string ListOf(const uint32_t* numbers, size_t count, size_t slots) {
  uint64_t wide[kMaxRank] = {};
  std::copy_n(numbers, count, wide);
  return ListOf(wide, count, slots);
}

// The checks of the driver that depend on shape and address.
bool IsEncodable(uint32_t rank, uint64_t address, const cuuint64_t* extent, const cuuint64_t* strides,
                 const cuuint32_t* box, const cuuint32_t* steps) {
  if (rank < 1 || rank > kMaxRank || address % 16 != 0) return false;
  for (uint32_t i = 0; i < rank; ++i)
    if (extent[i] == 0 || extent[i] > uint64_t{1} << 32 || box[i] == 0 || box[i] > 256 || steps[i] == 0 || steps[i] > 8)
      return false;
  return std::all_of(strides, strides + rank - 1,
                     [](uint64_t stride) { return stride % 16 == 0 && stride < uint64_t{1} << 40; });
}

}  // namespace

std::string TakeMaps(std::vector<uint8_t>& parameters) {
  CallRecord& call = PresentCall();
  std::string places;
  for (size_t at = 0; at + kMapBytes <= parameters.size(); at += 8) {
    for (size_t map = 0; map < Maps().size(); ++map) {
      const Cookie cookie = CookieOf(map);
      if (std::memcmp(&parameters[at], &cookie, kMapBytes) != 0) continue;
      std::fill_n(parameters.begin() + long(at), kMapBytes, uint8_t{0});
      places += (places.empty() ? "" : ",") + std::to_string(at) + ":" + std::to_string(call.map_uses.size());
      call.map_uses.push_back(map);
      call.maps += Maps()[map];
      break;
    }
  }
  return places;
}

}  // namespace gemmsmith::recorder

using namespace gemmsmith::recorder;

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* extent, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  const auto where = reinterpret_cast<uintptr_t>(address);
  if (!IsEncodable(rank, where, extent, strides, box, steps)) return CUDA_ERROR_INVALID_VALUE;
  const Cookie cookie = CookieOf(Maps().size());
  std::memcpy(map, &cookie, sizeof cookie);
  Maps().push_back("map address=a+" + std::to_string(where) + " type=" + std::to_string(int(type)) +
                   " rank=" + std::to_string(rank) + " extent=" + ListOf(extent, rank, kMaxRank) +
                   " stride_bytes=" + ListOf(strides, rank - 1, kMaxRank - 1) + " box=" + ListOf(box, rank, kMaxRank) +
                   " element_strides=" + ListOf(steps, rank, kMaxRank) +
                   " interleave=" + std::to_string(int(interleave)) + " swizzle=" + std::to_string(int(swizzle)) +
                   " l2_promotion=" + std::to_string(int(promotion)) + " out_of_bounds=" + std::to_string(int(fill)) +
                   "\n");
  return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  *function = nullptr;
  if (found != nullptr) *found = cudaDriverEntryPointSymbolNotFound;
  if (std::strcmp(symbol, "cuTensorMapEncodeTiled") != 0)
    return Refuse("asks for the driver's " + std::string(symbol).substr(0, 80) + ", which the contract does not have");
  *function = reinterpret_cast<void*>(cuTensorMapEncodeTiled);
  if (found != nullptr) *found = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* found) {
  return cudaGetDriverEntryPointByVersion(symbol, function, 0, flags, found);
}
}
