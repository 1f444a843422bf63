// Optimize as a call: finds the fastest kernels of a list of problems, verifies them, and keeps every trial.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/archive.h"
#include "campaign/campaign.h"
#include "problem/held_out.h"
#include "workflow/catalogue_update.h"
#include "workflow/instrument.h"
#include "workflow/shipped_data.h"

namespace gemmsmith {

// The messages of a refusal name options as the command line does.
struct OptimizeRequest {
  std::vector<Gemm> problems;   // valid; the layouts of a shape next to each other
  std::string list;             // the name of the list, for messages; empty: the problems have one shape
  std::string device = "auto";  // as of OpenInstrument(), or "all"

  std::string proposer;           // empty: the shipped policy for what it knows, else local search
  std::filesystem::path weights;  // of the proposer "policy"; empty: those that shipped
  ExperienceChoice experience;    // nullopt: the policy has what shipped for it
  HeldOut held_out;               // shapes of which experience says nothing
  // Records and catalogues: their winners are tried on the same problems and near them. nullopt: the shipped
  // catalogues, where a GPU measures and no shape is held out.
  std::optional<std::vector<std::filesystem::path>> winners;

  Objective objective = Objective::kTime;
  int budget_evaluations = 128;          // of a problem
  std::optional<double> budget_seconds;  // of a problem
  bool brief = false;                    // few finalists and rounds
  uint64_t seed = 1;

  std::string name;               // of the campaign; empty: made from everything that old trials depend on
  bool fresh = false;             // a campaign that no other call has
  std::filesystem::path archive;  // empty: the one under HomeFolder()
  bool promote = false;           // the finals decide on the entries of a catalogue
  std::filesystem::path catalogue;
  bool overlay = false;  // instead: the catalogue that the overlay's kernels are made from
};

// The progress of a call. One function at a time is called, perhaps by another thread.
class OptimizeListener {
 public:
  virtual ~OptimizeListener() = default;
  // The instrument is open. A Status ends the call.
  virtual Status OnInstrument(const Instrument&) { return OkStatus(); }
  // News for people, such as shipped data that could not be read.
  virtual void OnNote(std::string_view /*note*/) {}
  // The search begins. `candidates` are screened at most, over all problems.
  virtual void OnSearch(const CampaignOptions&, int64_t /*candidates*/) {}
  virtual void OnEvent(const CampaignEvent&) {}
};

struct OptimizeResult {
  std::string campaign;
  std::string proposer;
  Device device;
  Setting setting;
  std::string recorded_date;  // of a replay; empty: a GPU measured
  std::unique_ptr<Archive> archive;
  std::filesystem::path archive_path;
  std::vector<Gemm> not_recorded;           // left out of a replay
  std::optional<CatalogueChanges> changes;  // of the catalogue, where it was asked for
  // A Status where the machine failed before any problem was complete.
  Result<CampaignResult> search;

  bool replayed() const { return !recorded_date.empty(); }
};

// A Status where the search could not begin: InvalidArgument for what can never work, Unavailable or NotFound where the
// machine or the record lacks something. The same request resumes where an earlier call ended. `stop` bounds the call.
Result<OptimizeResult> Optimize(const OptimizeRequest& request, StopRule& stop, OptimizeListener& listener);

// "12 of 40 problems not recorded: A, B, C, D, E, ..."
std::string NotRecordedText(size_t problems, const std::vector<Gemm>& not_recorded);

}  // namespace gemmsmith
