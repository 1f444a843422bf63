#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "archive/json_text.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "cli/exit.h"
#include "cli/models_text.h"
#include "cli/outputs.h"
#include "cli/patterns_text.h"
#include "cli/readers.h"
#include "cli/run.h"
#include "cli/selected_trials.h"
#include "cli/sheet_text.h"
#include "cli/words.h"
#include "report/model_tables.h"
#include "report/page.h"
#include "report/report_json.h"
#include "report/tables.h"
#include "serve/http_server.h"
#include "serve/live_report.h"
#include "workflow/instrument.h"
#include "workflow/recordings.h"
#include "workflow/shipped_data.h"

namespace gemmsmith {

namespace {

constexpr int kBarColumns = 48;

// From 0 to the largest ratio; the place of 1 is marked in every line.
std::string Bar(double ratio, double largest, const Terminal& terminal) {
  const auto columns = [&](double value) { return int(value / largest * kBarColumns + 0.5); };
  const int length = columns(ratio), one = columns(1);
  std::string bar;
  for (int i = 0; i < std::max(length, one + 1); ++i) {
    const std::string_view full = terminal.unicode ? "█" : "#", mark = terminal.unicode ? "│" : "|";
    bar += i == one ? mark : i < length ? full : " ";
  }
  return bar;
}

std::string FigureText(const Scoreboard& board, const Terminal& terminal) {
  const std::string who = board.of_ours ? "ours over " + board.headline : board.headline + " over " + board.against;
  std::string text;
  for (const ModeTable& table : board.modes) {
    const std::vector<ShapeSpeedUp> speed_ups = board.Headline(table.mode);
    if (speed_ups.empty()) continue;
    std::map<int, Statistics> buckets;
    double largest = 1;
    for (const auto& [bucket, members] : ByBucket(speed_ups)) {
      buckets[bucket] = StatisticsOf(members);
      largest = std::max(largest, buckets[bucket].mean);
    }
    text +=
        fmt::format("\n  Figure 3, {}: mean ratio of {} by log2(m n k); the mark stands at 1\n", Name(table.mode), who);
    for (const auto& [bucket, statistics] : buckets)
      text += fmt::format("  {:>2} to {:<2} {:>5} {:>7.3f}x  {}\n", bucket, bucket + kBucketWidth,
                          CountText(statistics.shapes), statistics.mean, Bar(statistics.mean, largest, terminal));
  }
  return text;
}

std::vector<Sheet> SheetsOf(const ReportCommand& command, const Scoreboard& board) {
  if (command.figure) return {BucketTable(board)};
  if (command.summary) return {SummaryTable(board), ClassTable(board)};
  std::vector<Sheet> sheets;
  const auto add = [&](const std::vector<Sheet>& more) { sheets.insert(sheets.end(), more.begin(), more.end()); };
  for (const ModeTable& table : board.modes) add(SheetsOf(board, table));
  add(SheetsOf(board.selection));
  add(SheetsOfAllModes(board));
  return sheets;
}

std::string PrintText(const ReportCommand& command, const Scoreboard& board, const std::string& source,
                      const Terminal& terminal) {
  std::string text = Tinted(source, Tint::kBold, terminal) + "\n";
  for (const std::string& line : HeaderLines(board)) text += line + "\n";
  if (command.figure) return text + FigureText(board, terminal);
  for (const Sheet& sheet : SheetsOf(command, board)) text += "\n" + TextOf(sheet, terminal);
  if (board.floor_ratio_mean)
    text += fmt::format("\n  mean device time over the floor: {:.2f}, of the {} {:.2f}\n", *board.floor_ratio_mean,
                        board.of_ours ? "baseline" : "reference", *board.reference_floor_ratio_mean);
  if (const Dispatch& dispatch = board.dispatch; !dispatch.products.empty())
    text += fmt::format(
        "  the faster of ours and AutoTuning's in one race, in a later one (same layout, device): {}, ours for {}; "
        "lowest {:.3f}x, {} clearly below 1, geo. mean {:.3f}x; {} without a later race\n",
        Plural(int64_t(dispatch.products.size()), "product"), CountText(dispatch.ToOurs()), dispatch.Min(),
        CountText(dispatch.ClearLosses()), dispatch.Geomean(), CountText(dispatch.without_later_race));
  return text;
}

std::string PrintMarkdown(const ReportCommand& command, const Scoreboard& board) {
  std::string text;
  for (const std::string& line : HeaderLines(board)) text += line + (line == HeaderLines(board).back() ? ".\n" : "; ");
  for (const Sheet& sheet : SheetsOf(command, board)) text += "\n" + Markdown(sheet);
  return text;
}

Terminal TerminalOf(const ReportCommand& command) {
  return command.output.empty() ? DescribeTerminal(STDOUT_FILENO) : Terminal();
}

std::string Print(const ReportCommand& command, const Scoreboard& board, const std::string& source) {
  switch (command.format) {
    case ReportFormat::kJson:
      return PrintJson(ReportJson(board, source));
    case ReportFormat::kCsv:
      return ReportCsv(board);
    case ReportFormat::kMarkdown:
      return PrintMarkdown(command, board);
    case ReportFormat::kText:
      break;
  }
  return PrintText(command, board, source, TerminalOf(command));
}

Result<SelectionOptions> OptionsFor(const ReportCommand& command) {
  SelectionOptions options{.number_types = {command.type, command.accumulation},
                           .protocol = command.protocol,
                           .device_key = command.device_key};
  if (command.shapes == "all") return options;
  ASSIGN_OR_RETURN(options.shapes, LoadShapeLists(command.shapes));
  return options;
}

// How soon searches find the fastest of the recorded space, as `gemmsmith compare` has it; nothing where no traces
// came.
Result<std::optional<SearchComparison>> ShippedComparison() {
  const std::vector<std::filesystem::path> files = ShippedTraceFiles();
  if (files.empty()) return std::optional<SearchComparison>();
  ASSIGN_OR_RETURN(const Traces traces, ReadTraces(files));
  ASSIGN_OR_RETURN(const std::shared_ptr<const Recording> recording, LoadRecording(std::nullopt));
  ASSIGN_OR_RETURN(SearchComparison comparison, CompareSearches(traces, *recording));
  return std::optional(std::move(comparison));
}

Result<int> WritePage(const ReportCommand& command, const SelectedTrials& selected, const SelectionOptions& options) {
  Result<PageContent> content = MakePageContent(selected.source, selected.trials, options, command.against);
  if (!content.ok()) return WithContext(content.status(), selected.source);
  if (selected.shipped) {
    ASSIGN_OR_RETURN(content->comparison, ShippedComparison());
  }
  const std::string page = HtmlPage(*content);
  RETURN_IF_ERROR(WriteFileAtomic(command.html, page));
  RETURN_IF_ERROR(
      WriteOut(fmt::format("wrote {}: {}, {:.1f} MB; open it in a browser\n", command.html.string(),
                           Plural(int64_t(content->selection.shapes.size()), "shape"), double(page.size()) / 1e6)));
  return kExitDone;
}

Status Serve(HttpServer& server, LiveReport& report) {
  std::atomic<bool> is_over = false;
  std::thread follower([&] { report.Follow([&] { return is_over.load(); }); });
  const Status served =
      server.Serve([&](const HttpRequest& request) { return report.Answer(request); }, InterruptArrived);
  is_over = true;
  follower.join();
  return served;
}

// Until an interrupt. What only an archive that is still to be written lacks is waited for; all else fails here.
Result<int> ServePage(const ReportCommand& command, const SelectionOptions& options) {
  const std::filesystem::path archive =
      command.selection.archive.empty() ? DefaultArchivePath() : command.selection.archive;
  LiveReport report(
      {.archive = archive, .campaign = command.selection.campaign, .selection = options, .against = command.against});
  const Result<std::unique_ptr<HttpServer>> server = HttpServer::Listen(*command.live_port);
  if (!server.ok()) return WithContext(server.status(), "--live");
  WatchForInterrupts();
  const Status first = report.Refresh();
  if (!first.ok() && first.code() != StatusCode::kNotFound) return first;
  RETURN_IF_ERROR(
      WriteOut(fmt::format("http://127.0.0.1:{}/ follows {}; Ctrl-C ends it\n", (*server)->port(), archive.string())));
  if (!first.ok()) WriteNote(fmt::format("waiting: {}", first.message()));
  RETURN_IF_ERROR(Serve(**server, report));
  return kExitInterrupted;
}

Result<std::string> ModelsTextFor(const ReportCommand& command, const SelectedTrials& selected,
                                  const SelectionOptions& options) {
  const Result<ModelReport> report = MakeModelReport(selected.trials, options);
  if (!report.ok()) return WithContext(report.status(), selected.source);
  return PrintModels(*report, command.model, selected.source, command.format, TerminalOf(command));
}

// Products of public models, whose operands change: what the summary of the shipped records begins with.
Result<std::string> ShippedProducts(const ReportCommand& command) {
  ASSIGN_OR_RETURN(const SelectedTrials models, SelectShipped(command.device_key, ShippedTrials::kModels));
  if (models.trials.empty()) return std::string();
  const Result<ModelReport> report = MakeModelReport(models.trials, {});
  if (!report.ok()) return WithContext(report.status(), models.source);
  const Sheet products = SheetsOf(*report).front();
  const bool is_markdown = command.format == ReportFormat::kMarkdown;
  return fmt::format("{}{}decode: m up to 64, middle: to 512; operands change from call to call (report --models)\n\n",
                     is_markdown ? Markdown(products) + "\n" : TextOf(products, TerminalOf(command)),
                     is_markdown ? "" : "  ");
}

Result<std::string> TextFor(const ReportCommand& command, const SelectedTrials& selected,
                            const SelectionOptions& options) {
  if (command.models) return ModelsTextFor(command, selected, options);
  const Result<Selection> selection = SelectRecords(selected.trials, options);
  if (!selection.ok()) return WithContext(selection.status(), selected.source);
  if (command.patterns) {
    const Result<Patterns> patterns = FindPatterns(selected.trials, *selection);
    if (!patterns.ok()) return WithContext(patterns.status(), selected.source);
    return PrintPatterns(*patterns, selected.source, command.format, TerminalOf(command));
  }
  const Result<Scoreboard> board = MakeScoreboard(selected.trials, *selection, command.against);
  if (!board.ok()) return WithContext(board.status(), selected.source);
  const std::string text = Print(command, *board, selected.source);
  const bool is_read = command.format == ReportFormat::kText || command.format == ReportFormat::kMarkdown;
  if (!command.summary || !selected.shipped || !is_read) return text;
  ASSIGN_OR_RETURN(const std::string products, ShippedProducts(command));
  return products + text;
}

}  // namespace

Result<int> Run(const ReportCommand& command) {
  for (const std::filesystem::path& output : {command.html, command.output}) RETURN_IF_ERROR(CheckOutput(output));
  ASSIGN_OR_RETURN(const SelectionOptions options, OptionsFor(command));
  if (command.live_port) return ServePage(command, options);
  ASSIGN_OR_RETURN(const SelectedTrials selected,
                   SelectMeasurements(command.selection, command.device_key,
                                      command.models ? ShippedTrials::kModels : ShippedTrials::kSearches));
  if (!command.html.empty()) return WritePage(command, selected, options);
  ASSIGN_OR_RETURN(const std::string text, TextFor(command, selected, options));
  if (command.output.empty())
    RETURN_IF_ERROR(WriteOut(text));
  else
    RETURN_IF_ERROR(WriteFileAtomic(command.output, text));
  return kExitDone;
}

}  // namespace gemmsmith
