// How CLI11 is told of words and flags: each reads and checks its value while it is parsed. Then the words that several
// verbs share.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/command.h"
#include "cli/readers.h"

namespace gemmsmith {

using Verb = CLI::App;

// Reads and checks the word while it is parsed; the target keeps its default where the word is not given.
template <class T, class Target, class Read>
CLI::Option* Word(Verb* verb, const std::string& name, const std::string& label, const std::string& help,
                  Target* target, Read read, std::function<void(Target*, T)> store) {
  const auto check = [=](std::string& text) -> std::string {
    Result<T> value = read(text);
    if (!value.ok()) return value.status().message();
    store(target, *std::move(value));
    return {};
  };
  const CLI::callback_t accept = [](const CLI::results_t&) { return true; };
  return verb->add_option(name, accept, help)->type_name(label)->check(CLI::Validator(check, ""));
}

template <class Target, class Read>
CLI::Option* Value(Verb* verb, const std::string& name, const std::string& label, const std::string& help,
                   Target* target, Read read) {
  using T = std::decay_t<decltype(*read(std::string_view()))>;
  return Word<T, Target>(verb, name, label, help, target, read, [](Target* to, T value) { *to = std::move(value); });
}

// A flag that may be given often; its values in the order of the words.
template <class T, class Read>
CLI::Option* AddMany(Verb* verb, const std::string& name, const std::string& label, const std::string& help,
                     std::vector<T>* values, Read read) {
  return Word<T, std::vector<T>>(verb, name, label, help, values, read,
                                 [](std::vector<T>* to, T value) { to->push_back(std::move(value)); })
      ->take_all();
}

// Into a Subject, or into an optional one.
template <class Target>
CLI::Option* AddSubject(Verb* verb, Target* subject) {
  return Value(verb, "PLAN", "", "a plan's words in one pair of quotes, a file of them, or a .cu source", subject,
               ReadSubject);
}
void AddShape(Verb* verb, Shape* shape);
void AddPlan(Verb* verb, Plan* plan);
void AddJson(Verb* verb, bool* json);
// --format, and --json for it.
void AddFormat(Verb* verb, ReportFormat* format);
void AddType(Verb* verb, ScalarType* type);
void AddAccumulation(Verb* verb, Accumulation* accumulation);
void AddLayout(Verb* verb, Layout* layout);
void AddSeed(Verb* verb, uint64_t* seed);
void AddLimit(Verb* verb, std::optional<double>* seconds, const std::string& help);
void AddDevice(Verb* verb, std::string* device);
void AddKnownDevice(Verb* verb, Device* device);
void AddArchive(Verb* verb, std::filesystem::path* archive);
void AddKind(Verb* verb, Gemm* gemm);
void AddGemm(Verb* verb, Gemm* gemm);
// May be given often, each a source of its own.
void AddExperience(Verb* verb, std::vector<RecordSource>* sources, const std::string& help);
void AddSources(Verb* verb, std::vector<std::filesystem::path>* sources, const std::string& help);
// Which records a table is made of: files, archive, campaign; the one protocol and the one device.
void AddMeasurements(Verb* verb, TrialSelection* selection);
void AddOneProtocol(Verb* verb, std::optional<Protocol>* protocol);
void AddOneDevice(Verb* verb, std::optional<std::string>* device_key);
// All that choose trials but --protocol and --outcome.
void AddTrials(Verb* verb, TrialSelection* selection);
void AddOnlyProtocol(Verb* verb, std::optional<Protocol>* protocol);
void AddSelection(Verb* verb, TrialSelection* selection);

}  // namespace gemmsmith
