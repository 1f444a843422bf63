// The catalogue that the finals of a search decide on, and what became of its problems.
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

class Settlement {
 public:
  // The catalogue that was asked for, or the device's in the user's data folder; locked until the end.
  static Result<std::unique_ptr<Settlement>> Open(const std::filesystem::path& asked_for,
                                                  const std::string& device_key);

  // The catalogue's kernels, or, where it has none, the winners. All of these outlive the campaign.
  StandingKernels Standing(const NeighbourWinners& winners, const Device& device);

  std::string SoFar() const;  // where the campaign ended early
  std::string Print(const CampaignResult& result, bool json) const;

 private:
  Settlement(std::filesystem::path path, std::unique_ptr<CatalogueOnDisk> catalogue)
      : path_(std::move(path)), catalogue_(std::move(catalogue)) {}

  const std::filesystem::path path_;
  const std::unique_ptr<CatalogueOnDisk> catalogue_;
  std::mutex mutex_;
  std::map<Gemm, Promotion> settled_;
};

}  // namespace gemmsmith
