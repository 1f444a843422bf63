// A catalogue that is being changed: everybody else is kept from writing it for as long as this lives. For many
// threads.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "catalogue/catalogue.h"

namespace gemmsmith {

class CatalogueOnDisk {
 public:
  // Goes on with the one at `path`, or begins one there. InvalidArgument where it is of another device.
  static Result<std::unique_ptr<CatalogueOnDisk>> Open(std::filesystem::path path, const std::string& device_key);
  // NotFound where there is none.
  static Result<std::unique_ptr<CatalogueOnDisk>> OpenExisting(std::filesystem::path path);

  std::string device_key() const;
  std::optional<Entry> Find(const Gemm& gemm) const;
  size_t size() const;
  // On the disk when they return; of several changes all or none. Nothing is changed where one returns a Status:
  // InvalidArgument where an entry could not be read again.
  Status Put(Entry entry);
  Status Withdraw(const Gemm& gemm);
  Status Change(std::vector<Entry> entering, std::span<const Gemm> leaving);

 private:
  CatalogueOnDisk(std::filesystem::path path, FileLock lock, Catalogue catalogue)
      : path_(std::move(path)), lock_(std::move(lock)), catalogue_(std::move(catalogue)) {}

  const std::filesystem::path path_;
  const FileLock lock_;
  mutable std::mutex mutex_;
  Catalogue catalogue_;
};

}  // namespace gemmsmith
