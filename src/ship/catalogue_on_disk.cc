#include "ship/catalogue_on_disk.h"

#include <fmt/format.h>

#include "ship/catalogue_lock.h"

namespace gemmsmith {

Result<std::unique_ptr<CatalogueOnDisk>> CatalogueOnDisk::Open(std::filesystem::path path,
                                                               const std::string& device_key) {
  ASSIGN_OR_RETURN(FileLock lock, LockCatalogue(path));
  Result<Catalogue> catalogue = Catalogue::Read(path);
  if (catalogue.status().code() == StatusCode::kNotFound) catalogue = Catalogue(device_key);
  RETURN_IF_ERROR(catalogue.status());
  if (catalogue->device_key() != device_key)
    return InvalidArgument(fmt::format("{} is the catalogue of '{}', and this is '{}'", path.string(),
                                       catalogue->device_key(), device_key));
  return std::unique_ptr<CatalogueOnDisk>(new CatalogueOnDisk(std::move(path), std::move(lock), *std::move(catalogue)));
}

std::optional<Entry> CatalogueOnDisk::Find(const Gemm& gemm) const {
  const std::lock_guard lock(mutex_);
  const Entry* const entry = catalogue_.Find(gemm);
  return entry == nullptr ? std::nullopt : std::optional(*entry);
}

size_t CatalogueOnDisk::size() const {
  const std::lock_guard lock(mutex_);
  return catalogue_.entries().size();
}

Status CatalogueOnDisk::Put(Entry entry) {
  const std::lock_guard lock(mutex_);
  catalogue_.Put(std::move(entry));
  return WriteFileAtomic(path_, catalogue_.Print());
}

Status CatalogueOnDisk::Withdraw(const Gemm& gemm) {
  const std::lock_guard lock(mutex_);
  catalogue_.Withdraw(gemm);
  return WriteFileAtomic(path_, catalogue_.Print());
}

}  // namespace gemmsmith
