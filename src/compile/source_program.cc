#include "compile/source_program.h"

#include <elf.h>

#include <algorithm>

#include "compile/elf.h"
#include "compile/facts.h"
#include "compile/fatbin.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kDescriptor = "gemmsmith_descriptor_v1";
constexpr size_t kMaxDescriptor = 256;

Status AddKernels(const std::vector<uint8_t>& cubin, SourceProgram& program) {
  ASSIGN_OR_RETURN(const std::vector<KernelFacts> kernels, ReadAllCodeFacts(cubin));
  for (const KernelFacts& kernel : kernels) {
    ASSIGN_OR_RETURN(KernelInterface interface, ReadKernelInterface(cubin, kernel.name));
    Include(kernel.facts, program.facts);
    program.kernels.push_back({kernel.name, kernel.facts, std::move(interface)});
  }
  return OkStatus();
}

}  // namespace

Result<SourceProgram> ReadSourceProgram(std::vector<uint8_t> bytes) {
  SourceProgram program{.bytes = std::move(bytes)};
  ASSIGN_OR_RETURN(const ElfFile file, ElfFile::Parse(program.bytes));
  const ElfSection* const section = file.FindSection(".nv_fatbin");
  if (section == nullptr) return program;
  ASSIGN_OR_RETURN(const auto cubins, CubinsOf(section->bytes));
  for (const std::span<const uint8_t> cubin : cubins)
    RETURN_IF_ERROR(AddKernels(program.cubins.emplace_back(cubin.begin(), cubin.end()), program));
  return program;
}

Result<std::string> ReadDescriptor(std::span<const uint8_t> program) {
  ASSIGN_OR_RETURN(const ElfFile file, ElfFile::Parse(program));
  const auto& symbols = file.symbols();
  const auto found = std::find_if(symbols.begin(), symbols.end(), [](const ElfSymbol& symbol) {
    return symbol.name == kDescriptor && symbol.section != SHN_UNDEF && symbol.type == STT_OBJECT;
  });
  if (found == symbols.end())
    return NotFound(
        fmt::format("no descriptor: a line such as extern \"C\" const char {}[] = \"gemm tn f16 f32\";", kDescriptor));
  std::span<const uint8_t> bytes = file.BytesAt(found->value);
  bytes = bytes.first(std::min(bytes.size(), kMaxDescriptor));
  const auto end = std::find(bytes.begin(), bytes.end(), uint8_t{0});
  if (end == bytes.end()) return NotFound(fmt::format("{} is no short text", kDescriptor));
  return std::string(bytes.begin(), end);
}

}  // namespace gemmsmith
