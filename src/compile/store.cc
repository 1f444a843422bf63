#include "compile/store.h"

#include "base/files.h"

namespace gemmsmith {

namespace {

constexpr std::string_view kMagic{"gsbin\0\0\1", 8};
constexpr size_t kHeaderBytes = 8 + 16;

Hash128 GetHash(ByteReader& reader) {
  Hash128 hash;
  hash.low = reader.Get<uint64_t>();
  hash.high = reader.Get<uint64_t>();
  return hash;
}

std::string EncodeEntry(const Hash128& key, const StoredCompilation& compilation) {
  ByteWriter body;
  PutHash(body, key);
  body.Put(uint8_t(compilation.succeeded));
  body.PutString(compilation.log);
  body.PutVector(compilation.code);
  const std::string content = std::move(body).Take();
  ByteWriter header;
  PutHash(header, HashBytes(content));
  return std::string(kMagic) + std::move(header).Take() + content;
}

// nullopt for anything but an undamaged entry of this key.
std::optional<StoredCompilation> DecodeEntry(std::string_view bytes, const Hash128& key) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMagic)) return std::nullopt;
  ByteReader header(bytes.substr(kMagic.size()));
  if (GetHash(header) != HashBytes(bytes.substr(kHeaderBytes))) return std::nullopt;
  ByteReader body(bytes.substr(kHeaderBytes));
  if (GetHash(body) != key) return std::nullopt;
  StoredCompilation compilation;
  compilation.succeeded = body.Get<uint8_t>() != 0;
  compilation.log = body.GetString();
  compilation.code = body.GetVector<uint8_t>();
  if (body.failed() || body.remaining() != 0) return std::nullopt;
  return compilation;
}

}  // namespace

void PutHash(ByteWriter& writer, const Hash128& hash) {
  writer.Put(hash.low);
  writer.Put(hash.high);
}

std::filesystem::path CompilationStore::PathOf(const Hash128& key) const {
  const std::string name = key.Hex();
  return folder_ / name.substr(0, 2) / (name + ".bin");
}

std::optional<StoredCompilation> CompilationStore::Find(const Hash128& key) const {
  const Result<std::string> stored = ReadFile(PathOf(key));
  return stored.ok() ? DecodeEntry(*stored, key) : std::nullopt;
}

void CompilationStore::Keep(const Hash128& key, const StoredCompilation& compilation) const {
  static_cast<void>(WriteFileAtomic(PathOf(key), EncodeEntry(key, compilation)));
}

}  // namespace gemmsmith
