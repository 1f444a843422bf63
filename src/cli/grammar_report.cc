// The grammar of report.
#include <fmt/format.h>

#include "cli/grammar.h"

namespace gemmsmith {

void AddReport(Grammar& grammar) {
  ReportCommand* command = grammar.New<ReportCommand>();
  Verb* verb = grammar.NewVerb(grammar.root(), "report",
                               "tables and figures from records: speed-ups over every baseline", command);
  AddMeasurements(verb, &command->selection);
  Value(verb, "--shapes", "SET|FILE|SHAPE,...", "only these, or all [paper1000]", &command->shapes, ReadShapeWords);
  AddType(verb, &command->type);
  AddAccumulation(verb, &command->accumulation);
  AddOneProtocol(verb, &command->protocol);
  AddOneDevice(verb, &command->device_key);
  Value(verb, "--against", "NAME", "every contender against this one instead of ours against all", &command->against,
        ReadText);
  AddFormat(verb, &command->format);
  verb->AddFlag("--summary", "the scoreboard, in at most a screen", &command->summary);
  verb->AddFlag("--figure", "speed-up by log2(m n k), as bars", &command->figure);
  verb->AddFlag("--patterns", "what the fastest plans have in common, instead of speed-ups", &command->patterns);
  verb->AddFlag("--models", "steps of public models on device_cold, by group and model", &command->models);
  Value(verb, "--model", "NAME", "the same of one model, by phase", &command->model, ReadModelName);
  Value(verb, "-o,--output", "FILE", "write there instead of standard output", &command->output, ReadPath);
  Value(verb, "--html", "FILE", "write one page for a browser: all tables and figures, and a page a shape",
        &command->html, ReadPath);
  const Argument live =
      Value(verb, "--live", "[PORT]",
            fmt::format("follow a run: the same page at http://127.0.0.1:PORT/ [{}; 0: any free one]", kLivePort),
            &command->live_port, ReadLivePort)
          .MayLackValue();
  grammar.OnceParsed(verb, [command, live, verb]() -> Parsed {
    command->models = command->models || !command->model.empty();
    if (live.IsGiven() && !command->live_port) command->live_port = kLivePort;
    if (const std::optional<NoCommand> wrong = WrongNumberTypes({command->type}, command->accumulation)) return *wrong;
    if (command->summary + command->figure + command->patterns + command->models > 1)
      return NoCommand{kExitWrongUse, "--summary, --figure, --patterns and --models exclude each other"};
    if (command->models && (command->against || verb->IsGiven("--shapes")))
      return NoCommand{kExitWrongUse,
                       "--models has shapes and references of its own: leave out --shapes and --against"};
    if (command->patterns && command->against)
      return NoCommand{kExitWrongUse, "--patterns compares plans of ours with each other: leave out --against"};
    const bool is_text = command->summary || command->figure || command->patterns || command->models ||
                         command->format != ReportFormat::kText;
    if (!command->html.empty() && (is_text || !command->output.empty()))
      return NoCommand{kExitWrongUse,
                       "--html writes a page that holds everything: leave out --format, --json, "
                       "--summary, --figure, --patterns, --models and --output"};
    if (command->live_port && (is_text || !command->output.empty() || !command->html.empty()))
      return NoCommand{kExitWrongUse,
                       "--live serves a page that holds everything: leave out --html, --format, --json, "
                       "--summary, --figure, --patterns, --models and --output"};
    if (command->live_port && !command->selection.sources.empty())
      return NoCommand{kExitWrongUse,
                       "--live follows an archive, which --archive FILE names; record files do not change"};
    return Command(*command);
  });
  verb->AddFooter(
      "Reads records and never measures. Without FILE it reads the archive or, where nothing was measured, the "
      "records\n"
      "that came with the program. Examples: gemmsmith report --summary\n"
      "                                       gemmsmith report data/h200/baselines --format markdown\n"
      "                                       gemmsmith report --models FILE.gsr\n"
      "                                       gemmsmith report --html report.html\n"
      "                                       gemmsmith report --live --shapes paper1000/tiny");
}

}  // namespace gemmsmith
