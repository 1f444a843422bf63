#include "corpus/text_samples.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/text.h"

namespace gemmsmith {

namespace {

namespace fs = std::filesystem;

constexpr const char* kLinesName = "samples.jsonl";

Result<TextSample> SampleOf(std::string_view line, const fs::path& folder, size_t index) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object()) return DataLoss("the line is no JSON object; cut off?");
  const auto problem = json.find("problem"), finished = json.find("finished"), tokens = json.find("tokens"),
             probability = json.find("mean_log_probability");
  if (problem == json.end() || !problem->is_string()) return DataLoss("no text \"problem\"");
  if (finished == json.end() || !finished->is_boolean()) return DataLoss("no truth value \"finished\"");
  if (tokens == json.end() || !tokens->is_number_unsigned()) return DataLoss("no number \"tokens\"");
  if (probability == json.end() || !probability->is_number()) return DataLoss("no number \"mean_log_probability\"");
  TextSample sample{.tokens = tokens->get<int64_t>(),
                    .mean_log_probability = probability->get<double>(),
                    .is_finished = finished->get<bool>()};
  ASSIGN_OR_RETURN(sample.gemm, ParseGemm(problem->get<std::string>()));
  ASSIGN_OR_RETURN(sample.source, ReadFile(folder / SampleFile(index)));
  return sample;
}

}  // namespace

std::string SampleFile(size_t index) { return fmt::format("kernel_{:05}.cu", index); }

Status WriteSamples(const std::vector<TextSample>& samples, const fs::path& folder) {
  std::error_code error;
  fs::remove(folder / kLinesName, error);  // the list of an earlier run names other kernels
  if (error) return IoError(fmt::format("cannot remove {}: {}", (folder / kLinesName).string(), error.message()));
  std::string lines;
  for (size_t i = 0; i < samples.size(); ++i) {
    const TextSample& sample = samples[i];
    RETURN_IF_ERROR(WriteFileAtomic(folder / SampleFile(i), sample.source));
    const nlohmann::ordered_json line = {{"file", SampleFile(i)},
                                         {"problem", Print(sample.gemm)},
                                         {"tokens", sample.tokens},
                                         {"mean_log_probability", sample.mean_log_probability},
                                         {"finished", sample.is_finished}};
    lines += line.dump() + "\n";
  }
  return WriteFileAtomic(folder / kLinesName, lines);
}

Result<std::vector<TextSample>> ReadSamples(const fs::path& folder) {
  const fs::path path = folder / kLinesName;
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::vector<TextSample> samples;
  for (const std::string_view line : Split(text, '\n')) {
    if (line.empty()) continue;
    Result<TextSample> sample = SampleOf(line, folder, samples.size());
    if (!sample.ok()) return WithContext(sample.status(), fmt::format("{}:{}", path.string(), samples.size() + 1));
    samples.push_back(*std::move(sample));
  }
  if (samples.empty()) return NotFound(fmt::format("{} names no kernel", path.string()));
  return samples;
}

}  // namespace gemmsmith
