#include "policy/few_bits.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "policy/model.h"

namespace gemmsmith {
namespace {

std::vector<float> NormalNumbers(size_t count) {
  Random random(7);
  std::vector<float> values(count);
  for (float& value : values) value = float(random.Normal());
  return values;
}

double RelativeError(const std::vector<float>& values, const std::vector<float>& others) {
  double error = 0, size = 0;
  for (size_t i = 0; i < values.size(); ++i)
    error += std::pow(values[i] - others[i], 2), size += std::pow(values[i], 2);
  return std::sqrt(error / size);
}

TEST(FewBits, EachBitHalvesTheError) {
  const std::vector<float> values = NormalNumbers(64 * kNeighbours);
  double last = 1;
  for (int bits = kFewestBits; bits <= kMostBits; ++bits) {
    const FewBits few = InFewBits(values, bits);
    EXPECT_EQ(few.multiples.size(), values.size() * size_t(bits) / 8);
    const double error = RelativeError(values, FromFewBits(few, bits).value());
    EXPECT_LT(error, 0.6 * last) << bits;
    last = error;
  }
  EXPECT_LT(last, 0.01);
}

TEST(FewBits, ZerosStayZeros) {
  const std::vector<float> zeros(kNeighbours, 0.0f);
  EXPECT_EQ(FromFewBits(InFewBits(zeros, 3), 3), zeros);
}

TEST(FewBits, SizesThatDoNotFitAreRefused) {
  FewBits few = InFewBits(NormalNumbers(2 * kNeighbours), 3);
  EXPECT_TRUE(FromFewBits(few, 3));
  for (const int bits : {-1, 0, 1, 2, 4, 9}) EXPECT_FALSE(FromFewBits(few, bits)) << bits;
  few.scales.pop_back();
  EXPECT_FALSE(FromFewBits(few, 3));
}

TEST(FewBits, AShrunkModelIsReadAsTheOther) {
  const ModelConfig config = {.words = 5, .positions = 7, .width = 64, .layers = 2, .heads = 2, .hidden = 96};
  PolicyModel model = NewModel(config, 1);
  model.tokenizer = "12345678";
  const std::string whole = EncodeModel(model);
  const Result<std::string> shrunk = ShrunkModel(whole, 4);
  ASSERT_TRUE(shrunk.ok()) << shrunk.status().message();
  EXPECT_LT(shrunk->size(), whole.size() / 2);
  const Result<PolicyModel> read = DecodeModel(*shrunk, model.tokenizer);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->config, config);
  EXPECT_EQ(read->final_norm, model.final_norm);
  EXPECT_LT(RelativeError(model.embedding, read->embedding), 0.01);
  const double error = RelativeError(model.layers[1].up, read->layers[1].up);
  EXPECT_GT(error, 0.02);
  EXPECT_LT(error, 0.15);
  EXPECT_FALSE(ShrunkModel(*shrunk, 4).ok()) << "twice";
  EXPECT_FALSE(DecodeModel(*ShrunkModel(EncodeModel(NewModel(config, 1)), 4), "12345678").ok()) << "a policy";
}

TEST(FewBits, DamagedModelsAreRefused) {
  PolicyModel model = NewModel({.words = 4, .positions = 4, .width = 16, .layers = 1, .heads = 1, .hidden = 16}, 1);
  model.tokenizer = "12345678";
  const SafeTensors good = *DecodeSafeTensors(*ShrunkModel(EncodeModel(model), 4));
  const auto reads = [](const SafeTensors& file) { return DecodeModel(EncodeSafeTensors(file), "12345678").ok(); };
  ASSERT_TRUE(reads(good));
  for (const char* bits : {"", "3", "5", "99", "-4", "99999999999"}) {
    SafeTensors file = good;
    file.metadata["bits"] = bits;
    EXPECT_FALSE(reads(file)) << bits;
  }
  for (const char* name : {"layers.0.up.multiples", "layers.0.up.scales"}) {
    SafeTensors file = good;
    file.tensors.erase(name);
    EXPECT_FALSE(reads(file)) << name;
    file.tensors[name] = {{1}, {1}, NumberType::kU8};
    EXPECT_FALSE(reads(file)) << name;
  }
  SafeTensors file = good;
  file.tensors["layers.0.up.scales"].values[0] = INFINITY;
  EXPECT_FALSE(reads(file));
}

}  // namespace
}  // namespace gemmsmith
