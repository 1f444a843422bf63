// Flat forms against the plans they were made from, as machine code.
#include "program/flat_form.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>

#include "base/all_cores.h"
#include "base/text.h"
#include "compile/compiler.h"
#include "compile/elf.h"
#include "compile/recording.h"
#include "compile/screening.h"
#include "compile/some_kernels.h"
#include "compile/source_program.h"
#include "program/direct/direct_plan.h"
#include "program/emit.h"
#include "program/family.h"
#include "program/free_form.h"
#include "program/random_plan.h"

namespace gemmsmith {
namespace {

struct Instruction {
  uint64_t low = 0, high = 0;
  uint32_t opcode() const { return low & 0xfff; }  // with the kind of its operands in bits 9 to 11
};

std::vector<Instruction> InstructionsOf(const Binary& binary) {
  const ElfFile file = *ElfFile::Parse(binary.cubin);
  std::vector<Instruction> instructions(size_t(binary.facts.instructions));
  std::memcpy(instructions.data(), file.FindSection(".text." + binary.entry)->bytes.data(),
              instructions.size() * sizeof(Instruction));
  return instructions;
}

bool HaveSameOpcodes(const std::vector<Instruction>& first, const std::vector<Instruction>& second) {
  return std::equal(first.begin(), first.end(), second.begin(), second.end(),
                    [](const Instruction& a, const Instruction& b) { return a.opcode() == b.opcode(); });
}

// What a kernel does apart from addresses and control: instructions by their opcode, accesses by their width too.
// Found with nvdisasm of CUDA 13.0 on sm_90a, as facts.cc was.
std::map<uint32_t, int> WorkOf(const std::vector<Instruction>& instructions) {
  constexpr uint32_t kHmma = 0x3c, kPack = 0x3e, kAdd = 0x21, kBarrier = 0x11d, kWait = 0x2e, kTrigger = 0x2d;
  constexpr uint32_t kLoadGlobal = 0x181, kStoreGlobal = 0x186, kLoadShared = 0x184, kStoreShared = 0x188;
  std::map<uint32_t, int> work;
  for (const Instruction& instruction : instructions) {
    const uint32_t opcode = instruction.opcode() & 0x1ff;
    switch (opcode) {
      case kLoadGlobal:
      case kStoreGlobal:
      case kLoadShared:
      case kStoreShared:
        ++work[opcode | uint32_t(instruction.high >> 9 & 7) << 9];
        break;
      case kHmma:
      case kPack:
      case kAdd:
      case kBarrier:
      case kWait:
      case kTrigger:
        ++work[opcode];
        break;
      default:
        break;
    }
  }
  return work;
}

// NVRTC knows neither the run-time library nor host code.
std::string KernelOf(std::string_view flat) {
  std::string text(flat.substr(0, flat.find("extern \"C\" const char gemmsmith_descriptor_v1")));
  constexpr std::string_view kInclude = "#include <cuda_runtime.h>\n";
  text.erase(text.find(kInclude), kInclude.size());
  return text;
}

// A known K of less than a step: the headers' loops are unrolled there, those of the flat form are not.
bool IsUnrolledTail(const Plan& plan, const Gemm& gemm) {
  const DirectPlan direct(plan);
  return direct.fixed != FixedDimensions::kNone && gemm.shape.k < direct.RoundK();
}

struct Sampled {
  Plan plan;
  Gemm gemm;
};

std::vector<Sampled> Sample(size_t count) {
  const Gemm gemms[] = {{{256, 512, 4096}, {kTn}},
                        {{256, 512, 4096}, {kNn}},
                        {{64, 64, 2048}, {kNn, ScalarType::kBf16}},
                        {{17, 31, 63}, {kNn, ScalarType::kBf16}},
                        {{100, 36, 1000}, {kTn, ScalarType::kF16, Accumulation::kF16}},
                        {{128, 1024, 4096}, {kNn, ScalarType::kF16, Accumulation::kF16}}};
  Random random(2);
  std::vector<Sampled> sample;
  while (sample.size() < count) {
    const Gemm& gemm = gemms[sample.size() % std::size(gemms)];
    sample.push_back({*RandomPlan(GetFamily(FamilyId::kDirect), {}, gemm, *FindDevice("h200"), random), gemm});
  }
  return sample;
}

Binary Compiled(Compiler& compiler, const Source& source) {
  const Compilation compilation = *compiler.Compile(source, "sm_90a");
  EXPECT_TRUE(compilation.succeeded) << source.text << compilation.log;
  return compilation.binary;
}

Binary CompiledFlat(Compiler& compiler, const Sampled& sampled, const FlatStyle& style) {
  return Compiled(compiler, {KernelOf(*EmitFlat(sampled.plan, sampled.gemm, style)), kFlatEntry});
}

// The gate: the plan's matrix instructions, accesses by their width, roundings, sums and barriers, each as often. The
// rest is addresses and control, of which there is less; no plan has more than a tenth more of all.
TEST(FlatForm, DoesTheWorkOfItsPlan) {
  const std::unique_ptr<Compiler> compiler = *MakeNvrtcCompiler();
  const std::vector<Sampled> sample = Sample(96 / OneKernelOf(8));
  std::atomic<int> equal_opcodes = 0, fewer = 0;
  ForEachOnAllCores(sample.size(), [&](size_t i) {
    const auto& [plan, gemm] = sample[i];
    const std::vector<Instruction> thin = InstructionsOf(Compiled(*compiler, Emit(plan, gemm))),
                                   flat = InstructionsOf(CompiledFlat(*compiler, sample[i], {}));
    EXPECT_LE(double(flat.size()), 1.1 * double(thin.size())) << Print(gemm) << " " << Print(plan);
    if (!IsUnrolledTail(plan, gemm)) {
      EXPECT_EQ(WorkOf(thin), WorkOf(flat)) << Print(gemm) << " " << Print(plan);
    }
    equal_opcodes += HaveSameOpcodes(thin, flat);
    fewer += flat.size() <= thin.size();
  });
  RecordProperty("plans", int(sample.size()));
  RecordProperty("equal_opcodes", equal_opcodes);
  RecordProperty("no_more_instructions", fewer);
  EXPECT_GE(fewer * 4, int(sample.size()) * 3);
}

TEST(FlatForm, HasOneMachineCodeInAllStyles) {
  const std::unique_ptr<Compiler> compiler = *MakeNvrtcCompiler();
  const Sampled sampled{*ParsePlan("direct tile_m=16 tile_n=32 warps_n=2 warps_k=4 fixed=all"),
                        {{256, 512, 4096}, {kNn}}};
  const std::vector<Instruction> plain = InstructionsOf(CompiledFlat(*compiler, sampled, {}));
  std::vector<uint64_t> seeds;
  for (uint64_t seed = 1; seed < kFlatStyles; seed += OneKernelOf(4)) seeds.push_back(seed);
  ForEachOnAllCores(seeds.size(), [&](size_t i) {
    const Binary styled = CompiledFlat(*compiler, sampled, FlatStyleOf(seeds[i]));
    EXPECT_TRUE(HaveSameOpcodes(InstructionsOf(styled), plain)) << "style " << seeds[i];
  });
}

// As the judge takes it: built by nvcc, screened, asked what it launches.
TEST(FlatForm, BuildsPassesTheScreeningAndRecords) {
  Result<std::unique_ptr<SourceCompiler>> compiler = MakeSourceCompiler();
  if (!compiler.ok()) GTEST_SKIP() << compiler.status().message();
  const Gemm gemm{{256, 512, 4096}, {kNn, ScalarType::kBf16}};
  const Plan plan = *ParsePlan("direct tile_m=64 tile_n=64 warps_m=2 warps_n=2 warps_k=4 trigger=late");
  const Result<SourceCompilation> built = (*compiler)->Compile(*EmitFlat(plan, gemm, {}), "sm_90a");
  ASSERT_TRUE(built.ok()) << built.status().message();
  ASSERT_TRUE(built->program) << built->log;
  EXPECT_EQ(WhyNotFor(gemm.kind, *ReadDescriptor(built->program->bytes)), "");
  for (const auto& cubin : built->program->cubins) EXPECT_EQ(Join(ScreenMachineCode(cubin), "; "), "");
  const Shape pairs[][2] = {{{256, 512, 4096}, {512, 512, 4096}}, {{256, 1024, 4096}, {256, 512, 8192}}};
  for (const auto& shapes : pairs) {
    const Result<std::vector<LaunchRecord>> records = RecordLaunches(*built->program, *FindDevice("h200"), shapes, 1);
    ASSERT_TRUE(records.ok()) << records.status().message();
    ASSERT_EQ(records->size(), std::size(shapes));
    for (const LaunchRecord& record : *records) EXPECT_TRUE(record.recipe) << record.reason;
  }
}

}  // namespace
}  // namespace gemmsmith
