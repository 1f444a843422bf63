// CodeFacts from the machine code of a cubin: no tool, no driver, no compiler message.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compile/binary.h"

namespace gemmsmith {

// NotFound where the cubin has no kernel of that name; DataLoss where the bytes are no cubin or a damaged one.
Result<CodeFacts> ReadCodeFacts(std::span<const uint8_t> cubin, std::string_view entry);

// Every kernel of a cubin by its name, in the order of their names.
struct KernelFacts {
  std::string name;
  CodeFacts facts;
};
Result<std::vector<KernelFacts>> ReadAllCodeFacts(std::span<const uint8_t> cubin);
// Combines several kernels: the sum of instructions, the maximum of each resource.
void Include(const CodeFacts& more, CodeFacts& facts);

// Puts a compiler's cubin with its facts into the compilation. A cubin without the entry is a candidate that failed to
// compile (the log says so); a damaged one is DataLoss.
Status FinishCompilation(std::vector<uint8_t> cubin, const std::string& entry, Compilation& compilation);

}  // namespace gemmsmith
