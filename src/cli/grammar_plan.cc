// The grammar of verbs that look at plans.
#include "cli/grammar.h"

namespace gemmsmith {

namespace {

// A verb that looks at one plan on one problem.
template <class C>
Verb* NewVerbOfAPlan(Grammar& grammar, Verb* plan, const std::string& name, const std::string& help, C* command) {
  Verb* verb = grammar.NewGemmVerb(plan, name, help, command);
  AddPlan(verb, &command->plan);
  AddGemm(verb, &command->gemm);
  AddKnownDevice(verb, &command->device);
  return verb;
}

}  // namespace

void AddPlanVerbs(Grammar& grammar) {
  Verb* plan = grammar.root()->AddVerb("plan", "look at plans without a GPU: check, list, emit, explain, facts");
  plan->NeedOneVerb();

  PlanCheckCommand* check_command = grammar.New<PlanCheckCommand>();
  Verb* check = NewVerbOfAPlan(grammar, plan, "check", "every reason why a plan cannot run a problem", check_command);
  AddJson(check, &check_command->json);

  PlanListCommand* list_command = grammar.New<PlanListCommand>();
  Verb* list = grammar.NewGemmVerb(plan, "list", "the legal plans a search chooses from", list_command);
  AddGemm(list, &list_command->gemm);
  AddKnownDevice(list, &list_command->device);
  Value(list, "--count", "N", "only the first N", &list_command->count, ReadCount);
  AddJson(list, &list_command->json);

  PlanEmitCommand* emit_command = grammar.New<PlanEmitCommand>();
  Verb* emit = NewVerbOfAPlan(grammar, plan, "emit", "the plan as CUDA source", emit_command);
  emit->AddFlag("--standalone", "one file that includes nothing of ours, with its launcher", &emit_command->standalone);
  emit->AddFlag("--flat", "one readable kernel with its launcher, of 80 to 250 lines", &emit_command->flat);
  Value(emit, "--style", "N", "how a flat kernel is written: 0, the default, to 1023", &emit_command->style,
        ReadOrdinal);
  Value(emit, "-o,--output", "FILE", "write there instead of standard output", &emit_command->output, ReadPath);

  PlanExplainCommand* explain_command = grammar.New<PlanExplainCommand>();
  Verb* explain = grammar.NewVerb(plan, "explain", "what a plan's parameters mean", explain_command);
  Value(explain, "PLAN", "", "a plan; without one, the families and all values", &explain_command->plan, ParsePlan);
  AddJson(explain, &explain_command->json);

  PlanFactsCommand* facts_command = grammar.New<PlanFactsCommand>();
  Verb* facts = NewVerbOfAPlan(grammar, plan, "facts", "compile a plan and read its machine code", facts_command);
  Value(facts, "--architecture", "SM", "instead of a device, as in sm_90a", &facts_command->device, ReadArchitecture);
  AddJson(facts, &facts_command->json);
}

}  // namespace gemmsmith
