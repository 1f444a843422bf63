// The finals of a search decide on the entries of a catalogue.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "campaign/campaign.h"
#include "search/neighbour_winners.h"
#include "ship/promotion.h"

namespace gemmsmith {

// The catalogue that was asked for, or that of the device under HomeFolder().
std::filesystem::path CataloguePath(const std::filesystem::path& asked_for, const std::string& device_key);

// What a search made of a catalogue.
struct CatalogueChanges {
  std::filesystem::path path;
  size_t entries = 0;  // now
  std::map<Gemm, Promotion> decided;
};

class CatalogueUpdate {
 public:
  // Locks the catalogue until the end.
  static Result<std::unique_ptr<CatalogueUpdate>> Open(const std::filesystem::path& asked_for,
                                                       const std::string& device_key);

  // The catalogue's kernels; where it has none, the winners. The arguments and this outlive the campaign.
  StandingKernels Standing(const NeighbourWinners& winners, const Device& device);
  // After the campaign.
  CatalogueChanges Changes() const { return {path_, catalogue_->size(), decided_}; }

 private:
  CatalogueUpdate(std::filesystem::path path, std::unique_ptr<CatalogueOnDisk> catalogue)
      : path_(std::move(path)), catalogue_(std::move(catalogue)) {}

  const std::filesystem::path path_;
  const std::unique_ptr<CatalogueOnDisk> catalogue_;
  std::mutex mutex_;
  std::map<Gemm, Promotion> decided_;
};

}  // namespace gemmsmith
