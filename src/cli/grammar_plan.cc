// The grammar of verbs that look at plans.
#include "cli/grammar.h"

namespace gemmsmith {

void AddPlanVerbs(Grammar& grammar) {
  Verb* plan = grammar.root()->add_subcommand("plan", "look at plans without a GPU: check, list, emit, explain, facts");
  plan->require_subcommand(1);

  PlanCheckCommand* check_command = grammar.New<PlanCheckCommand>();
  Verb* check = grammar.NewGemmVerb(plan, "check", "every reason why a plan cannot run a problem", check_command);
  AddPlan(check, &check_command->plan);
  AddGemm(check, &check_command->gemm);
  AddKnownDevice(check, &check_command->device);
  AddJson(check, &check_command->json);

  PlanListCommand* list_command = grammar.New<PlanListCommand>();
  Verb* list = grammar.NewGemmVerb(plan, "list", "the legal plans a search chooses from", list_command);
  AddGemm(list, &list_command->gemm);
  AddKnownDevice(list, &list_command->device);
  Value(list, "--count", "N", "only the first N", &list_command->count, ReadCount);
  AddJson(list, &list_command->json);

  PlanEmitCommand* emit_command = grammar.New<PlanEmitCommand>();
  Verb* emit = grammar.NewGemmVerb(plan, "emit", "the plan as CUDA source", emit_command);
  AddPlan(emit, &emit_command->plan);
  AddGemm(emit, &emit_command->gemm);
  AddKnownDevice(emit, &emit_command->device);
  emit->add_flag("--standalone", emit_command->standalone, "one file that includes nothing of ours, with its launcher");
  Value(emit, "-o,--output", "FILE", "write there instead of standard output", &emit_command->output, ReadPath);

  PlanExplainCommand* explain_command = grammar.New<PlanExplainCommand>();
  Verb* explain = grammar.NewVerb(plan, "explain", "what a plan's parameters mean", explain_command);
  Value(explain, "PLAN", "", "a plan; without one, the families and all values", &explain_command->plan, ParsePlan);
  AddJson(explain, &explain_command->json);

  PlanFactsCommand* facts_command = grammar.New<PlanFactsCommand>();
  Verb* facts = grammar.NewGemmVerb(plan, "facts", "compile a plan and read its machine code", facts_command);
  AddPlan(facts, &facts_command->plan);
  AddGemm(facts, &facts_command->gemm);
  AddKnownDevice(facts, &facts_command->device);
  Value(facts, "--architecture", "SM", "instead of a device, as in sm_90a", &facts_command->device, ReadArchitecture);
  AddJson(facts, &facts_command->json);
}

}  // namespace gemmsmith
