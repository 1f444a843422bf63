#include "catalogue/kernel_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/compression.h"
#include "base/files.h"
#include "base/installation.h"
#include "program/source.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kKernelFormat = "gemmsmith-kernels", kKernelVersion = "4";
constexpr size_t kSumBytes = 32;
// Larger frames compress better, and the first call of a kernel waits longer for its own.
constexpr size_t kFrameBytes = 1 << 20, kMaxFrameBytes = 64 << 20;

std::string SumOf(std::string_view bytes) { return HashBytes(bytes).Hex(); }

}  // namespace

std::filesystem::path OverlayFolder() {
  const std::filesystem::path config = Environment("XDG_CONFIG_HOME"), home = Environment("HOME");
  if (!config.empty()) return config / "gemmsmith/overlay";
  return home.empty() ? std::filesystem::path() : home / ".config/gemmsmith/overlay";
}

uint32_t KernelFile::Add(std::string entry, const Hash128& text, std::string_view cubin) {
  if (frames_.empty() || frames_.back().plain.empty() || frames_.back().plain.size() + cubin.size() > kFrameBytes)
    frames_.emplace_back();
  Frame& frame = frames_.back();
  kernels_.push_back(
      {std::move(entry), text, uint32_t(frames_.size() - 1), uint32_t(frame.plain.size()), uint32_t(cubin.size())});
  frame.plain += cubin;
  frame.plain_size = uint32_t(frame.plain.size());
  return uint32_t(kernels_.size() - 1);
}

const KernelFile::Kernel* KernelFile::Find(const Gemm& gemm, const Plan& plan) const {
  const auto found = of_problem_.find({gemm, plan});
  return found == of_problem_.end() ? nullptr : &kernels_[found->second.kernel];
}

Result<std::string> KernelFile::CubinOf(const Kernel& kernel) const {
  const Frame& frame = frames_[kernel.frame];
  if (frame.packed.empty()) return frame.plain.substr(kernel.offset, kernel.size);
  const std::optional<std::string> plain = Decompress(frame.packed, frame.plain_size);
  if (!plain) return DataLoss("a file of kernels holds a damaged frame: build it anew");
  return plain->substr(kernel.offset, kernel.size);
}

std::string KernelFile::Print() const {
  ByteWriter writer;
  writer.PutString(kKernelFormat);
  writer.PutString(kKernelVersion);
  writer.PutString(device_key_);
  writer.PutString(HashOfDeviceHeaders().Hex());
  writer.Put(uint32_t(frames_.size()));
  for (const Frame& frame : frames_) {
    writer.Put(frame.plain_size);
    writer.PutString(frame.packed.empty() ? Compress(frame.plain) : frame.packed);
  }
  writer.Put(uint32_t(kernels_.size()));
  for (const Kernel& kernel : kernels_) {
    writer.PutString(kernel.entry);
    for (const uint64_t half : {kernel.text.low, kernel.text.high}) writer.Put(half);
    for (const uint32_t part : {kernel.frame, kernel.offset, kernel.size}) writer.Put(part);
  }
  writer.Put(uint32_t(of_problem_.size()));
  for (const auto& [problem, assignment] : of_problem_) {
    writer.PutString(gemmsmith::Print(problem.first));
    writer.PutString(gemmsmith::Print(problem.second));
    writer.Put(assignment.kernel);
    writer.Put(assignment.time_ns);
    writer.Put(assignment.speed_up);
    writer.Put(uint8_t(assignment.is_derived));
  }
  writer.Put(uint32_t(general_.size()));
  for (const auto& [plan, of_plan] : general_) {
    writer.PutString(gemmsmith::Print(plan));
    writer.Put(uint32_t(of_plan.size()));
    for (const uint32_t kernel : of_plan) writer.Put(kernel);
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
  // Then arguments may lie elsewhere, though the texts of the plans are equal.
  if (head.GetString() != HashOfDeviceHeaders().Hex()) return DataLoss("made from other device headers: build it anew");
  const auto frames = head.Get<uint32_t>();
  for (uint32_t i = 0; i < frames && !head.failed(); ++i) {
    const auto plain_size = head.Get<uint32_t>();
    if (plain_size > kMaxFrameBytes) return DataLoss("a frame is larger than any that is written");
    file.frames_.push_back({.packed = head.GetString(), .plain_size = plain_size});
  }
  const auto kernels = head.Get<uint32_t>();
  for (uint32_t i = 0; i < kernels && !head.failed(); ++i) {
    Kernel kernel{.entry = head.GetString()};
    kernel.text.low = head.Get<uint64_t>(), kernel.text.high = head.Get<uint64_t>();
    kernel.frame = head.Get<uint32_t>(), kernel.offset = head.Get<uint32_t>(), kernel.size = head.Get<uint32_t>();
    if (kernel.frame >= file.frames_.size() ||
        uint64_t(kernel.offset) + kernel.size > file.frames_[kernel.frame].plain_size)
      return DataLoss("a kernel lies outside its frame");
    file.kernels_.push_back(std::move(kernel));
  }
  const auto problems = head.Get<uint32_t>();
  for (uint32_t i = 0; i < problems && !head.failed(); ++i) {
    const std::string problem = head.GetString(), words = head.GetString();
    Assignment assignment{.kernel = head.Get<uint32_t>()};
    assignment.time_ns = head.Get<double>(), assignment.speed_up = head.Get<double>();
    assignment.is_derived = head.Get<uint8_t>() != 0;
    ASSIGN_OR_RETURN(const Gemm gemm, ParseGemm(problem));
    ASSIGN_OR_RETURN(const Plan plan, ParsePlan(words));
    if (assignment.kernel >= file.kernels_.size()) return DataLoss("a problem has a kernel that is not there");
    file.Assign(gemm, plan, assignment);
  }
  const auto general = head.Get<uint32_t>();
  for (uint32_t i = 0; i < general && !head.failed(); ++i) {
    ASSIGN_OR_RETURN(const Plan plan, ParsePlan(head.GetString()));
    const auto of_plan = head.Get<uint32_t>();
    for (uint32_t j = 0; j < of_plan && !head.failed(); ++j) {
      const auto kernel = head.Get<uint32_t>();
      if (kernel >= file.kernels_.size()) return DataLoss("a plan has a kernel that is not there");
      file.AddGeneral(plan, kernel);
    }
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
