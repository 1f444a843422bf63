#include "report/page.h"

#include <array>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "report/page_text.h"

namespace gemmsmith {
namespace {

// Within a script element: no text in it may end that element or begin a comment.
std::string ScriptJson(const nlohmann::ordered_json& json) {
  std::string safe;
  for (const char c : json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace))
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  return safe;
}

// `connections`: whom the browser lets the page ask.
std::string Page(std::string_view connections, std::string_view data) {
  const PageText& page = EmbeddedPage();
  const std::array<std::pair<std::string_view, std::string_view>, 5> parts = {{{"@CONNECTIONS@", connections},
                                                                               {"@STYLE@", page.style},
                                                                               {"@LIBRARY@", page.library},
                                                                               {"@DATA@", data},
                                                                               {"@SCRIPT@", page.script}}};
  std::string html;
  std::string_view rest = page.skeleton;
  for (const auto& [place, text] : parts) {
    const size_t at = rest.find(place);
    GEMMSMITH_CHECK(at != std::string_view::npos, "the page's skeleton has no {} where it belongs", place);
    html += rest.substr(0, at);
    html += text;
    rest.remove_prefix(at + place.size());
  }
  return html.append(rest);
}

}  // namespace

Result<PageContent> MakePageContent(std::string source, const std::vector<Trial>& trials,
                                    const SelectionOptions& options, const std::optional<std::string>& against) {
  ASSIGN_OR_RETURN(Selection selection, SelectRecords(trials, options));
  Result<Scoreboard> board = MakeScoreboard(trials, selection, against);
  if (!board.ok() && (against || board.status().code() != StatusCode::kNotFound)) return board.status();
  SearchHistories histories = HistoriesOf(trials, selection);
  Result<Patterns> patterns = FindPatterns(trials, selection);
  return PageContent{std::move(source), std::move(selection), std::move(board), std::move(histories),
                     std::move(patterns)};
}

std::string HtmlPage(const PageContent& content) { return Page("'none'", ScriptJson(PageData(content))); }

std::string LivePage() { return Page("'self'", "null"); }

}  // namespace gemmsmith
