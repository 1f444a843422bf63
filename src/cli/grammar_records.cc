// The grammar of verbs that read, write and add records.
#include "cli/grammar.h"

namespace gemmsmith {

namespace {

void AddPairs(Grammar& grammar, Verb* records) {
  RecordsPairsCommand* command = grammar.New<RecordsPairsCommand>();
  Verb* verb = grammar.NewVerb(records, "pairs", "what one axis is worth: plans that differ in nothing else", command);
  Value(verb, "AXIS", "", "a parameter of plans, as in tile_n or reduction", &command->options.axis, ReadPlanAxis)
      .Required();
  AddTrials(verb, &command->selection);
  Value(verb, "--by", "LIST", "told apart by class, shape, k, layout, tile, ... or other axes", &command->options.by,
        ReadPairGroups);
  Value(verb, "--over", "VALUE", "only pairs over this value of the axis", &command->options.over, ReadText);
  AddOnlyProtocol(verb, &command->options.protocol);
  Value(verb, "--clock", "NAME", "a clock of time, as in device_cold or device_cold_chained [device]",
        &command->options.clock, ReadTimeClock);
  AddFormat(verb, &command->format);
  verb->AddFooter("Example: gemmsmith records pairs finish data/h200/finish --over together --by schedule,tile");
}

void AddRecordsCompare(Grammar& grammar, Verb* records) {
  RecordsCompareCommand* command = grammar.New<RecordsCompareCommand>();
  Verb* verb =
      grammar.NewVerbOfNumberTypes(records, "compare", "the libraries' times beside those of another table", command);
  Value(verb, "OTHER", "", "a .csv of times, or another record", &command->other, ReadPath).Required();
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
  Value(verb, "--unit", "ns|us|ms", "of a .csv whose columns of times do not end in _ns, _us or _ms", &command->unit_ns,
        ReadUnitNs);
  AddFormat(verb, &command->format);
  verb->AddFooter(
      "A .csv has a column shape (256x512x4096), or m, n and k; then either one for each variant\n"
      "(cublas_nn_us), or variant and time_us, perhaps layout.\n"
      "Example: gemmsmith records compare theirs.csv data/h200/paper1000 --by power");
}

void AddMeasure(Grammar& grammar, Verb* records) {
  RecordsMeasureCommand* command = grammar.New<RecordsMeasureCommand>();
  Verb* verb = grammar.NewVerb(records, "measure", "judge every plan of a list on every shape of a list", command);
  grammar.OnceParsed(verb, [command]() -> Parsed {
    if (const std::optional<NoCommand> wrong = WrongNumberTypes(command->types, command->accumulation)) return *wrong;
    if (command->finalists > 0 && command->protocol != Protocol::kScreen)
      return NoCommand{kExitWrongUse, "--finalists judges again what was screened: it goes with --protocol screen"};
    return Command(*command);
  });
  Value(verb, "--shapes", "SET|FILE,...", "named sets and files of shapes, separated by commas", &command->shapes,
        ReadText)
      .Required();
  Value(verb, "--plans", "all|FILE", "the live search space, or a file with a plan a line", &command->plans, ReadText)
      .Required();
  Value(verb, "-o,--output", "FILE.gsr", "record to write, also at the limit", &command->output, ReadPath).Required();
  Value(verb, "--layouts", "nn,tn", "layouts; also col-row, col-col [nn,tn]", &command->layouts, ReadLayouts);
  Value(verb, "--types", "f16,bf16", "element types [f16]", &command->types, ReadTypes);
  AddAccumulation(verb, &command->accumulation);
  AddConstantB(verb, &command->constant_b);
  Value(verb, "--protocol", "screen|short", "how carefully times are taken [screen]", &command->protocol,
        ReadProtocolOfCells);
  verb->AddFlag("--offline-clock", "time single calls too", &command->offline_clock);
  verb->AddFlag("--counters", "read a profiler's counters of what passes too", &command->counters);
  AddLimit(verb, &command->limit_seconds, "stop in time and write what there is");
  Value(verb, "--finalists", "N", "judge each shape's fastest N again: short protocol, single calls too",
        &command->finalists, ReadCount);
  verb->AddFlag("--skip-recorded", "skip cells the archive has from this device", &command->skip_recorded);
  Value(verb, "--name", "NAME", "campaign; the same name resumes [measure]", &command->name, ReadName);
  AddDevice(verb, &command->device);
  AddSeed(verb, &command->seed);
  AddArchive(verb, &command->archive);
  AddJson(verb, &command->json);
}

}  // namespace

void AddRecordsVerbs(Grammar& grammar) {
  Verb* records =
      grammar.root()->AddVerb("records", "what was measured: list, stats, pairs, compare, export, measure, ...");
  records->NeedOneVerb();

  RecordsImportCommand* import_command = grammar.New<RecordsImportCommand>();
  Verb* import = grammar.NewVerb(records, "import", "add record files to the archive, each trial once", import_command);
  AddSources(import, &import_command->sources, "segments (.gsr), JSON lines (.jsonl), folders of segments").Required();
  AddArchive(import, &import_command->archive);
  AddJson(import, &import_command->json);

  RecordsExportCommand* export_command = grammar.New<RecordsExportCommand>();
  Verb* out = grammar.NewVerb(records, "export", "write trials to .gsr, .jsonl or .csv", export_command);
  AddSelection(out, &export_command->selection);
  Value(out, "-o,--output", "FILE", "its ending says the format", &export_command->output, ReadPath).Required();
  out->AddFlag("--without-samples", "keep statistics, drop single samples (.gsr)", &export_command->without_samples);
  out->AddFlag("--rounded", "coarser reals, of screenings and heats medians alone (.gsr)", &export_command->rounded);
  AddJson(out, &export_command->json);

  RecordsListCommand* list_command = grammar.New<RecordsListCommand>();
  Verb* list = grammar.NewVerb(records, "list", "the trials, newest first", list_command);
  AddSelection(list, &list_command->selection);
  Value(list, "--count", "N", "how many [20]", &list_command->count, ReadCount);
  AddJson(list, &list_command->json);

  RecordsStatsCommand* stats_command = grammar.New<RecordsStatsCommand>();
  Verb* stats = grammar.NewVerb(records, "stats", "how many of what, and which cells are missing", stats_command);
  AddSelection(stats, &stats_command->selection);
  AddJson(stats, &stats_command->json);

  AddPairs(grammar, records);
  AddRecordsCompare(grammar, records);
  AddMeasure(grammar, records);
}

}  // namespace gemmsmith
