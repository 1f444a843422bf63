#include "cli/wrong_words.h"

#include <fmt/format.h>

#include "cli/readers.h"

namespace gemmsmith {

namespace {

// "plan check" of the innermost verb, empty for the root.
std::string Path(CLI::App* verb) {
  if (verb->get_parent() == nullptr) return "";
  const std::string above = Path(verb->get_parent());
  return above.empty() ? verb->get_name() : above + " " + verb->get_name();
}

std::vector<std::string> VisibleVerbs(CLI::App* verb) {
  std::vector<std::string> names;
  for (const CLI::App* sub :
       verb->get_subcommands([](const CLI::App* candidate) { return !candidate->get_group().empty(); })) {
    names.push_back(sub->get_name());
  }
  return names;
}

std::string Suggestion(const std::string& word, const std::vector<std::string>& known) {
  return DidYouMean(word, std::vector<std::string_view>(known.begin(), known.end()));
}

std::string ExplainVerb(CLI::App* verb, const std::vector<std::string>& words) {
  const std::string path = Path(verb);
  const std::vector<std::string> verbs = VisibleVerbs(verb);
  if (words.empty()) {
    if (!path.empty()) return fmt::format("{} needs one of {}", path, fmt::join(verbs, ", "));
    return fmt::format("say what to do: {}; the main job is 'gemmsmith optimize 256x512x4096'", fmt::join(verbs, ", "));
  }
  if (path.empty() && ParseShape(words[0]).ok()) {
    return fmt::format("'{0}' is no verb; did you mean 'gemmsmith optimize {0}'?", words[0]);
  }
  return fmt::format("'{}' is no verb{}{}", words[0], path.empty() ? "" : " of " + path, Suggestion(words[0], verbs));
}

std::string ExplainExtras(CLI::App* verb, const std::vector<std::string>& words) {
  const std::string word = words.front().substr(0, words.front().find('='));
  if (!word.starts_with("-")) {
    const std::string hint = verb->get_option_no_throw("PLAN") != nullptr ? " (a plan goes in one pair of quotes)" : "";
    return fmt::format("{} takes no further word '{}'{}", Path(verb), words.front(), hint);
  }
  std::vector<std::string> flags;
  for (const CLI::Option* option : verb->get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return fmt::format("{} has no flag '{}'{}", Path(verb), word, Suggestion(word, flags));
}

}  // namespace

CLI::App* InnermostVerb(CLI::App& root) {
  CLI::App* verb = &root;
  while (!verb->get_subcommands().empty()) verb = verb->get_subcommands().front();
  return verb;
}

std::string ExplainWrongWords(const CLI::ParseError& error, CLI::App& root) {
  CLI::App* const verb = InnermostVerb(root);
  const std::vector<std::string> extras = root.remaining(true);
  if (!VisibleVerbs(verb).empty()) {
    return ExplainVerb(verb, extras);
  }
  if (!extras.empty()) return ExplainExtras(verb, extras);
  std::string message = error.what();
  if (const size_t required = message.find(" is required"); required != message.npos) {
    return fmt::format("{} needs {}; see 'gemmsmith {} --help'", Path(verb), message.substr(0, required), Path(verb));
  }
  if (message.find(" missing") != message.npos) {
    return fmt::format("{} needs a value; see 'gemmsmith {} --help'", message.substr(0, message.find(':')), Path(verb));
  }
  if (message.find("At Most 1") != message.npos) {
    return fmt::format("{} is given more than once", message.substr(0, message.find(':')));
  }
  // CLI11 writes "NAME: REASON"; a reason that quotes the word needs no name before it.
  for (const std::string prefix : {"SHAPE: ", "PLAN: ", "FILE: ", "AXIS: "}) {
    if (message.starts_with(prefix)) return message.substr(prefix.size());
  }
  return message;
}

}  // namespace gemmsmith
