#include "cli/wrong_words.h"

#include <fmt/format.h>

#include "cli/readers.h"

namespace gemmsmith {

namespace {

std::string Suggestion(const std::string& word, const std::vector<std::string>& known) {
  return DidYouMean(word, std::vector<std::string_view>(known.begin(), known.end()));
}

std::string ExplainVerb(const Verb& verb, const std::vector<std::string>& words) {
  const std::string path = verb.Path();
  const std::vector<std::string> verbs = verb.VisibleVerbs();
  if (words.empty()) {
    if (!path.empty()) return fmt::format("{} needs one of {}", path, fmt::join(verbs, ", "));
    return fmt::format("say what to do: {}; the main job is 'gemmsmith optimize 256x512x4096'", fmt::join(verbs, ", "));
  }
  if (path.empty() && ParseShape(words[0]).ok()) {
    return fmt::format("'{0}' is no verb; did you mean 'gemmsmith optimize {0}'?", words[0]);
  }
  return fmt::format("'{}' is no verb{}{}", words[0], path.empty() ? "" : " of " + path, Suggestion(words[0], verbs));
}

std::string ExplainExtras(const Verb& verb, const std::vector<std::string>& words) {
  const std::string word = words.front().substr(0, words.front().find('='));
  if (!word.starts_with("-")) {
    const std::string hint = verb.Has("PLAN") ? " (a plan goes in one pair of quotes)" : "";
    return fmt::format("{} takes no further word '{}'{}", verb.Path(), words.front(), hint);
  }
  return fmt::format("{} has no flag '{}'{}", verb.Path(), word, Suggestion(word, verb.LongFlags()));
}

}  // namespace

std::string ExplainWrongWords(const ParsedWords& words) {
  const Verb& verb = *words.verb;
  if (!verb.VisibleVerbs().empty()) return ExplainVerb(verb, words.extras);
  if (!words.extras.empty()) return ExplainExtras(verb, words.extras);
  const std::string& message = *words.wrong;
  if (const size_t required = message.find(" is required"); required != message.npos) {
    return fmt::format("{} needs {}; see 'gemmsmith {} --help'", verb.Path(), message.substr(0, required), verb.Path());
  }
  if (message.find(" missing") != message.npos) {
    return fmt::format("{} needs a value; see 'gemmsmith {} --help'", message.substr(0, message.find(':')),
                       verb.Path());
  }
  if (message.find("At Most 1") != message.npos) {
    return fmt::format("{} is given more than once", message.substr(0, message.find(':')));
  }
  // The parser writes "NAME: REASON"; a reason that quotes the word needs no name before it.
  for (const std::string prefix : {"SHAPE: ", "PLAN: ", "FILE: ", "AXIS: "}) {
    if (message.starts_with(prefix)) return message.substr(prefix.size());
  }
  return message;
}

}  // namespace gemmsmith
