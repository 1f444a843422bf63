// What the command line asks for, parsed and checked. grammar_*.cc fill these; one file a verb carries them out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agents/judge_room.h"
#include "campaign/campaign.h"
#include "corpus/collect/license.h"
#include "llm/token_price.h"
#include "outcome/outcome.h"
#include "outcome/test_list.h"
#include "policy/ablations.h"
#include "problem/gemm.h"
#include "problem/held_out.h"
#include "program/subject.h"
#include "report/agreement.h"
#include "report/pairs.h"
#include "workflow/shipped_data.h"

namespace gemmsmith {

// One shape, or the words that name many: sets and files, separated by commas.
struct OptimizeTarget {
  std::optional<Shape> shape;
  std::string set;  // where there is no shape
};

inline const std::vector<RecordSource> kNoExperience = {{"none"}};

inline const std::vector<std::filesystem::path> kNoWinners = {"none"};

// Candidates of a layout, where nobody chose and races are brief.
inline constexpr int kBriefEvaluations = 4;

// How a language model writes (optimize --proposer llm).
struct WritingCommand {
  std::string endpoint, model;  // empty: the user's or a local one; the first that it lists
  int islands = 4;
  int repairs = 2;
  int64_t answer_tokens = 8192;
  double temperature = 1;
  std::optional<int64_t> budget_tokens;
  std::optional<double> budget_dollars;
  std::optional<TokenPrice> price;
  std::filesystem::path documents;  // snippets that questions quote; empty: none
  std::filesystem::path cassette;   // empty: none
};
inline constexpr std::string_view kLlmProposer = "llm";

struct OptimizeCommand {
  OptimizeTarget target;
  std::vector<Layout> layouts = {kNn, kTn};
  ScalarType type = ScalarType::kF16;
  Accumulation accumulation = Accumulation::kF32;
  bool constant_b = false;
  std::string proposer;                  // empty: the shipped policy for what it knows, else local
  std::filesystem::path weights;         // of the proposer "policy"; empty: the shipped ones
  std::vector<RecordSource> experience;  // corrects what is predicted; empty: the policy has what is shipped
  HeldOut held_out;                      // shapes of which experience says nothing
  // Records and catalogues: what won there is tried on the same problems and near them. Empty: catalogues that came
  // along, where a GPU measures.
  std::vector<std::filesystem::path> winners;
  Objective objective = Objective::kTime;
  std::string device = "auto";           // "auto", "gpu:N", or the key of a recorded device
  int budget_evaluations = 128;          // a layout
  bool brief = false;                    // kBriefEvaluations where nobody chose; few finalists and rounds
  std::optional<double> budget_seconds;  // a layout
  std::optional<double> limit_seconds;   // the whole call
  uint64_t seed = 1;
  bool resume = false;  // says what is the default
  bool fresh = false;
  std::string name;               // empty: made from everything that old trials depend on
  std::filesystem::path archive;  // empty: the one under HomeFolder()
  std::filesystem::path output;   // empty: under HomeFolder() for a shape, nowhere for a set
  std::filesystem::path record;   // empty: none
  bool promote = false;           // the finals decide on the entries of a catalogue
  std::filesystem::path catalogue;
  bool overlay = false;  // that catalogue is the overlay's, and its kernels are compiled
  WritingCommand writing;
  bool json = false;
};

struct EvaluateCommand {
  Subject subject;
  Gemm gemm;
  std::optional<Protocol> protocol;  // nothing: short, or the most careful one that was recorded
  std::optional<ClockSet> clocks;    // nothing: device_cold, in short offline too
  bool counters = false;             // the profiler's too
  std::string device = "auto";
  uint64_t seed = 1;
  bool json = false;
};

// The judge's own test.
struct SelfTestCommand {
  std::vector<std::filesystem::path> cases;  // folders beside our own
  std::string only;                          // cases whose name has this in it; empty: all
  int seeds = 3;
  std::string device = "auto";
  bool json = false;
};

struct PlanCheckCommand {
  Plan plan;
  Gemm gemm;
  Device device;
  bool json = false;
};

struct PlanListCommand {
  Gemm gemm;
  Device device;
  std::optional<int> count;
  bool json = false;
};

struct PlanEmitCommand {
  Plan plan;
  Gemm gemm;
  Device device;
  bool standalone = false;
  bool flat = false;
  std::optional<int> style;      // of the flat form
  std::filesystem::path output;  // empty: standard output
};

struct PlanExplainCommand {
  std::optional<Plan> plan;
  bool json = false;
};

struct PlanFactsCommand {
  Plan plan;
  Gemm gemm;
  Device device;
  bool json = false;
};

// Which trials of an archive or of record files are meant.
struct TrialSelection {
  std::vector<std::filesystem::path> sources;  // record files or folders; empty: the archive
  std::filesystem::path archive;
  std::optional<std::string> campaign;
  std::optional<Shape> shape;
  std::optional<Layout> layout;
  std::optional<OutcomeKind> outcome;
  std::optional<Protocol> protocol;
};

struct RecordsImportCommand {
  std::vector<std::filesystem::path> sources;
  std::filesystem::path archive;
  bool json = false;
};

struct RecordsExportCommand {
  TrialSelection selection;
  std::filesystem::path output;
  bool without_samples = false;
  bool rounded = false;
  bool json = false;
};

struct RecordsListCommand {
  TrialSelection selection;
  int count = 20;
  bool json = false;
};

struct RecordsStatsCommand {
  TrialSelection selection;
  bool json = false;
};

enum class TrainingStage : uint8_t { kPretrain, kImitate, kRl };

struct TrainCommand {
  TrainingStage stage = TrainingStage::kPretrain;
  std::vector<std::filesystem::path> sources;  // empty: what a replay answers from
  std::filesystem::path output;
  std::filesystem::path from;            // weights that the later stages begin with; empty: new ones
  std::vector<RecordSource> experience;  // of the prior of the later stages
  Ablations ablations;
  HeldOut held_out;
  std::optional<int> steps, batch;  // nothing: the stage's own
  std::optional<double> learning_rate;
  uint64_t seed = 1;
  std::string device = "cpu";        // what trains
  bool live = false;                 // by reward: plans are measured, not looked up
  std::string live_device = "auto";  // where
  std::filesystem::path archive;     // of what is measured; empty: the one under HomeFolder()
  bool json = false;
};

// Weights that compete under a name.
struct PolicyWeights {
  std::string name;
  std::filesystem::path weights;
};

// Traces of proposals scored against records; with `recompute` made before, by what follows it.
struct CompareCommand {
  std::vector<std::filesystem::path> traces;   // empty: those that came with the program
  std::vector<std::filesystem::path> records;  // empty: what a replay answers from
  bool recompute = false;
  std::vector<RecordSource> experience;  // of the policies' prior; empty: of the records they compete on
  std::vector<std::string> contenders;   // searches and policies; empty: every search that can be had, and all policies
  std::vector<PolicyWeights> policies;   // empty: the shipped one
  HeldOut held_out = StandardHeldOut();
  std::string shapes = "heldout";
  std::vector<Layout> layouts = {kNn, kTn};
  int repeats = 20;
  int batch = 16;  // plans under way at once, at most
  uint64_t seed = 1;
  std::filesystem::path output;  // empty: none
  bool json = false;
};

// Training texts: flat kernels of random plans.
struct CorpusFlatCommand {
  std::string shapes;
  std::vector<Layout> layouts = {kNn, kTn};
  std::vector<ScalarType> types = {ScalarType::kF16};
  int random_shapes = 0;
  int count = 5000;
  HeldOut held_out;
  Device device;
  int contrast = 2;
  uint64_t seed = 1;
  std::filesystem::path output;  // a folder
};

struct CorpusTokenizerCommand {
  std::vector<std::filesystem::path> texts;  // shards, or folders of them
  int words = 8192;
  std::filesystem::path output;
};

struct CorpusTrainCommand {
  std::vector<std::filesystem::path> texts;  // shards, or folders of them
  std::filesystem::path tokenizer, output;
  std::filesystem::path from;  // weights to begin with; empty: new ones
  std::optional<int> steps, batch;
  std::optional<double> learning_rate;
  uint64_t seed = 1;
  std::string device = "cpu";
  bool bf16 = false;
};

struct CorpusShrinkCommand {
  std::filesystem::path model, output;
  int bits = 3;
};

struct CorpusSampleCommand {
  std::filesystem::path model, tokenizer, output;
  std::string proposer;  // empty: the model writes; "policy" has the model's weights, or the shipped ones
  std::string shapes;
  std::vector<Layout> layouts = {kNn, kTn};
  int count = 4;  // a class of rows
  double temperature = 1, top_p = 1;
  Device device;  // of the prompt
  uint64_t seed = 1;
  std::string trainer = "cpu";
  bool bf16 = false;
};

struct CorpusJudgeCommand {
  std::vector<std::filesystem::path> kernels;  // folders of corpus sample
  std::filesystem::path archive;
  std::string judge = "auto";
  bool is_final = false;  // races their winners instead
};

struct CorpusNovelCommand {
  std::vector<std::filesystem::path> kernels;  // folders of corpus judge
  Device device;                               // of the plans
};

struct CorpusCompareCommand {
  std::vector<std::filesystem::path> judged;
};

struct CorpusReinforceCommand {
  std::filesystem::path model, tokenizer, output, archive;
  std::string shapes;
  std::vector<Layout> layouts = {kNn, kTn};
  HeldOut held_out;
  std::optional<int> steps, batch;
  std::optional<double> learning_rate;
  std::string judge = "auto";
  int contrast = 2;
  uint64_t seed = 1;
  std::string trainer = "cpu";
  bool bf16 = false;
};

// Data for a language model from sources of others (docs/corpus.md).
struct CorpusCollectCommand {
  std::vector<std::filesystem::path> sources;
  LicenseChoice licenses = *LicenseChoice::Parse("permissive");
  std::filesystem::path output;  // a folder, as in what follows
};

struct CorpusCleanCommand {
  std::filesystem::path texts, output;
};

struct CorpusInstructCommand {
  std::filesystem::path texts, output, cassette;  // no cassette: an endpoint
  std::string endpoint, model;                    // empty: the user's or a local one; the first that it lists
};

struct CorpusRetrieveCommand {
  std::filesystem::path texts, documents, output;  // no documents: the texts; no output: a query
  std::string query;
};

struct CorpusStatsCommand {
  std::vector<std::filesystem::path> texts;
  bool json = false;
};

enum class ReportFormat { kText, kMarkdown, kCsv, kJson };

struct RecordsPairsCommand {
  TrialSelection selection;
  PairOptions options;
  ReportFormat format = ReportFormat::kText;
};

// Libraries' times of a record beside those of another table.
struct RecordsCompareCommand {
  std::filesystem::path other;  // a .csv, or a record
  TrialSelection selection;     // sources, archive and campaign only
  std::string shapes = "all";
  ScalarType type = ScalarType::kF16;
  Accumulation accumulation = Accumulation::kF32;
  std::optional<Protocol> protocol;
  std::optional<std::string> device_key;
  std::map<std::string, std::string> columns;  // of the .csv: their names to ours
  std::optional<double> unit_ns;               // of its times, where their columns do not say it
  AgreementOptions options;
  ReportFormat format = ReportFormat::kText;
};

struct RecordsMeasureCommand {
  std::string shapes;  // named sets and files, separated by commas
  std::string plans;   // "all" or a file, one plan a line
  std::vector<Layout> layouts = {kNn, kTn};
  std::vector<ScalarType> types = {ScalarType::kF16};
  Accumulation accumulation = Accumulation::kF32;
  bool constant_b = false;
  Protocol protocol = Protocol::kScreen;
  bool offline_clock = false;
  bool counters = false;
  std::string device = "auto";
  std::filesystem::path output;  // a .gsr file
  std::filesystem::path archive;
  std::optional<double> limit_seconds;
  int finalists = 0;
  bool skip_recorded = false;
  std::string name = "measure";
  uint64_t seed = 1;
  bool json = false;
};

// Who is raced: --contenders, word by word.
struct BenchContenders {
  std::string baselines;  // names for BaselineSet; empty: the protocol's own
  // Each the fastest plan of a problem in these records; where none are named in the archive and the shipped ones.
  std::vector<RecordSource> best;
  std::vector<Plan> plans;
  std::vector<std::filesystem::path> plan_files;  // a plan, or problem | plan, a line
  std::vector<std::filesystem::path> sources;     // free-form .cu files
  bool standalone = false;                        // beside each plan its own standalone file
  bool flat = false;                              // and its flat form, where it has one
};

struct BenchCommand {
  std::string shapes;
  BenchContenders contenders;
  ClockSet clocks = {Clock::kDeviceCold, Clock::kOffline, Clock::kServer};
  Protocol protocol = Protocol::kShort;
  std::vector<Layout> layouts = {kNn, kTn};
  ScalarType type = ScalarType::kF16;
  Accumulation accumulation = Accumulation::kF32;
  bool constant_b = false;
  std::string name;  // empty: made from protocol, clocks, baselines and type
  std::filesystem::path archive;
  std::filesystem::path output;  // empty: none
  std::optional<double> limit_seconds;
  std::string device = "auto";
  uint64_t seed = 1;
  bool json = false;
};

struct PromoteCommand {
  std::string shapes = "all";       // whose winners
  std::filesystem::path archive;    // where they are; the races are stored there too
  std::filesystem::path catalogue;  // empty: the device's under HomeFolder()
  std::filesystem::path record;     // the trials of the races; empty: none is written
  bool both_layouts = false;        // winners of nn challenge in tn too, and the other way round
  std::optional<double> limit_seconds;
  std::string device = "auto";
  bool json = false;
};

struct CatalogueShowCommand {
  std::filesystem::path catalogue;
  bool json = false;
};

struct CatalogueFindCommand {
  std::filesystem::path catalogue;
  Gemm gemm;
  bool json = false;
};

struct CatalogueCompareCommand {
  std::filesystem::path catalogue;
  TrialSelection selection;   // what was measured since
  std::filesystem::path job;  // instead: the record of a program's calls
  int steps = 1;              // of the program while it was recorded
  bool json = false;
};

struct CatalogueSettleCommand {
  std::filesystem::path catalogue;
  TrialSelection selection;  // the races that decide
  bool json = false;
};

struct CatalogueProveCommand {
  std::filesystem::path catalogue;
  std::vector<std::filesystem::path> journals;
  bool json = false;
};

struct CatalogueBuildCommand {
  std::filesystem::path catalogue, output;
  std::filesystem::path general;  // plans without dimensions that go along; empty: none
};

struct CatalogueGeneralCommand {
  std::filesystem::path catalogue;
  int count = 16;
};

struct ReportCommand {
  TrialSelection selection;  // sources, archive and campaign only
  std::string shapes = "paper1000";
  ScalarType type = ScalarType::kF16;
  Accumulation accumulation = Accumulation::kF32;
  std::optional<Protocol> protocol;
  std::optional<std::string> device_key;
  std::optional<std::string> against;
  ReportFormat format = ReportFormat::kText;
  bool summary = false;
  bool figure = false;
  bool patterns = false;
  bool models = false;           // the clock of the ring, the set models
  std::string model;             // of these one, by phase; empty: all
  std::filesystem::path output;  // empty: standard output
  std::filesystem::path html;    // the page is written there, and nothing else is printed
  std::optional<int> live_port;  // the page is served there until an interrupt; 0: any free port
};

struct RunProgramCommand {
  std::vector<std::string> words;  // the program and its arguments
  std::filesystem::path record;    // empty: none
  bool record_only = false;
  std::filesystem::path overlay;  // empty: none but the user's own
  bool summary = false;
};

// The judge as tools of an agent, over standard input and output.
struct McpCommand {
  JudgeRoomOptions judge;
};

// The judge over HTTP.
struct ServeCommand {
  JudgeRoomOptions judge = {.resumes = true};
  int port = 8766;
  std::string address = "127.0.0.1";
  std::filesystem::path token_file;  // empty: no token, on 127.0.0.1 alone
};

struct DoctorCommand {
  std::filesystem::path archive;
  bool json = false;
};

// One candidate, or all pairs of a list, put to every test.
struct VerifyCommand {
  std::optional<Subject> subject;
  Gemm gemm;
  TestSet tests = TestSet::All();
  bool memcheck = false;
  bool certify = false;
  std::filesystem::path pairs;      // a file of "PROBLEM | PLAN" lines; empty: the one candidate
  bool winners = false;             // the pairs are the archive's fastest plans
  std::filesystem::path catalogue;  // the pairs are its entries, and it is told; empty: none
  bool again = false;               // also entries that are proven as far already
  std::filesystem::path archive;
  std::filesystem::path journal;        // empty: beside the archive
  std::optional<double> limit_seconds;  // of a list
  std::string device = "auto";
  uint64_t seed = 1;
  bool json = false;
};

// What a source launches, recorded without a GPU.
struct RecipeCommand {
  FreeForm source;
  Gemm gemm;
  Device device;
};

struct WorkerCommand {
  int gpu = 0;
};

struct CompilerCommand {};

struct OnceCommand {
  std::vector<std::filesystem::path> files;  // an encoded SingleCall each
  int gpu = 0;
  int calls = 1;
};

using Command = std::variant<
    OptimizeCommand, EvaluateCommand, VerifyCommand, RecipeCommand, SelfTestCommand, PlanCheckCommand, PlanListCommand,
    PlanEmitCommand, PlanExplainCommand, PlanFactsCommand, RecordsImportCommand, RecordsExportCommand,
    RecordsListCommand, RecordsStatsCommand, RecordsPairsCommand, RecordsCompareCommand, RecordsMeasureCommand,
    BenchCommand, PromoteCommand, CatalogueShowCommand, CatalogueFindCommand, CatalogueCompareCommand,
    CatalogueSettleCommand, CatalogueProveCommand, CatalogueBuildCommand, CatalogueGeneralCommand, ReportCommand,
    TrainCommand, CompareCommand, CorpusFlatCommand, CorpusTokenizerCommand, CorpusTrainCommand, CorpusShrinkCommand,
    CorpusSampleCommand, CorpusJudgeCommand, CorpusNovelCommand, CorpusCompareCommand, CorpusReinforceCommand,
    CorpusCollectCommand, CorpusCleanCommand, CorpusInstructCommand, CorpusRetrieveCommand, CorpusStatsCommand,
    RunProgramCommand, McpCommand, ServeCommand, DoctorCommand, WorkerCommand, CompilerCommand, OnceCommand>;

// Nothing to carry out: help or the version was asked for (exit code 0), or the words were wrong (2).
struct NoCommand {
  int exit_code = 0;
  std::string text;  // for standard output, or the one line of the error
};

std::variant<Command, NoCommand> ParseCommandLine(int argc, const char* const* argv);

}  // namespace gemmsmith
