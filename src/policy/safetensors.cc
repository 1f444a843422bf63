#include "policy/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/text.h"
#include "policy/half.h"

namespace gemmsmith {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kMetadata = "__metadata__";
constexpr size_t kMaxDimensions = 8;

struct NamedType {
  std::string_view name;
  uint64_t bytes;
};
constexpr NamedType kTypes[] = {{"F16", 2}, {"F32", 4}, {"U8", 1}};  // by NumberType

uint64_t BytesOf(NumberType type) { return kTypes[size_t(type)].bytes; }

struct TensorEntry {
  std::string name;
  NumberType type = NumberType::kF16;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;
};

Status Damaged(std::string_view what) { return DataLoss(fmt::format("no safetensors file: {}", what)); }

// How names of others are shown: short and without control characters.
std::string Shown(std::string_view name) { return fmt::format("'{}'", WithoutControls(name.substr(0, 60))); }

Result<std::string_view> HeaderOf(std::string_view bytes) {
  ByteReader reader(bytes);
  const uint64_t length = reader.Get<uint64_t>();
  if (reader.failed()) return Damaged(fmt::format("{} bytes, too few for the length of a header", bytes.size()));
  if (length > kMaxSafeTensorsHeader)
    return Damaged(fmt::format("a header of {} bytes, at most {}", length, kMaxSafeTensorsHeader));
  const std::string_view header = reader.Take(length);
  if (reader.failed())
    return Damaged(fmt::format("cut off: the header has {} bytes, {} are there", length, bytes.size() - 8));
  return header;
}

// True where it is a whole number from 0 to 2^40.
bool ReadSize(const Json& json, uint64_t* size) {
  if (!json.is_number_unsigned()) return false;
  *size = json.get<uint64_t>();
  return *size <= uint64_t{1} << 40;
}

Result<TensorEntry> ReadEntry(const std::string& name, const Json& json) {
  const auto wrong = [&](std::string_view what) { return Damaged(fmt::format("tensor {}: {}", Shown(name), what)); };
  if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") || !json.contains("data_offsets"))
    return wrong("lacks dtype, shape or data_offsets");
  TensorEntry entry{.name = name};
  const auto* const type =
      std::ranges::find_if(kTypes, [&](const NamedType& one) { return json["dtype"] == one.name; });
  if (type == std::end(kTypes)) return wrong("numbers are neither F16 nor F32 nor U8");
  entry.type = NumberType(type - std::begin(kTypes));
  const Json& offsets = json["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !ReadSize(offsets[0], &entry.begin) ||
      !ReadSize(offsets[1], &entry.end) || entry.begin > entry.end)
    return wrong("data_offsets are not two places, the first one first");
  const Json& shape = json["shape"];
  if (!shape.is_array() || shape.size() > kMaxDimensions) return wrong("the shape is no short list");
  uint64_t bytes = BytesOf(entry.type);
  for (const Json& dimension : shape) {
    uint64_t size = 0;
    if (!ReadSize(dimension, &size)) return wrong("the shape holds something that is no size");
    if (size != 0 && bytes > kMaxSafeTensorsBytes / size) return wrong("the shape is too large");
    bytes *= size;
    entry.shape.push_back(int64_t(size));
  }
  if (bytes != entry.end - entry.begin)
    return wrong(fmt::format("its shape takes {} bytes, its data_offsets hold {}", bytes, entry.end - entry.begin));
  return entry;
}

Result<std::map<std::string, std::string>> ReadMetadata(const Json& json) {
  std::map<std::string, std::string> metadata;
  if (!json.is_object()) return Damaged("__metadata__ is no object");
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) return Damaged(fmt::format("metadata {} is no text", Shown(key)));
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// Every byte belongs to exactly one tensor.
Status CheckOffsets(std::vector<TensorEntry>& entries, uint64_t data_bytes) {
  std::sort(entries.begin(), entries.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  uint64_t at = 0;
  for (const TensorEntry& entry : entries) {
    if (entry.begin != at)
      return Damaged(
          fmt::format("tensor {} begins at byte {}, the one before it ends at {}", Shown(entry.name), entry.begin, at));
    at = entry.end;
  }
  if (at > data_bytes) return Damaged(fmt::format("cut off: {} bytes of numbers, {} are there", at, data_bytes));
  if (at < data_bytes) return Damaged(fmt::format("{} bytes behind the last tensor", data_bytes - at));
  return OkStatus();
}

std::string BytesOf(const Tensor& tensor) {
  ByteWriter bytes;
  for (const float value : tensor.values) {
    if (tensor.type == NumberType::kF32)
      bytes.Put(value);
    else if (tensor.type == NumberType::kF16)
      bytes.Put(FloatToHalf(value));
    else
      bytes.Put(uint8_t(value));
  }
  return std::move(bytes).Take();
}

std::vector<float> NumbersOf(const TensorEntry& entry, std::string_view data) {
  const std::string_view bytes = data.substr(entry.begin, entry.end - entry.begin);
  std::vector<float> values(bytes.size() / BytesOf(entry.type));
  ByteReader reader(bytes);
  for (float& value : values) {
    if (entry.type == NumberType::kF32)
      value = reader.Get<float>();
    else if (entry.type == NumberType::kF16)
      value = HalfToFloat(reader.Get<uint16_t>());
    else
      value = reader.Get<uint8_t>();
  }
  return values;
}

}  // namespace

std::string EncodeSafeTensors(const SafeTensors& file) {
  Json header = Json::object();
  if (!file.metadata.empty()) header[std::string(kMetadata)] = file.metadata;
  size_t end = 0;
  for (const auto& [name, tensor] : file.tensors) {
    const size_t begin = end;
    end += tensor.values.size() * BytesOf(tensor.type);
    header[name] = {
        {"dtype", kTypes[size_t(tensor.type)].name}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  ByteWriter length;
  length.Put(uint64_t(text.size()));
  std::string bytes = std::move(length).Take() + text;
  bytes.reserve(bytes.size() + end);
  for (const auto& [name, tensor] : file.tensors) bytes += BytesOf(tensor);
  return bytes;
}

Result<SafeTensors> DecodeSafeTensors(std::string_view bytes) {
  if (bytes.size() > kMaxSafeTensorsBytes)
    return Damaged(fmt::format("{} bytes, at most {}", bytes.size(), kMaxSafeTensorsBytes));
  ASSIGN_OR_RETURN(const std::string_view text, HeaderOf(bytes));
  const Json header = Json::parse(text, nullptr, false);
  if (!header.is_object()) return Damaged("the header is no JSON object");
  SafeTensors file;
  std::vector<TensorEntry> entries;
  for (const auto& [name, json] : header.items()) {
    if (name == kMetadata) {
      ASSIGN_OR_RETURN(file.metadata, ReadMetadata(json));
    } else {
      ASSIGN_OR_RETURN(TensorEntry entry, ReadEntry(name, json));
      entries.push_back(std::move(entry));
    }
  }
  const std::string_view data = bytes.substr(8 + text.size());
  RETURN_IF_ERROR(CheckOffsets(entries, data.size()));
  for (const TensorEntry& entry : entries) file.tensors[entry.name] = {entry.shape, NumbersOf(entry, data), entry.type};
  return file;
}

}  // namespace gemmsmith
