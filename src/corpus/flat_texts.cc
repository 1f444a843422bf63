#include "corpus/flat_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/all_cores.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/text.h"
#include "corpus/shown_kernels.h"
#include "corpus/text_prompt.h"
#include "policy/contrast.h"
#include "program/flat_form.h"
#include "program/random_plan.h"

namespace gemmsmith {

namespace {

namespace fs = std::filesystem;

// Draws of a text until it is a new one.
constexpr int kMostDraws = 200;

// A commented kernel begins with its problem and its plan; a model is to write neither.
std::string WithoutPlan(std::string_view text) {
  constexpr std::string_view kEnd = "\n//\n";
  if (text.starts_with("// gemm ")) text.remove_prefix(text.find(kEnd) + kEnd.size());
  return std::string(text);
}

Result<std::string> KernelText(const Plan& plan, const Gemm& gemm, const FlatStyle& style) {
  const Result<std::string> text = EmitFlat(plan, gemm, style);
  if (!text.ok()) return text.status();
  return WithoutPlan(*text);
}

std::optional<Plan> DirectPlan(const Gemm& gemm, const Device& device, Random& random) {
  return RandomPlan(GetFamily(FamilyId::kDirect), {}, gemm, device, random);
}

// Empty where there are not so many in different buckets of speed.
std::vector<MeasuredPlan> ChooseMeasured(const FlatTextOptions& options, const Gemm& gemm, Random& random) {
  const auto found = options.measured.find(gemm);
  if (found == options.measured.end()) return {};
  std::vector<double> speeds;
  for (const MeasuredPlan& measured : found->second) speeds.push_back(1 / measured.time_ns);
  std::vector<MeasuredPlan> chosen;
  for (const size_t plan : ChooseContrasting(speeds, size_t(options.contrast), 1, random))
    chosen.push_back(found->second[plan]);
  return chosen.size() == size_t(options.contrast) ? chosen : std::vector<MeasuredPlan>();
}

// A shown kernel has the style of the text as often as another one.
Result<std::vector<ShownKernel>> ShownBeside(const FlatTextOptions& options, const Gemm& gemm, const FlatStyle& style,
                                             Random random) {
  std::vector<ShownKernel> shown;
  if (options.contrast == 0 || random.Below(2) == 0) return shown;
  const auto show = [&](const Plan& plan, std::optional<double> time_ns) {
    const FlatStyle own = random.Below(2) == 0 ? style : FlatStyleOf(random.Next());
    const auto kind = time_ns ? std::optional(OutcomeKind::kMeasured) : std::nullopt;
    Result<std::string> text = KernelText(plan, gemm, own);
    if (text.ok()) shown.push_back({*std::move(text), kind, time_ns});
    return text.status();
  };
  for (const MeasuredPlan& measured : ChooseMeasured(options, gemm, random))
    RETURN_IF_ERROR(show(measured.plan, measured.time_ns));
  while (shown.size() < size_t(options.contrast)) {
    const std::optional<Plan> plan = DirectPlan(gemm, options.device, random);
    if (!plan) return std::vector<ShownKernel>();
    RETURN_IF_ERROR(show(*plan, std::nullopt));
  }
  return shown;
}

using Draft = Result<std::optional<TextExample>>;

// Its own random numbers for each text and draw: any text can be made anew by itself. nullopt where the problem drawn
// has no plan.
Draft DrawText(const FlatTextOptions& options, int64_t number, int draw) {
  Random random = Random(options.seed).Fork(fmt::format("text {} draw {}", number, draw));
  const Gemm& gemm = options.problems[random.Below(options.problems.size())];
  const std::optional<Plan> plan = DirectPlan(gemm, options.device, random);
  if (!plan) return std::optional<TextExample>();
  const FlatStyle style = FlatStyleOf(random.Next());
  ASSIGN_OR_RETURN(std::string text, KernelText(*plan, gemm, style));
  ASSIGN_OR_RETURN(const std::vector<ShownKernel> shown, ShownBeside(options, gemm, style, random.Fork("shown")));
  return std::optional(TextExample{.prompt = PromptShowing(TextPrompt(gemm, options.device), shown),
                                   .text = std::move(text),
                                   .plan = Print(*plan),
                                   .problem = Print(gemm)});
}

class FlatTextWriter {
 public:
  FlatTextWriter(const FlatTextOptions& options, const fs::path& folder) : options_(options), folder_(folder) {}

  Status RunShard(int64_t shard) {
    const fs::path path = PathOf(shard);
    ASSIGN_OR_RETURN(const bool is_there, Exists(path));
    const int64_t first = shard * options_.shard_texts;
    const int64_t wanted = std::min<int64_t>(options_.shard_texts, options_.count - first);
    if (is_there) {
      ASSIGN_OR_RETURN(const int64_t kept, Keep(path, wanted));
      if (kept == wanted) return OkStatus();
    }
    ASSIGN_OR_RETURN(const TextShard made, Make(first, wanted));
    RETURN_IF_ERROR(WriteTextShard(made, path));
    for (const TextExample& example : made.examples) Count(example);
    return OkStatus();
  }

  // A shard there would be of a larger count.
  Status CheckNothingAfter(int64_t shards) const {
    ASSIGN_OR_RETURN(const bool is_there, Exists(PathOf(shards)));
    return is_there ? HoldsMore() : OkStatus();
  }

  FlatTextSummary Summary() const {
    FlatTextSummary summary = summary_;
    summary.plans = plans_.size();
    return summary;
  }

 private:
  fs::path PathOf(int64_t shard) const { return folder_ / TextShardName(shard); }

  Status HoldsMore() const {
    return InvalidArgument(fmt::format("{} holds more than {}: name another folder, or a larger count",
                                       folder_.string(), Plural(options_.count, "text")));
  }

  // How many texts of a shard that is there count. A shorter one was the last of a smaller count; it is made anew.
  Result<int64_t> Keep(const fs::path& path, int64_t wanted) {
    ASSIGN_OR_RETURN(const TextShard shard, ReadTextShard(path));
    if (shard.origin != options_.origin)
      return InvalidArgument(
          fmt::format("{} is of other texts ({}): name another folder", path.string(), shard.origin));
    const int64_t size = int64_t(shard.examples.size());
    if (size > wanted) return HoldsMore();
    if (size < wanted) return 0;
    for (const TextExample& example : shard.examples) {
      texts_.insert(HashBytes(example.text));
      Count(example);
    }
    summary_.found += size;
    return size;
  }

  Result<TextShard> Make(int64_t first, int64_t wanted) {
    std::vector<Draft> drafts(size_t(wanted), Draft(std::nullopt));
    ForEachOnAllCores(drafts.size(), [&](size_t i) { drafts[i] = DrawText(options_, first + int64_t(i), 0); });
    TextShard shard{.origin = options_.origin};
    for (size_t i = 0; i < drafts.size(); ++i) {
      ASSIGN_OR_RETURN(TextExample example, FirstNew(std::move(drafts[i]), first + int64_t(i)));
      shard.examples.push_back(std::move(example));
    }
    return shard;
  }

  Result<TextExample> FirstNew(Draft drawn, int64_t number) {
    for (int draw = 1; draw <= kMostDraws; ++draw) {
      RETURN_IF_ERROR(drawn.status());
      if (*drawn && texts_.insert(HashBytes((*drawn)->text)).second) return **std::move(drawn);
      drawn = DrawText(options_, number, draw);
    }
    return NotFound(fmt::format("after {} no new one was found in {} draws: ask for fewer, or name more shapes",
                                Plural(number, "text"), kMostDraws));
  }

  void Count(const TextExample& example) {
    ++summary_.texts;
    summary_.bytes += int64_t(example.text.size());
    plans_.insert(HashBytes(example.plan));
  }

  const FlatTextOptions& options_;
  const fs::path folder_;
  std::set<Hash128> texts_, plans_;
  FlatTextSummary summary_;
};

}  // namespace

Result<FlatTextSummary> WriteFlatTexts(const FlatTextOptions& options, const fs::path& folder,
                                       const FlatTextHooks& hooks) {
  FlatTextWriter writer(options, folder);
  const int64_t shards = (options.count + options.shard_texts - 1) / options.shard_texts;
  RETURN_IF_ERROR(writer.CheckNothingAfter(shards));
  for (int64_t shard = 0; shard < shards && !(hooks.stop && hooks.stop()); ++shard) {
    RETURN_IF_ERROR(writer.RunShard(shard));
    if (hooks.watch) hooks.watch(writer.Summary().texts);
  }
  return writer.Summary();
}

}  // namespace gemmsmith
