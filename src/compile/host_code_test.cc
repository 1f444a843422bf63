#include "compile/host_code.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/files.h"
#include "compile/elf.h"

namespace gemmsmith {
namespace {

using Code = std::vector<uint8_t>;
using Starts = std::vector<uint64_t>;

TEST(InstructionLength, OfEveryKindOfOperand) {
  const std::pair<Code, size_t> cases[] = {
      {{0x90}, 1},                                             // nop
      {{0xc3}, 1},                                             // ret
      {{0xf3, 0x0f, 0x1e, 0xfa}, 4},                           // endbr64
      {{0x55}, 1},                                             // push %rbp
      {{0x48, 0x89, 0xe5}, 3},                                 // mov %rsp,%rbp
      {{0x48, 0x8b, 0x04, 0x25, 1, 0, 0, 0}, 8},               // mov 1,%rax
      {{0x48, 0x8b, 0x05, 1, 2, 3, 4}, 7},                     // mov ...(%rip),%rax
      {{0x48, 0x8b, 0x44, 0x24, 8}, 5},                        // mov 8(%rsp),%rax
      {{0x48, 0x8b, 0x84, 0x24, 8, 1, 0, 0}, 8},               // mov 0x108(%rsp),%rax
      {{0xe8, 0x0f, 0x05, 0, 0}, 5},                           // call
      {{0x0f, 0x84, 0x0f, 0x05, 0, 0}, 6},                     // je
      {{0x66, 0xb8, 1, 2}, 4},                                 // mov $513,%ax
      {{0xb8, 1, 2, 3, 4}, 5},                                 // mov $...,%eax
      {{0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}, 10},              // movabs
      {{0xf6, 0x40, 4, 1}, 4},                                 // testb $1,4(%rax)
      {{0xf7, 0xd8}, 2},                                       // neg %eax
      {{0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, 10},     // nopw
      {{0x66, 0x0f, 0x6f, 0x05, 1, 2, 3, 4}, 8},               // movdqa ...(%rip),%xmm0
      {{0x0f, 0x38, 0x00, 0xc1}, 4},                           // pshufb
      {{0x66, 0x0f, 0x3a, 0x0f, 0xc1, 4}, 6},                  // palignr
      {{0xc5, 0xf8, 0x77}, 3},                                 // vzeroupper
      {{0xc5, 0xfd, 0x6f, 0x40, 0x20}, 5},                     // vmovdqa 32(%rax),%ymm0
      {{0xc4, 0xe3, 0x7d, 0x39, 0xc1, 1}, 6},                  // vextracti128
      {{0x62, 0xf1, 0x7c, 0x48, 0x10, 0x05, 1, 2, 3, 4}, 10},  // vmovups ...(%rip),%zmm0
      {{0x48, 0x69, 0xc0, 1, 2, 3, 4}, 7},                     // imul
      {{0x48, 0xc7, 0x44, 0x24, 8, 1, 0, 0, 0}, 9},            // movq $1,8(%rsp)
      {{0xff, 0x25, 1, 2, 3, 4}, 6},                           // jmp *...(%rip)
  };
  for (const auto& [code, length] : cases) {
    Code longer = code;
    longer.insert(longer.end(), 16, 0x90);
    EXPECT_EQ(InstructionLength(longer), length) << std::hex << int(code[0]);
    EXPECT_EQ(InstructionLength(code), length);
    EXPECT_EQ(InstructionLength(std::span(code).first(code.size() - 1)).value_or(0), 0u) << std::hex << int(code[0]);
  }
}

TEST(EntersTheKernel, ByItsThreeWays) {
  EXPECT_TRUE(EntersTheKernel(Code{0x90, 0x0f, 0x05, 0xc3}));
  EXPECT_TRUE(EntersTheKernel(Code{0x90, 0x0f, 0x34, 0xc3}));
  EXPECT_TRUE(EntersTheKernel(Code{0x90, 0xcd, 0x80, 0xc3}));
  EXPECT_TRUE(EntersTheKernel(Code{0x66, 0x0f, 0x05}));
}

TEST(EntersTheKernel, NotInsideOfOtherInstructions) {
  EXPECT_FALSE(EntersTheKernel(Code{0xe8, 0x0f, 0x05, 0, 0, 0xc3}));
  EXPECT_FALSE(EntersTheKernel(Code{0xb8, 0xcd, 0x80, 0, 0, 0xc3}));
  EXPECT_FALSE(EntersTheKernel(Code{}));
}

// movabs with "syscall; ret" in its constant, and ways into it: jmp, call and je, to its third byte or to its first.
TEST(EntersTheKernel, InsideOfOneThatIsJumpedInto) {
  const Code hiding = {0x48, 0xb8, 0x0f, 0x05, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x00};
  const auto behind = [&](Code code) {
    code.insert(code.begin(), hiding.begin(), hiding.end());
    return EntersTheKernel(code);
  };
  EXPECT_TRUE(behind({0xeb, 0xf6}));
  EXPECT_FALSE(behind({0xeb, 0xf4}));
  EXPECT_TRUE(behind({0xe8, 0xf3, 0xff, 0xff, 0xff, 0xc3}));
  EXPECT_FALSE(behind({0xe8, 0xf1, 0xff, 0xff, 0xff, 0xc3}));
  EXPECT_TRUE(behind({0x0f, 0x84, 0xf2, 0xff, 0xff, 0xff}));
  EXPECT_FALSE(behind({0xe8, 0, 0, 0, 0x7f}));
  EXPECT_FALSE(behind({0xff, 0xe0}));
}

TEST(EntersTheKernel, WhereCodeCannotBeFollowedAnywhere) {
  EXPECT_TRUE(EntersTheKernel(Code{0x06, 0xe8, 0x0f, 0x05, 0, 0}));
  EXPECT_FALSE(EntersTheKernel(Code{0x06, 0x90}));
}

TEST(EntersTheKernel, IsFollowedAnewWhereFunctionsStart) {
  EXPECT_FALSE(EntersTheKernel(Code{0xe8, 0x0f, 0x05, 0, 0, 0xc3, 0, 0x90, 0xe8, 0x0f, 0x05, 0, 0}, Starts{7}));
  EXPECT_TRUE(EntersTheKernel(Code{0xb8, 0, 0, 0x0f, 0x05}, Starts{3}));
  EXPECT_FALSE(EntersTheKernel(Code{0xb8, 0, 0, 0x0f, 0x05}));
  EXPECT_FALSE(EntersTheKernel(Code{0x90}, Starts{3, 9}));
}

// Hundreds of thousands of instructions that a compiler wrote: all functions of this very program.
TEST(InstructionLength, FollowsThisProgramFunctionByFunction) {
  const std::string bytes = *ReadFile("/proc/self/exe");
  const ElfFile file = *ElfFile::Parse({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  std::map<uint64_t, uint64_t> ends;
  for (const ElfSymbol& symbol : file.symbols())
    if (symbol.type == STT_FUNC && symbol.section != SHN_UNDEF && symbol.size > 0)
      ends[symbol.value] = symbol.value + symbol.size;
  ASSERT_GT(ends.size(), 1000u);
  for (const auto& [start, end] : ends) {
    std::span<const uint8_t> code = file.BytesAt(start);
    ASSERT_GE(code.size(), end - start);
    code = code.first(end - start);
    while (!code.empty()) {
      const auto length = InstructionLength(code);
      ASSERT_TRUE(length) << std::hex << end - code.size();
      code = code.subspan(*length);
    }
  }
}

}  // namespace
}  // namespace gemmsmith
