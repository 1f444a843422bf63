#include "workflow/catalogue_update.h"

#include "base/files.h"

namespace gemmsmith {

std::filesystem::path CataloguePath(const std::filesystem::path& asked_for, const std::string& device_key) {
  return asked_for.empty() ? HomeFolder() / (device_key + ".catalogue") : asked_for;
}

Result<std::unique_ptr<CatalogueUpdate>> CatalogueUpdate::Open(const std::filesystem::path& asked_for,
                                                               const std::string& device_key) {
  const std::filesystem::path path = CataloguePath(asked_for, device_key);
  ASSIGN_OR_RETURN(std::unique_ptr<CatalogueOnDisk> catalogue, CatalogueOnDisk::Open(path, device_key));
  return std::unique_ptr<CatalogueUpdate>(new CatalogueUpdate(path, std::move(catalogue)));
}

StandingKernels CatalogueUpdate::Standing(const NeighbourWinners& winners, const Device& device) {
  return {.find =
              [this, &winners, &device](const Gemm& gemm) {
                const std::optional<Entry> entry = catalogue_->Find(gemm);
                return entry ? std::optional(entry->plan) : winners.OfItself(gemm, device);
              },
          .decide = [this](const Gemm& gemm, std::span<const Trial> finals) -> Status {
            if (finals.empty()) return OkStatus();  // no plan passed the screening
            ASSIGN_OR_RETURN(Promotion promotion, DecideInCatalogue(*catalogue_, gemm, finals));
            const std::lock_guard lock(mutex_);
            decided_[gemm] = std::move(promotion);
            return OkStatus();
          }};
}

}  // namespace gemmsmith
