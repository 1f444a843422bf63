#include "policy/train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"

namespace gemmsmith {

namespace fs = std::filesystem;

namespace {

// 2 had two files, written beside and renamed; its states are read too.
constexpr std::string_view kFormat = "3", kFormatBefore = "2";
constexpr std::string_view kPrefixes[] = {"", "first.", "second."};

// Where the sum stands in the header; what is summed has zeros there. Within other texts quotes are escaped.
constexpr std::string_view kSumMark = "\"sum\":\"", kStepMark = "\"step\":\"";
constexpr size_t kSumDigits = 32, kStepDigits = 12;
const std::string kNoSum(kSumDigits, '0');  // where a state is not whole

std::optional<size_t> OffsetBehind(std::string_view mark, std::string_view bytes, size_t digits) {
  const size_t at = bytes.find(mark);
  if (at == std::string_view::npos || bytes.size() - at < mark.size() + digits) return std::nullopt;
  return at + mark.size();
}

std::optional<size_t> OffsetOfSum(std::string_view bytes) { return OffsetBehind(kSumMark, bytes, kSumDigits); }

bool SumFits(std::string bytes) {
  const std::optional<size_t> place = OffsetOfSum(bytes);
  if (!place) return false;
  const std::string sum = bytes.substr(*place, kSumDigits);
  return HashBytes(bytes.replace(*place, kSumDigits, kNoSum)).Hex() == sum;
}

std::string EmptyState(const ModelConfig& config, const std::string& options) {
  SafeTensors file;
  file.metadata = {{"gemmsmith_checkpoint", std::string(kFormat)},
                   {"tokens", TokenVocabulary().identity()},
                   {"step", std::string(kStepDigits, '0')},
                   {"options", options},
                   {"sum", kNoSum}};
  PolicyModel shapes = EmptyModel(config);
  for (const NamedWeights& weights : WeightsOf(shapes))
    for (const std::string_view prefix : kPrefixes)
      file.tensors[fmt::format("{}{}", prefix, weights.name)] = {
          weights.shape, std::vector<float>(weights.values->size()), NumberType::kF32};
  return EncodeSafeTensors(file);
}

void Replace(size_t place, std::string_view digits, std::string& bytes) {
  std::copy(digits.begin(), digits.end(), bytes.begin() + long(place));
}

// The trainer's state in the place of another of the same layout; not sealed.
Status TakeState(const ModelConfig& config, Trainer& trainer, int64_t step, std::string& bytes) {
  const std::optional<size_t> number = OffsetBehind(kStepMark, bytes, kStepDigits);
  GEMMSMITH_CHECK(number, "{} bytes without a place for their step", bytes.size());
  Replace(*number, fmt::format("{:0{}}", step, kStepDigits), bytes);
  std::map<std::string, size_t> counts;  // in the order of the file
  PolicyModel shapes = EmptyModel(config);
  size_t all = 0;
  for (const NamedWeights& weights : WeightsOf(shapes)) {
    for (const std::string_view prefix : kPrefixes)
      all += counts[fmt::format("{}{}", prefix, weights.name)] = weights.values->size();
  }
  size_t at = bytes.size() - all * sizeof(float);
  for (const auto& [name, count] : counts) {
    RETURN_IF_ERROR(trainer.Get(name, {reinterpret_cast<float*>(bytes.data() + at), count}));
    at += count * sizeof(float);
  }
  return OkStatus();
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

// DataLoss where it is damaged, NotFound where it is not there or was being written when its process ended.
Result<State> ReadState(const fs::path& path, const std::string& options) {
  ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  Result<SafeTensors> file = DecodeSafeTensors(bytes);
  if (!file.ok()) return DataLoss(file.status().message());
  if (file->metadata["sum"] == kNoSum) return NotFound("half-written");
  if (!SumFits(std::move(bytes))) return DataLoss("its bytes do not have the sum that it names");
  std::map<std::string, std::string>& metadata = file->metadata;
  const std::string& format = metadata["gemmsmith_checkpoint"];
  if ((format != kFormat && format != kFormatBefore) || metadata["tokens"] != TokenVocabulary().identity() ||
      metadata["options"] != options)
    return InvalidArgument(fmt::format("{} was made with other options or words ({}, {}): name another folder",
                                       path.string(), WithoutControls(metadata["options"]),
                                       WithoutControls(metadata["tokens"])));
  const std::optional<long long> step = ParseInteger(metadata["step"]);
  if (!step || *step < 0) return DataLoss("it names no step");
  return State{*std::move(file), int64_t(*step)};
}

// Files that a killed run was about to create.
void RemoveTemporaries(const fs::path& folder) {
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none))
    if (entry.path().filename().string().starts_with(".checkpoint_")) fs::remove(entry.path(), none);
}

}  // namespace

fs::path Checkpoints::PathOf(size_t file) const {
  return folder_ / fmt::format("checkpoint_{}.safetensors", char('a' + file));
}

size_t Checkpoints::NextFile() const {
  size_t next = last_ ? (*last_ + 1) % kFiles : 0;
  if (next == synced_) next = (next + 1) % kFiles;
  return next;
}

Result<std::optional<int64_t>> Checkpoints::Restore(Trainer& trainer,
                                                    const std::function<void(const std::string&)>& note,
                                                    int64_t logged) {
  RemoveTemporaries(folder_);
  std::optional<State> latest;
  const auto is_better = [&](int64_t step) {
    if (!latest || (step <= logged) != (latest->step <= logged)) return !latest || step <= logged;
    return step > latest->step;
  };
  std::vector<std::string> damaged;
  for (size_t i = 0; i < kFiles; ++i) {
    Result<State> state = ReadState(PathOf(i), options_);
    if (state.ok() && is_better(state->step)) latest = *std::move(state), last_ = i;
    if (state.ok() || state.status().code() == StatusCode::kNotFound) continue;
    if (state.status().code() == StatusCode::kInvalidArgument) return state.status();
    damaged.push_back(fmt::format("{} is damaged ({})", PathOf(i).string(), state.status().message()));
  }
  if (!latest && damaged.empty()) return std::optional<int64_t>();
  if (!latest)
    return DataLoss(fmt::format("{}; no sound checkpoint is left: remove {} to begin anew", Join(damaged, ", "),
                                damaged.size() == 1 ? "it" : "them"));
  damaged.push_back(fmt::format("going on behind step {}, from {}", latest->step, PathOf(*last_).string()));
  note(Join(damaged, ": "));
  ASSIGN_OR_RETURN(FileInPlace file, FileInPlace::Open(PathOf(*last_)));
  RETURN_IF_ERROR(file.Sync());
  synced_ = last_;
  RETURN_IF_ERROR(PutState(latest->file, config_, trainer));
  return std::optional<int64_t>(latest->step);
}

Status Checkpoints::Keep(Trainer& trainer, int64_t step) {
  if (state_.empty()) state_ = EmptyState(config_, options_);
  const size_t next = NextFile();
  std::optional<FileInPlace>& file = files_[next];
  if (!file) {
    ASSIGN_OR_RETURN(FileInPlace created, FileInPlace::Create(PathOf(next), state_));
    file.emplace(std::move(created));
  }
  const size_t sum = *OffsetOfSum(state_);
  RETURN_IF_ERROR(file->Write(sum, kNoSum));
  RETURN_IF_ERROR(TakeState(config_, trainer, step, state_));
  RETURN_IF_ERROR(file->Write(0, state_));
  RETURN_IF_ERROR(file->Write(sum, HashBytes(state_).Hex()));
  last_ = next;
  return OkStatus();
}

Status Checkpoints::Sync() {
  GEMMSMITH_CHECK(last_ && files_[*last_], "nothing was kept");
  RETURN_IF_ERROR(files_[*last_]->Sync());
  synced_ = last_;
  return OkStatus();
}

bool SyncIsDue(double work_seconds, double last_seconds, double share) {
  return last_seconds <= share * (work_seconds + last_seconds);
}

}  // namespace gemmsmith
