// The report as one page for a browser: tables, figures and a page a shape in one file that loads nothing from
// elsewhere. docs/report.md documents what it shows and the data in it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/history.h"
#include "report/patterns.h"
#include "report/scoreboard.h"
#include "report/search_comparison.h"

namespace gemmsmith {

struct PageContent {
  std::string source;  // of the records, for people
  Selection selection;
  Result<Scoreboard> board;  // a failure says why nothing is compared; the page then shows times alone
  SearchHistories histories;
  Result<Patterns> patterns;  // a failure says why there are none
  // How soon searches find the fastest of what was recorded; by whoever has traces of them.
  std::optional<SearchComparison> comparison = std::nullopt;
};

// Nothing to compare (only ours, or libraries without the reference) makes a page of times; a reference that somebody
// asked for must be there. The trials must outlive the content.
Result<PageContent> MakePageContent(std::string source, const std::vector<Trial>& trials,
                                    const SelectionOptions& options, const std::optional<std::string>& against);

// What the page draws: numbers in columns, in the order of `shapes`.
nlohmann::ordered_json PageData(const PageContent& content);
std::string HtmlPage(const PageContent& content);
// The page without data: it asks the server that it came from for data.json and status.json, again and again
// (serve/live_report.h).
std::string LivePage();

}  // namespace gemmsmith
