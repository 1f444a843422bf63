// As written by CUDA 13.0.88 for sm_80 to sm_120 (November 2026), in section .nv.info.KERNEL. An entry is {format,
// attribute, 16 bits}; under format 4 as many bytes follow as the 16 bits tell.
//
//   0x17 KPARAM_INFO      {u32, u16 ordinal, u16 offset, u32: bytes of it from bit 18}
//   0x45 KPARAM_INFO_V2   {u32, u16 ordinal, u16 offset, u32 bytes}: kernels with more than 4 KiB of parameters
//   0x19 CBANK_PARAM_SIZE the 16 bits are the bytes of all parameters
//   0x05 MAX_THREADS      {u32 x, u32 y, u32 z}
//   0x10 REQNTID          {u32 x, u32 y, u32 z}: the one size of CTA that is allowed
//   0x3d CTA_PER_CLUSTER  {u32 x, u32 y, u32 z}
#include "compile/kernel_interface.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "compile/elf.h"
#include "program/recipe.h"

namespace gemmsmith {

namespace {

constexpr uint8_t kSized = 4;
constexpr uint8_t kParameter = 0x17, kParameterV2 = 0x45, kParameterBytes = 0x19, kMaxThreads = 0x05, kThreads = 0x10,
                  kCluster = 0x3d;

struct Attribute {
  uint8_t id = 0;
  uint16_t number = 0;             // unless sized
  std::span<const uint8_t> bytes;  // where sized
  template <class T>
  T At(size_t offset) const {
    T value{};
    if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  Dim3 Dimensions() const { return {At<uint32_t>(0), At<uint32_t>(4), At<uint32_t>(8)}; }
};

std::vector<Attribute> AttributesOf(std::span<const uint8_t> info) {
  std::vector<Attribute> attributes;
  while (info.size() >= 4) {
    Attribute attribute{.id = info[1], .number = uint16_t(info[2] | info[3] << 8)};
    const size_t bytes = info[0] == kSized ? attribute.number : 0;
    info = info.subspan(4);
    if (bytes > info.size()) break;
    attribute.bytes = info.first(bytes);
    info = info.subspan(bytes);
    attributes.push_back(attribute);
  }
  return attributes;
}

Status CheckParameters(const std::map<uint16_t, KernelParameter>& parameters, uint32_t all_bytes,
                       std::string_view kernel) {
  const auto damaged = [&] { return DataLoss(fmt::format("impossible parameters of kernel '{}'", kernel)); };
  if (all_bytes > kMaxParameterBytes) return damaged();
  uint32_t end = 0;
  uint16_t next = 0;
  for (const auto& [ordinal, parameter] : parameters) {
    if (ordinal != next++ || parameter.offset < end || parameter.bytes > all_bytes ||
        parameter.offset > all_bytes - parameter.bytes)
      return damaged();
    end = parameter.offset + parameter.bytes;
  }
  return OkStatus();
}

}  // namespace

Result<KernelInterface> ReadKernelInterface(std::span<const uint8_t> cubin, std::string_view kernel) {
  ASSIGN_OR_RETURN(const ElfFile file, ElfFile::Parse(cubin));
  const ElfSection* const info = file.FindSection(fmt::format(".nv.info.{}", kernel));
  if (info == nullptr) return NotFound(fmt::format("the cubin says nothing about kernel '{}'", kernel));
  KernelInterface interface;
  std::map<uint16_t, KernelParameter> parameters;
  for (const Attribute& attribute : AttributesOf(info->bytes)) {
    if (attribute.id == kParameter || attribute.id == kParameterV2) {
      const auto bytes = attribute.At<uint32_t>(8);
      parameters[attribute.At<uint16_t>(4)] = {attribute.At<uint16_t>(6),
                                               attribute.id == kParameter ? bytes >> 18 : bytes};
    }
    if (attribute.id == kParameterBytes) interface.parameter_bytes = attribute.number;
    if (attribute.id == kCluster) interface.cluster = attribute.Dimensions();
    if (attribute.id == kMaxThreads || attribute.id == kThreads) {
      const Dim3 threads = attribute.Dimensions();
      interface.max_threads = uint32_t(std::min<uint64_t>(1024, uint64_t(threads.x) * threads.y * threads.z));
    }
  }
  RETURN_IF_ERROR(CheckParameters(parameters, interface.parameter_bytes, kernel));
  for (const auto& [ordinal, parameter] : parameters) interface.parameters.push_back(parameter);
  return interface;
}

}  // namespace gemmsmith
