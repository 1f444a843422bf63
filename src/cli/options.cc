#include "cli/options.h"

namespace gemmsmith {

void AddShape(Verb* verb, Shape* shape) {
  Value(verb, "SHAPE", "", "the problem's MxNxK, as in 256x512x4096", shape, ParseShape).Required();
}
void AddPlan(Verb* verb, Plan* plan) {
  Value(verb, "PLAN", "", "a plan's words, in one pair of quotes", plan, ParsePlan).Required();
}
void AddJson(Verb* verb, bool* json) { verb->AddFlag("--json", "print one JSON object instead of text", json); }
void AddFormat(Verb* verb, ReportFormat* format) {
  Value(verb, "--format", "NAME", "text, markdown, csv or json [text]", format, ReadReportFormat);
  verb->AddFlag("--json", "the same as --format json", [format] { *format = ReportFormat::kJson; });
}
void AddType(Verb* verb, ScalarType* type) { Value(verb, "--type", "f16|bf16", "element type [f16]", type, ReadType); }
void AddAccumulation(Verb* verb, Accumulation* accumulation) {
  Value(verb, "--accumulate", "f32|f16", "what sums are kept in [f32]", accumulation, ReadAccumulation);
}
void AddConstantB(Verb* verb, bool* constant_b) {
  verb->AddFlag("--constant-b", "the kernel before does not write B; chains do not wait for it", constant_b);
}
void AddLayout(Verb* verb, Layout* layout) {
  Value(verb, "--layout", "NAME", "nn|tn|col-row|col-col: storage of A and B [tn]", layout, ReadLayout);
}
void AddSeed(Verb* verb, uint64_t* seed) {
  Value(verb, "--seed", "N", "seed of all random choices [1]", seed, ReadSeed);
}
void AddLimit(Verb* verb, std::optional<double>* seconds, const std::string& help) {
  Value(verb, "--limit-seconds", "S", help, seconds, ReadPositiveSeconds);
}
void AddDevice(Verb* verb, std::string* device) {
  Value(verb, "--device", "WHERE", "auto, gpu:N, or a recorded device's key [auto]", device, ReadDeviceChoice);
}
void AddKnownDevice(Verb* verb, Device* device) {
  *device = KnownDevices().front();
  Value(verb, "--device", "KEY", "device it is meant for [h200]", device, ReadDevice);
}
void AddArchive(Verb* verb, std::filesystem::path* archive) {
  Value(verb, "--archive", "FILE", "database of trials [the one doctor names]", archive, ReadPath);
}
void AddKind(Verb* verb, Gemm* gemm) {
  AddLayout(verb, &gemm->kind.layout);
  AddType(verb, &gemm->kind.type);
  AddAccumulation(verb, &gemm->kind.accumulation);
  AddConstantB(verb, &gemm->kind.constant_b);
  Value(verb, "--lda", "N", "elements between lines of A [packed]", &gemm->lda, ReadLeadingDimension);
  Value(verb, "--ldb", "N", "elements between lines of B [packed]", &gemm->ldb, ReadLeadingDimension);
  Value(verb, "--ldc", "N", "elements between lines of C [packed]", &gemm->ldc, ReadLeadingDimension);
}
void AddGemm(Verb* verb, Gemm* gemm) {
  AddShape(verb, &gemm->shape);
  AddKind(verb, gemm);
}
void AddExperience(Verb* verb, std::vector<RecordSource>* sources, const std::string& help) {
  AddMany(verb, "--experience", "FILE,...", help, sources, ReadRecordSource);
}
Argument AddSources(Verb* verb, std::vector<std::filesystem::path>* sources, const std::string& help) {
  return AddMany(verb, "FILE", "", help, sources, ReadPath).TakesAllWords();
}
void AddMeasurements(Verb* verb, TrialSelection* selection) {
  AddSources(verb, &selection->sources, "record files or folders instead of the archive");
  AddArchive(verb, &selection->archive);
  Value(verb, "--campaign", "NAME", "only trials of this campaign", &selection->campaign, ReadText);
}
void AddOneProtocol(Verb* verb, std::optional<Protocol>* protocol) {
  Value(verb, "--protocol", "NAME", "screen, heat, short or long [short, where there is any]", protocol,
        ReadAnyProtocol);
}
void AddOneDevice(Verb* verb, std::optional<std::string>* device_key) {
  Value(verb, "--device", "KEY", "of records of several devices those of one", device_key, ReadDeviceKey);
}
void AddTrials(Verb* verb, TrialSelection* selection) {
  AddMeasurements(verb, selection);
  Value(verb, "--shape", "MxNxK", "only this shape", &selection->shape, ParseShape);
  Value(verb, "--layout", "NAME", "nn|tn|col-row|col-col: only this layout", &selection->layout, ReadLayout);
}
void AddOnlyProtocol(Verb* verb, std::optional<Protocol>* protocol) {
  Value(verb, "--protocol", "NAME", "only trials of screen, heat, short or long", protocol, ReadAnyProtocol);
}
void AddSelection(Verb* verb, TrialSelection* selection) {
  AddTrials(verb, selection);
  AddOnlyProtocol(verb, &selection->protocol);
  Value(verb, "--outcome", "KIND", "only this outcome, as in measured or wrong", &selection->outcome, ReadOutcomeKind);
}

}  // namespace gemmsmith
