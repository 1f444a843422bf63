// The result of compiling a Source, and facts read from its machine code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compile/kernel_interface.h"

namespace gemmsmith {

// Read from the cubin (an ELF file): resource sections and the opcodes of its instructions. Nothing here is believed
// from the source or from compiler messages.
struct CodeFacts {
  int registers = 0;                  // per thread
  int local_bytes = 0;                // per thread: spills and indexed arrays
  int static_smem_bytes = 0;          // declared by the kernel; what the system keeps of each CTA is not in it
  int code_bytes = 0;                 // of the kernel's text section
  int instructions = 0;               // without the NOPs that pad the end
  int local_memory_instructions = 0;  // LDL and STL
  int mma_f32 = 0;                    // HMMA with an f32 accumulator
  int mma_f16 = 0;                    // HMMA with an f16 accumulator
  int wgmma_f32 = 0;                  // HGMMA with an f32 accumulator
  int wgmma_f16 = 0;
  bool operator==(const CodeFacts&) const = default;
};

struct Binary {
  std::string entry;
  std::vector<uint8_t> cubin;
  CodeFacts facts;
};

struct SourceKernel {
  std::string name;  // in the machine code
  CodeFacts facts;
  KernelInterface interface;
};

// A whole source with its host side and the recorder (docs/free_form.md), built but not yet trusted: a program for the
// CPU that records what gemm() launches (compile/recording.h).
struct SourceProgram {
  std::vector<uint8_t> bytes;
  std::vector<std::vector<uint8_t>> cubins;
  std::vector<SourceKernel> kernels;
  CodeFacts facts;  // of all kernels together: instructions summed up, resources of the greediest
};

// A candidate that does not compile is an everyday value: no binary, and the compiler's words.
struct Compilation {
  bool succeeded = false;
  Binary binary;       // when succeeded
  std::string log;     // errors and warnings
  double seconds = 0;  // of compiling; 0 from a cache
  bool from_cache = false;
};

}  // namespace gemmsmith
