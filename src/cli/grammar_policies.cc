// The grammar of train and compare: policies learn, and compete with searches.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/grammar.h"
#include "search/proposer.h"
#include "search/traces.h"

namespace gemmsmith {

namespace {

Parsed CheckedCompare(const Verb& verb, CompareCommand command) {
  const auto wrong = [](std::string text) { return NoCommand{kExitWrongUse, std::move(text)}; };
  for (const char* flag : {"--contenders", "--policy", "--experience", "--hold-out", "--shapes", "--layouts",
                           "--repeats", "--batch", "--seed", "--output"})
    if (!command.recompute && verb.IsGiven(flag)) return wrong(fmt::format("{} goes with --recompute", flag));
  if (command.recompute && !command.traces.empty())
    return wrong("compare scores FILE or makes traces anew with --recompute, not both");
  if (command.repeats > int(kMaxRepeats))
    return wrong(fmt::format("--repeats takes {} at most", CountText(kMaxRepeats)));
  if (verb.IsGiven("--hold-out") && !verb.IsGiven("--shapes")) command.shapes = "all";
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

}  // namespace

void AddTrain(Grammar& grammar) {
  TrainCommand* command = grammar.New<TrainCommand>();
  Verb* verb =
      grammar.NewVerb(grammar.root(), "train", "train a policy; needs libtorch (tools/torch_trainer)", command);
  AddSources(verb, &command->sources, "record files or folders; else the one that answers");
  Value(verb, "-o,--output", "DIR", "checkpoint, log and weights; the same command goes on there", &command->output,
        ReadPath)
      .Required();
  Value(verb, "--stage", "pretrain|imitate|rl", "on texts, on the best plans, by reward (GRPO) [pretrain]",
        &command->stage, ReadTrainingStage);
  Value(verb, "--from", "FILE", "of the later stages: weights to begin with [new ones]", &command->from, ReadPath);
  AddExperience(verb, &command->experience, "records of other shapes, for predictions; may be given often");
  Value(verb, "--without", "LIST", "leave out: contrast,counters,mask,analysis,prior [nothing]", &command->ablations,
        ParseAblations);
  Value(verb, "--hold-out", "RULE", "keep shapes out: sizes of m, n or k, offgrid, or standard", &command->held_out,
        ParseHeldOut);
  Value(verb, "--steps", "N", "[4000; imitate 2000; rl 300]", &command->steps, ReadCount);
  Value(verb, "--batch", "N", "documents a step [128]; of the later stages contexts [8]", &command->batch, ReadCount);
  Value(verb, "--learning-rate", "X", "at its peak [0.001; imitate 0.0003; rl 0.00003]", &command->learning_rate,
        ReadLearningRate);
  Value(verb, "--on", "DEVICE", "what trains: cpu, cuda (every GPU), cuda:N, cuda:0,cuda:1 [cpu]", &command->device,
        ReadTrainingDevice);
  verb->AddFlag("--live", "with --stage rl: measure on a GPU what the policy draws", &command->live);
  AddDevice(verb, &command->live_device);
  AddArchive(verb, &command->archive);
  AddSeed(verb, &command->seed);
  AddJson(verb, &command->json);
  verb->AddFooter(
      "Examples: gemmsmith train --output policy --hold-out standard --on cuda:0\n"
      "          gemmsmith train --stage rl --from policy/weights.safetensors --output policy_rl");
  grammar.OnceParsed(verb, [command]() -> Parsed {
    const bool by_reward = command->stage == TrainingStage::kRl;
    if (!command->from.empty() && command->stage == TrainingStage::kPretrain)
      return NoCommand{kExitWrongUse, "--from goes with --stage imitate or rl"};
    if (!command->experience.empty() && (command->stage == TrainingStage::kPretrain || command->ablations.prior))
      return NoCommand{kExitWrongUse, "--experience goes with --stage imitate or rl, and with the prior"};
    if (command->live && !by_reward) return NoCommand{kExitWrongUse, "--live goes with --stage rl"};
    if (command->ablations.mask && !by_reward)
      return NoCommand{kExitWrongUse, "--without mask goes with --stage rl: the other stages draw no plans"};
    return Command(*command);
  });
}

void AddCompare(Grammar& grammar) {
  CompareCommand* command = grammar.New<CompareCommand>();
  Verb* verb = grammar.NewVerb(grammar.root(), "compare",
                               "how soon searches and policies find the best recorded kernel", command);
  AddSources(verb, &command->traces, "traces of proposals (.gtr) to score; else the shipped ones");
  AddMany(verb, "--records", "FILE", "record files or folders; may be given often [the one that answers]",
          &command->records, ReadPath);
  verb->AddFlag("--recompute", "let the contenders propose anew; the rest is for this", &command->recompute);
  Value(verb, "--contenders", "LIST", "searches and policies by name [all there are]", &command->contenders, ReadNames);
  AddExperience(verb, &command->experience, "what policies know of other shapes, or none [what is not held out]");
  AddMany(verb, "--policy", "NAME=WEIGHTS", "a policy's weights; may be given often [the shipped one]",
          &command->policies, ReadPolicyWeights);
  Value(verb, "--hold-out", "RULE", "what training kept out: sizes, offgrid, or standard [standard]",
        &command->held_out, ParseHeldOut);
  Value(verb, "--shapes", "SET|FILE|SHAPE,...", "of what was kept out only these, or all [heldout]", &command->shapes,
        ReadShapeWords);
  Value(verb, "--layouts", "nn,tn", "layouts; also col-row, col-col [nn,tn]", &command->layouts, ReadLayouts);
  Value(verb, "--repeats", "N", "each with other random numbers [20]", &command->repeats, ReadCount);
  Value(verb, "--batch", "N", "plans under way at once, at most [16]", &command->batch, ReadCount);
  AddSeed(verb, &command->seed);
  Value(verb, "-o,--output", "FILE.gtr", "keep the traces there", &command->output, ReadPath);
  AddJson(verb, &command->json);
  grammar.OnceParsed(verb, [verb, command] { return CheckedCompare(*verb, *command); });
  verb->AddFooter(
      "Measures nothing: contenders draw from what was recorded, 64 plans of each problem.\n"
      "Example: gemmsmith compare --recompute --policy policy=policy_rl/weights.safetensors -o policy.gtr");
}

}  // namespace gemmsmith
