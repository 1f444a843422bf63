#include "policy/model.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/files.h"
#include "policy/half.h"
#include "policy/vocabulary.h"

namespace gemmsmith {
namespace {

ModelConfig SmallConfig() {
  return {.words = int(TokenVocabulary().size()), .positions = 8, .width = 8, .layers = 2, .heads = 2, .hidden = 16};
}

std::string File(const nlohmann::json& header, size_t data_bytes) {
  const std::string text = header.is_string() ? header.get<std::string>() : header.dump();
  ByteWriter length;
  length.Put(uint64_t(text.size()));
  return std::move(length).Take() + text + std::string(data_bytes, '\0');
}

std::string WhyNot(std::string_view bytes) {
  const Result<SafeTensors> file = DecodeSafeTensors(bytes);
  EXPECT_FALSE(file.ok());
  if (file.ok()) return "";
  EXPECT_EQ(file.status().message().find('\n'), std::string::npos);
  return file.status().message();
}

// The same file with one text of its header put in another's place.
std::string Changed(const std::string& bytes, const std::string& from, const std::string& to) {
  const size_t header_bytes = ByteReader(bytes).Get<uint64_t>();
  std::string header = bytes.substr(8, header_bytes);
  EXPECT_NE(header.find(from), std::string::npos) << from;
  header.replace(header.find(from), from.size(), to);
  ByteWriter length;
  length.Put(uint64_t(header.size()));
  return std::move(length).Take() + header + bytes.substr(8 + header_bytes);
}

TEST(SafeTensorsTest, TensorsAndMetadataComeBackInHalfPrecision) {
  SafeTensors file;
  file.metadata["who"] = "a test";
  file.tensors["b"] = {{2, 3}, {1, 2, 3, 0.1f, -5, 65504}};
  file.tensors["a"] = {{}, {7}};
  file.tensors["none"] = {{0, 4}, {}};
  const Result<SafeTensors> read = DecodeSafeTensors(EncodeSafeTensors(file));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->metadata, file.metadata);
  ASSERT_EQ(read->tensors.size(), 3u);
  for (const auto& [name, tensor] : file.tensors) {
    EXPECT_EQ(read->tensors.at(name).shape, tensor.shape);
    for (size_t i = 0; i < tensor.values.size(); ++i)
      EXPECT_EQ(read->tensors.at(name).values[i], HalfToFloat(FloatToHalf(tensor.values[i])));
  }
}

TEST(SafeTensorsTest, InSinglePrecisionNumbersComeBackExactly) {
  SafeTensors file;
  file.tensors["x"] = {{3}, {0.1f, 1e-30f, 3e38f}, NumberType::kF32};
  EXPECT_EQ(DecodeSafeTensors(EncodeSafeTensors(file))->tensors.at("x").values, file.tensors["x"].values);
}

TEST(SafeTensorsTest, BytesComeBackExactly) {
  SafeTensors file;
  file.tensors["x"] = {{4}, {0, 1, 128, 255}, NumberType::kU8};
  const std::string bytes = EncodeSafeTensors(file);
  EXPECT_EQ(DecodeSafeTensors(bytes)->tensors.at("x").values, file.tensors["x"].values);
  EXPECT_EQ(EncodeSafeTensors(*DecodeSafeTensors(bytes)), bytes);
}

TEST(SafeTensorsTest, CutOffAnywhereItIsRefused) {
  SafeTensors file;
  file.tensors["x"] = {{3}, {1, 2, 3}};
  const std::string bytes = EncodeSafeTensors(file);
  for (size_t length = 0; length < bytes.size(); ++length) WhyNot(std::string_view(bytes).substr(0, length));
  WhyNot(bytes + "x");
}

TEST(SafeTensorsTest, HostileHeadersAreRefusedInOneLineEach) {
  using Json = nlohmann::json;
  const auto tensor = [](const Json& dtype, const Json& shape, const Json& offsets) {
    return Json{{"x", {{"dtype", dtype}, {"shape", shape}, {"data_offsets", offsets}}}};
  };
  EXPECT_EQ(WhyNot(std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8)),
            "no safetensors file: a header of 18446744073709551615 bytes, at most 1048576");
  EXPECT_EQ(WhyNot(File("[[[[[[", 0)), "no safetensors file: the header is no JSON object");
  EXPECT_EQ(WhyNot(File(std::string(1 << 20, '['), 0)), "no safetensors file: the header is no JSON object");
  EXPECT_EQ(WhyNot(File("[1]", 0)), "no safetensors file: the header is no JSON object");
  EXPECT_EQ(WhyNot(File({{"x", 3}}, 0)), "no safetensors file: tensor 'x': lacks dtype, shape or data_offsets");
  EXPECT_EQ(WhyNot(File(tensor("I8", {1}, {0, 1}), 1)),
            "no safetensors file: tensor 'x': numbers are neither F16 nor F32 nor U8");
  EXPECT_EQ(WhyNot(File(tensor("F16", {-1}, {0, 2}), 2)),
            "no safetensors file: tensor 'x': the shape holds something that is no size");
  EXPECT_EQ(WhyNot(File(tensor("F16", {1.5}, {0, 2}), 2)),
            "no safetensors file: tensor 'x': the shape holds something that is no size");
  EXPECT_EQ(WhyNot(File(tensor("F16", {1ull << 39, 1ull << 39, 1ull << 39}, {0, 2}), 2)),
            "no safetensors file: tensor 'x': the shape is too large");
  EXPECT_EQ(WhyNot(File(tensor("F16", {3}, {0, 4}), 4)),
            "no safetensors file: tensor 'x': its shape takes 6 bytes, its data_offsets hold 4");
  EXPECT_EQ(WhyNot(File(tensor("F16", {1}, {4, 2}), 4)),
            "no safetensors file: tensor 'x': data_offsets are not two places, the first one first");
  EXPECT_EQ(WhyNot(File(tensor("F16", {1}, {2, 4}), 4)),
            "no safetensors file: tensor 'x' begins at byte 2, the one before it ends at 0");
  EXPECT_EQ(WhyNot(File(tensor("F16", {2}, {0, 4}), 2)),
            "no safetensors file: cut off: 4 bytes of numbers, 2 are there");
  EXPECT_EQ(WhyNot(File(tensor("F16", {1}, {0, 2}), 4)), "no safetensors file: 2 bytes behind the last tensor");
  EXPECT_EQ(WhyNot(File({{"__metadata__", {{"a", 1}}}}, 0)), "no safetensors file: metadata 'a' is no text");
  EXPECT_EQ(WhyNot(File({{"a\n\x1b", 3}}, 0)),
            "no safetensors file: tensor 'a?\?': lacks dtype, shape or data_offsets");
  Json two = tensor("F16", {1}, {0, 2});
  two["y"] = two["x"];
  EXPECT_EQ(WhyNot(File(two, 2)), "no safetensors file: tensor 'y' begins at byte 0, the one before it ends at 2");
}

TEST(ModelTest, TheDefaultHasFiveMillionParametersInTenMegabytes) {
  const PolicyModel model = NewModel(DefaultModelConfig(), 1);
  EXPECT_GT(model.ParameterCount(), 4'950'000u);
  EXPECT_LE(EncodeModel(model).size(), 10'000'000u);
}

TEST(ModelTest, ComesBackInHalfPrecisionAndIsTheSameForTheSameSeed) {
  PolicyModel model = NewModel(SmallConfig(), 1);
  const std::string bytes = EncodeModel(model);
  Result<PolicyModel> read = DecodeModel(bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->config, model.config);
  const auto weights = WeightsOf(model), read_weights = WeightsOf(*read);
  for (size_t i = 0; i < weights.size(); ++i) {
    ASSERT_EQ(read_weights[i].values->size(), weights[i].values->size()) << weights[i].name;
    for (size_t j = 0; j < weights[i].values->size(); ++j)
      ASSERT_EQ((*read_weights[i].values)[j], HalfToFloat(FloatToHalf((*weights[i].values)[j])));
  }
  EXPECT_EQ(EncodeModel(*read), bytes);
  EXPECT_EQ(EncodeModel(NewModel(SmallConfig(), 1)), bytes);
  EXPECT_NE(EncodeModel(NewModel(SmallConfig(), 2)), bytes);
}

TEST(ModelTest, SaysWhatItWasTrainedWithout) {
  PolicyModel model = NewModel(SmallConfig(), 1);
  model.ablations = {.contrast = true, .analysis = true};
  const std::string bytes = EncodeModel(model);
  EXPECT_EQ(DecodeModel(bytes)->ablations, model.ablations);
  EXPECT_NE(Fingerprint(model), Fingerprint(NewModel(SmallConfig(), 1)));
}

TEST(ModelTest, WhatDoesNotFitIsRefusedInOneLine) {
  const std::string bytes = EncodeModel(NewModel(SmallConfig(), 1));
  const auto why_not = [](const std::string& changed) {
    const Result<PolicyModel> model = DecodeModel(changed);
    EXPECT_FALSE(model.ok());
    return model.ok() ? "" : model.status().message();
  };
  const std::string& identity = TokenVocabulary().identity();
  EXPECT_EQ(why_not(Changed(bytes, identity, "tokens 9 0123456789ab")),
            "weights for the words of 'tokens 9 0123456789ab', this program's are '" + identity + "': train again");
  EXPECT_EQ(why_not(Changed(bytes, "\"gemmsmith_policy\":\"3\"", "\"gemmsmith_policy\":\"2\"")),
            "weights of format '2', this program reads 3: train again");
  EXPECT_EQ(why_not(Changed(bytes, "\"without\"", "\"with\"")), "no weights of a policy: no 'without' in the metadata");
  EXPECT_EQ(why_not(Changed(bytes, "\"without\":\"\"", "\"without\":\"sleep\"")),
            "'sleep' is no part to train without; there are contrast, counters, mask, analysis and prior");
  EXPECT_EQ(why_not(Changed(bytes, "\"width\":\"8\"", "\"width\":\"-8\"")), "width cannot be '-8', but 1 to 4096");
  EXPECT_EQ(why_not(Changed(bytes, "\"heads\":\"2\"", "\"heads\":\"3\"")), "3 heads cannot share a width of 8");
  EXPECT_EQ(why_not(Changed(bytes, "\"hidden\":\"16\"", "\"hidden\":\"32\"")),
            "'layers.0.up' is [8, 16], should be [8, 32]");
  EXPECT_EQ(why_not(Changed(bytes, "\"layers\":\"2\"", "\"layers\":\"3\"")),
            "the weights lack 'layers.2.attention_norm'");
  EXPECT_EQ(why_not(Changed(bytes, "\"layers\":\"2\"", "\"layers\":\"1\"")),
            "the weights hold 'layers.1.attention_norm', which this model has not");
  EXPECT_EQ(why_not(Changed(bytes, "\"gemmsmith_policy\"", "\"somebody_else\"")),
            "no weights of a policy: no 'gemmsmith_policy' in the metadata");
  PolicyModel broken = NewModel(SmallConfig(), 1);
  broken.layers[1].down[3] = 1e30f;
  EXPECT_EQ(why_not(EncodeModel(broken)), "'layers.1.down' holds a number that is not finite");
}

TEST(ModelTest, AMissingFileAndADamagedOneAreNamed) {
  EXPECT_NE(ReadModel("/nowhere/weights").status().message().find("/nowhere/weights"), std::string::npos);
  const TemporaryFolder folder = *TemporaryFolder::Create("model_test");
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "w", "x").ok());
  EXPECT_EQ(ReadModel(folder.path() / "w").status().message(),
            (folder.path() / "w").string() + ": no safetensors file: 1 bytes, too few for the length of a header");
}

}  // namespace
}  // namespace gemmsmith
