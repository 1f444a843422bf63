#include "ship/catalogue_on_disk.h"

#include <fmt/format.h>

#include "ship/catalogue_lock.h"

namespace gemmsmith {

namespace {

// With one that cannot, all the others would be lost.
Status CheckReadable(const Entry& entry, const std::string& device_key) {
  Catalogue alone(device_key);
  alone.Put(entry);
  const Status read = Catalogue::Parse(alone.Print()).status();
  if (read.ok()) return OkStatus();
  return InvalidArgument(
      fmt::format("the entry of {} could not be read again ({})", Print(entry.gemm), read.message()));
}

}  // namespace

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

Result<std::unique_ptr<CatalogueOnDisk>> CatalogueOnDisk::OpenExisting(std::filesystem::path path) {
  RETURN_IF_ERROR(Catalogue::Read(path).status());  // the lock would leave its file beside nothing
  ASSIGN_OR_RETURN(FileLock lock, LockCatalogue(path));
  ASSIGN_OR_RETURN(Catalogue catalogue, Catalogue::Read(path));
  return std::unique_ptr<CatalogueOnDisk>(new CatalogueOnDisk(std::move(path), std::move(lock), std::move(catalogue)));
}

std::string CatalogueOnDisk::device_key() const {
  const std::lock_guard lock(mutex_);
  return catalogue_.device_key();
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

Status CatalogueOnDisk::Put(Entry entry) { return Change({std::move(entry)}, {}); }

Status CatalogueOnDisk::Withdraw(const Gemm& gemm) { return Change({}, {&gemm, 1}); }

Status CatalogueOnDisk::Change(std::vector<Entry> entering, std::span<const Gemm> leaving) {
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entering) RETURN_IF_ERROR(CheckReadable(entry, catalogue_.device_key()));
  Catalogue changed = catalogue_;
  for (Entry& entry : entering) changed.Put(std::move(entry));
  for (const Gemm& gemm : leaving) changed.Withdraw(gemm);
  RETURN_IF_ERROR(WriteFileAtomic(path_, changed.Print()));
  catalogue_ = std::move(changed);
  return OkStatus();
}

}  // namespace gemmsmith
