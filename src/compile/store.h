// Results of compilers, kept in files from run to run.
//
// One file an entry, named by its key:
//   8 bytes magic, 16 bytes hash of the rest, key (16 bytes), outcome (1 byte), log, for a success the machine code.
// Facts are not stored: they are read from the machine code again. A damaged entry counts as not there and is
// overwritten.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"

namespace gemmsmith {

struct StoredCompilation {
  bool succeeded = false;
  std::string log;
  std::vector<uint8_t> code;
};

class CompilationStore {
 public:
  explicit CompilationStore(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::optional<StoredCompilation> Find(const Hash128& key) const;
  // An entry that cannot be kept (full disk, read-only folder) costs the next call its time and nothing else.
  void Keep(const Hash128& key, const StoredCompilation& compilation) const;

 private:
  std::filesystem::path PathOf(const Hash128& key) const;
  const std::filesystem::path folder_;
};

void PutHash(ByteWriter& writer, const Hash128& hash);

}  // namespace gemmsmith
