#include "catalogue/kernel_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/files.h"
#include "base/hash.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kKernelFormat = "gemmsmith-kernels", kKernelVersion = "1";
constexpr size_t kSumBytes = 32;

std::string SumOf(std::string_view bytes) { return HashBytes(bytes).Hex(); }

}  // namespace

uint32_t KernelFile::Add(KernelImage kernel) {
  kernels_.push_back(std::move(kernel));
  return uint32_t(kernels_.size() - 1);
}

const KernelImage* KernelFile::Find(const Gemm& gemm, const Plan& plan) const {
  const auto found = of_problem_.find({gemm, plan});
  return found == of_problem_.end() ? nullptr : &kernels_[found->second];
}

std::string KernelFile::Print() const {
  ByteWriter writer;
  writer.PutString(kKernelFormat);
  writer.PutString(kKernelVersion);
  writer.PutString(device_key_);
  writer.Put(uint32_t(kernels_.size()));
  for (const KernelImage& kernel : kernels_) {
    writer.PutString(kernel.entry);
    writer.PutString(kernel.cubin);
  }
  writer.Put(uint32_t(of_problem_.size()));
  for (const auto& [problem, kernel] : of_problem_) {
    writer.PutString(gemmsmith::Print(problem.first));
    writer.PutString(gemmsmith::Print(problem.second));
    writer.Put(kernel);
  }
  std::string bytes = std::move(writer).Take();
  return bytes + SumOf(bytes);
}

Result<KernelFile> KernelFile::Parse(std::string_view bytes) {
  ByteReader head(bytes);
  if (head.GetString() != kKernelFormat) return DataLoss("no file of kernels");
  if (const std::string version = head.GetString(); version != kKernelVersion)
    return DataLoss(fmt::format("its version is not {}: build it anew", kKernelVersion));
  const size_t content = bytes.size() - std::min(kSumBytes, bytes.size());
  if (SumOf(bytes.substr(0, content)) != bytes.substr(content))
    return DataLoss("cut off or changed (its sum is another): build it anew");
  KernelFile file(head.GetString());
  const auto kernels = head.Get<uint32_t>();
  for (uint32_t i = 0; i < kernels && !head.failed(); ++i) {
    std::string entry = head.GetString();
    file.Add({std::move(entry), head.GetString()});
  }
  const auto problems = head.Get<uint32_t>();
  for (uint32_t i = 0; i < problems && !head.failed(); ++i) {
    const std::string problem = head.GetString(), words = head.GetString();
    const auto kernel = head.Get<uint32_t>();
    ASSIGN_OR_RETURN(const Gemm gemm, ParseGemm(problem));
    ASSIGN_OR_RETURN(const Plan plan, ParsePlan(words));
    if (kernel >= file.kernels_.size()) return DataLoss("a problem has a kernel that is not there");
    file.Assign(gemm, plan, kernel);
  }
  if (head.failed()) return DataLoss("it ends too soon");
  return file;
}

Result<KernelFile> KernelFile::Read(const std::filesystem::path& path) {
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return NotFound(fmt::format("no file of kernels {}", path.string()));
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  Result<KernelFile> file = Parse(bytes);
  if (!file.ok()) return DataLoss(fmt::format("{}: {}", path.string(), file.status().message()));
  return file;
}

}  // namespace gemmsmith
