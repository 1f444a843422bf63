#include "catalogue/kernel_file.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "program/source.h"

namespace gemmsmith {
namespace {

const Gemm kSmall{{64, 64, 64}}, kDeep{{256, 512, 4096}, {kNn}};
const Plan kPlan = *ParsePlan("direct tile_m=32"), kOther = *ParsePlan("direct tile_m=16");

const std::string kCode("\x7f\0one", 5);

KernelFile ExampleKernels() {
  KernelFile file("h200");
  const uint32_t shared = file.Add("gemmsmith_gemm", {1, 2}, kCode);
  const uint32_t alone = file.Add("gemmsmith_gemm", {3, 4}, "two");
  file.Assign(kSmall, kPlan, {shared, 1000, 1.5});
  file.Assign(kDeep, kPlan, {shared, 3000, 1.25});
  file.Assign(kDeep, kOther, {alone, 2000, 0.75});
  file.AddGeneral(kOther, alone);
  file.AddGeneral(kOther, shared);
  return file;
}

TEST(KernelFile, SurvivesItsBytes) {
  const Result<KernelFile> read = KernelFile::Parse(ExampleKernels().Print());
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->device_key(), "h200");
  EXPECT_EQ(read->kernels().size(), 2u);
  EXPECT_EQ(read->problems().size(), 3u);
  ASSERT_NE(read->Find(kDeep, kPlan), nullptr);
  EXPECT_EQ(*read->Find(kDeep, kPlan), *ExampleKernels().Find(kSmall, kPlan));
  EXPECT_EQ(*read->CubinOf(*read->Find(kDeep, kPlan)), kCode);
  EXPECT_EQ(*read->CubinOf(*read->Find(kDeep, kOther)), "two");
  EXPECT_EQ(read->problems(), ExampleKernels().problems());
  EXPECT_EQ(read->general(), ExampleKernels().general());
  EXPECT_EQ(read->general().at(kOther), (std::set<uint32_t>{0, 1}));
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

TEST(KernelFile, FromOtherDeviceHeadersItIsRefused) {
  std::string bytes = ExampleKernels().Print();
  const std::string hash = HashOfDeviceHeaders().Hex();
  bytes.replace(bytes.find(hash), hash.size(), std::string(hash.size(), '0'));
  bytes.resize(bytes.size() - hash.size());
  bytes += HashBytes(bytes).Hex();
  EXPECT_NE(KernelFile::Parse(bytes).status().message().find("other device headers"), std::string::npos);
}

TEST(KernelFile, ManyKernelsShareAFrameAndLargeOnesDoNot) {
  KernelFile file("h200");
  std::vector<std::string> codes;
  for (int i = 0; i < 40; ++i) {
    codes.push_back(std::string(100'000, 'x') + std::to_string(i));
    file.Assign({{64, 64, 64 * (i + 1)}}, kPlan, {file.Add("f", {uint64_t(i), 0}, codes.back())});
  }
  const Result<KernelFile> read = KernelFile::Parse(file.Print());
  ASSERT_TRUE(read.ok()) << read.status().message();
  for (size_t i = 0; i < codes.size(); ++i) EXPECT_EQ(*read->CubinOf(read->kernels()[i]), codes[i]);
  EXPECT_EQ(read->kernels().back().frame, 3u) << "a frame holds a mebibyte";
  EXPECT_LT(file.Print().size(), 100'000u);
}

TEST(KernelFile, OfAnotherVersionItSaysSo) {
  std::string bytes = ExampleKernels().Print();
  bytes[bytes.find("gemmsmith-kernels") + std::string("gemmsmith-kernels").size() + 4] = '1';
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
