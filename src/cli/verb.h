// A verb of the command line: its words, its flags, and the verbs below it. verb.cc alone includes the parser, CLI11,
// which is slow to compile.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace gemmsmith {

// A word at its place (SHAPE), or the value of a flag (--seed N).
class Argument {
 public:
  explicit Argument(CLI::Option* option) : option_(option) {}

  Argument Required() const;
  Argument Repeatable() const;     // --policy A --policy B
  Argument MayLackValue() const;   // --live, or --live 8765
  Argument TakesAllWords() const;  // FILE...
  bool IsGiven() const;

 private:
  CLI::Option* option_;
};

struct ParsedWords;

class Verb {
 public:
  // Stores the word and returns an empty text, or returns the reason why the word is wrong.
  using Reader = std::function<std::string(const std::string& word)>;

  // The program itself: `name` stands in its usage, `version` answers --version.
  Verb(const std::string& name, const std::string& help, const std::string& version);
  Verb(const Verb&) = delete;
  Verb& operator=(const Verb&) = delete;
  ~Verb();

  // Inherits the footer that this verb has by now.
  Verb* AddVerb(const std::string& name, const std::string& help);
  Argument Add(const std::string& name, const std::string& label, const std::string& help, Reader read);
  void AddFlag(const std::string& name, const std::string& help, bool* is_given);
  void AddFlag(const std::string& name, const std::string& help, std::function<void()> once_given);
  void AddFooter(const std::string& text);
  void NeedOneVerb();
  void HideFromHelp();

  // `name` is an argument of this verb, as in "--seed" or "SHAPE".
  bool IsGiven(const std::string& name) const;
  bool Has(const std::string& name) const;
  // "plan check"; empty for the program itself.
  std::string Path() const;
  std::vector<std::string> VisibleVerbs() const;
  std::vector<std::string> LongFlags() const;  // "--seed"

  // Called on the program itself.
  ParsedWords Parse(int argc, const char* const* argv);

 private:
  explicit Verb(CLI::App* app);
  const Verb* InnermostGiven() const;

  std::unique_ptr<CLI::App> owned_;  // null but in the program itself
  CLI::App* app_;
  std::vector<std::unique_ptr<Verb>> verbs_;
};

struct ParsedWords {
  const Verb* verb = nullptr;        // the innermost that was named
  std::optional<std::string> text;   // where --help or --version asked for one
  std::optional<std::string> wrong;  // in the parser's words
  std::vector<std::string> extras;   // words that nothing took
};

}  // namespace gemmsmith
