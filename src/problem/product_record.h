// Products that programs called, and how often: the file that `gemmsmith run --record` makes. docs/loop.md has the
// format.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/gemm.h"

namespace gemmsmith {

class ProductRecord {
 public:
  struct Line {
    std::string text;          // "gemm 16x4096x4096 tn bf16 f32", "other 16x4096x4096 tn bf16 f32 batch=8"
    std::optional<Gemm> gemm;  // nullopt: a search knows no such problem
    int64_t calls = 0;
    double share = 0;  // of the record's floor time
  };

  // Whether a text begins as a record does.
  static bool IsRecord(std::string_view text);
  static Result<ProductRecord> Parse(std::string_view text);

  // `text` is that of a line, well-formed.
  void Add(const std::string& text, int64_t calls) { calls_[text] += calls; }
  void Add(const ProductRecord& other);
  bool empty() const { return calls_.empty(); }
  // The largest share first.
  std::vector<Line> Lines() const;
  std::string Print() const;

 private:
  std::map<std::string, int64_t> calls_;
};

// nullopt: a file of another kind.
Result<std::optional<ProductRecord>> ReadProductRecord(const std::filesystem::path& path);
// An empty record in the place of what the file held, which must be a record if it is there.
Status BeginProductRecord(const std::filesystem::path& path);
// Adds to the file, or makes it. Any number of processes at once.
Status AddToProductRecord(const std::filesystem::path& path, const ProductRecord& record);

}  // namespace gemmsmith
