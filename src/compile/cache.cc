// One file an entry, named by its key:
//   8 bytes magic, 16 bytes hash of what follows, then key (16 bytes), outcome (1 byte), log, and for a success the
//   cubin.
// Facts are not stored: they are read from the cubin again. Whatever is not exactly so is compiled anew and
// overwritten.
#include "base/bytes.h"
#include "base/files.h"
#include "base/hash.h"
#include "compile/compiler.h"
#include "compile/facts.h"

namespace gemmsmith {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic{"gsbin\0\0\1", 8};
constexpr size_t kHeaderBytes = 8 + 16;

void PutHash(ByteWriter& writer, const Hash128& hash) {
  writer.Put(hash.low);
  writer.Put(hash.high);
}

Hash128 GetHash(ByteReader& reader) {
  Hash128 hash;
  hash.low = reader.Get<uint64_t>();
  hash.high = reader.Get<uint64_t>();
  return hash;
}

std::string EncodeEntry(const Hash128& key, const Compilation& compilation) {
  ByteWriter body;
  PutHash(body, key);
  body.Put(uint8_t(compilation.succeeded));
  body.PutString(compilation.log);
  body.PutVector(compilation.binary.cubin);
  const std::string content = std::move(body).Take();
  ByteWriter header;
  PutHash(header, HashBytes(content));
  return std::string(kMagic) + std::move(header).Take() + content;
}

// nullopt for anything but an undamaged entry of this key.
std::optional<Compilation> DecodeEntry(std::string_view bytes, const Hash128& key, const std::string& entry) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMagic)) return std::nullopt;
  ByteReader header(bytes.substr(kMagic.size()));
  if (GetHash(header) != HashBytes(bytes.substr(kHeaderBytes))) return std::nullopt;
  ByteReader body(bytes.substr(kHeaderBytes));
  if (GetHash(body) != key) return std::nullopt;
  Compilation compilation;
  compilation.from_cache = true;
  const bool succeeded = body.Get<uint8_t>() != 0;
  compilation.log = body.GetString();
  std::vector<uint8_t> cubin = body.GetVector<uint8_t>();
  if (body.failed() || body.remaining() != 0) return std::nullopt;
  if (succeeded && (!FinishCompilation(std::move(cubin), entry, compilation).ok() || !compilation.succeeded))
    return std::nullopt;
  return compilation;
}

class CachedCompiler : public Compiler {
 public:
  CachedCompiler(std::unique_ptr<Compiler> compiler, fs::path folder)
      : compiler_(std::move(compiler)), folder_(std::move(folder)), identity_(compiler_->Identity()) {
    ByteWriter headers;
    for (const DeviceHeader& header : DeviceHeaders()) {
      headers.PutString(header.name);
      headers.PutString(header.text);
    }
    headers_hash_ = HashBytes(std::move(headers).Take());
  }

  Result<Compilation> Compile(const Source& source, std::string_view architecture) override {
    const Hash128 key = KeyOf(source, architecture);
    const std::string name = key.Hex();
    const fs::path path = folder_ / name.substr(0, 2) / (name + ".bin");
    if (const Result<std::string> stored = ReadFile(path); stored.ok())
      if (auto compilation = DecodeEntry(*stored, key, source.entry)) return *std::move(compilation);
    ASSIGN_OR_RETURN(Compilation compilation, compiler_->Compile(source, architecture));
    // An entry that cannot be kept (full disk, read-only folder) costs the next call its time and nothing else.
    static_cast<void>(WriteFileAtomic(path, EncodeEntry(key, compilation)));
    return compilation;
  }

  std::string Identity() const override { return identity_; }

 private:
  Hash128 KeyOf(const Source& source, std::string_view architecture) const {
    ByteWriter text;
    text.PutString(source.text);
    text.PutString(source.entry);
    text.PutString(architecture);
    text.PutString(identity_);
    PutHash(text, headers_hash_);
    return HashBytes(std::move(text).Take());
  }

  const std::unique_ptr<Compiler> compiler_;
  const fs::path folder_;
  const std::string identity_;
  Hash128 headers_hash_;
};

}  // namespace

std::unique_ptr<Compiler> MakeCachedCompiler(std::unique_ptr<Compiler> compiler, fs::path folder) {
  return std::make_unique<CachedCompiler>(std::move(compiler), std::move(folder));
}

}  // namespace gemmsmith
