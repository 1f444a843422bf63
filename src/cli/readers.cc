#include "cli/readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <set>

#include "archive/sound_trial.h"
#include "base/files.h"
#include "base/text.h"
#include "evaluate/baseline/baseline_set.h"
#include "problem/grids.h"
#include "report/pairs.h"
#include "search/proposer.h"

namespace gemmsmith {

namespace {

constexpr std::array<std::string_view, 2> kLayoutWords = {"nn", "tn"};
constexpr std::array<std::string_view, 3> kLayoutSetWords = {"nn", "tn", "both"};
constexpr std::array<std::string_view, 2> kTypeWords = {"f16", "bf16"};
constexpr std::array<std::string_view, 2> kAccumulationWords = {"f32", "f16"};
constexpr std::array<std::string_view, 3> kUnitWords = {"ns", "us", "ms"};
constexpr std::array<std::string_view, 3> kAgreementGroupWords = {"class", "time", "power"};
constexpr std::array<std::string_view, 4> kFormatWords = {"text", "markdown", "csv", "json"};

Status NoSuchWord(std::string_view what, std::string_view word, std::span<const std::string_view> known) {
  return InvalidArgument(fmt::format("'{}' is no {}{}", word, what, DidYouMean(word, known)));
}

Result<Protocol> ReadProtocolOf(std::string_view text, std::initializer_list<Protocol> known) {
  const std::optional<Protocol> protocol = ParseProtocol(text);
  if (protocol && std::find(known.begin(), known.end(), *protocol) != known.end()) return *protocol;
  std::vector<std::string_view> names;
  for (const Protocol one : known) names.push_back(Name(one));
  return NoSuchWord("protocol", text, names);
}

Result<long long> ReadIntegerIn(std::string_view text, long long low, long long high) {
  const std::optional<long long> value = ParseInteger(text);
  if (value && *value >= low && *value <= high) return *value;
  return InvalidArgument(fmt::format("'{}' is not a whole number from {} to {}", text, low, high));
}

Result<std::vector<Shape>> ShapesOf(std::string_view word) {
  if (const Result<Shape> shape = ParseShape(word); shape.ok()) return std::vector<Shape>{*shape};
  return LoadShapes(word);
}

constexpr std::string_view kBaselineKinds[] = {"lt_auto", "lt_heuristic", "cublas", "torch", "lt_exhaustive"};
// "baselines": the libraries that every machine with the toolkit has.
constexpr std::string_view kUsualBaselines[] = {"lt_auto", "lt_heuristic", "cublas"};

bool IsBaseline(std::string_view word) {
  if (word.ends_with("_nn") || word.ends_with("_tn")) word.remove_suffix(3);
  return std::find(std::begin(kBaselineKinds), std::end(kBaselineKinds), word) != std::end(kBaselineKinds);
}

Result<std::filesystem::path> FileThatExists(std::string_view what, std::string_view path) {
  std::error_code error;
  if (!path.empty() && std::filesystem::exists(path, error)) return std::filesystem::path(path);
  return NotFound(fmt::format("{}: there is no '{}'", what, path));
}

Status AddContender(std::string_view word, BenchContenders& contenders, std::vector<std::string>& baselines) {
  const size_t colon = word.find(':');
  const std::string_view kind = word.substr(0, colon);
  const std::string_view rest = colon == word.npos ? std::string_view() : word.substr(colon + 1);
  if (colon != word.npos && kind == "best") {
    RecordSource& source = contenders.best.emplace_back();
    // A name may have a plus sign in it.
    const bool is_one = FileThatExists(word, rest).ok();
    for (const std::string_view path : is_one ? std::vector{rest} : Split(rest, '+')) {
      ASSIGN_OR_RETURN(source.emplace_back(), FileThatExists(word, path));
    }
    return OkStatus();
  }
  if (colon != word.npos && (kind == "plans" || kind == "file" || kind == "so")) {
    ASSIGN_OR_RETURN(const std::filesystem::path path, FileThatExists(word, rest));
    if (kind == "plans") contenders.plan_files.push_back(path);
    if (kind == "file") contenders.sources.push_back(path);
    std::error_code error;
    if (kind == "so") baselines.push_back("so:" + std::filesystem::absolute(path, error).string());
    if (error) return IoError(fmt::format("{}: {}", word, error.message()));
    return OkStatus();
  }
  if (colon != word.npos && kind == "plan") {
    ASSIGN_OR_RETURN(const Plan plan, ParsePlan(rest));
    contenders.plans.push_back(plan);
    return OkStatus();
  }
  if (word == "best") {
    contenders.best.emplace_back();
    return OkStatus();
  }
  if (word == "baselines") {
    baselines.insert(baselines.end(), std::begin(kUsualBaselines), std::end(kUsualBaselines));
    return OkStatus();
  }
  if (IsBaseline(word)) {
    baselines.emplace_back(word);
    return OkStatus();
  }
  std::vector<std::string_view> known = {"baselines", "best", "plan:TEXT", "plans:FILE", "file:X.cu", "so:PATH"};
  known.insert(known.end(), std::begin(kBaselineKinds), std::end(kBaselineKinds));
  return NoSuchWord("contender", word, known);
}

}  // namespace

std::string DidYouMean(std::string_view word, std::span<const std::string_view> known) {
  if (const std::optional<std::string> nearest = NearestWord(word, known)) {
    return fmt::format("; did you mean '{}'?", *nearest);
  }
  std::string list;
  for (size_t i = 0; i < known.size(); ++i) {
    list += fmt::format("{}{}", i == 0 ? "" : i + 1 == known.size() ? " and " : ", ", known[i]);
  }
  return fmt::format("; there {} {}", known.size() == 1 ? "is" : "are", list);
}

Result<OptimizeTarget> ReadTarget(std::string_view text) {
  const Result<Shape> shape = ParseShape(text);
  if (shape.ok()) return OptimizeTarget{.shape = *shape};
  std::vector<std::string_view> known;
  for (const NamedGrid& grid : NamedGrids()) known.push_back(grid.name);
  std::vector<std::string_view> unknown;
  const std::vector<std::string_view> words = Split(text, ',');
  for (const std::string_view word : words) {
    std::error_code error;
    const bool is_set = std::find(known.begin(), known.end(), word) != known.end();
    if (is_set) continue;
    const std::filesystem::file_status file = std::filesystem::status(word, error);
    if (!word.empty() && error && file.type() != std::filesystem::file_type::not_found)
      return IoError(fmt::format("cannot read '{}': {}", word, error.message()));
    if (word.empty() || !std::filesystem::exists(file) || std::filesystem::is_directory(file)) unknown.push_back(word);
  }
  if (unknown.empty()) return OptimizeTarget{.set = std::string(text)};
  // Of a list the word that is wrong; what is no list is taken for one wrong word.
  const std::string_view wrong = unknown.size() < words.size() && !unknown[0].empty() ? unknown[0] : text;
  if (const std::optional<std::string> nearest = NearestWord(wrong, known))
    return InvalidArgument(fmt::format("'{}' is not a shape, a set or a file; did you mean '{}'?", wrong, *nearest));
  if (wrong.size() < text.size())
    return InvalidArgument(fmt::format("'{}' is neither a named set nor a file of shapes that exists", wrong));
  return InvalidArgument(shape.status().message() + ", or a named set, or a file of shapes");
}

Result<std::vector<Shape>> LoadShapeLists(std::string_view text) {
  std::vector<Shape> shapes;
  std::set<Shape> known;
  for (const std::string_view word : Split(text, ',')) {
    ASSIGN_OR_RETURN(const std::vector<Shape> list, ShapesOf(word));
    for (const Shape& shape : list)
      if (known.insert(shape).second) shapes.push_back(shape);
  }
  return shapes;
}

Result<Layout> ReadLayout(std::string_view text) {
  if (text == "nn") return kNn;
  if (text == "tn") return kTn;
  return NoSuchWord("layout", text, kLayoutWords);
}

Result<std::vector<Layout>> ReadLayouts(std::string_view text) {
  if (text == "both") return std::vector<Layout>{kNn, kTn};
  std::vector<Layout> layouts;
  for (const std::string_view word : Split(text, ',')) {
    const Result<Layout> layout = ReadLayout(word);
    if (word == "both") return InvalidArgument(fmt::format("'{}': 'both' stands alone", text));
    if (!layout.ok()) return NoSuchWord("layout", word, kLayoutSetWords);
    if (std::find(layouts.begin(), layouts.end(), *layout) == layouts.end()) layouts.push_back(*layout);
  }
  return layouts;
}

Result<ScalarType> ReadType(std::string_view text) {
  for (const ScalarType type : {ScalarType::kF16, ScalarType::kBf16}) {
    if (Name(type) == text) return type;
  }
  return NoSuchWord("type", text, kTypeWords);
}

Result<Accumulation> ReadAccumulation(std::string_view text) {
  for (const Accumulation accumulation : {Accumulation::kF32, Accumulation::kF16}) {
    if (Name(accumulation) == text) return accumulation;
  }
  return NoSuchWord("accumulation", text, kAccumulationWords);
}

Result<std::vector<ScalarType>> ReadTypes(std::string_view text) {
  std::vector<ScalarType> types;
  for (const std::string_view word : Split(text, ',')) {
    ASSIGN_OR_RETURN(const ScalarType type, ReadType(word));
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }
  return types;
}

Result<Protocol> ReadProtocol(std::string_view text) {
  return ReadProtocolOf(text, {Protocol::kScreen, Protocol::kShort, Protocol::kLong});
}

Result<Protocol> ReadProtocolOfCells(std::string_view text) {
  return ReadProtocolOf(text, {Protocol::kScreen, Protocol::kShort});
}

Result<Protocol> ReadThoroughProtocol(std::string_view text) {
  return ReadProtocolOf(text, {Protocol::kShort, Protocol::kLong});
}

Result<Protocol> ReadAnyProtocol(std::string_view text) {
  return ReadProtocolOf(text, {Protocol::kScreen, Protocol::kHeat, Protocol::kShort, Protocol::kLong});
}

Result<OutcomeKind> ReadOutcomeKind(std::string_view text) {
  if (const std::optional<OutcomeKind> kind = ParseOutcomeKind(text)) return *kind;
  std::vector<std::string_view> known;
  for (int kind = 0; kind <= int(kLastOutcomeKind); ++kind) known.push_back(Name(OutcomeKind(kind)));
  return NoSuchWord("outcome", text, known);
}

Result<std::string> ReadProposer(std::string_view text) {
  std::vector<std::string_view> known = ProposerNames();
  known.push_back(kPolicyProposer);
  if (std::find(known.begin(), known.end(), text) != known.end()) return std::string(text);
  return NoSuchWord("proposer", text, known);
}

Result<Objective> ReadObjective(std::string_view text) {
  const std::vector<std::string_view> known = {Name(Objective::kTime), Name(Objective::kEnergy)};
  for (const Objective objective : {Objective::kTime, Objective::kEnergy})
    if (text == Name(objective)) return objective;
  return NoSuchWord("objective", text, known);
}

Result<FreeForm> ReadSource(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  return FreeForm{path.filename().string(), std::move(text)};
}

Result<Subject> ReadSubject(std::string_view text) {
  const std::filesystem::path path(text);
  std::error_code none;
  if (text.ends_with(".cu")) {
    ASSIGN_OR_RETURN(FreeForm source, ReadSource(path));
    return Subject(std::move(source));
  }
  if (!std::filesystem::is_regular_file(path, none)) {
    Result<Plan> plan = ParsePlan(text);
    if (plan.ok()) return Subject(*std::move(plan));
    if (!std::filesystem::exists(path, none)) return plan.status();
    return InvalidArgument(fmt::format("{} is neither a plan nor a file that holds one", text));
  }
  ASSIGN_OR_RETURN(const std::string content, ReadFile(path));
  if (const std::vector<ListLine> lines = ListLines(content); !lines.empty()) {
    ASSIGN_OR_RETURN(const Plan plan, ParsePlan(lines.front().text));
    return Subject(plan);
  }
  return InvalidArgument(fmt::format("{} holds no plan", path.string()));
}

Result<Device> ReadDevice(std::string_view key) {
  std::vector<std::string_view> known;
  for (const Device& device : KnownDevices()) {
    if (device.key == key) return device;
    known.push_back(device.key);
  }
  return NoSuchWord("device", key, known);
}

Result<Device> ReadArchitecture(std::string_view text) {
  static const std::vector<std::string> known = [] {
    std::vector<std::string> architectures;
    for (const Device& device : KnownDevices()) {
      if (std::find(architectures.begin(), architectures.end(), device.Architecture()) == architectures.end()) {
        architectures.push_back(device.Architecture());
      }
    }
    return architectures;
  }();
  for (const Device& device : KnownDevices()) {
    if (device.Architecture() == text) return device;
  }
  return NoSuchWord("architecture", text, std::vector<std::string_view>(known.begin(), known.end()));
}

Result<std::string> ReadDeviceChoice(std::string_view text) {
  const bool gpu = text.starts_with("gpu:");
  if (gpu && !ReadOrdinal(text.substr(4)).ok()) {
    return InvalidArgument(fmt::format("'{}' is not gpu:N with a number N from 0", text));
  }
  const bool key = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  if (gpu || key) return std::string(text);
  return InvalidArgument(
      fmt::format("'{}' is no device; write auto, gpu:N, or the key of a recorded one, as in h200", text));
}

Result<std::vector<std::filesystem::path>> ReadRecordSource(std::string_view text) {
  std::vector<std::filesystem::path> paths;
  for (const std::string_view word : Split(text, ',')) {
    ASSIGN_OR_RETURN(std::filesystem::path path, ReadPath(word));
    paths.push_back(std::move(path));
  }
  return paths;
}

bool AsksForAGpu(std::string_view device_choice) {
  return device_choice == "auto" || device_choice.starts_with("gpu:");
}

Result<std::string> ReadDeviceKey(std::string_view text) {
  ASSIGN_OR_RETURN(std::string choice, ReadDeviceChoice(text));
  if (!AsksForAGpu(choice)) return choice;
  return InvalidArgument(fmt::format("'{}' is no recorded device; write its key, as in h200", text));
}

Result<std::string> ReadShapeWords(std::string_view text) {
  if (text == "all") return std::string(text);
  std::vector<std::string_view> words;
  for (const std::string_view word : Split(text, ','))
    if (!ParseShape(word).ok()) words.push_back(word);
  std::vector<std::string> names(words.begin(), words.end());
  if (!names.empty()) RETURN_IF_ERROR(ReadTarget(Join(names, ",")).status());
  return std::string(text);
}

Result<BenchContenders> ReadContenders(std::string_view text) {
  BenchContenders contenders;
  std::vector<std::string> baselines;
  for (const std::string_view word : Split(text, ',')) RETURN_IF_ERROR(AddContender(word, contenders, baselines));
  contenders.baselines = Join(baselines, ",");
  if (!baselines.empty()) RETURN_IF_ERROR(BaselineSet::Parse(contenders.baselines).status());
  return contenders;
}

Result<ClockSet> ReadClocks(std::string_view text) {
  ClockSet clocks;
  for (const std::string_view word : Split(text, ',')) {
    const std::optional<Clock> clock = ParseClock(word);
    std::vector<std::string_view> known;
    for (int other = 0; other <= int(kLastClock); ++other) known.push_back(Name(Clock(other)));
    if (!clock) return NoSuchWord("mode", word, known);
    clocks.Add(*clock);
    // Chains are timed where kernels are timed on the device clock, and stand beside it.
    if (*clock == Clock::kDeviceChained) clocks.Add(Clock::kDevice);
  }
  return clocks;
}

Result<Clock> ReadTimeClock(std::string_view text) {
  std::vector<std::string_view> known;
  for (int clock = 0; clock <= int(kLastClock); ++clock)
    if (Clock(clock) != Clock::kEnergy) known.push_back(Name(Clock(clock)));
  const std::optional<Clock> clock = ParseClock(text);
  if (clock && *clock != Clock::kEnergy) return *clock;
  return NoSuchWord("clock", text, known);
}

Result<std::string> ReadPlanAxis(std::string_view text) {
  const std::vector<std::string_view>& known = PlanAxes();
  if (std::find(known.begin(), known.end(), text) != known.end()) return std::string(text);
  return NoSuchWord("axis of a plan", text, known);
}

Result<std::vector<std::string>> ReadPairGroups(std::string_view text) {
  const std::vector<std::string_view>& known = PairGroups();
  std::vector<std::string> groups;
  for (const std::string_view word : Split(text, ',')) {
    if (std::find(known.begin(), known.end(), word) == known.end()) return NoSuchWord("group", word, known);
    if (std::find(groups.begin(), groups.end(), word) == groups.end()) groups.emplace_back(word);
  }
  return groups;
}

Result<std::map<std::string, std::string>> ReadColumnNames(std::string_view text) {
  std::map<std::string, std::string> names;
  for (const std::string_view word : Split(text, ',')) {
    const std::vector<std::string_view> sides = Split(word, '=');
    if (sides.size() != 2 || sides[0].empty() || sides[1].empty())
      return InvalidArgument(fmt::format("'{}' is not THEIRS=OURS, as in heuristic_nn=lt_heuristic_nn", word));
    names[std::string(sides[0])] = std::string(sides[1]);
  }
  return names;
}

Result<double> ReadUnitNs(std::string_view text) {
  if (text == "ns") return 1.0;
  if (text == "us") return 1e3;
  if (text == "ms") return 1e6;
  return NoSuchWord("unit", text, kUnitWords);
}

Result<AgreementGroup> ReadAgreementGroup(std::string_view text) {
  if (const std::optional<AgreementGroup> group = ParseAgreementGroup(text)) return *group;
  return NoSuchWord("group", text, kAgreementGroupWords);
}

Result<ReportFormat> ReadReportFormat(std::string_view text) {
  for (size_t i = 0; i < kFormatWords.size(); ++i)
    if (text == kFormatWords[i]) return ReportFormat(i);
  return NoSuchWord("format", text, kFormatWords);
}

Result<int> ReadCount(std::string_view text) {
  ASSIGN_OR_RETURN(const long long value, ReadIntegerIn(text, 1, 1'000'000'000));
  return int(value);
}

Result<double> ReadLearningRate(std::string_view text) {
  const std::optional<double> value = ParseDouble(text);
  if (value && *value > 0 && *value < 1) return *value;
  return InvalidArgument(fmt::format("'{}' is no learning rate: above 0, below 1", text));
}

Result<TrainingStage> ReadTrainingStage(std::string_view text) {
  if (text == "pretrain") return TrainingStage::kPretrain;
  if (text == "imitate") return TrainingStage::kImitate;
  if (text == "rl") return TrainingStage::kRl;
  return NoSuchWord("stage", text, std::array<std::string_view, 3>{"pretrain", "imitate", "rl"});
}

Result<PolicyWeights> ReadPolicyWeights(std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  if (equals == text.npos || name.empty() || equals + 1 == text.size() || name.find(',') != name.npos)
    return InvalidArgument(fmt::format("'{}' is not NAME=WEIGHTS, as in policy=policy/weights.safetensors", text));
  const std::vector<std::string_view>& searches = ProposerNames();
  if (std::find(searches.begin(), searches.end(), name) != searches.end())
    return InvalidArgument(fmt::format("'{}' is a search's name: give these weights another one", name));
  return PolicyWeights{std::string(name), text.substr(equals + 1)};
}

Result<RecordsDuelCommand::Side> ReadDuelSide(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0 || equals + 1 == text.size())
    return InvalidArgument(fmt::format("'{}' is not NAME=FILE,..., as in sweep=sweep.gsr", text));
  RecordsDuelCommand::Side side{.name = std::string(text.substr(0, equals))};
  ASSIGN_OR_RETURN(side.records, ReadRecordSource(text.substr(equals + 1)));
  return side;
}

Result<std::vector<std::string>> ReadNames(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view word : Split(text, ',')) {
    if (word.empty()) return InvalidArgument(fmt::format("'{}' has an empty name", text));
    if (std::find(names.begin(), names.end(), word) == names.end()) names.emplace_back(word);
  }
  return names;
}

Result<std::string> ReadTrainingDevice(std::string_view text) {
  if (text == "cpu" || text == "cuda") return std::string(text);
  std::set<int> gpus;
  for (const std::string_view name : Split(text, ',')) {
    const Result<int> gpu = name.starts_with("cuda:") ? ReadOrdinal(name.substr(5)) : Result<int>(InvalidArgument(""));
    if (!gpu.ok() || !gpus.insert(*gpu).second)
      return InvalidArgument(
          fmt::format("'{}' is nothing to train on: cpu, cuda (every GPU), cuda:N, or several: cuda:0,cuda:1", text));
  }
  return std::string(text);
}

Result<int> ReadOrdinal(std::string_view text) {
  ASSIGN_OR_RETURN(const long long value, ReadIntegerIn(text, 0, 1023));
  return int(value);
}

Result<int> ReadLivePort(std::string_view text) {
  const Result<long long> value = ReadIntegerIn(text, 0, 65535);
  if (!value.ok())
    return InvalidArgument(fmt::format("'{}' is no port: 0 to 65535, or nothing for {}", text, kLivePort));
  return int(*value);
}

Result<uint64_t> ReadSeed(std::string_view text) {
  ASSIGN_OR_RETURN(const long long value, ReadIntegerIn(text, 0, INT64_MAX));
  return uint64_t(value);
}

Result<double> ReadPositiveSeconds(std::string_view text) {
  const std::optional<double> value = ParseDouble(text);
  if (value && *value > 0 && *value <= 1e9) return *value;
  return InvalidArgument(fmt::format("'{}' is not a number of seconds above 0", text));
}

Result<int> ReadLeadingDimension(std::string_view text) {
  ASSIGN_OR_RETURN(const long long value, ReadIntegerIn(text, 1, INT32_MAX));
  return int(value);
}

Result<std::filesystem::path> ReadPath(std::string_view text) {
  if (text.empty()) return InvalidArgument("an empty path");
  return std::filesystem::path(text);
}

Result<std::string> ReadName(std::string_view text) {
  if (!IsPrintable(text)) return InvalidArgument("a name without control characters is needed");
  return ReadText(text);
}

Result<std::string> ReadText(std::string_view text) {
  if (text.empty()) return InvalidArgument("an empty text");
  return std::string(text);
}

}  // namespace gemmsmith
