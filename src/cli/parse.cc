// Which verbs there are, and which words and flags each takes.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/options.h"
#include "cli/wrong_words.h"
#include "search/proposer.h"
#include "search/traces.h"

namespace gemmsmith {

namespace {

// Every verb, what it fills, and what it yields once parsed.
class Grammar {
 public:
  Grammar() {
    root_.set_help_flag("-h,--help", "this text");
    root_.set_version_flag("--version", "gemmsmith " GEMMSMITH_VERSION, "the version");
    root_.get_formatter()->label("REQUIRED", "");
    root_.get_formatter()->label("SUBCOMMAND", "VERB");
    root_.get_formatter()->label("Subcommands", "Verbs");
    root_.require_subcommand(1);
    root_.get_formatter()->column_width(31);
    AddOptimize();
    AddEvaluate();
    AddVerify();
    AddPlanVerbs();
    AddRecordsVerbs();
    AddBench();
    AddPromote();
    AddCatalogueVerbs();
    AddReport();
    AddTrain();
    AddCompareVerb();
    AddMachineVerbs();
    // After the verbs, which would inherit it.
    root_.footer(
        "Every verb has its own --help. Exit codes: 0 done, 2 wrong use, 3 this machine or the record\n"
        "lacks something, 4 no candidate passed, 130 interrupted, 1 anything else.");
  }

  Verb& root() { return root_; }

  std::variant<Command, NoCommand> Chosen() { return chosen_.at(InnermostVerb(root_))(); }

 private:
  template <class C>
  Verb* NewVerb(Verb* parent, const std::string& name, const std::string& help, C* command) {
    Verb* verb = parent->add_subcommand(name, help);
    chosen_[verb] = [command]() -> std::variant<Command, NoCommand> { return Command(*command); };
    return verb;
  }
  // Neither our families nor the libraries add up products of bf16 in f16.
  static std::optional<NoCommand> WrongNumbers(const std::vector<ScalarType>& types, Accumulation accumulation) {
    const bool all_f16 =
        std::all_of(types.begin(), types.end(), [](ScalarType type) { return type == ScalarType::kF16; });
    if (accumulation == Accumulation::kF32 || all_f16) return std::nullopt;
    return NoCommand{kExitWrongUse, "--accumulate f16 goes with --type f16"};
  }
  // For verbs with a type and an accumulation, which must go together.
  template <class C>
  Verb* NewVerbOfNumbers(Verb* parent, const std::string& name, const std::string& help, C* command) {
    Verb* verb = NewVerb(parent, name, help, command);
    chosen_[verb] = [command]() -> std::variant<Command, NoCommand> {
      if (const std::optional<NoCommand> wrong = WrongNumbers({command->type}, command->accumulation)) return *wrong;
      return Command(*command);
    };
    return verb;
  }
  // For those whose numbers must make a problem.
  template <class C>
  Verb* NewGemmVerb(Verb* parent, const std::string& name, const std::string& help, C* command) {
    Verb* verb = NewVerb(parent, name, help, command);
    chosen_[verb] = [command]() -> std::variant<Command, NoCommand> {
      const std::vector<std::string> problems = Problems(command->gemm);
      if (!problems.empty()) return NoCommand{kExitWrongUse, problems.front()};
      return Command(*command);
    };
    return verb;
  }

  static void AddExperience(Verb* verb, std::vector<RecordSource>* sources, const std::string& help) {
    AddMany(verb, "--experience", "FILE,...", help, sources, ReadRecordSource);
  }

  void AddOptimize() {
    OptimizeCommand* command = &optimize_;
    Verb* verb = NewVerb(&root_, "optimize", "find, prove and keep the fastest kernel for a shape or a set", command);
    Value(verb, "SHAPE", "", "MxNxK, a set as in paper1000/tiny, or a file of shapes", &command->target, ReadTarget)
        ->required();
    Value(verb, "--layout", "nn|tn|both", "storage of A and B [both]", &command->layouts, ReadLayouts);
    AddType(verb, &command->type);
    AddAccumulation(verb, &command->accumulation);
    Value(verb, "--proposer", "NAME", "random|ranked|local|evolution|bayes|nvmmh|policy [policy or local]",
          &command->proposer, ReadProposer);
    Value(verb, "--weights", "FILE", "of --proposer policy [those that came along]", &command->weights, ReadPath);
    AddExperience(verb, &command->experience, "records of other shapes, or none [the policy: what came along]");
    Value(verb, "--hold-out", "RULE", "leave shapes out of experience: sizes, offgrid, or standard [none]",
          &command->held_out, ParseHeldOut);
    AddMany(verb, "--winners", "FILE", "records or catalogues whose winners are tried [what shipped]",
            &command->winners, ReadPath);
    Value(verb, "--objective", "time|energy", "what the finals decide by; energy: joules a call [time]",
          &command->objective, ReadObjective);
    Value(verb, "--device", "WHERE", "auto, gpu:N, all GPUs, or a recorded device's key [auto]", &command->device,
          ReadDeviceChoice);
    Value(verb, "--budget-evals", "N", "candidates to judge, a layout [128; with --brief 4]",
          &command->budget_evaluations, ReadCount);
    Value(verb, "--budget-seconds", "S", "seconds of judging, a layout", &command->budget_seconds, ReadPositiveSeconds);
    verb->add_flag("--brief", command->brief, "few finalists, short races: a first answer to many shapes");
    Value(verb, "--limit-seconds", "S", "stop the whole in time; the same command goes on", &command->limit_seconds,
          ReadPositiveSeconds);
    AddSeed(verb, &command->seed);
    verb->add_flag("--resume", command->resume, "go on where the same run was left (the default)");
    verb->add_flag("--fresh", command->fresh, "start again, whatever earlier runs stored");
    Value(verb, "--name", "NAME", "campaign; the same name resumes, also on another GPU", &command->name, ReadName);
    chosen_[verb] = [command, verb]() -> std::variant<Command, NoCommand> {
      if (command->brief && command->objective == Objective::kEnergy)
        return NoCommand{kExitWrongUse, "--brief decides by time: windows of energy take seconds each"};
      if (command->brief && verb->count("--budget-evals") == 0) command->budget_evaluations = kBriefEvaluations;
      if (command->resume && command->fresh) return NoCommand{kExitWrongUse, "--resume and --fresh exclude each other"};
      if (!command->name.empty() && command->fresh)
        return NoCommand{kExitWrongUse, "--name and --fresh exclude each other"};
      if (!command->catalogue.empty() && !command->promote)
        return NoCommand{kExitWrongUse, "--catalogue goes with --promote"};
      if (command->proposer.empty() && !command->weights.empty()) command->proposer = kPolicyProposer;
      if (command->proposer != kPolicyProposer && !command->weights.empty())
        return NoCommand{kExitWrongUse, "--weights is for --proposer policy"};
      const bool has_experience =
          command->experience != kNoExperience &&
          (!command->experience.empty() || command->proposer.empty() || command->proposer == kPolicyProposer);
      if (command->held_out != HeldOut() && !has_experience)
        return NoCommand{kExitWrongUse,
                         "--hold-out leaves shapes out of experience, and there is none: --experience FILE"};
      if (const std::optional<NoCommand> wrong = WrongNumbers({command->type}, command->accumulation)) return *wrong;
      return Command(*command);
    };
    AddArchive(verb, &command->archive);
    Value(verb, "--output", "DIR", "where the .cu files go [the user's data folder; of a set none]", &command->output,
          ReadPath);
    Value(verb, "--record", "FILE.gsr", "write the run's trials as record files too", &command->record, ReadPath);
    verb->add_flag("--promote", command->promote, "the finals decide on the kernels of a catalogue");
    Value(verb, "--catalogue", "FILE", "with --promote: that one [of this device, in the user's data folder]",
          &command->catalogue, ReadPath);
    AddJson(verb, &command->json);
    verb->footer(
        "Without a GPU it answers from recorded measurements, and says so.\n"
        "Examples: gemmsmith optimize 256x512x4096\n"
        "          gemmsmith optimize paper1000/tiny,offgrid --limit-seconds 600");
  }

  void AddEvaluate() {
    EvaluateCommand* command = &evaluate_;
    Verb* verb = NewGemmVerb(&root_, "evaluate", "judge a plan or a .cu source: right, honest, fast", command);
    AddSubject(verb, &command->subject)->required();
    AddGemm(verb, &command->gemm);
    Value(verb, "--protocol", "screen|short|long", "how carefully times are taken [short]", &command->protocol,
          ReadProtocol);
    Value(verb, "--modes", "LIST", "clocks, as in device,offline,energy [device, in short offline too]",
          &command->clocks, ReadClocks);
    verb->add_flag("--counters", command->counters, "what a profiler sees too: pipes, memory, stalls, conflicts");
    AddDevice(verb, &command->device);
    AddSeed(verb, &command->seed);
    AddJson(verb, &command->json);
    verb->footer(
        "Examples: gemmsmith evaluate \"direct tile_m=32 warps_k=8\" 256x512x4096 --counters\n"
        "          gemmsmith evaluate kernel.cu 256x512x4096");
  }

  void AddVerify() {
    VerifyCommand* command = &verify_;
    Verb* verb = NewVerb(&root_, "verify", "put a plan or a .cu source to every test", command);
    AddSubject(verb, &command->subject);
    Value(verb, "SHAPE", "", "the problem's MxNxK, as in 256x512x4096", &command->gemm.shape, ParseShape);
    AddKind(verb, &command->gemm);
    Value(verb, "--tests", "LIST", "only these, as in binary,cancellation", &command->tests, ParseTestSet);
    verb->add_flag("--memcheck", command->memcheck, "run it under compute-sanitizer too");
    verb->add_flag("--certify", command->certify, "judge by the CPU's product of every element");
    Value(verb, "--pairs", "FILE", "certify a list: lines of PROBLEM | PLAN", &command->pairs, ReadPath);
    verb->add_flag("--winners", command->winners, "certify the fastest plan of each problem in the archive");
    Value(verb, "--catalogue", "FILE", "certify its entries, and write into it what was found", &command->catalogue,
          ReadPath);
    verb->add_flag("--again", command->again, "of a catalogue also the entries that are proven as far already");
    AddArchive(verb, &command->archive);
    Value(verb, "--journal", "FILE", "what of a list is done; it goes on there [beside the archive]", &command->journal,
          ReadPath);
    Value(verb, "--limit-seconds", "S", "stop a list in time; the same command goes on", &command->limit_seconds,
          ReadPositiveSeconds);
    Value(verb, "--device", "WHERE", "auto, gpu:N, or all for lists and the self-test [auto]", &command->device,
          ReadDeviceChoice);
    AddSeed(verb, &command->seed);
    AddJson(verb, &command->json);
    verb->footer(
        "Exit codes: 0 passed, 4 refused, 3 no GPU.\n"
        "Examples: gemmsmith verify \"direct tile_m=32 warps_k=8\" 256x512x4096 --memcheck\n"
        "          gemmsmith verify --winners --limit-seconds 600\n"
        "          gemmsmith verify --self-test --only numbers_");
    AddSelfTest(verb);
    chosen_[verb] = [this, verb, command]() -> std::variant<Command, NoCommand> {
      for (const char* option : {"--cases", "--only", "--seeds"})
        if (!wants_self_test_ && verb->count(option) > 0)
          return NoCommand{kExitWrongUse, fmt::format("{} is for --self-test", option)};
      if (!wants_self_test_) return CheckedVerify(*command);
      if (command->subject || verb->count("SHAPE") > 0 || ListsOf(*command) > 0)
        return NoCommand{kExitWrongUse, "verify takes a PLAN, a list or --self-test, only one of them"};
      for (const char* option : {"--layout", "--type", "--accumulate", "--tests", "--certify", "--memcheck", "--again",
                                 "--archive", "--journal", "--limit-seconds", "--seed"})
        if (verb->count(option) > 0) return NoCommand{kExitWrongUse, fmt::format("{} is not for --self-test", option)};
      self_test_.device = command->device, self_test_.json = command->json;
      return Command(self_test_);
    };
  }

  void AddSelfTest(Verb* verb) {
    SelfTestCommand* command = &self_test_;
    verb->add_flag("--self-test", wants_self_test_, "judge kernels with known faults, and honest ones");
    AddMany(verb, "--cases", "DIR", "further cases; may be given often", &command->cases, ReadPath);
    Value(verb, "--only", "TEXT", "cases of this class, as in honest, or with this in their name", &command->only,
          ReadText);
    Value(verb, "--seeds", "N", "how many seeds each case is judged with [3]", &command->seeds, ReadCount);
  }

  static int ListsOf(const VerifyCommand& command) {
    return int(command.winners) + int(!command.pairs.empty()) + int(!command.catalogue.empty());
  }

  static std::variant<Command, NoCommand> CheckedVerify(const VerifyCommand& command) {
    const int lists = ListsOf(command);
    const bool is_list = lists > 0;
    const auto wrong = [](std::string text) { return NoCommand{kExitWrongUse, std::move(text)}; };
    if (is_list && command.subject)
      return wrong("verify takes a PLAN or a list (--pairs, --winners, --catalogue), not both");
    if (lists > 1) return wrong("--pairs, --winners and --catalogue exclude each other");
    if (command.again && command.catalogue.empty()) return wrong("--again is for --catalogue");
    if (is_list && command.tests != TestSet::All())
      return wrong("--tests is for one PLAN; a list is certified by all tests");
    if (is_list) return Command(command);
    if (!command.journal.empty() || command.limit_seconds) return wrong("--journal and --limit-seconds are for a list");
    if (!command.subject) return wrong("verify needs PLAN; see 'gemmsmith verify --help'");
    if (command.memcheck && !IsPlan(*command.subject))
      return wrong("--memcheck watches plans; a source runs in a process of its own, which the tool does not see");
    if (command.gemm.shape == Shape{}) return wrong("verify needs SHAPE; see 'gemmsmith verify --help'");
    const std::vector<std::string> problems = Problems(command.gemm);
    if (!problems.empty()) return wrong(problems.front());
    return Command(command);
  }

  void AddPlanVerbs() {
    Verb* plan = root_.add_subcommand("plan", "look at plans without a GPU: check, list, emit, explain, facts");
    plan->require_subcommand(1);
    Verb* check = NewGemmVerb(plan, "check", "every reason why a plan cannot run a problem", &check_);
    AddPlan(check, &check_.plan);
    AddGemm(check, &check_.gemm);
    AddKnownDevice(check, &check_.device);
    AddJson(check, &check_.json);

    Verb* list = NewGemmVerb(plan, "list", "the legal plans a search chooses from", &list_);
    AddGemm(list, &list_.gemm);
    AddKnownDevice(list, &list_.device);
    Value(list, "--count", "N", "only the first N", &list_.count, ReadCount);
    AddJson(list, &list_.json);

    Verb* emit = NewGemmVerb(plan, "emit", "the plan as CUDA source", &emit_);
    AddPlan(emit, &emit_.plan);
    AddGemm(emit, &emit_.gemm);
    AddKnownDevice(emit, &emit_.device);
    emit->add_flag("--standalone", emit_.standalone, "one file that includes nothing of ours, with its launcher");
    Value(emit, "-o,--output", "FILE", "write there instead of standard output", &emit_.output, ReadPath);

    Verb* explain = NewVerb(plan, "explain", "what a plan's parameters mean", &explain_);
    Value(explain, "PLAN", "", "a plan; without one, the families and all values", &explain_.plan, ParsePlan);
    AddJson(explain, &explain_.json);

    Verb* facts = NewGemmVerb(plan, "facts", "compile a plan and read its machine code", &facts_);
    AddPlan(facts, &facts_.plan);
    AddGemm(facts, &facts_.gemm);
    AddKnownDevice(facts, &facts_.device);
    Value(facts, "--architecture", "SM", "instead of a device, as in sm_90a", &facts_.device, ReadArchitecture);
    AddJson(facts, &facts_.json);
  }

  void AddRecordsVerbs() {
    Verb* records =
        root_.add_subcommand("records", "what was measured: list, stats, pairs, compare, export, measure, ...");
    records->require_subcommand(1);
    Verb* import = NewVerb(records, "import", "add record files to the archive, each trial once", &import_);
    AddSources(import, &import_.sources, "segments (.gsr), JSON lines (.jsonl), folders of segments");
    import->get_option("FILE")->required();
    AddArchive(import, &import_.archive);
    AddJson(import, &import_.json);

    Verb* out = NewVerb(records, "export", "write trials to .gsr, .jsonl or .csv", &export_);
    AddSelection(out, &export_.selection);
    Value(out, "-o,--output", "FILE", "its ending says the format", &export_.output, ReadPath)->required();
    out->add_flag("--without-samples", export_.without_samples, "keep statistics, drop single samples (.gsr)");
    out->add_flag("--rounded", export_.rounded, "coarser reals, of screenings and heats medians alone (.gsr)");
    AddJson(out, &export_.json);

    Verb* list = NewVerb(records, "list", "the trials, newest first", &records_list_);
    AddSelection(list, &records_list_.selection);
    Value(list, "--count", "N", "how many [20]", &records_list_.count, ReadCount);
    AddJson(list, &records_list_.json);

    Verb* stats = NewVerb(records, "stats", "how many of what, and which cells are missing", &stats_);
    AddSelection(stats, &stats_.selection);
    AddJson(stats, &stats_.json);

    Verb* rank = NewVerb(records, "rank", "how soon orders of plans come to the best that was recorded", &rank_);
    AddSources(rank, &rank_.sources, "record files or folders, each a table; else the one that answers");
    AddJson(rank, &rank_.json);

    Verb* screening = NewVerb(records, "screening", "how well screenings told who would win", &screening_);
    AddTrials(screening, &screening_.selection);
    AddJson(screening, &screening_.json);
    AddPairs(records);
    AddDuel(records);
    AddCompare(records);
    AddMeasure(records);
  }

  void AddPairs(Verb* records) {
    RecordsPairsCommand* command = &pairs_;
    Verb* verb = NewVerb(records, "pairs", "what one axis is worth: plans that differ in nothing else", command);
    Value(verb, "AXIS", "", "a parameter of plans, as in tile_n or reduction", &command->options.axis, ReadPlanAxis)
        ->required();
    AddTrials(verb, &command->selection);
    Value(verb, "--by", "LIST", "told apart by class, shape, k, layout, tile, ... or other axes", &command->options.by,
          ReadPairGroups);
    Value(verb, "--over", "VALUE", "only pairs over this value of the axis", &command->options.over, ReadText);
    AddOnlyProtocol(verb, &command->options.protocol);
    Value(verb, "--clock", "NAME", "device, device_chained, device_cold, offline, server or host [device]",
          &command->options.clock, ReadTimeClock);
    AddFormat(verb, &command->format);
    verb->footer("Example: gemmsmith records pairs reduction data/h200/reductions --over add --by tile,split");
  }

  void AddDuel(Verb* records) {
    RecordsDuelCommand* command = &duel_;
    Verb* verb = NewVerb(records, "duel", "whose winners are faster: several searches in the same races", command);
    AddSources(verb, &command->races, "the races: records of bench with the winners of all sides");
    verb->get_option("FILE")->required();
    AddMany(verb, "--side", "NAME=FILE,...", "what a search tried; the others stand beside the first", &command->sides,
            ReadDuelSide)
        ->required();
    AddJson(verb, &command->json);
    chosen_[verb] = [command]() -> std::variant<Command, NoCommand> {
      std::set<std::string> names;
      for (const RecordsDuelCommand::Side& side : command->sides) names.insert(side.name);
      if (names.size() < command->sides.size()) return NoCommand{kExitWrongUse, "two --side have one name"};
      if (names.size() < 2) return NoCommand{kExitWrongUse, "a duel needs two sides: --side NAME=FILE,... twice"};
      return Command(*command);
    };
    verb->footer(
        "Example: gemmsmith records duel races.gsr --side sweep=sweep.gsr --side policy=policy.gsr, where\n"
        "races.gsr is from gemmsmith bench --contenders best:sweep.gsr,best:policy.gsr -o races.gsr ...");
  }

  void AddCompare(Verb* records) {
    RecordsCompareCommand* command = &compare_;
    Verb* verb = NewVerbOfNumbers(records, "compare", "the libraries' times beside those of another table", command);
    Value(verb, "OTHER", "", "a .csv of times, or another record", &command->other, ReadPath)->required();
    AddMeasurements(verb, &command->selection);
    Value(verb, "--shapes", "SET|FILE|SHAPE,...", "only these [all]", &command->shapes, ReadShapeWords);
    AddType(verb, &command->type);
    AddAccumulation(verb, &command->accumulation);
    AddOneProtocol(verb, &command->protocol);
    AddOneDevice(verb, &command->device_key);
    Value(verb, "--clock", "NAME", "device, device_cold, offline, server or host [device]", &command->options.clock,
          ReadTimeClock);
    Value(verb, "--by", "GROUP", "told apart by class, time, or power (was it capped?)", &command->options.by,
          ReadAgreementGroup);
    Value(verb, "--furthest", "N", "how many single shapes are shown [10]", &command->options.furthest, ReadCount);
    Value(verb, "--columns", "THEIRS=OURS,...", "of a .csv: what its columns or variants are called here",
          &command->columns, ReadColumnNames);
    Value(verb, "--unit", "ns|us|ms", "of a .csv whose columns of times do not end in _ns, _us or _ms",
          &command->unit_ns, ReadUnitNs);
    AddFormat(verb, &command->format);
    verb->footer(
        "A .csv has a column shape (256x512x4096), or m, n and k; then either one for each variant\n"
        "(cublas_nn_us), or variant and time_us, perhaps layout.\n"
        "Example: gemmsmith records compare theirs.csv data/h200/paper1000 --by power");
  }

  void AddMeasure(Verb* records) {
    RecordsMeasureCommand* command = &measure_;
    Verb* verb = NewVerb(records, "measure", "judge every plan of a list on every shape of a list", command);
    chosen_[verb] = [command]() -> std::variant<Command, NoCommand> {
      if (const std::optional<NoCommand> wrong = WrongNumbers(command->types, command->accumulation)) return *wrong;
      if (command->finalists > 0 && command->protocol != Protocol::kScreen)
        return NoCommand{kExitWrongUse, "--finalists judges again what was screened: it goes with --protocol screen"};
      return Command(*command);
    };
    Value(verb, "--shapes", "SET|FILE,...", "named sets and files of shapes, separated by commas", &command->shapes,
          ReadText)
        ->required();
    Value(verb, "--plans", "all|FILE", "the live search space, or a file with a plan a line", &command->plans, ReadText)
        ->required();
    Value(verb, "-o,--output", "FILE.gsr", "record to write, also at the limit", &command->output, ReadPath)
        ->required();
    Value(verb, "--layouts", "nn,tn", "layouts [nn,tn]", &command->layouts, ReadLayouts);
    Value(verb, "--types", "f16,bf16", "element types [f16]", &command->types, ReadTypes);
    AddAccumulation(verb, &command->accumulation);
    Value(verb, "--protocol", "screen|short", "how carefully times are taken [screen]", &command->protocol,
          ReadProtocolOfCells);
    verb->add_flag("--offline-clock", command->offline_clock, "time single calls too");
    verb->add_flag("--counters", command->counters, "read a profiler's counters of what passes too");
    Value(verb, "--limit-seconds", "S", "stop in time and write what there is", &command->limit_seconds,
          ReadPositiveSeconds);
    Value(verb, "--finalists", "N", "judge each shape's fastest N again: short protocol, single calls too",
          &command->finalists, ReadCount);
    verb->add_flag("--skip-recorded", command->skip_recorded, "skip cells the archive has from this device");
    Value(verb, "--name", "NAME", "campaign; the same name resumes [measure]", &command->name, ReadName);
    AddDevice(verb, &command->device);
    AddSeed(verb, &command->seed);
    AddArchive(verb, &command->archive);
    AddJson(verb, &command->json);
  }

  void AddPromote() {
    PromoteCommand* command = &promote_;
    Verb* verb = NewVerb(&root_, "promote", "measure winners again, and keep the better ones in a catalogue", command);
    Value(verb, "--shapes", "SET|FILE|SHAPE,...", "whose winners, in this order, or all [all]", &command->shapes,
          ReadShapeWords);
    verb->add_flag("--both-layouts", command->both_layouts,
                   "winners of nn challenge in tn too, and the other way round");
    AddArchive(verb, &command->archive);
    Value(verb, "--catalogue", "FILE", "where they are kept [of this device, in the user's data folder]",
          &command->catalogue, ReadPath);
    Value(verb, "--record", "FILE.gsr", "write the trials of the races as record files too", &command->record,
          ReadPath);
    Value(verb, "--limit-seconds", "S", "stop in time; the same command goes on", &command->limit_seconds,
          ReadPositiveSeconds);
    Value(verb, "--device", "WHERE", "auto, gpu:N, or all GPUs [auto]", &command->device, ReadDeviceChoice);
    AddJson(verb, &command->json);
  }

  void AddCatalogueVerbs() {
    Verb* catalogue =
        root_.add_subcommand("catalogue", "the kernels that won: show, find, compare, settle, prove, build");
    catalogue->require_subcommand(1);
    Verb* show = NewVerb(catalogue, "show", "what is in a catalogue, by class", &catalogue_show_);
    Value(show, "FILE", "", "the catalogue", &catalogue_show_.catalogue, ReadPath)->required();
    AddJson(show, &catalogue_show_.json);

    Verb* find = NewGemmVerb(catalogue, "find", "which kernel a program is given for a problem", &catalogue_find_);
    Value(find, "FILE", "", "the catalogue", &catalogue_find_.catalogue, ReadPath)->required();
    AddGemm(find, &catalogue_find_.gemm);
    AddJson(find, &catalogue_find_.json);

    Verb* compare =
        NewVerb(catalogue, "compare", "its entries beside what was measured of them since", &catalogue_compare_);
    Value(compare, "CATALOGUE", "", "the catalogue", &catalogue_compare_.catalogue, ReadPath)->required();
    AddMeasurements(compare, &catalogue_compare_.selection);
    AddJson(compare, &catalogue_compare_.json);

    Verb* settle =
        NewVerb(catalogue, "settle", "decide on its entries by recorded races; needs no GPU", &catalogue_settle_);
    Value(settle, "CATALOGUE", "", "the catalogue", &catalogue_settle_.catalogue, ReadPath)->required();
    AddMeasurements(settle, &catalogue_settle_.selection);
    AddJson(settle, &catalogue_settle_.json);

    Verb* prove = NewVerb(catalogue, "prove", "mark what was certified elsewhere; needs no GPU", &catalogue_prove_);
    Value(prove, "CATALOGUE", "", "the catalogue", &catalogue_prove_.catalogue, ReadPath)->required();
    AddSources(prove, &catalogue_prove_.journals, "journals of gemmsmith verify --catalogue, in their order");
    prove->get_option("FILE")->required();
    AddJson(prove, &catalogue_prove_.json);

    Verb* build = NewVerb(catalogue, "build", "compile its kernels into one file; needs no GPU", &catalogue_build_);
    Value(build, "FILE", "", "the catalogue", &catalogue_build_.catalogue, ReadPath)->required();
    Value(build, "-o,--output", "FILE", "where they go", &catalogue_build_.output, ReadPath)->required();
  }

  void AddTrain() {
    TrainCommand* command = &train_;
    Verb* verb = NewVerb(&root_, "train", "train a policy; needs libtorch (tools/torch_trainer)", command);
    AddSources(verb, &command->sources, "record files or folders; else the one that answers");
    Value(verb, "-o,--output", "DIR", "checkpoint, log and weights; the same command goes on there", &command->output,
          ReadPath)
        ->required();
    Value(verb, "--stage", "pretrain|imitate|rl", "on texts, on the best plans, by reward (GRPO) [pretrain]",
          &command->stage, ReadTrainingStage);
    Value(verb, "--from", "FILE", "of the later stages: weights to begin with [new ones]", &command->from, ReadPath);
    AddExperience(verb, &command->experience, "records of other shapes, for predictions; may be given often");
    Value(verb, "--without", "LIST", "leave out: contrast,counters,mask,analysis,prior [nothing]", &command->without,
          ParseWithout);
    Value(verb, "--hold-out", "RULE", "keep shapes out: sizes of m, n or k, offgrid, or standard", &command->held_out,
          ParseHeldOut);
    Value(verb, "--steps", "N", "[4000; imitate 2000; rl 300]", &command->steps, ReadCount);
    Value(verb, "--batch", "N", "documents a step [128]; of the later stages contexts [8]", &command->batch, ReadCount);
    Value(verb, "--learning-rate", "X", "at its peak [0.001; imitate 0.0003; rl 0.00003]", &command->learning_rate,
          ReadLearningRate);
    Value(verb, "--on", "DEVICE", "what trains: cpu, cuda (every GPU), cuda:N, cuda:0,cuda:1 [cpu]", &command->device,
          ReadTrainingDevice);
    verb->add_flag("--live", command->live, "with --stage rl: measure on a GPU what the policy draws");
    AddDevice(verb, &command->live_device);
    AddArchive(verb, &command->archive);
    AddSeed(verb, &command->seed);
    AddJson(verb, &command->json);
    verb->footer(
        "Examples: gemmsmith train --output policy --hold-out standard --on cuda:0\n"
        "          gemmsmith train --stage rl --from policy/weights.safetensors --output policy_rl");
    chosen_[verb] = [command]() -> std::variant<Command, NoCommand> {
      const bool by_reward = command->stage == TrainingStage::kRl;
      if (!command->from.empty() && command->stage == TrainingStage::kPretrain)
        return NoCommand{kExitWrongUse, "--from goes with --stage imitate or rl"};
      if (!command->experience.empty() && (command->stage == TrainingStage::kPretrain || command->without.prior))
        return NoCommand{kExitWrongUse, "--experience goes with --stage imitate or rl, and with the prior"};
      if (command->live && !by_reward) return NoCommand{kExitWrongUse, "--live goes with --stage rl"};
      if (command->without.mask && !by_reward)
        return NoCommand{kExitWrongUse, "--without mask goes with --stage rl: the other stages draw no plans"};
      return Command(*command);
    };
  }

  void AddCompareVerb() {
    CompareCommand* command = &compare_searches_;
    Verb* verb = NewVerb(&root_, "compare", "how soon searches and policies find the best recorded kernel", command);
    AddSources(verb, &command->traces, "traces of proposals (.gtr) to score; else those that came along");
    AddMany(verb, "--records", "FILE", "record files or folders; may be given often [the one that answers]",
            &command->records, ReadPath);
    verb->add_flag("--recompute", command->recompute, "let the contenders propose anew; the rest is for this");
    Value(verb, "--contenders", "LIST", "searches and policies by name [all there are]", &command->contenders,
          ReadNames);
    AddExperience(verb, &command->experience, "what policies know of other shapes, or none [what is not held out]");
    AddMany(verb, "--policy", "NAME=WEIGHTS", "a policy's weights; may be given often [the one that came along]",
            &command->policies, ReadPolicyWeights);
    Value(verb, "--hold-out", "RULE", "what training kept out: sizes, offgrid, or standard [standard]",
          &command->held_out, ParseHeldOut);
    Value(verb, "--shapes", "SET|FILE|SHAPE,...", "of what was kept out only these, or all [heldout]", &command->shapes,
          ReadShapeWords);
    Value(verb, "--layouts", "nn,tn", "layouts [nn,tn]", &command->layouts, ReadLayouts);
    Value(verb, "--repeats", "N", "each with other random numbers [20]", &command->repeats, ReadCount);
    Value(verb, "--batch", "N", "plans under way at once, at most [16]", &command->batch, ReadCount);
    AddSeed(verb, &command->seed);
    Value(verb, "-o,--output", "FILE.gtr", "keep the traces there", &command->output, ReadPath);
    AddJson(verb, &command->json);
    chosen_[verb] = [verb, command] { return CheckedCompare(*verb, *command); };
    verb->footer(
        "Measures nothing: contenders draw from what was recorded, 64 plans of each problem.\n"
        "Example: gemmsmith compare --recompute --policy policy=policy_rl/weights.safetensors -o policy.gtr");
  }

  static std::variant<Command, NoCommand> CheckedCompare(const Verb& verb, CompareCommand command) {
    const auto wrong = [](std::string text) { return NoCommand{kExitWrongUse, std::move(text)}; };
    for (const char* flag : {"--contenders", "--policy", "--experience", "--hold-out", "--shapes", "--layouts",
                             "--repeats", "--batch", "--seed", "--output"})
      if (!command.recompute && verb.count(flag) > 0) return wrong(fmt::format("{} goes with --recompute", flag));
    if (command.recompute && !command.traces.empty())
      return wrong("compare scores FILE or makes traces anew with --recompute, not both");
    if (command.repeats > int(kMostRepeats))
      return wrong(fmt::format("--repeats takes {} at most", CountText(kMostRepeats)));
    if (verb.count("--hold-out") > 0 && verb.count("--shapes") == 0) command.shapes = "all";
    std::vector<std::string_view> known = ProposerNames();
    if (command.policies.empty()) known.push_back(kPolicyProposer);
    for (const PolicyWeights& policy : command.policies) {
      if (std::find(known.begin(), known.end(), policy.name) != known.end())
        return wrong(fmt::format("--policy names '{}' twice", policy.name));
      known.push_back(policy.name);
    }
    for (const std::string& name : command.contenders)
      if (std::find(known.begin(), known.end(), name) == known.end())
        return wrong(fmt::format("'{}' is no contender{}", name, DidYouMean(name, known)));
    return Command(command);
  }

  void AddBench() {
    BenchCommand* command = &bench_;
    Verb* verb = NewVerbOfNumbers(&root_, "bench", "measure contenders beside the libraries on many shapes", command);
    Value(verb, "--shapes", "SET|FILE|SHAPE,...", "shapes, named sets and files, separated by commas", &command->shapes,
          ReadShapeWords)
        ->required();
    Value(verb, "--contenders", "LIST", "who is raced, separated by commas [baselines]", &command->contenders,
          ReadContenders);
    Value(verb, "--modes", "LIST",
          "device, offline, server, host, device_cold, device_chained, energy [the first three]", &command->clocks,
          ReadClocks);
    Value(verb, "--protocol", "short|long", "how carefully times are taken [short]", &command->protocol,
          ReadThoroughProtocol);
    Value(verb, "--layouts", "nn,tn", "of plans and files; libraries run in both [nn,tn]", &command->layouts,
          ReadLayouts);
    AddType(verb, &command->type);
    AddAccumulation(verb, &command->accumulation);
    Value(verb, "--name", "NAME", "campaign; the same name resumes [from device, protocol, modes, baselines, type]",
          &command->name, ReadName);
    Value(verb, "-o,--output", "FILE.gsr", "write the run's trials there, also at the limit", &command->output,
          ReadPath);
    Value(verb, "--limit-seconds", "S", "stop in time; the same command goes on", &command->limit_seconds,
          ReadPositiveSeconds);
    AddDevice(verb, &command->device);
    AddSeed(verb, &command->seed);
    AddArchive(verb, &command->archive);
    AddJson(verb, &command->json);
    verb->footer(
        "Contenders: baselines (lt_auto, lt_heuristic and cublas), any of these or torch, lt_exhaustive by name,\n"
        "also lt_auto_nn or lt_auto_tn alone; so:PATH; plan:TEXT; plans:FILE; file:X.cu; best, the fastest recorded\n"
        "plan of each shape, or best:RECORDS. Then 'gemmsmith report --campaign NAME' prints the tables.\n"
        "Example: gemmsmith bench --shapes paper1000/tiny --contenders best,baselines,torch -o tiny.gsr");
  }

  void AddReport() {
    ReportCommand* command = &report_;
    Verb* verb = NewVerb(&root_, "report", "tables and figures from records: speed-ups over every baseline", command);
    AddMeasurements(verb, &command->selection);
    Value(verb, "--shapes", "SET|FILE|SHAPE,...", "only these, or all [paper1000]", &command->shapes, ReadShapeWords);
    AddType(verb, &command->type);
    AddAccumulation(verb, &command->accumulation);
    AddOneProtocol(verb, &command->protocol);
    AddOneDevice(verb, &command->device_key);
    Value(verb, "--against", "NAME", "every contender against this one instead of ours against all", &command->against,
          ReadText);
    AddFormat(verb, &command->format);
    verb->add_flag("--summary", command->summary, "the scoreboard, in at most a screen");
    verb->add_flag("--figure", command->figure, "speed-up by log2(m n k), as bars");
    verb->add_flag("--patterns", command->patterns, "what the fastest plans have in common, instead of speed-ups");
    Value(verb, "-o,--output", "FILE", "write there instead of standard output", &command->output, ReadPath);
    Value(verb, "--html", "FILE", "write one page for a browser: all tables and figures, and a page a shape",
          &command->html, ReadPath);
    const CLI::Option* live =
        Word<int, std::optional<int>>(
            verb, "--live", "[PORT]",
            fmt::format("follow a run: the same page at http://127.0.0.1:PORT/ [{}; 0: any free one]", kLivePort),
            &command->live_port, ReadLivePort, [](std::optional<int>* to, int port) { *to = port; })
            ->expected(0, 1);
    chosen_[verb] = [command, live]() -> std::variant<Command, NoCommand> {
      if (live->count() > 0 && !command->live_port) command->live_port = kLivePort;
      if (const std::optional<NoCommand> wrong = WrongNumbers({command->type}, command->accumulation)) return *wrong;
      if (command->summary + command->figure + command->patterns > 1)
        return NoCommand{kExitWrongUse, "--summary, --figure and --patterns exclude each other"};
      if (command->patterns && command->against)
        return NoCommand{kExitWrongUse, "--patterns compares plans of ours with each other: leave out --against"};
      const bool is_text =
          command->summary || command->figure || command->patterns || command->format != ReportFormat::kText;
      if (!command->html.empty() && (is_text || !command->output.empty()))
        return NoCommand{kExitWrongUse,
                         "--html writes a page that holds everything: leave out --format, --json, "
                         "--summary, --figure, --patterns and --output"};
      if (command->live_port && (is_text || !command->output.empty() || !command->html.empty()))
        return NoCommand{kExitWrongUse,
                         "--live serves a page that holds everything: leave out --html, --format, --json, "
                         "--summary, --figure, --patterns and --output"};
      if (command->live_port && !command->selection.sources.empty())
        return NoCommand{kExitWrongUse,
                         "--live follows an archive, which --archive FILE names; record files do not change"};
      return Command(*command);
    };
    verb->footer(
        "Reads records and never measures. Without FILE it reads the archive or, where nothing was measured, the "
        "records\n"
        "that came with the program. Examples: gemmsmith report --summary\n"
        "                                       gemmsmith report data/h200/baselines --format markdown\n"
        "                                       gemmsmith report --html report.html\n"
        "                                       gemmsmith report --live --shapes paper1000/tiny");
  }

  void AddMachineVerbs() {
    Verb* doctor = NewVerb(&root_, "doctor", "what this machine has, lacks, and how to get it", &doctor_);
    AddArchive(doctor, &doctor_.archive);
    AddJson(doctor, &doctor_.json);
    // Started by the evaluator; an empty group hides it from the help.
    Verb* worker = NewVerb(&root_, "worker", "serve the evaluator over standard input and output", &worker_);
    worker->group("");
    NewVerb(&root_, "compiler", "compile what standard input says", &compiler_)->group("");
    NewVerb(&root_, "guest", "run what the evaluator sends over standard input", &guest_)->group("");
    Value(worker, "--gpu", "N", "ordinal of the GPU", &worker_.gpu, ReadOrdinal)->required();
    Verb* once = NewVerb(&root_, "once", "call candidates that files hold", &once_);
    once->group("");
    AddMany(once, "FILE", "", "an encoded call each", &once_.files, ReadPath)->required();
    Value(once, "--gpu", "N", "ordinal of the GPU", &once_.gpu, ReadOrdinal)->required();
    Value(once, "--calls", "N", "how often [1]", &once_.calls, ReadCount);
  }

  Verb root_{"Writes half-precision matrix-multiply kernels, proves them right, measures them against cuBLASLt.",
             "gemmsmith"};
  std::map<const Verb*, std::function<std::variant<Command, NoCommand>()>> chosen_;
  OptimizeCommand optimize_;
  EvaluateCommand evaluate_;
  bool wants_self_test_ = false;
  SelfTestCommand self_test_;
  VerifyCommand verify_;
  PlanCheckCommand check_;
  PlanListCommand list_;
  PlanEmitCommand emit_;
  PlanExplainCommand explain_;
  PlanFactsCommand facts_;
  RecordsImportCommand import_;
  RecordsExportCommand export_;
  RecordsListCommand records_list_;
  RecordsStatsCommand stats_;
  RecordsRankCommand rank_;
  RecordsDuelCommand duel_;
  RecordsPairsCommand pairs_;
  RecordsScreeningCommand screening_;
  RecordsCompareCommand compare_;
  RecordsMeasureCommand measure_;
  BenchCommand bench_;
  PromoteCommand promote_;
  CatalogueShowCommand catalogue_show_;
  CatalogueFindCommand catalogue_find_;
  CatalogueCompareCommand catalogue_compare_;
  CatalogueSettleCommand catalogue_settle_;
  CatalogueProveCommand catalogue_prove_;
  CatalogueBuildCommand catalogue_build_;
  ReportCommand report_;
  TrainCommand train_;
  CompareCommand compare_searches_;
  DoctorCommand doctor_;
  WorkerCommand worker_;
  OnceCommand once_;
  CompilerCommand compiler_;
  GuestCommand guest_;
};

}  // namespace

std::variant<Command, NoCommand> ParseCommandLine(int argc, const char* const* argv) {
  Grammar grammar;
  try {
    grammar.root().parse(argc, argv);
    return grammar.Chosen();
  } catch (const CLI::CallForHelp&) {
    return NoCommand{kExitDone, grammar.root().help()};
  } catch (const CLI::CallForVersion&) {
    return NoCommand{kExitDone, grammar.root().version() + "\n"};
  } catch (const CLI::ParseError& error) {
    return NoCommand{kExitWrongUse, ExplainWrongWords(error, grammar.root())};
  }
}

}  // namespace gemmsmith
