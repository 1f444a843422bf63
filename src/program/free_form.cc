#include "program/free_form.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <vector>

#include "base/text.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kPythonModules[] = {
    "triton", "torch", "cutlass",        "cute",  "tilelang", "tvm",    "numba",  "jax", "numpy",
    "cupy",   "warp",  "mojo",           "math",  "pycuda",   "helion", "taichi", "os",  "sys",
    "typing", "tk",    "thunderkittens", "gluon", "tinygrad", "nvmath", "cuda"};

std::string_view WithoutIndent(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view() : line.substr(first);
}

// "triton" of "triton.language as tl".
std::string_view FirstName(std::string_view words) { return words.substr(0, words.find_first_of(" .,\t\r(:;[")); }

// "imports triton", "decorates with @triton.jit"; nothing for a line of C++.
std::optional<std::string> PythonIn(std::string_view line) {
  line = WithoutIndent(line);
  for (const std::string_view keyword : {"import ", "from "}) {
    if (!line.starts_with(keyword) || line.find(';') != std::string_view::npos) continue;
    const std::string_view name = FirstName(WithoutIndent(line.substr(keyword.size())));
    if (std::find(std::begin(kPythonModules), std::end(kPythonModules), name) != std::end(kPythonModules))
      return fmt::format("it imports {}", name);
  }
  if (line.starts_with('@') && line.find(".jit") != std::string_view::npos) return fmt::format("it has {}", line);
  if (line.starts_with("def ") && line.find("):") != std::string_view::npos) return "it has def";
  return std::nullopt;
}

// Comments become blanks; strings stay. Lines stay lines.
std::string WithoutComments(std::string_view text) {
  std::string bare(text);
  char quote = 0;
  for (size_t i = 0; i < bare.size(); ++i) {
    if (quote != 0) {
      if (bare[i] == '\\') {
        ++i;
      } else if (bare[i] == quote || bare[i] == '\n') {
        quote = 0;
      }
    } else if (bare[i] == '"' || bare[i] == '\'') {
      // 1'000 is a number.
      const bool in_number = bare[i] == '\'' && i > 0 && std::isalnum(static_cast<unsigned char>(bare[i - 1]));
      quote = in_number ? 0 : bare[i];
    } else if (bare.compare(i, 2, "//") == 0) {
      for (; i < bare.size() && bare[i] != '\n'; ++i) bare[i] = ' ';
    } else if (bare.compare(i, 2, "/*") == 0) {
      const size_t end =
          std::min(bare.size(), bare.find("*/", i + 2) == std::string::npos ? bare.size() : bare.find("*/", i + 2) + 2);
      for (; i < end; ++i)
        if (bare[i] != '\n') bare[i] = ' ';
      --i;
    }
  }
  return bare;
}

bool IsOfName(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool HasName(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const bool starts = at == 0 || !IsOfName(text[at - 1]);
    const size_t end = at + name.size();
    if (starts && (end == text.size() || !IsOfName(text[end]))) return true;
  }
  return false;
}

}  // namespace

std::string WhyNotFreeForm(std::string_view text) {
  if (text.size() > kMaxFreeFormBytes)
    return fmt::format("{} bytes of text, at most {} are taken", text.size(), kMaxFreeFormBytes);
  if (text.find('\0') != std::string_view::npos) return "not a text: it holds a zero byte";
  const std::string bare = WithoutComments(text);
  for (const std::string_view line : Split(bare, '\n'))
    if (const auto python = PythonIn(line))
      return fmt::format(
          "a Python source ({}): free-form sources are CUDA C++; what a Python language generates is judged as the "
          "CUDA "
          "text it becomes",
          *python);
  if (!HasName(bare, "__global__") && bare.find("#include") == std::string::npos)
    return "not a CUDA source: nothing in it is __global__ and nothing is included";
  if (!HasName(bare, "gemm"))
    return "no function gemm: the contract (docs/free_form.md) wants extern \"C\" cudaError_t gemm(const void* a, "
           "const "
           "void* b, void* c, int m, int n, int k, void* workspace, size_t workspace_bytes, cudaStream_t stream)";
  if (!HasName(bare, "gemmsmith_descriptor_v1"))
    return fmt::format(
        "no descriptor: a line such as extern \"C\" const char gemmsmith_descriptor_v1[] = \"{}\"; says what it "
        "computes",
        PrintDescriptor({}));
  return "";
}

std::string PrintDescriptor(const GemmKind& kind) {
  return fmt::format("gemm {} {} {}", Name(kind.layout), Name(kind.type), Name(kind.accumulation));
}

std::string WhyNotFor(const GemmKind& kind, std::string_view descriptor) {
  const std::vector<std::string_view> has = SplitWords(descriptor);
  const std::string wanted = PrintDescriptor(kind);
  const std::vector<std::string_view> wants = SplitWords(wanted);
  if (has.size() != wants.size() || has[0] != "gemm")
    return fmt::format("the descriptor '{}' is not of the form '{}'", descriptor, wanted);
  constexpr std::array kParts = {"", "layout", "type", "accumulation"};
  for (size_t i = 1; i < kParts.size(); ++i)
    if (has[i] != wants[i])
      return fmt::format("the {} is {} by its descriptor '{}', the problem's is {}", kParts[i], has[i], descriptor,
                         wants[i]);
  return "";
}

}  // namespace gemmsmith
