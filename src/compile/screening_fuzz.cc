// No bytes whatever may crash what reads a source's program.
#include "compile/fatbin.h"
#include "compile/screening.h"
#include "compile/source_program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> bytes(data, size);
  static_cast<void>(gemmsmith::ScreenMachineCode(bytes));
  static_cast<void>(gemmsmith::ReadDescriptor(bytes));
  static_cast<void>(gemmsmith::CubinsOf(bytes));
  static_cast<void>(gemmsmith::ReadSourceProgram({bytes.begin(), bytes.end()}));
  return 0;
}
