// The cached compiler: remembers in files (compile/store.h) what the compiler behind it made.
#include "compile/compiler.h"
#include "compile/facts.h"
#include "compile/store.h"

namespace gemmsmith {

namespace {

// nullopt where the stored code is not what such a source becomes.
std::optional<Compilation> Recall(StoredCompilation stored, const std::string& entry) {
  Compilation compilation;
  compilation.from_cache = true;
  compilation.log = std::move(stored.log);
  if (stored.succeeded &&
      (!FinishCompilation(std::move(stored.code), entry, compilation).ok() || !compilation.succeeded))
    return std::nullopt;
  return compilation;
}

class CachedCompiler : public Compiler {
 public:
  CachedCompiler(std::unique_ptr<Compiler> compiler, std::filesystem::path folder)
      : compiler_(std::move(compiler)), store_(std::move(folder)), identity_(compiler_->Identity()) {}

  Result<Compilation> Compile(const Source& source, std::string_view architecture) override {
    const Hash128 key = KeyOf(source, architecture);
    if (auto stored = store_.Find(key))
      if (auto compilation = Recall(*std::move(stored), source.entry)) return *std::move(compilation);
    ASSIGN_OR_RETURN(Compilation compilation, compiler_->Compile(source, architecture));
    store_.Keep(key, {compilation.succeeded, compilation.log, compilation.binary.cubin});
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
    PutHash(text, HashOfDeviceHeaders());
    return HashBytes(std::move(text).Take());
  }

  const std::unique_ptr<Compiler> compiler_;
  const CompilationStore store_;
  const std::string identity_;
};

}  // namespace

std::unique_ptr<Compiler> MakeCachedCompiler(std::unique_ptr<Compiler> compiler, std::filesystem::path folder) {
  return std::make_unique<CachedCompiler>(std::move(compiler), std::move(folder));
}

}  // namespace gemmsmith
