// No bytes whatever may crash the screen of shared objects.
#include "compile/fatbin.h"
#include "compile/host_code.h"
#include "compile/screening.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> bytes(data, size);
  static_cast<void>(gemmsmith::ScreenSharedObject(bytes));
  static_cast<void>(gemmsmith::ReadDescriptor(bytes));
  static_cast<void>(gemmsmith::CubinsOf(bytes));
  static_cast<void>(gemmsmith::EntersTheKernel(bytes));
  return 0;
}
