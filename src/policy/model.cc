#include "policy/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "policy/few_bits.h"
#include "policy/vocabulary.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kFormat = "3";

// The numbers of a configuration, by their names in the file, and the largest that is taken.
struct ConfigField {
  std::string_view name;
  int ModelConfig::*value;
  int largest;
};
constexpr ConfigField kConfigFields[] = {
    {"words", &ModelConfig::words, 1 << 16}, {"positions", &ModelConfig::positions, 1 << 14},
    {"width", &ModelConfig::width, 1 << 12}, {"layers", &ModelConfig::layers, 64},
    {"heads", &ModelConfig::heads, 64},      {"hidden", &ModelConfig::hidden, 1 << 14},
};

Result<std::string> MetadataOf(const SafeTensors& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    return DataLoss(fmt::format("no weights of a policy: no '{}' in the metadata", key));
  return found->second;
}

Status CheckTokenizer(const SafeTensors& file, const std::string& tokenizer) {
  const auto found = file.metadata.find("gemmsmith_text_model");
  const bool is_text_model = found != file.metadata.end();
  if (is_text_model && tokenizer.empty())
    return InvalidArgument("weights of a text model, not of a policy: gemmsmith corpus sample draws from them");
  if (!is_text_model && !tokenizer.empty())
    return InvalidArgument("no weights of a text model: gemmsmith corpus train makes them");
  if (is_text_model && found->second != tokenizer)
    return InvalidArgument(fmt::format("weights for the tokenizer {}, this one is {}: name the one they came with",
                                       WithoutControls(found->second.substr(0, 60)), tokenizer));
  return OkStatus();
}

Status CheckIdentity(const SafeTensors& file) {
  ASSIGN_OR_RETURN(const std::string format, MetadataOf(file, "gemmsmith_policy"));
  if (format != kFormat)
    return InvalidArgument(
        fmt::format("weights of format '{}', this program reads {}: train again", WithoutControls(format), kFormat));
  ASSIGN_OR_RETURN(const std::string identity, MetadataOf(file, "tokens"));
  if (identity != TokenVocabulary().identity())
    return InvalidArgument(fmt::format("weights for the words of '{}', this program's are '{}': train again",
                                       WithoutControls(identity), TokenVocabulary().identity()));
  return OkStatus();
}

Result<ModelConfig> ReadConfig(const SafeTensors& file) {
  ModelConfig config;
  for (const ConfigField& field : kConfigFields) {
    ASSIGN_OR_RETURN(const std::string text, MetadataOf(file, std::string(field.name)));
    const std::optional<long long> value = ParseInteger(text);
    if (!value || *value < 1 || *value > field.largest)
      return DataLoss(fmt::format("{} cannot be '{}', but 1 to {}", field.name, WithoutControls(text), field.largest));
    config.*field.value = int(*value);
  }
  if (config.width % config.heads != 0)
    return DataLoss(fmt::format("{} heads cannot share a width of {}", config.heads, config.width));
  return config;
}

Result<Ablations> ReadAblations(const SafeTensors& file) {
  ASSIGN_OR_RETURN(const std::string text, MetadataOf(file, "without"));
  return ParseAblations(text);
}

int64_t SizeOf(const NamedWeights& weights) {
  int64_t size = 1;
  for (const int64_t dimension : weights.shape) size *= dimension;
  return size;
}

// The embedding is what logits are made with, too: it takes a byte a number.
int BitsOf(std::string_view name, int bits) { return name == "embedding" ? kMostBits : bits; }

// Puts a matrix that is in few bits in half precision's place.
Status TakeFewBits(SafeTensors& file, const NamedWeights& weights) {
  const auto multiples = file.tensors.find(weights.name + ".multiples"),
             scales = file.tensors.find(weights.name + ".scales");
  if (multiples == file.tensors.end() || scales == file.tensors.end()) return OkStatus();
  ASSIGN_OR_RETURN(const std::string bits, MetadataOf(file, "bits"));
  const std::vector<float>& bytes = multiples->second.values;
  std::optional<std::vector<float>> values;
  if (multiples->second.type == NumberType::kU8)
    values = FromFewBits({{bytes.begin(), bytes.end()}, std::move(scales->second.values)},
                         BitsOf(weights.name, int(ParseInteger(bits).value_or(0))));
  if (!values || int64_t(values->size()) != SizeOf(weights))
    return DataLoss(
        fmt::format("'{}' has another size in few bits than [{}]", weights.name, fmt::join(weights.shape, ", ")));
  file.tensors[weights.name] = {weights.shape, *std::move(values)};
  file.tensors.erase(multiples);
  file.tensors.erase(scales);
  return OkStatus();
}

Status TakeTensor(SafeTensors& file, const NamedWeights& weights) {
  RETURN_IF_ERROR(TakeFewBits(file, weights));
  const auto found = file.tensors.find(weights.name);
  if (found == file.tensors.end()) return DataLoss(fmt::format("the weights lack '{}'", weights.name));
  Tensor& tensor = found->second;
  if (tensor.shape != weights.shape)
    return DataLoss(fmt::format("'{}' is [{}], should be [{}]", weights.name, fmt::join(tensor.shape, ", "),
                                fmt::join(weights.shape, ", ")));
  if (!std::all_of(tensor.values.begin(), tensor.values.end(), [](float value) { return std::isfinite(value); }))
    return DataLoss(fmt::format("'{}' holds a number that is not finite", weights.name));
  *weights.values = std::move(tensor.values);
  file.tensors.erase(found);
  return OkStatus();
}

}  // namespace

ModelConfig DefaultModelConfig() { return {.words = int(TokenVocabulary().size())}; }

size_t PolicyModel::ParameterCount() const {
  PolicyModel shapes{.config = config};
  shapes.layers.resize(layers.size());
  size_t count = 0;
  for (const NamedWeights& weights : WeightsOf(shapes)) count += size_t(SizeOf(weights));
  return count;
}

std::vector<NamedWeights> WeightsOf(PolicyModel& model) {
  const ModelConfig& config = model.config;
  std::vector<NamedWeights> weights = {{"embedding", {config.words, config.width}, &model.embedding},
                                       {"position", {config.positions, config.width}, &model.position}};
  for (size_t i = 0; i < model.layers.size(); ++i) {
    LayerWeights& layer = model.layers[i];
    const auto add = [&](std::string_view name, std::vector<int64_t> shape, std::vector<float>* values) {
      weights.push_back({fmt::format("layers.{}.{}", i, name), std::move(shape), values});
    };
    add("attention_norm", {config.width}, &layer.attention_norm);
    add("qkv", {config.width, 3 * config.width}, &layer.qkv);
    add("out", {config.width, config.width}, &layer.out);
    add("hidden_norm", {config.width}, &layer.hidden_norm);
    add("up", {config.width, config.hidden}, &layer.up);
    add("down", {config.hidden, config.width}, &layer.down);
  }
  weights.push_back({"final_norm", {config.width}, &model.final_norm});
  return weights;
}

PolicyModel EmptyModel(const ModelConfig& config) {
  PolicyModel model{.config = config};
  model.layers.resize(size_t(config.layers));
  for (const NamedWeights& weights : WeightsOf(model)) weights.values->resize(size_t(SizeOf(weights)));
  return model;
}

// Norms are 1. What is added to the residual begins smaller the more layers add to it.
PolicyModel NewModel(const ModelConfig& config, uint64_t seed) {
  PolicyModel model = EmptyModel(config);
  for (const NamedWeights& weights : WeightsOf(model)) {
    if (weights.shape.size() == 1) {
      std::fill(weights.values->begin(), weights.values->end(), 1.0f);
      continue;
    }
    Random random = Random(seed).Fork(weights.name);
    const bool adds_to_residual = weights.name.ends_with(".out") || weights.name.ends_with(".down");
    const double deviation = adds_to_residual ? 0.02 / std::sqrt(2.0 * config.layers) : 0.02;
    for (float& value : *weights.values) value = float(deviation * random.Normal());
  }
  return model;
}

std::string EncodeModel(const PolicyModel& model) {
  SafeTensors file;
  if (model.tokenizer.empty()) {
    file.metadata["gemmsmith_policy"] = kFormat;
    file.metadata["tokens"] = TokenVocabulary().identity();
    file.metadata["without"] = Print(model.ablations);
  } else {
    file.metadata["gemmsmith_text_model"] = model.tokenizer;
  }
  for (const ConfigField& field : kConfigFields)
    file.metadata[std::string(field.name)] = fmt::format("{}", model.config.*field.value);
  PolicyModel copy = model;
  for (const NamedWeights& weights : WeightsOf(copy))
    file.tensors[weights.name] = {weights.shape, std::move(*weights.values)};
  return EncodeSafeTensors(file);
}

Result<std::string> ShrunkModel(std::string_view bytes, int bits) {
  ASSIGN_OR_RETURN(const SafeTensors file, DecodeSafeTensors(bytes));
  if (file.metadata.contains("bits")) return InvalidArgument("these weights are in few bits already");
  SafeTensors shrunk{.tensors = {}, .metadata = file.metadata};
  shrunk.metadata["bits"] = fmt::format("{}", bits);
  for (const auto& [name, tensor] : file.tensors) {
    if (tensor.shape.size() != 2 || tensor.values.size() % kNeighbours != 0) {
      shrunk.tensors[name] = tensor;
      continue;
    }
    FewBits few = InFewBits(tensor.values, BitsOf(name, bits));
    const std::vector<int64_t> count = {int64_t(few.multiples.size())}, groups = {int64_t(few.scales.size())};
    shrunk.tensors[name + ".multiples"] = {count, {few.multiples.begin(), few.multiples.end()}, NumberType::kU8};
    shrunk.tensors[name + ".scales"] = {groups, std::move(few.scales)};
  }
  return EncodeSafeTensors(shrunk);
}

Result<PolicyModel> DecodeModel(std::string_view bytes, const std::string& tokenizer) {
  ASSIGN_OR_RETURN(SafeTensors file, DecodeSafeTensors(bytes));
  RETURN_IF_ERROR(CheckTokenizer(file, tokenizer));
  if (tokenizer.empty()) RETURN_IF_ERROR(CheckIdentity(file));
  PolicyModel model;
  model.tokenizer = tokenizer;
  ASSIGN_OR_RETURN(model.config, ReadConfig(file));
  if (tokenizer.empty()) {
    if (size_t(model.config.words) != TokenVocabulary().size())
      return DataLoss(fmt::format("weights for {} words, there are {}", model.config.words, TokenVocabulary().size()));
    ASSIGN_OR_RETURN(model.ablations, ReadAblations(file));
  }
  model.layers.resize(size_t(model.config.layers));
  for (const NamedWeights& weights : WeightsOf(model)) RETURN_IF_ERROR(TakeTensor(file, weights));
  if (!file.tensors.empty())
    return DataLoss(fmt::format("the weights hold '{}', which this model has not",
                                WithoutControls(file.tensors.begin()->first.substr(0, 60))));
  return model;
}

Result<PolicyModel> ReadModel(const std::filesystem::path& path, const std::string& tokenizer) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  Result<PolicyModel> model = DecodeModel(bytes, tokenizer);
  if (!model.ok()) return WithContext(model.status(), path.string());
  return model;
}

std::string Fingerprint(const PolicyModel& model) { return HashBytes(EncodeModel(model)).Hex().substr(0, 8); }

}  // namespace gemmsmith
