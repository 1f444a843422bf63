#include "policy/train/checkpoint.h"

#include <fmt/format.h>

#include <array>

#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"

namespace gemmsmith {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFormat = "2";
constexpr std::array<const char*, 2> kFiles = {"checkpoint_a.safetensors", "checkpoint_b.safetensors"};
constexpr std::string_view kPrefixes[] = {"", "first.", "second."};

// Where the sum stands in the header; what is summed has zeros there. Within other texts quotes are escaped.
constexpr std::string_view kSumMark = "\"sum\":\"";
constexpr size_t kSumDigits = 32;

std::optional<size_t> PlaceOfSum(std::string_view bytes) {
  const size_t mark = bytes.find(kSumMark);
  if (mark == std::string_view::npos || bytes.size() - mark < kSumMark.size() + kSumDigits) return std::nullopt;
  return mark + kSumMark.size();
}

std::string WithSum(std::string bytes) {
  const std::optional<size_t> place = PlaceOfSum(bytes);
  GEMMSMITH_CHECK(place, "{} bytes without a place for their sum", bytes.size());
  return bytes.replace(*place, kSumDigits, HashBytes(bytes).Hex());
}

bool SumFits(std::string bytes) {
  const std::optional<size_t> place = PlaceOfSum(bytes);
  if (!place) return false;
  const std::string sum = bytes.substr(*place, kSumDigits);
  return HashBytes(bytes.replace(*place, kSumDigits, std::string(kSumDigits, '0'))).Hex() == sum;
}

Result<std::string> EncodeState(const ModelConfig& config, Trainer& trainer, int64_t step, const std::string& options) {
  SafeTensors file;
  file.metadata = {{"gemmsmith_checkpoint", std::string(kFormat)},
                   {"tokens", TokenVocabulary().identity()},
                   {"step", fmt::format("{}", step)},
                   {"options", options},
                   {"sum", std::string(kSumDigits, '0')}};
  PolicyModel shapes = EmptyModel(config);
  for (const NamedWeights& weights : WeightsOf(shapes)) {
    for (const std::string_view prefix : kPrefixes) {
      const std::string name = fmt::format("{}{}", prefix, weights.name);
      Tensor& tensor = file.tensors[name];
      tensor.shape = weights.shape;
      ASSIGN_OR_RETURN(tensor.values, trainer.Get(name, weights.values->size()));
    }
  }
  return WithSum(EncodeSafeTensors(file, NumberType::kF32));
}

Status PutState(SafeTensors& file, const ModelConfig& config, Trainer& trainer) {
  PolicyModel shapes = EmptyModel(config);
  for (const NamedWeights& weights : WeightsOf(shapes)) {
    for (const std::string_view prefix : kPrefixes) {
      const std::string name = fmt::format("{}{}", prefix, weights.name);
      const Tensor& tensor = file.tensors[name];
      if (tensor.shape != weights.shape) return DataLoss(fmt::format("the checkpoint's '{}' has another shape", name));
      RETURN_IF_ERROR(trainer.Put(name, tensor.values));
    }
  }
  return OkStatus();
}

struct State {
  SafeTensors file;
  int64_t step = 0;
};

// DataLoss where it is damaged, NotFound where it is not there.
Result<State> ReadState(const fs::path& path, const std::string& options) {
  ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  Result<SafeTensors> file = DecodeSafeTensors(bytes);
  if (!file.ok()) return DataLoss(file.status().message());
  if (!SumFits(std::move(bytes))) return DataLoss("its bytes do not have the sum that it names");
  std::map<std::string, std::string>& metadata = file->metadata;
  if (metadata["gemmsmith_checkpoint"] != kFormat || metadata["tokens"] != TokenVocabulary().identity() ||
      metadata["options"] != options)
    return InvalidArgument(fmt::format("{} was made with other options or words ({}, {}): name another folder",
                                       path.string(), WithoutControls(metadata["options"]),
                                       WithoutControls(metadata["tokens"])));
  const std::optional<long long> step = ParseInteger(metadata["step"]);
  if (!step || *step < 0) return DataLoss("it names no step");
  return State{*std::move(file), int64_t(*step)};
}

// What a run that was killed had written of a checkpoint.
void RemoveHalfWritten(const fs::path& folder) {
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none))
    for (const char* file : kFiles)
      if (entry.path().filename().string().starts_with(fmt::format(".{}.", file))) fs::remove(entry.path(), none);
}

}  // namespace

Result<std::optional<int64_t>> Checkpoints::Restore(Trainer& trainer,
                                                    const std::function<void(const std::string&)>& note) {
  RemoveHalfWritten(folder_);
  std::optional<State> latest;
  size_t restored = 0;
  std::vector<std::string> damaged;
  for (size_t i = 0; i < kFiles.size(); ++i) {
    const fs::path path = folder_ / kFiles[i];
    Result<State> state = ReadState(path, options_);
    if (state.ok() && (!latest || state->step > latest->step)) latest = *std::move(state), restored = i;
    if (state.ok() || state.status().code() == StatusCode::kNotFound) continue;
    if (state.status().code() == StatusCode::kInvalidArgument) return state.status();
    damaged.push_back(fmt::format("{} is damaged ({})", path.string(), state.status().message()));
  }
  if (!latest && damaged.empty()) return std::optional<int64_t>();
  if (!latest)
    return DataLoss(fmt::format("{}; no sound checkpoint is left: remove {} to begin anew", Join(damaged, ", "),
                                damaged.size() == 1 ? "it" : "both"));
  const std::string goes_on =
      fmt::format("going on behind step {}, from {}", latest->step, (folder_ / kFiles[restored]).string());
  note(damaged.empty() ? goes_on : fmt::format("{}: {}", damaged[0], goes_on));
  RETURN_IF_ERROR(PutState(latest->file, config_, trainer));
  next_ = 1 - restored;
  return std::optional<int64_t>(latest->step);
}

Status Checkpoints::Keep(Trainer& trainer, int64_t step) {
  ASSIGN_OR_RETURN(const std::string state, EncodeState(config_, trainer, step, options_));
  RETURN_IF_ERROR(WriteFileAtomic(folder_ / kFiles[next_], state));
  next_ = 1 - next_;
  return OkStatus();
}

bool CheckpointIsDue(double work_seconds, double last_seconds, double share) {
  return last_seconds <= share * (work_seconds + last_seconds);
}

}  // namespace gemmsmith
