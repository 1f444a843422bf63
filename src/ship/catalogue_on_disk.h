// A catalogue that is being changed: everybody else is kept from writing it for as long as this lives. For many
// threads.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/files.h"
#include "catalogue/catalogue.h"

namespace gemmsmith {

class CatalogueOnDisk {
 public:
  // Goes on with the one at `path`, or begins one there. InvalidArgument where it is of another device.
  static Result<std::unique_ptr<CatalogueOnDisk>> Open(std::filesystem::path path, const std::string& device_key);

  std::optional<Entry> Find(const Gemm& gemm) const;
  size_t size() const;
  // On the disk when they return.
  Status Put(Entry entry);
  Status Withdraw(const Gemm& gemm);

 private:
  CatalogueOnDisk(std::filesystem::path path, FileLock lock, Catalogue catalogue)
      : path_(std::move(path)), lock_(std::move(lock)), catalogue_(std::move(catalogue)) {}

  const std::filesystem::path path_;
  const FileLock lock_;
  mutable std::mutex mutex_;
  Catalogue catalogue_;
};

}  // namespace gemmsmith
