// The embedded policy's weights: a decoder-only transformer over the words of docs/policy_tokens.md.
// docs/policy_model.md says what it computes and how its file looks.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/status.h"
#include "policy/ablations.h"
#include "policy/safetensors.h"

namespace gemmsmith {

struct ModelConfig {
  int words = 0;        // of the vocabulary
  int positions = 512;  // the longest document
  int width = 256;
  int layers = 6;
  int heads = 4;
  int hidden = 984;  // of the feed-forward part; 5.0 million parameters in all, 10 MB in half precision
  int head_width() const { return width / heads; }
  bool operator==(const ModelConfig&) const = default;
};
// For the words of this program.
ModelConfig DefaultModelConfig();

// Matrices are [in, out], row-major, and stand behind what they are multiplied with. What a layer adds to x:
//   x += attention(norm(x) qkv) out, then x += relu(norm(x) up)^2 down
struct LayerWeights {
  std::vector<float> attention_norm;  // [width]
  std::vector<float> qkv;             // [width, 3 * width]: queries, keys, values, head by head
  std::vector<float> out;             // [width, width]
  std::vector<float> hidden_norm;     // [width]
  std::vector<float> up;              // [width, hidden]
  std::vector<float> down;            // [hidden, width]
};

struct PolicyModel {
  ModelConfig config;
  Ablations ablations;           // what it was trained without
  std::string tokenizer;         // of a text model: the fingerprint of its tokens; empty: the words of a policy
  std::vector<float> embedding;  // [words, width]; also what logits are made with
  std::vector<float> position;   // [positions, width]
  std::vector<LayerWeights> layers;
  std::vector<float> final_norm;  // [width]

  size_t ParameterCount() const;
};
inline constexpr float kNormEpsilon = 1e-5f;

// All weights 0: to be filled.
PolicyModel EmptyModel(const ModelConfig& config);
// Weights as training begins with them. The same seed gives the same ones.
PolicyModel NewModel(const ModelConfig& config, uint64_t seed);

// As a safetensors file in half precision, with the configuration and the identity of the words.
std::string EncodeModel(const PolicyModel& model);
// The same file with its matrices in few bits a number (few_bits.h). It is read as the other is.
Result<std::string> ShrunkModel(std::string_view bytes, int bits);
// Refuses damage, other words, sizes out of range, and tensors that are missing, of another shape or not finite, each
// in one line.
// A text model is read with the fingerprint of its tokenizer, a policy without.
Result<PolicyModel> DecodeModel(std::string_view bytes, const std::string& tokenizer = "");
Result<PolicyModel> ReadModel(const std::filesystem::path& path, const std::string& tokenizer = "");
// A hash of the bytes of EncodeModel(): other weights have another fingerprint.
std::string Fingerprint(const PolicyModel& model);

// Every tensor of the model under the name that it has in the file, with its shape, in an order that stays.
struct NamedWeights {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float>* values;
};
std::vector<NamedWeights> WeightsOf(PolicyModel& model);

}  // namespace gemmsmith
