#include "compile/screening.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "compile/elf.h"
#include "compile/fatbin.h"
#include "compile/host_code.h"
#include "compile/shared_object.h"

namespace gemmsmith {

namespace {

using Bytes = std::span<const uint8_t>;
using Reasons = std::vector<std::string>;

constexpr std::string_view kEntry = "gemm", kDescriptor = "gemmsmith_descriptor_v1";
constexpr size_t kMaxDescriptor = 256;
// The size of these sections from the C library's crti and crtn, with the landing pads of newer ones.
constexpr uint64_t kMaxInitBytes = 27, kMaxFiniBytes = 13;
// Counters and semaphores of multi-kernel sources are small; results that are kept are not.
constexpr uint64_t kMaxGlobalBytes = 64 << 10;

constexpr std::string_view kLibraries[] = {"libcudart.so.13", "libc.so.6",     "libm.so.6",
                                           "libstdc++.so.6",  "libgcc_s.so.1", "ld-linux-x86-64.so.2"};

const ElfSymbol* FindExport(const ElfFile& file, std::string_view name) {
  for (const ElfSymbol& symbol : file.dynamic_symbols())
    if (symbol.name == name && symbol.section != SHN_UNDEF && symbol.binding != STB_LOCAL) return &symbol;
  return nullptr;
}

void ScreenImports(const ElfFile& file, Reasons& reasons) {
  for (const ElfSymbol& symbol : file.dynamic_symbols()) {
    if (symbol.section != SHN_UNDEF || symbol.name.empty()) continue;
    if (std::string reason = WhyNotImport(symbol.name); !reason.empty()) reasons.push_back(std::move(reason));
  }
}

void ScreenExports(const ElfFile& file, Reasons& reasons) {
  for (const ElfSymbol& symbol : file.dynamic_symbols()) {
    if (symbol.section == SHN_UNDEF) continue;
    if (symbol.type == STT_GNU_IFUNC)
      reasons.push_back(fmt::format("{} chooses its code while it is loaded (IFUNC)", symbol.name));
    if (BelongsToOthers(symbol.name)) reasons.push_back(fmt::format("{} stands in for the library's own", symbol.name));
  }
  for (const ElfRelocation& relocation : file.relocations()) {
    if (relocation.type != R_X86_64_IRELATIVE) continue;
    reasons.push_back("chooses code while it is loaded (IFUNC)");
    break;
  }
}

void ScreenLoading(const ElfFile& file, Reasons& reasons) {
  for (const ElfDynamic& word : file.dynamic()) {
    const bool needed = word.tag == DT_NEEDED;
    if (needed && std::find(std::begin(kLibraries), std::end(kLibraries), word.text) == std::end(kLibraries))
      reasons.push_back(fmt::format("needs the library {}", word.text));
    if (word.tag == DT_RPATH || word.tag == DT_RUNPATH)
      reasons.push_back(fmt::format("looks for libraries in {}", word.text));
    if (word.tag == DT_AUXILIARY || word.tag == DT_FILTER)
      reasons.push_back(fmt::format("hands its names to the library {}", word.text));
    if (word.tag == DT_TEXTREL) reasons.push_back("has its code written while it is loaded");
  }
}

std::string_view NameOfFunctionAt(const ElfFile& file, uint64_t address) {
  for (const auto* symbols : {&file.symbols(), &file.dynamic_symbols()})
    for (const ElfSymbol& symbol : *symbols)
      if (symbol.type == STT_FUNC && symbol.section != SHN_UNDEF && symbol.value == address) return symbol.name;
  return "";
}

// Functions that g++ and nvcc run at loading: registration of kernels, and constructors of global objects.
bool IsOrdinaryConstructor(std::string_view name) {
  return name == "frame_dummy" || name.find("__sti____cudaRegisterAll") != std::string_view::npos ||
         name.starts_with("_GLOBAL__sub_I_");
}

void ScreenConstructors(const ElfFile& file, Reasons& reasons) {
  const ElfSection* array = nullptr;
  for (const ElfSection& section : file.sections()) {
    if (section.type == SHT_INIT_ARRAY) array = &section;
    if ((section.name == ".init" && section.size > kMaxInitBytes) ||
        (section.name == ".fini" && section.size > kMaxFiniBytes))
      reasons.push_back(fmt::format("has code of its own in section {}, which the loader runs", section.name));
    if (section.type == SHT_PREINIT_ARRAY) reasons.push_back("runs code before anything is loaded");
  }
  if (array == nullptr) return;
  size_t known = 0;
  for (const ElfRelocation& relocation : file.relocations()) {
    if (relocation.address < array->address || relocation.address - array->address >= array->size) continue;
    const bool by_symbol = relocation.type == R_X86_64_64 && relocation.symbol < file.dynamic_symbols().size();
    const std::string_view name = by_symbol ? file.dynamic_symbols()[relocation.symbol].name
                                            : NameOfFunctionAt(file, uint64_t(relocation.addend));
    if (IsOrdinaryConstructor(name)) {
      ++known;
    } else {
      reasons.push_back(fmt::format("has {} run while it is loaded", name.empty() ? "nameless code" : name));
    }
  }
  if (reasons.empty() && known != array->size / 8) reasons.push_back("has code run while it is loaded");
}

// Offsets in the section, ascending.
std::vector<uint64_t> FunctionStarts(const ElfFile& file, const ElfSection& section) {
  std::vector<uint64_t> starts;
  for (const auto* symbols : {&file.symbols(), &file.dynamic_symbols()})
    for (const ElfSymbol& symbol : *symbols)
      if (symbol.type == STT_FUNC && symbol.section < file.sections().size() &&
          &file.sections()[symbol.section] == &section && symbol.value >= section.address)
        starts.push_back(symbol.value - section.address);
  std::sort(starts.begin(), starts.end());
  return starts;
}

void ScreenHostCode(const ElfFile& file, Reasons& reasons) {
  for (const ElfSection& section : file.sections()) {
    if ((section.flags & SHF_EXECINSTR) == 0) continue;
    if ((section.flags & SHF_WRITE) != 0)
      reasons.push_back(fmt::format("section {} can be written and executed", section.name));
    if (EntersTheKernel(section.bytes, FunctionStarts(file, section)))
      reasons.push_back(fmt::format("section {} enters the kernel by itself (a syscall instruction)", section.name));
  }
}

bool Holds(Bytes bytes, uint32_t magic) {
  uint8_t wanted[sizeof magic];
  std::memcpy(wanted, &magic, sizeof magic);
  return std::search(bytes.begin(), bytes.end(), std::begin(wanted), std::end(wanted)) != bytes.end();
}

// Whether everything that the runtime is handed stands where it was read.
bool WrapsOnly(const ElfFile& file, const ElfSection& wrappers, const ElfSection& code) {
  for (const ElfRelocation& relocation : file.relocations()) {
    if (relocation.address < wrappers.address || relocation.address - wrappers.address >= wrappers.size) continue;
    const auto target = uint64_t(relocation.addend);
    if (relocation.type != R_X86_64_RELATIVE || target < code.address || target - code.address >= code.size)
      return false;
  }
  return true;
}

void ScreenPlacesOfDeviceCode(const ElfFile& file, Reasons& reasons) {
  for (const ElfSection& section : file.sections()) {
    if ((section.flags & SHF_ALLOC) == 0) continue;
    const bool code = section.name != ".nv_fatbin" && Holds(section.bytes, kFatbinMagic);
    const bool wrapper = section.name != ".nvFatBinSegment" && Holds(section.bytes, kFatbinWrapperMagic);
    if (code || wrapper) reasons.push_back(fmt::format("carries machine code of the GPU in section {}", section.name));
  }
  const ElfSection* wrappers = file.FindSection(".nvFatBinSegment");
  const ElfSection* code = file.FindSection(".nv_fatbin");
  if (wrappers != nullptr && (code == nullptr || !WrapsOnly(file, *wrappers, *code)))
    reasons.push_back("hands machine code to the runtime that stands elsewhere");
}

// new and delete end there, too.
bool IsOfTheHeap(std::string_view device_function) {
  return device_function == "free" || device_function.find("malloc") != std::string_view::npos;
}

void ScreenDeviceCode(const ElfFile& file, Bytes object, Reasons& reasons) {
  ScreenPlacesOfDeviceCode(file, reasons);
  const Result<SharedObject> read = ReadSharedObject({object.begin(), object.end()});
  if (!read.ok()) {
    reasons.push_back(fmt::format("carries machine code of the GPU that cannot be read: {}", read.status().message()));
    return;
  }
  if (read->global_bytes > kMaxGlobalBytes)
    reasons.push_back(fmt::format("keeps {} bytes of device memory from call to call, {} are allowed",
                                  read->global_bytes, kMaxGlobalBytes));
  for (const std::string& name : read->device_imports)
    if (IsOfTheHeap(name)) reasons.push_back(fmt::format("calls {} on the device, whose heap outlives the call", name));
}

}  // namespace

Result<std::string> ReadDescriptor(Bytes object) {
  ASSIGN_OR_RETURN(const ElfFile file, ElfFile::Parse(object));
  const ElfSymbol* entry = FindExport(file, kEntry);
  if (entry == nullptr || entry->type != STT_FUNC)
    return NotFound("no function gemm with the signature of docs/free_form.md");
  const ElfSymbol* descriptor = FindExport(file, kDescriptor);
  if (descriptor == nullptr || descriptor->type != STT_OBJECT)
    return NotFound(
        fmt::format("no descriptor: a line such as extern \"C\" const char {}[] = \"gemm tn f16 f32\";", kDescriptor));
  Bytes bytes = file.BytesAt(descriptor->value);
  bytes = bytes.first(std::min(bytes.size(), kMaxDescriptor));
  const auto end = std::find(bytes.begin(), bytes.end(), uint8_t{0});
  if (end == bytes.end()) return NotFound(fmt::format("{} is no short text", kDescriptor));
  return std::string(bytes.begin(), end);
}

std::vector<std::string> ScreenSharedObject(Bytes object) {
  if (object.size() > kMaxObjectBytes)
    return {fmt::format("has {} bytes, of which {} are allowed", object.size(), kMaxObjectBytes)};
  const Result<ElfFile> file = ElfFile::Parse(object);
  if (!file.ok()) return {file.status().message()};
  Reasons reasons;
  if (file->machine() != EM_X86_64) reasons.push_back("is for another machine");
  ScreenConstructors(*file, reasons);
  ScreenImports(*file, reasons);
  ScreenExports(*file, reasons);
  ScreenLoading(*file, reasons);
  ScreenHostCode(*file, reasons);
  ScreenDeviceCode(*file, object, reasons);
  return reasons;
}

}  // namespace gemmsmith
