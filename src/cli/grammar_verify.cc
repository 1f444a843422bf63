// The grammar of verify, and of the judge's own test.
#include <fmt/format.h>

#include "cli/grammar.h"

namespace gemmsmith {

namespace {

int ListsOf(const VerifyCommand& command) {
  return int(command.winners) + int(!command.pairs.empty()) + int(!command.catalogue.empty());
}

Parsed CheckedVerify(const VerifyCommand& command) {
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
  if (command.memcheck && !IsPlan(*command.subject)) return wrong("--memcheck is for plans, not for sources");
  if (command.gemm.shape == Shape{}) return wrong("verify needs SHAPE; see 'gemmsmith verify --help'");
  const std::vector<std::string> reasons = WhyInvalid(command.gemm);
  if (!reasons.empty()) return wrong(reasons.front());
  return Command(command);
}

struct SelfTest {
  bool is_wanted = false;
  SelfTestCommand command;
};

SelfTest* AddSelfTest(Grammar& grammar, Verb* verb) {
  SelfTest* self_test = grammar.New<SelfTest>();
  SelfTestCommand* command = &self_test->command;
  verb->AddFlag("--self-test", "judge kernels with known faults, and honest ones", &self_test->is_wanted);
  AddMany(verb, "--cases", "DIR", "further cases; may be given often", &command->cases, ReadPath);
  Value(verb, "--only", "TEXT", "cases of this class, as in honest, or with this in their name", &command->only,
        ReadText);
  Value(verb, "--seeds", "N", "how many seeds each case is judged with [3]", &command->seeds, ReadCount);
  return self_test;
}

Parsed CheckedRecipe(const VerifyCommand& command, const Verb& verb) {
  const auto wrong = [](std::string text) { return NoCommand{kExitWrongUse, std::move(text)}; };
  if (!command.subject || IsPlan(*command.subject)) return wrong("--recipe is for a .cu source");
  if (command.gemm.shape == Shape{}) return wrong("verify --recipe needs SHAPE; see 'gemmsmith verify --help'");
  for (const char* option : {"--tests", "--memcheck", "--certify", "--pairs", "--winners", "--catalogue", "--again",
                             "--archive", "--journal", "--limit-seconds", "--seed", "--json"})
    if (verb.IsGiven(option)) return wrong(fmt::format("{} is not for --recipe", option));
  if (const std::vector<std::string> reasons = WhyInvalid(command.gemm); !reasons.empty())
    return wrong(reasons.front());
  Result<Device> device = ReadDevice(command.device == "auto" ? KnownDevices().front().key : command.device);
  if (!device.ok()) return wrong(device.status().message());
  return Command(RecipeCommand{std::get<FreeForm>(*command.subject), command.gemm, *std::move(device)});
}

}  // namespace

void AddVerify(Grammar& grammar) {
  VerifyCommand* command = grammar.New<VerifyCommand>();
  Verb* verb = grammar.NewVerb(grammar.root(), "verify", "put a plan or a .cu source to every test", command);
  AddSubject(verb, &command->subject);
  Value(verb, "SHAPE", "", "the problem's MxNxK, as in 256x512x4096", &command->gemm.shape, ParseShape);
  AddKind(verb, &command->gemm);
  Value(verb, "--tests", "LIST", "only these, as in binary,cancellation", &command->tests, ParseTestSet);
  verb->AddFlag("--memcheck", "run it under compute-sanitizer too", &command->memcheck);
  verb->AddFlag("--certify", "judge by the CPU's product of every element", &command->certify);
  bool* recipe = grammar.New<bool>();
  verb->AddFlag("--recipe", "print what a .cu source launches; --device names a GPU [h200]", recipe);
  Value(verb, "--pairs", "FILE", "certify a list: lines of PROBLEM | PLAN", &command->pairs, ReadPath);
  verb->AddFlag("--winners", "certify the fastest plan of each problem in the archive", &command->winners);
  Value(verb, "--catalogue", "FILE", "certify its entries, and write into it what was found", &command->catalogue,
        ReadPath);
  verb->AddFlag("--again", "of a catalogue also the entries that are proven as far already", &command->again);
  AddArchive(verb, &command->archive);
  Value(verb, "--journal", "FILE", "what of a list is done; it goes on there [beside the archive]", &command->journal,
        ReadPath);
  AddLimit(verb, &command->limit_seconds, "stop a list in time; the same command goes on");
  Value(verb, "--device", "WHERE", "auto, gpu:N, or all for lists and the self-test [auto]", &command->device,
        ReadDeviceChoice);
  AddSeed(verb, &command->seed);
  AddJson(verb, &command->json);
  verb->AddFooter(
      "Exit codes: 0 passed, 4 refused, 3 no GPU.\n"
      "Examples: gemmsmith verify \"direct tile_m=32 warps_k=8\" 256x512x4096 --memcheck\n"
      "          gemmsmith verify --recipe kernel.cu 256x512x4096\n"
      "          gemmsmith verify --winners --limit-seconds 600\n"
      "          gemmsmith verify --self-test --only numbers_");
  SelfTest* self_test = AddSelfTest(grammar, verb);
  grammar.OnceParsed(verb, [verb, command, recipe, self_test]() -> Parsed {
    for (const char* option : {"--cases", "--only", "--seeds"})
      if (!self_test->is_wanted && verb->IsGiven(option))
        return NoCommand{kExitWrongUse, fmt::format("{} is for --self-test", option)};
    if (*recipe && !self_test->is_wanted) return CheckedRecipe(*command, *verb);
    if (!self_test->is_wanted) return CheckedVerify(*command);
    if (command->subject || verb->IsGiven("SHAPE") || ListsOf(*command) > 0)
      return NoCommand{kExitWrongUse, "verify takes a PLAN, a list or --self-test, only one of them"};
    for (const char* option : {"--layout", "--type", "--accumulate", "--recipe", "--tests", "--certify", "--memcheck",
                               "--again", "--archive", "--journal", "--limit-seconds", "--seed"})
      if (verb->IsGiven(option)) return NoCommand{kExitWrongUse, fmt::format("{} is not for --self-test", option)};
    self_test->command.device = command->device, self_test->command.json = command->json;
    return Command(self_test->command);
  });
}

}  // namespace gemmsmith
