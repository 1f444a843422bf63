// From a word of the command line to its value, or the reason why it is none. Knows nothing of how words are parsed.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/command.h"
#include "outcome/outcome.h"
#include "policy/policy_proposer.h"
#include "problem/gemm.h"
#include "problem/grids.h"

namespace gemmsmith {

// "; did you mean 'x'?" or, where nothing is near, "; there are a, b and c".
std::string DidYouMean(std::string_view word, std::span<const std::string_view> known);
// "'word' is no WHAT", and what might have been meant.
Status NoSuchWord(std::string_view what, std::string_view word, std::span<const std::string_view> known);

// Numbers and texts (readers.cc).
Result<long long> ReadIntegerIn(std::string_view text, long long low, long long high);
Result<int> ReadCount(std::string_view text);    // 1 to 10^9
Result<int> ReadOrdinal(std::string_view text);  // 0 to 1023
Result<uint64_t> ReadSeed(std::string_view text);
Result<int> ReadLeadingDimension(std::string_view text);
Result<double> ReadPositiveSeconds(std::string_view text);
// Anything but nothing.
Result<std::filesystem::path> ReadPath(std::string_view text);
Result<RecordSource> ReadRecordSource(std::string_view text);  // paths, separated by commas
// From the words of --experience: "none", records, or no word.
Result<ExperienceChoice> ReadExperienceChoice(const std::vector<RecordSource>& words);
Result<std::string> ReadText(std::string_view text);
// A text that is printed in tables.
Result<std::string> ReadName(std::string_view text);
Result<std::vector<std::string>> ReadNames(std::string_view text);  // "local,policy": any words, each once

// Problems (readers_problem.cc).
Result<OptimizeTarget> ReadTarget(std::string_view text);  // a shape, or words that name many
// Of all shapes, named sets and files, in the order of the words, each once.
Result<std::vector<Product>> LoadProductLists(std::string_view text);
// The same without layouts.
Result<std::vector<Shape>> LoadShapeLists(std::string_view text);
// A list of shapes, named sets and files, or "all".
Result<std::string> ReadShapeWords(std::string_view text);
Result<Layout> ReadLayout(std::string_view text);
Result<std::vector<Layout>> ReadLayouts(std::string_view text);  // "nn", "both", "nn,tn,col-row"
Result<ScalarType> ReadType(std::string_view text);
Result<std::vector<ScalarType>> ReadTypes(std::string_view text);  // "f16,bf16"
Result<Accumulation> ReadAccumulation(std::string_view text);

// Language models (readers_writing.cc).
Result<int> ReadIslands(std::string_view text);
Result<int> ReadRepairs(std::string_view text);
Result<int64_t> ReadTokens(std::string_view text);
Result<double> ReadTemperature(std::string_view text);
Result<double> ReadTopP(std::string_view text);
Result<double> ReadDollars(std::string_view text);
Result<TokenPrice> ReadTokenPrice(std::string_view text);

// Devices (readers_device.cc).
Result<Device> ReadDevice(std::string_view key);
Result<Device> ReadArchitecture(std::string_view text);       // the first known device that "sm_90a" is compiled for
Result<std::string> ReadDeviceChoice(std::string_view text);  // "auto", "gpu:0", a key
Result<std::string> ReadDeviceKey(std::string_view text);     // of a recorded device

// What is judged (readers_contenders.cc).
Result<FreeForm> ReadSource(const std::filesystem::path& path);  // known by the file's name
// A plan's words, a file with such words, or a .cu file of the free-form contract.
Result<Subject> ReadSubject(std::string_view text);
Result<BenchContenders> ReadContenders(std::string_view text);

// How is measured (readers_measure.cc).
// A heat is a stage of a search alone: what it makes of a candidate depends on who else is in it.
Result<Protocol> ReadProtocol(std::string_view text);          // screen, short, long
Result<Protocol> ReadProtocolOfCells(std::string_view text);   // screen, short
Result<Protocol> ReadThoroughProtocol(std::string_view text);  // short, long
Result<Protocol> ReadAnyProtocol(std::string_view text);
Result<ClockSet> ReadClocks(std::string_view text);  // "device,offline,server"
Result<Clock> ReadTimeClock(std::string_view text);  // any but energy, which is no time
Result<OutcomeKind> ReadOutcomeKind(std::string_view text);
Result<Objective> ReadObjective(std::string_view text);

// Tables and reports (readers_report.cc).
Result<std::string> ReadPlanAxis(std::string_view text);
Result<std::vector<std::string>> ReadPairGroups(std::string_view text);  // "tile,split"
Result<AgreementGroup> ReadAgreementGroup(std::string_view text);
Result<std::string> ReadModelName(std::string_view text);                           // of the set models
Result<std::map<std::string, std::string>> ReadColumnNames(std::string_view text);  // "theirs=ours,..."
Result<double> ReadUnitNs(std::string_view text);                                   // "us"
Result<ReportFormat> ReadReportFormat(std::string_view text);
inline constexpr int kLivePort = 8765;            // where --live stands alone
Result<int> ReadLivePort(std::string_view text);  // 0 to 65535

// Searches and policies (readers_policy.cc).
Result<std::string> ReadProposer(std::string_view text);         // one of search's, kPolicyProposer or kLlmProposer
Result<PolicyWeights> ReadPolicyWeights(std::string_view text);  // "policy=weights.safetensors"
Result<TrainingStage> ReadTrainingStage(std::string_view text);
Result<double> ReadLearningRate(std::string_view text);         // above 0, below 1
Result<std::string> ReadTrainingDevice(std::string_view text);  // "cpu", "cuda", "cuda:0,cuda:1"

}  // namespace gemmsmith
