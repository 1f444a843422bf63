#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "archive/example_trials.h"
#include "archive/segment.h"
#include "base/text.h"

namespace gemmsmith {
namespace {

using nlohmann::json;

TEST(JsonLine, KeepsEveryFieldExactly) {
  for (Trial trial : ExampleTrials(100)) {
    KeepRecordedSamples(trial.outcome, true);
    const std::string line = ToJsonLine(trial);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const Result<Trial> read = FromJsonLine(line);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(*read, trial);
  }
}

TEST(JsonLine, NumbersThatAreNoNumbersAreWords) {
  Trial trial = ExampleTrial(0);
  trial.outcome.verdict.max_abs_error = std::nan("");
  trial.outcome.verdict.relative_error = -INFINITY;
  const Trial read = *FromJsonLine(ToJsonLine(trial));
  EXPECT_TRUE(std::isnan(read.outcome.verdict.max_abs_error));
  EXPECT_EQ(read.outcome.verdict.relative_error, -INFINITY);
}

TEST(JsonLine, TextThatIsNoUtf8IsStillWritten) {
  Trial trial = ExampleTrial(0);
  trial.outcome.reason = "bad \xff byte";
  EXPECT_EQ(FromJsonLine(ToJsonLine(trial))->outcome.reason, "bad \xEF\xBF\xBD byte");
}

// Visits every field, so that a test can remove it or give it a wrong value. The message names it by its path.
void ForEachField(json& object, const std::string& path,
                  const std::function<void(json&, const std::string&, const std::string&)>& visit) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  for (const std::string& name : names) {
    visit(object, name, path + name);
    if (object[name].is_object()) ForEachField(object[name], path + name + ".", visit);
    if (object[name].is_array() && !object[name].empty() && object[name][0].is_object())
      ForEachField(object[name][0], path + name + "[0].", visit);
  }
}

Trial MeasuredTrial() {
  int number = 0;
  while (ExampleTrial(number).outcome.kind != OutcomeKind::kMeasured) ++number;
  return ExampleTrial(number);
}

TEST(JsonLine, AMissingOrWrongFieldIsNamed) {
  json line = json::parse(ToJsonLine(MeasuredTrial()));
  int fields = 0;
  ForEachField(line, "", [&](json& object, const std::string& name, const std::string& path) {
    const json right = object[name];
    ++fields;
    if (name != "samples_ns" && name != "clock_limits" && name != "is_settled") {
      object.erase(name);
      EXPECT_EQ(FromJsonLine(line.dump()).status().message(), "field " + path + ": is missing");
    }
    object[name] = json::array({"wrong", json::object()});
    const Result<Trial> read = FromJsonLine(line.dump());
    ASSERT_FALSE(read.ok()) << path;
    EXPECT_TRUE(read.status().message().starts_with("field " + path)) << read.status().message();
    EXPECT_EQ(read.status().message().find('\n'), std::string::npos);
    object[name] = right;
  });
  EXPECT_GT(fields, 50);
  EXPECT_TRUE(FromJsonLine(line.dump()).ok());
}

TEST(JsonLine, AnOlderLineKnowsOfThePowerCapAlone) {
  Trial trial = MeasuredTrial();
  trial.outcome.protocol = Protocol::kShort;
  trial.outcome.conditions.limits = {ClockLimit::kPowerCap};
  json line = json::parse(ToJsonLine(trial));
  line["outcome"]["conditions"].erase("clock_limits");
  line["outcome"]["conditions"].erase("is_settled");
  for (json& timing : line["outcome"]["timings"]) timing["sample_count"] = 8;
  const Result<Trial> read = FromJsonLine(line.dump());
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->outcome.conditions.limits, trial.outcome.conditions.limits);
  EXPECT_TRUE(read->outcome.conditions.in_steady_state);
}

TEST(JsonLine, ValuesOutOfRangeAreRefused) {
  const json right = json::parse(ToJsonLine(MeasuredTrial()));
  const auto message_with = [&](const char* pointer, const json& value) {
    json line = right;
    line[json::json_pointer(pointer)] = value;
    return FromJsonLine(line.dump()).status().message();
  };
  EXPECT_EQ(message_with("/seed", -1), "field seed: must be a whole number in range");
  EXPECT_EQ(message_with("/seed", 1.5), "field seed: must be a whole number in range");
  EXPECT_EQ(message_with("/outcome/facts/registers", 3'000'000'000),
            "field outcome.facts.registers: must be a whole number in range");
  EXPECT_EQ(message_with("/outcome/facts/registers", -3'000'000'000),
            "field outcome.facts.registers: must be a whole number in range");
  EXPECT_EQ(message_with("/outcome/kind", "great"), "field outcome.kind: 'great' is unknown");
  EXPECT_EQ(message_with("/outcome/timings/0/interval_ns", {1, 2, 3}),
            "field outcome.timings[0].interval_ns: must be a list of two numbers");
  EXPECT_EQ(message_with("/gemmsmith_trial", 2), "field gemmsmith_trial: version 2 is unknown, known is 1");
  EXPECT_TRUE(message_with("/problem", "gemm 0x1x1 nn f16 f32").starts_with("field problem: "));
  EXPECT_TRUE(message_with("/plan", "direct nonsense=1").starts_with("field plan: "));
  EXPECT_EQ(message_with("/later_addition", 1), "") << "unknown fields are ignored";
}

TEST(JsonLine, EveryTruncationIsRefused) {
  const std::string line = ToJsonLine(MeasuredTrial());
  for (size_t length = 0; length < line.size(); ++length)
    ASSERT_FALSE(FromJsonLine(std::string_view(line).substr(0, length)).ok()) << length;
}

TEST(JsonLine, WhatIsNoObjectOrTooLongIsRefused) {
  for (const char* line : {"", "null", "[]", "3", "\"text\"", "{", "nonsense", "\xff"})
    EXPECT_FALSE(FromJsonLine(line).ok()) << line;
  EXPECT_EQ(FromJsonLine(std::string(kMaxJsonLineBytes + 1, ' ')).status().message(), "the line is over 1 MiB");
  EXPECT_FALSE(FromJsonLine(std::string(500'000, '[')).ok());
}

// RFC 4180, one line a record.
std::vector<std::string> CsvFields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (quoted && line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += '"', ++i;
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

TEST(Csv, EveryLineHasTheHeadersColumns) {
  const std::vector<std::string> names = CsvFields(CsvHeader());
  for (const Trial& trial : ExampleTrials(50)) {
    const std::string line = ToCsvLine(trial);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const std::vector<std::string> fields = CsvFields(line);
    ASSERT_EQ(fields.size(), names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      const bool measured = trial.outcome.kind == OutcomeKind::kMeasured;
      if (names[i] == "problem") {
        EXPECT_EQ(fields[i], Print(trial.gemm));
      } else if (names[i] == "kind") {
        EXPECT_EQ(fields[i], Name(trial.outcome.kind));
      } else if (names[i] == "time_ns") {
        EXPECT_EQ(fields[i], measured ? fmt::format("{}", trial.outcome.TimeNs()) : "");
      } else if (names[i] == "baseline") {
        EXPECT_EQ(fields[i], measured ? trial.outcome.FastestBaseline("", Clock::kDevice)->contender : "");
      }
    }
  }
}

TEST(Csv, QuotesAndBreaksInAFieldAreTamed) {
  Trial trial = ExampleTrial(0);
  trial.outcome.reason = "a \"quoted\",\nbroken\r\nreason";
  EXPECT_NE(ToCsvLine(trial).find("\"a \"\"quoted\"\", broken  reason\""), std::string::npos) << ToCsvLine(trial);
}

}  // namespace
}  // namespace gemmsmith
