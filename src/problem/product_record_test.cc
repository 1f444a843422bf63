#include "problem/product_record.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/files.h"
#include "problem/grids.h"

namespace gemmsmith {
namespace {

constexpr const char* kGemm = "gemm 16x4096x4096 tn bf16 f32";
constexpr const char* kOther = "other 16x64x64 nn f16 f32 batch=8 steps=1024,4096,1024";

ProductRecord SomeRecord() {
  ProductRecord record;
  record.Add(kGemm, 3);
  record.Add(kOther, 2);
  return record;
}

TEST(ProductRecord, RoundTrips) {
  const std::string text = SomeRecord().Print();
  const Result<ProductRecord> read = ProductRecord::Parse(text);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->Print(), text);
  ASSERT_EQ(read->Lines().size(), 2u);
  EXPECT_EQ(read->Lines()[0].text, kGemm) << "the largest share first";
  EXPECT_EQ(read->Lines()[0].calls, 3);
  EXPECT_TRUE(read->Lines()[0].gemm.has_value());
  EXPECT_FALSE(read->Lines()[1].gemm.has_value());
  EXPECT_NEAR(read->Lines()[0].share + read->Lines()[1].share, 1, 1e-12);
}

TEST(ProductRecord, AnEmptyOneIsARecord) {
  const Result<ProductRecord> read = ProductRecord::Parse(ProductRecord().Print());
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_TRUE(read->empty());
}

TEST(ProductRecord, WhatIsCutOffIsRefusedOrWhole) {
  const std::string text = SomeRecord().Print();
  for (size_t size = 0; size < text.size(); ++size) {
    const Result<ProductRecord> read = ProductRecord::Parse(text.substr(0, size));
    EXPECT_EQ(read.ok(), text[size == 0 ? 0 : size - 1] == '\n' && size > 0) << text.substr(0, size);
  }
}

TEST(ProductRecord, RubbishIsRefusedByItsLine) {
  for (const char* line : {"gemm 16x4096x4096 tn bf16 f32", "gemm 16x4096x4096 tn bf16 f32 count=0",
                           "gemm 16x4096x4096 tn bf16 f32 count=1e3", "gemm 16x4096x4096 tn bf16 f32 batch=2 count=1",
                           "other 0x1x1 tn bf16 f32 count=1", "product 1x1x1 tn bf16 f32 count=1", "count=1"}) {
    const Result<ProductRecord> read = ProductRecord::Parse("gemmsmith-products 1\n" + std::string(line) + "\n");
    ASSERT_FALSE(read.ok()) << line;
    EXPECT_TRUE(read.status().message().starts_with("line 2: ")) << read.status().message();
  }
  EXPECT_FALSE(ProductRecord::Parse("gemmsmith-products 2\n").ok());
}

TEST(ProductRecord, ManyWritersLoseNothing) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-record");
  const std::filesystem::path path = folder.path() / "job.shapes";
  std::vector<std::thread> writers;
  for (int i = 0; i < 8; ++i)
    writers.emplace_back([&] {
      for (int call = 0; call < 5; ++call) EXPECT_TRUE(AddToProductRecord(path, SomeRecord()).ok());
    });
  for (std::thread& writer : writers) writer.join();
  const Result<std::optional<ProductRecord>> read = ReadProductRecord(path);
  ASSERT_TRUE(read.ok() && *read) << read.status().message();
  EXPECT_EQ((*read)->Lines()[0].calls, 8 * 5 * 3);
}

TEST(ProductRecord, AnotherFileIsNotWrittenOver) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-record");
  const std::filesystem::path path = folder.path() / "precious";
  ASSERT_TRUE(WriteFileAtomic(path, "16x16x16\n").ok());
  EXPECT_FALSE(AddToProductRecord(path, SomeRecord()).ok());
  EXPECT_EQ(*ReadFile(path), "16x16x16\n");
  EXPECT_FALSE(AddToProductRecord("/dev/full", SomeRecord()).ok());
}

// A search takes a record as a list of whole problems.
TEST(ProductRecord, ItsProblemsKeepTheirTypesAndLines) {
  const TemporaryFolder folder = *TemporaryFolder::Create("gemmsmith-record");
  const std::filesystem::path path = folder.path() / "job.shapes";
  ProductRecord record = SomeRecord();
  record.Add("gemm 64x64x64 nn f16 f32 lda=72", 1);
  ASSERT_TRUE(AddToProductRecord(path, record).ok());
  const Result<std::vector<Product>> products = LoadProducts(path.string());
  ASSERT_TRUE(products.ok()) << products.status().message();
  const std::vector<Gemm> problems = ProblemsOf(*products, kLayouts, {.constant_b = true});
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(Print(problems[0]), std::string(kGemm) + " constant_b");
  EXPECT_EQ(Print(problems[1]), "gemm 64x64x64 nn f16 f32 constant_b lda=72");
}

}  // namespace
}  // namespace gemmsmith
