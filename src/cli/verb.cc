#include "cli/verb.h"

#include <CLI/CLI.hpp>

namespace gemmsmith {

namespace {

constexpr int kAnyNumberOfWords = 1 << 20;

}  // namespace

Argument Argument::Required() const {
  option_->required();
  return *this;
}
Argument Argument::Repeatable() const {
  option_->take_all();
  return *this;
}
Argument Argument::MayLackValue() const {
  option_->expected(0, 1);
  return *this;
}
Argument Argument::TakesAllWords() const {
  option_->expected(1, kAnyNumberOfWords)->allow_extra_args();
  return *this;
}
bool Argument::IsGiven() const { return option_->count() > 0; }

Verb::Verb(const std::string& name, const std::string& help, const std::string& version)
    : owned_(std::make_unique<CLI::App>(help, name)), app_(owned_.get()) {
  app_->set_help_flag("-h,--help", "this text");
  app_->set_version_flag("--version", version, "the version");
  app_->get_formatter()->label("REQUIRED", "");
  app_->get_formatter()->label("SUBCOMMAND", "VERB");
  app_->get_formatter()->label("Subcommands", "Verbs");
  app_->get_formatter()->column_width(31);
}

Verb::Verb(CLI::App* app) : app_(app) {}
Verb::~Verb() = default;

Verb* Verb::AddVerb(const std::string& name, const std::string& help) {
  return verbs_.emplace_back(new Verb(app_->add_subcommand(name, help))).get();
}

Argument Verb::Add(const std::string& name, const std::string& label, const std::string& help, Reader read) {
  const CLI::callback_t accept = [](const CLI::results_t&) { return true; };  // the validator has stored the word
  const CLI::Validator store([read = std::move(read)](std::string& word) { return read(word); }, "");
  return Argument(app_->add_option(name, accept, help)->type_name(label)->check(store));
}

void Verb::AddFlag(const std::string& name, const std::string& help, bool* is_given) {
  app_->add_flag(name, *is_given, help);
}
void Verb::AddFlag(const std::string& name, const std::string& help, std::function<void()> once_given) {
  app_->add_flag(
      name, [once_given = std::move(once_given)](int64_t) { once_given(); }, help);
}
void Verb::AddFooter(const std::string& text) { app_->footer(text); }
void Verb::NeedOneVerb() { app_->require_subcommand(1); }
void Verb::HideFromHelp() { app_->group(""); }

bool Verb::IsGiven(const std::string& name) const { return app_->count(name) > 0; }
bool Verb::Has(const std::string& name) const { return app_->get_option_no_throw(name) != nullptr; }

std::string Verb::Path() const {
  std::string path;
  for (const CLI::App* app = app_; app->get_parent() != nullptr; app = app->get_parent()) {
    path = path.empty() ? app->get_name() : app->get_name() + " " + path;
  }
  return path;
}

std::vector<std::string> Verb::VisibleVerbs() const {
  std::vector<std::string> names;
  for (const std::unique_ptr<Verb>& verb : verbs_) {
    if (!verb->app_->get_group().empty()) names.push_back(verb->app_->get_name());
  }
  return names;
}

std::vector<std::string> Verb::LongFlags() const {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app_->get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

const Verb* Verb::InnermostGiven() const {
  for (const std::unique_ptr<Verb>& verb : verbs_) {
    if (verb->app_->parsed()) return verb->InnermostGiven();
  }
  return this;
}

ParsedWords Verb::Parse(int argc, const char* const* argv) {
  ParsedWords words;
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    words.text = app_->help();
  } catch (const CLI::CallForVersion&) {
    words.text = app_->version() + "\n";
  } catch (const CLI::ParseError& error) {
    words.wrong = error.what();
    words.extras = app_->remaining(true);
  }
  words.verb = InnermostGiven();
  return words;
}

}  // namespace gemmsmith
