// The grammar of verbs that look at catalogues, and of those that need no GPU to change one.
#include "cli/grammar.h"

namespace gemmsmith {

void AddCatalogueVerbs(Grammar& grammar) {
  Verb* catalogue =
      grammar.root()->AddVerb("catalogue", "the kernels that won: show, find, compare, settle, prove, build, ...");
  catalogue->NeedOneVerb();

  CatalogueShowCommand* show_command = grammar.New<CatalogueShowCommand>();
  Verb* show = grammar.NewVerb(catalogue, "show", "what is in a catalogue, by class", show_command);
  Value(show, "FILE", "", "the catalogue", &show_command->catalogue, ReadPath).Required();
  AddJson(show, &show_command->json);

  CatalogueFindCommand* find_command = grammar.New<CatalogueFindCommand>();
  Verb* find = grammar.NewGemmVerb(catalogue, "find", "which kernel a program is given for a problem", find_command);
  Value(find, "FILE", "", "the catalogue", &find_command->catalogue, ReadPath).Required();
  AddGemm(find, &find_command->gemm);
  AddJson(find, &find_command->json);

  CatalogueCompareCommand* compare_command = grammar.New<CatalogueCompareCommand>();
  Verb* compare =
      grammar.NewVerb(catalogue, "compare", "its entries beside what was measured of them since", compare_command);
  Value(compare, "CATALOGUE", "", "the catalogue", &compare_command->catalogue, ReadPath).Required();
  AddMeasurements(compare, &compare_command->selection);
  Value(compare, "--job", "FILE", "instead: what its entries bring to the calls that run --record counted",
        &compare_command->job, ReadPath);
  Value(compare, "--steps", "N", "with --job: the steps that were recorded, for seconds a step [1]",
        &compare_command->steps, ReadCount);
  AddJson(compare, &compare_command->json);

  CatalogueSettleCommand* settle_command = grammar.New<CatalogueSettleCommand>();
  Verb* settle =
      grammar.NewVerb(catalogue, "settle", "decide on its entries by recorded races; needs no GPU", settle_command);
  Value(settle, "CATALOGUE", "", "the catalogue", &settle_command->catalogue, ReadPath).Required();
  AddMeasurements(settle, &settle_command->selection);
  AddJson(settle, &settle_command->json);

  CatalogueProveCommand* prove_command = grammar.New<CatalogueProveCommand>();
  Verb* prove = grammar.NewVerb(catalogue, "prove", "mark what was certified elsewhere; needs no GPU", prove_command);
  Value(prove, "CATALOGUE", "", "the catalogue", &prove_command->catalogue, ReadPath).Required();
  AddSources(prove, &prove_command->journals, "journals of gemmsmith verify --catalogue, in their order").Required();
  AddJson(prove, &prove_command->json);

  CatalogueBuildCommand* build_command = grammar.New<CatalogueBuildCommand>();
  Verb* build = grammar.NewVerb(catalogue, "build", "compile its kernels into one file; needs no GPU", build_command);
  Value(build, "FILE", "", "the catalogue", &build_command->catalogue, ReadPath).Required();
  Value(build, "-o,--output", "FILE", "where they go", &build_command->output, ReadPath).Required();
  Value(build, "--general", "FILE", "plans that go along for shapes without entries: kernels/general.plans",
        &build_command->general, ReadPath);

  CatalogueGeneralCommand* general_command = grammar.New<CatalogueGeneralCommand>();
  Verb* general = grammar.NewVerb(catalogue, "general",
                                  "the few of its plans that serve every shape, without dimensions", general_command);
  Value(general, "FILE", "", "the catalogue", &general_command->catalogue, ReadPath).Required();
  Value(general, "--count", "N", "how many plans for each class of rows [4]", &general_command->count, ReadCount);
}

}  // namespace gemmsmith
