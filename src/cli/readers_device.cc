// Devices: known ones, recorded ones, and GPUs.
#include "cli/readers.h"

#include <fmt/format.h>

#include <algorithm>

#include "workflow/instrument.h"

namespace gemmsmith {

Result<Device> ReadDevice(std::string_view key) {
  std::vector<std::string_view> known;
  for (const Device& device : KnownDevices()) {
    if (device.key == key) return device;
    known.push_back(device.key);
  }
  return NoSuchWord("device", key, known);
}

Result<Device> ReadArchitecture(std::string_view text) {
  static const std::vector<std::string> known = [] {
    std::vector<std::string> architectures;
    for (const Device& device : KnownDevices()) {
      if (std::find(architectures.begin(), architectures.end(), device.Architecture()) == architectures.end()) {
        architectures.push_back(device.Architecture());
      }
    }
    return architectures;
  }();
  for (const Device& device : KnownDevices()) {
    if (device.Architecture() == text) return device;
  }
  return NoSuchWord("architecture", text, std::vector<std::string_view>(known.begin(), known.end()));
}

Result<std::string> ReadDeviceChoice(std::string_view text) {
  const bool gpu = text.starts_with("gpu:");
  if (gpu && !ReadOrdinal(text.substr(4)).ok()) {
    return InvalidArgument(fmt::format("'{}' is not gpu:N with a number N from 0", text));
  }
  const bool key = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  if (gpu || key) return std::string(text);
  return InvalidArgument(
      fmt::format("'{}' is no device; write auto, gpu:N, or the key of a recorded one, as in h200", text));
}

Result<std::string> ReadDeviceKey(std::string_view text) {
  ASSIGN_OR_RETURN(std::string choice, ReadDeviceChoice(text));
  if (!AsksForAGpu(choice)) return choice;
  return InvalidArgument(fmt::format("'{}' is no recorded device; write its key, as in h200", text));
}

}  // namespace gemmsmith
