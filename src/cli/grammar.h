// The grammar of the command line. A verb is added with the command that its words fill, and with the function that
// checks the command once they are parsed. Then the verbs by subject, one file each (grammar_*.cc).
#pragma once

#include <algorithm>
#include <any>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/command.h"
#include "cli/exit.h"
#include "cli/options.h"

namespace gemmsmith {

using Parsed = std::variant<Command, NoCommand>;

// Neither our families nor the libraries accumulate products of bf16 in f16.
inline std::optional<NoCommand> WrongNumberTypes(const std::vector<ScalarType>& types, Accumulation accumulation) {
  const bool all_f16 =
      std::all_of(types.begin(), types.end(), [](ScalarType type) { return type == ScalarType::kF16; });
  if (accumulation == Accumulation::kF32 || all_f16) return std::nullopt;
  return NoCommand{kExitWrongUse, "--accumulate f16 goes with --type f16"};
}

class Grammar {
 public:
  Verb* root() { return &root_; }

  // A command that words fill; it lives as long as the grammar.
  template <class T>
  T* New() {
    return std::any_cast<T>(&filled_.emplace_back(std::in_place_type<T>));
  }

  template <class C>
  Verb* NewVerb(Verb* parent, const std::string& name, const std::string& help, C* command) {
    Verb* verb = parent->AddVerb(name, help);
    OnceParsed(verb, [command]() -> Parsed { return Command(*command); });
    return verb;
  }

  // For verbs with a type and an accumulation, which must go together.
  template <class C>
  Verb* NewVerbOfNumberTypes(Verb* parent, const std::string& name, const std::string& help, C* command) {
    Verb* verb = NewVerb(parent, name, help, command);
    OnceParsed(verb, [command]() -> Parsed {
      if (const std::optional<NoCommand> wrong = WrongNumberTypes({command->type}, command->accumulation))
        return *wrong;
      return Command(*command);
    });
    return verb;
  }

  // For verbs whose numbers must make a problem.
  template <class C>
  Verb* NewGemmVerb(Verb* parent, const std::string& name, const std::string& help, C* command) {
    Verb* verb = NewVerb(parent, name, help, command);
    OnceParsed(verb, [command]() -> Parsed {
      const std::vector<std::string> reasons = WhyInvalid(command->gemm);
      if (!reasons.empty()) return NoCommand{kExitWrongUse, reasons.front()};
      return Command(*command);
    });
    return verb;
  }

  // For verbs whose words must go together in ways of their own.
  void OnceParsed(const Verb* verb, std::function<Parsed()> yield) { yields_[verb] = std::move(yield); }

  // The command of the verb that was parsed.
  Parsed CommandOf(const Verb* verb) const { return yields_.at(verb)(); }

 private:
  Verb root_{"gemmsmith",
             "Writes half-precision matrix-multiply kernels, proves them right, measures them against cuBLASLt.",
             "gemmsmith " GEMMSMITH_VERSION};
  std::deque<std::any> filled_;  // a deque: its elements never move
  std::map<const Verb*, std::function<Parsed()>> yields_;
};

void AddOptimize(Grammar& grammar);
void AddEvaluate(Grammar& grammar);
void AddVerify(Grammar& grammar);
void AddPlanVerbs(Grammar& grammar);
void AddRecordsVerbs(Grammar& grammar);
void AddBench(Grammar& grammar);
void AddPromote(Grammar& grammar);
void AddCatalogueVerbs(Grammar& grammar);
void AddReport(Grammar& grammar);
void AddTrain(Grammar& grammar);
void AddCompare(Grammar& grammar);
void AddCorpusVerbs(Grammar& grammar);
void AddCorpusDataVerbs(Grammar& grammar, Verb* corpus);
void AddRunProgram(Grammar& grammar);
void AddAgents(Grammar& grammar);
void AddMachineVerbs(Grammar& grammar);

}  // namespace gemmsmith
