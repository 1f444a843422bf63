#include "catalogue/kernel_file.h"

#include <gtest/gtest.h>

#include "base/files.h"

namespace gemmsmith {
namespace {

const Gemm kSmall{{64, 64, 64}}, kDeep{{256, 512, 4096}, {kNn}};
const Plan kPlan = *ParsePlan("direct tile_m=32"), kOther = *ParsePlan("direct tile_m=16");

KernelFile ExampleKernels() {
  KernelFile file("h200");
  const uint32_t shared = file.Add({"gemmsmith_gemm", std::string("\x7f"
                                                                  "ELF\0one",
                                                                  8)});
  const uint32_t alone = file.Add({"gemmsmith_gemm", "two"});
  file.Assign(kSmall, kPlan, shared);
  file.Assign(kDeep, kPlan, shared);
  file.Assign(kDeep, kOther, alone);
  return file;
}

TEST(KernelFile, SurvivesItsBytes) {
  const Result<KernelFile> read = KernelFile::Parse(ExampleKernels().Print());
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->device_key(), "h200");
  EXPECT_EQ(read->kernels(), 2u);
  EXPECT_EQ(read->problems(), 3u);
  ASSERT_NE(read->Find(kDeep, kPlan), nullptr);
  EXPECT_EQ(*read->Find(kDeep, kPlan), *ExampleKernels().Find(kSmall, kPlan));
  EXPECT_EQ(read->Find(kDeep, kOther)->cubin, "two");
  EXPECT_EQ(read->Find(kSmall, kOther), nullptr);
  EXPECT_EQ(read->Print(), ExampleKernels().Print());
}

TEST(KernelFile, EveryCutAndEveryChangedByteIsNoticed) {
  const std::string bytes = ExampleKernels().Print();
  for (size_t at = 0; at < bytes.size(); ++at) {
    EXPECT_EQ(KernelFile::Parse(bytes.substr(0, at)).status().code(), StatusCode::kDataLoss) << at;
    std::string changed = bytes;
    changed[at] = char(changed[at] ^ 1);
    EXPECT_EQ(KernelFile::Parse(changed).status().code(), StatusCode::kDataLoss) << at;
  }
}

TEST(KernelFile, OfAnotherVersionItSaysSo) {
  std::string bytes = ExampleKernels().Print();
  bytes[bytes.find("gemmsmith-kernels") + std::string("gemmsmith-kernels").size() + 4] = '2';
  EXPECT_NE(KernelFile::Parse(bytes).status().message().find("version"), std::string::npos);
}

TEST(KernelFile, OnTheDiskADamagedOneIsNamed) {
  const TemporaryFolder folder = *TemporaryFolder::Create("kernels");
  EXPECT_EQ(KernelFile::Read(folder.path() / "none").status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "h200.kernels", "nothing").ok());
  EXPECT_NE(KernelFile::Read(folder.path() / "h200.kernels").status().message().find("h200.kernels: "),
            std::string::npos);
}

}  // namespace
}  // namespace gemmsmith
