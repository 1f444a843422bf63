// The grammar of verbs that measure: optimize, evaluate, bench and promote.
#include "cli/grammar.h"
#include "cli/grammar_writing.h"

namespace gemmsmith {

void AddOptimize(Grammar& grammar) {
  OptimizeCommand* command = grammar.New<OptimizeCommand>();
  Verb* verb = grammar.NewVerb(grammar.root(), "optimize",
                               "find, prove and keep the fastest kernel for a shape or a set", command);
  Value(verb, "SHAPE", "", "MxNxK, a set as in paper1000/tiny or models, or a file of shapes", &command->target,
        ReadTarget)
      .Required();
  Value(verb, "--layout", "LIST", "nn, tn, both, col-row, col-col, where SHAPE names none [both]", &command->layouts,
        ReadLayouts);
  AddType(verb, &command->type);
  AddAccumulation(verb, &command->accumulation);
  AddConstantB(verb, &command->constant_b);
  Value(verb, "--proposer", "NAME", "random|ranked|local|evolution|bayes|nvmmh|policy|llm [policy, local]",
        &command->proposer, ReadProposer);
  Value(verb, "--weights", "FILE", "of --proposer policy [the shipped ones]", &command->weights, ReadPath);
  AddExperience(verb, &command->experience, "records of other shapes, or none [the policy: what is shipped]");
  Value(verb, "--hold-out", "RULE", "leave shapes out of experience: sizes, offgrid, or standard [none]",
        &command->held_out, ParseHeldOut);
  AddMany(verb, "--winners", "FILE", "records or catalogues whose winners are tried [what shipped]", &command->winners,
          ReadPath);
  Value(verb, "--objective", "time|energy", "what the finals decide by; energy: joules a call [time]",
        &command->objective, ReadObjective);
  Value(verb, "--device", "WHERE", "auto, gpu:N, all GPUs, or a recorded device's key [auto]", &command->device,
        ReadDeviceChoice);
  Value(verb, "--budget-evals", "N", "candidates to judge, a layout [128; with --brief 4]",
        &command->budget_evaluations, ReadCount);
  Value(verb, "--budget-seconds", "S", "seconds of judging, a layout", &command->budget_seconds, ReadPositiveSeconds);
  verb->AddFlag("--brief", "few finalists, short races: a first answer to many shapes", &command->brief);
  AddLimit(verb, &command->limit_seconds, "stop the whole in time; the same command goes on");
  AddSeed(verb, &command->seed);
  verb->AddFlag("--resume", "go on where the same run was left (the default)", &command->resume);
  verb->AddFlag("--fresh", "start again, whatever earlier runs stored", &command->fresh);
  Value(verb, "--name", "NAME", "campaign; the same name resumes, also on another GPU", &command->name, ReadName);
  grammar.OnceParsed(verb, [command, verb]() -> Parsed {
    if (const std::optional<NoCommand> wrong = WrongWriting(verb, *command)) return *wrong;
    if (command->brief && command->objective == Objective::kEnergy)
      return NoCommand{kExitWrongUse, "--brief decides by time: windows of energy take seconds each"};
    if (command->brief && !verb->IsGiven("--budget-evals")) command->budget_evaluations = kBriefEvaluations;
    if (command->resume && command->fresh) return NoCommand{kExitWrongUse, "--resume and --fresh exclude each other"};
    if (!command->name.empty() && command->fresh)
      return NoCommand{kExitWrongUse, "--name and --fresh exclude each other"};
    if (!command->catalogue.empty() && !command->promote)
      return NoCommand{kExitWrongUse, "--catalogue goes with --promote"};
    if (command->overlay && !command->promote) return NoCommand{kExitWrongUse, "--overlay goes with --promote"};
    if (command->overlay && !command->catalogue.empty())
      return NoCommand{kExitWrongUse, "--overlay and --catalogue exclude each other"};
    if (command->proposer.empty() && !command->weights.empty()) command->proposer = kPolicyProposer;
    if (command->proposer != kPolicyProposer && !command->weights.empty())
      return NoCommand{kExitWrongUse, "--weights is for --proposer policy"};
    const bool has_experience =
        command->experience != kNoExperience &&
        (!command->experience.empty() || command->proposer.empty() || command->proposer == kPolicyProposer);
    if (command->held_out != HeldOut() && !has_experience)
      return NoCommand{kExitWrongUse,
                       "--hold-out leaves shapes out of experience, and there is none: --experience FILE"};
    if (const std::optional<NoCommand> wrong = WrongNumberTypes({command->type}, command->accumulation)) return *wrong;
    return Command(*command);
  });
  AddArchive(verb, &command->archive);
  Value(verb, "--output", "DIR", "where the .cu files go [the user's data folder; of a set none]", &command->output,
        ReadPath);
  Value(verb, "--record", "FILE.gsr", "write the run's trials as record files too", &command->record, ReadPath);
  verb->AddFlag("--promote", "the finals decide on the kernels of a catalogue", &command->promote);
  Value(verb, "--catalogue", "FILE", "with --promote: that one [of this device, in the user's data folder]",
        &command->catalogue, ReadPath);
  verb->AddFlag("--overlay", "with --promote: the overlay's, and compile its kernels [of a record]", &command->overlay);
  AddWriting(verb, &command->writing);
  AddJson(verb, &command->json);
  verb->AddFooter(
      "Without a GPU it answers from recorded measurements, and says so.\n"
      "Examples: gemmsmith optimize 256x512x4096\n"
      "          gemmsmith optimize paper1000/tiny,offgrid --limit-seconds 600");
}

void AddEvaluate(Grammar& grammar) {
  EvaluateCommand* command = grammar.New<EvaluateCommand>();
  Verb* verb =
      grammar.NewGemmVerb(grammar.root(), "evaluate", "judge a plan or a .cu source: right, honest, fast", command);
  AddSubject(verb, &command->subject).Required();
  AddGemm(verb, &command->gemm);
  Value(verb, "--protocol", "screen|short|long", "how carefully times are taken [short]", &command->protocol,
        ReadProtocol);
  Value(verb, "--modes", "LIST", "clocks, as in device,offline [device_cold, in short offline too]", &command->clocks,
        ReadClocks);
  verb->AddFlag("--counters", "what a profiler sees too: pipes, memory, stalls, conflicts", &command->counters);
  AddDevice(verb, &command->device);
  AddSeed(verb, &command->seed);
  AddJson(verb, &command->json);
  verb->AddFooter(
      "Examples: gemmsmith evaluate \"direct tile_m=32 warps_k=8\" 256x512x4096 --counters\n"
      "          gemmsmith evaluate kernel.cu 256x512x4096");
}

void AddBench(Grammar& grammar) {
  BenchCommand* command = grammar.New<BenchCommand>();
  Verb* verb = grammar.NewVerbOfNumberTypes(grammar.root(), "bench",
                                            "measure contenders beside the libraries on many shapes", command);
  Value(verb, "--shapes", "SET|FILE|SHAPE,...", "shapes, named sets and files, separated by commas", &command->shapes,
        ReadShapeWords)
      .Required();
  Value(verb, "--contenders", "LIST", "who is raced, separated by commas [baselines]", &command->contenders,
        ReadContenders);
  Value(verb, "--modes", "LIST", "device_cold, offline, server, device, host, energy, chains of both [the first three]",
        &command->clocks, ReadClocks);
  Value(verb, "--protocol", "short|long", "how carefully times are taken [short]", &command->protocol,
        ReadThoroughProtocol);
  Value(verb, "--layouts", "nn,tn", "of plans and files where no layout is named; also col-row, col-col [nn,tn]",
        &command->layouts, ReadLayouts);
  AddType(verb, &command->type);
  AddAccumulation(verb, &command->accumulation);
  AddConstantB(verb, &command->constant_b);
  Value(verb, "--name", "NAME", "campaign; the same name resumes [from device, protocol, modes, baselines, type]",
        &command->name, ReadName);
  Value(verb, "-o,--output", "FILE.gsr", "write the run's trials there, also at the limit", &command->output, ReadPath);
  AddLimit(verb, &command->limit_seconds, "stop in time; the same command goes on");
  AddDevice(verb, &command->device);
  AddSeed(verb, &command->seed);
  AddArchive(verb, &command->archive);
  AddJson(verb, &command->json);
  verb->AddFooter(
      "Contenders: baselines (lt_auto, lt_heuristic and cublas), any of these or torch, lt_exhaustive by name,\n"
      "also lt_auto_nn or lt_auto_tn alone; so:PATH; plan:TEXT; plans:FILE; file:X.cu; best, the fastest recorded\n"
      "plan of each shape, or best:RECORDS; standalone and flat, the files that plan emit writes of each plan. Then\n"
      "'gemmsmith report --campaign NAME' prints the tables.\n"
      "Example: gemmsmith bench --shapes paper1000/tiny --contenders best,baselines,torch -o tiny.gsr");
}

void AddPromote(Grammar& grammar) {
  PromoteCommand* command = grammar.New<PromoteCommand>();
  Verb* verb = grammar.NewVerb(grammar.root(), "promote",
                               "measure winners again, and keep the better ones in a catalogue", command);
  Value(verb, "--shapes", "SET|FILE|SHAPE,...", "whose winners, in this order, or all [all]", &command->shapes,
        ReadShapeWords);
  verb->AddFlag("--both-layouts", "winners of nn challenge in tn too, and the other way round", &command->both_layouts);
  AddArchive(verb, &command->archive);
  Value(verb, "--catalogue", "FILE", "where they are kept [of this device, in the user's data folder]",
        &command->catalogue, ReadPath);
  Value(verb, "--record", "FILE.gsr", "write the trials of the races as record files too", &command->record, ReadPath);
  AddLimit(verb, &command->limit_seconds, "stop in time; the same command goes on");
  Value(verb, "--device", "WHERE", "auto, gpu:N, or all GPUs [auto]", &command->device, ReadDeviceChoice);
  AddJson(verb, &command->json);
}

}  // namespace gemmsmith
