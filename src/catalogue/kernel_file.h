// The compiled kernels of a catalogue in one file, made at build time: what a program loads that calls them. Knows
// nothing of how they are compiled. docs/catalogue.md describes the bytes.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "problem/gemm.h"
#include "program/plan.h"

namespace gemmsmith {

struct KernelImage {
  std::string entry;  // the name of its function
  std::string cubin;
  bool operator==(const KernelImage&) const = default;
};

class KernelFile {
 public:
  explicit KernelFile(std::string device_key) : device_key_(std::move(device_key)) {}
  // DataLoss for bytes that are not whole or were changed; an unknown version is refused.
  static Result<KernelFile> Parse(std::string_view bytes);
  // NotFound where there is no such file.
  static Result<KernelFile> Read(const std::filesystem::path& path);
  std::string Print() const;

  const std::string& device_key() const { return device_key_; }
  // Its number, for Assign().
  uint32_t Add(KernelImage kernel);
  // Several problems may share a kernel; each plan of a problem has one.
  void Assign(const Gemm& gemm, const Plan& plan, uint32_t kernel) { of_problem_[{gemm, plan}] = kernel; }
  const KernelImage* Find(const Gemm& gemm, const Plan& plan) const;  // null: not in this file
  size_t kernels() const { return kernels_.size(); }
  size_t problems() const { return of_problem_.size(); }

 private:
  std::string device_key_;
  std::vector<KernelImage> kernels_;
  std::map<std::pair<Gemm, Plan>, uint32_t> of_problem_;
};

}  // namespace gemmsmith
