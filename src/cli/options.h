// The words and flags of verbs: each reads and checks its value while it is parsed. Then those that several verbs
// share.
#pragma once

#include <filesystem>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/readers.h"
#include "cli/verb.h"

namespace gemmsmith {

// The reader of an argument: `read` makes a Result of the word, `store` takes its value.
template <class Read, class Store>
Verb::Reader Reading(Read read, Store store) {
  return [=](const std::string& word) -> std::string {
    auto value = read(word);
    if (!value.ok()) return value.status().message();
    store(*std::move(value));
    return {};
  };
}

// The target keeps its default where the word is not given.
template <class Target, class Read>
Argument Value(Verb* verb, const std::string& name, const std::string& label, const std::string& help, Target* target,
               Read read) {
  return verb->Add(name, label, help, Reading(read, [target](auto value) { *target = std::move(value); }));
}

// A flag that may be given often; its values in the order of the words.
template <class T, class Read>
Argument AddMany(Verb* verb, const std::string& name, const std::string& label, const std::string& help,
                 std::vector<T>* values, Read read) {
  const auto append = [values](auto value) { values->push_back(std::move(value)); };
  return verb->Add(name, label, help, Reading(read, append)).Repeatable();
}

// Into a Subject, or into an optional one.
template <class Target>
Argument AddSubject(Verb* verb, Target* subject) {
  return Value(verb, "PLAN", "", "a plan's words in one pair of quotes, a file of them, or a .cu source", subject,
               ReadSubject);
}
void AddShape(Verb* verb, Shape* shape);
void AddPlan(Verb* verb, Plan* plan);
void AddJson(Verb* verb, bool* json);
// --format, and --json, which is --format json.
void AddFormat(Verb* verb, ReportFormat* format);
void AddType(Verb* verb, ScalarType* type);
void AddAccumulation(Verb* verb, Accumulation* accumulation);
void AddConstantB(Verb* verb, bool* constant_b);
void AddLayout(Verb* verb, Layout* layout);
void AddSeed(Verb* verb, uint64_t* seed);
void AddLimit(Verb* verb, std::optional<double>* seconds, const std::string& help);
void AddDevice(Verb* verb, std::string* device);
void AddKnownDevice(Verb* verb, Device* device);
void AddArchive(Verb* verb, std::filesystem::path* archive);
void AddKind(Verb* verb, Gemm* gemm);
void AddGemm(Verb* verb, Gemm* gemm);
// May be given often; each is one source.
void AddExperience(Verb* verb, std::vector<RecordSource>* sources, const std::string& help);
// FILE..., record files or folders.
Argument AddSources(Verb* verb, std::vector<std::filesystem::path>* sources, const std::string& help);
// Which records a table is made of: files, archive, campaign; the one protocol and the one device.
void AddMeasurements(Verb* verb, TrialSelection* selection);
void AddOneProtocol(Verb* verb, std::optional<Protocol>* protocol);
void AddOneDevice(Verb* verb, std::optional<std::string>* device_key);
// Every flag that chooses trials but --protocol and --outcome.
void AddTrials(Verb* verb, TrialSelection* selection);
void AddOnlyProtocol(Verb* verb, std::optional<Protocol>* protocol);
void AddSelection(Verb* verb, TrialSelection* selection);

}  // namespace gemmsmith
