#include "policy/train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"

namespace gemmsmith {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFormat = "2";
constexpr std::string_view kPrefixes[] = {"", "first.", "second."};

// Where the sum stands in the header; what is summed has zeros there. Within other texts quotes are escaped.
constexpr std::string_view kSumMark = "\"sum\":\"", kStepMark = "\"step\":\"";
constexpr size_t kSumDigits = 32, kStepDigits = 12;
const std::string kNoSum(kSumDigits, '0');  // where a state is not whole

std::optional<size_t> PlaceBehind(std::string_view mark, std::string_view bytes, size_t digits) {
  const size_t at = bytes.find(mark);
  if (at == std::string_view::npos || bytes.size() - at < mark.size() + digits) return std::nullopt;
  return at + mark.size();
}

std::optional<size_t> PlaceOfSum(std::string_view bytes) { return PlaceBehind(kSumMark, bytes, kSumDigits); }

bool SumFits(std::string bytes) {
  const std::optional<size_t> place = PlaceOfSum(bytes);
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
      file.tensors[fmt::format("{}{}", prefix, weights.name)] = {weights.shape,
                                                                 std::vector<float>(weights.values->size())};
  return EncodeSafeTensors(file, NumberType::kF32);
}

// A state in place, of the same layout as an empty one.
Status WriteState(const ModelConfig& config, Trainer& trainer, int64_t step, std::span<char> bytes) {
  const std::string_view text(bytes.data(), bytes.size());
  const std::optional<size_t> sum = PlaceOfSum(text), number = PlaceBehind(kStepMark, text, kStepDigits);
  GEMMSMITH_CHECK(sum && number, "{} bytes without a place for their sum", bytes.size());
  const auto write = [&](size_t place, std::string_view digits) {
    std::copy(digits.begin(), digits.end(), bytes.begin() + long(place));
    std::atomic_signal_fence(std::memory_order_seq_cst);  // a killed process leaves what it had written so far
  };
  write(*sum, kNoSum);
  write(*number, fmt::format("{:0{}}", step, kStepDigits));
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
  std::atomic_signal_fence(std::memory_order_seq_cst);
  write(*sum, HashBytes(text).Hex());
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
                                                    const std::function<void(const std::string&)>& note) {
  RemoveHalfWritten(folder_);
  std::optional<State> latest;
  std::vector<std::string> damaged;
  for (size_t i = 0; i < kFiles; ++i) {
    Result<State> state = ReadState(PathOf(i), options_);
    if (state.ok() && (!latest || state->step > latest->step)) latest = *std::move(state), last_ = i;
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
  RETURN_IF_ERROR(PutState(latest->file, config_, trainer));
  return std::optional<int64_t>(latest->step);
}

Status Checkpoints::Keep(Trainer& trainer, int64_t step) {
  if (empty_.empty()) empty_ = EmptyState(config_, options_);
  const size_t next = NextFile();
  std::optional<MappedFile>& file = files_[next];
  if (!file) {
    ASSIGN_OR_RETURN(MappedFile created, MappedFile::Create(PathOf(next), empty_));
    file.emplace(std::move(created));
  }
  RETURN_IF_ERROR(WriteState(config_, trainer, step, file->bytes()));
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
