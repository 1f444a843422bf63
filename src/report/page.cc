#include "report/page.h"

#include <array>

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

}  // namespace

std::string HtmlPage(const PageContent& content) {
  const PageText& page = EmbeddedPage();
  const std::string data = ScriptJson(PageData(content));
  const std::array<std::pair<std::string_view, std::string_view>, 4> parts = {
      {{"@STYLE@", page.style}, {"@LIBRARY@", page.library}, {"@DATA@", data}, {"@SCRIPT@", page.script}}};
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

}  // namespace gemmsmith
