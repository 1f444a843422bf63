// Answers as a language model gives them (good, wrong, malformed, cheating), judged without a GPU: each ends in its
// stage, and those that only a GPU can refuse are said to be untimed. Plans are left to service_test.cc: compilers are
// processes of the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <variant>

#include "agents/judge_room.h"
#include "agents/task_text.h"
#include "base/files.h"
#include "base/scoped_variable.h"
#include "workflow/self_test_cases.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

struct ExpectedAnswer {
  const char* name;   // of the case
  const char* stage;  // that ends it; nullptr: untimed
};

constexpr ExpectedAnswer kHonest[] = {{"naive", nullptr},
                                      {"tiny", nullptr},
                                      {"mma", nullptr},
                                      {"wmma", nullptr},
                                      {"wmma_nn_bf16", nullptr},
                                      {"shared_tiles", nullptr},
                                      {"split_k_two_kernels", nullptr},
                                      {"tickets_in_the_workspace", nullptr},
                                      {"cp_async", nullptr}};
constexpr ExpectedAnswer kBroken[] = {{"code_declares_f16_accumulation", "check"},
                                      {"code_layout_of_another_kernel", "check"},
                                      {"code_python_dsl", "check"},
                                      {"code_without_descriptor", "check"},
                                      {"code_without_gemm", "compile"},
                                      {"code_does_not_compile", "compile"},
                                      {"process_eats_device_memory", "compile"},
                                      {"cache_output_in_host_map", "compile"},
                                      {"timing_host_callback", "compile"},
                                      {"code_reads_the_clock_of_the_gpu", "screening"},
                                      {"cache_contents_in_the_device_heap", "screening"},
                                      {"code_counts_its_launches", "screening"},
                                      {"numbers_tensor_core_f16_sums", "resources"},
                                      {"process_forks", "recording"},
                                      {"process_returns_an_error", "recording"},
                                      {"process_crashes_on_the_host", "recording"},
                                      {"process_launches_by_count", "recording"},
                                      {"process_exits_with_success", "recording"},
                                      {"numbers_k_loop_ends_early", nullptr},
                                      {"inputs_constant_output", nullptr},
                                      {"memory_writes_behind_c", nullptr}};

// The judge's room of a machine without a GPU.
class Answers : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto compiler = MakeSourceCompiler(); !compiler.ok()) GTEST_SKIP() << compiler.status().message();
    Result<JudgeRoom> room = OpenJudgeRoom({.machine = {.device = "h200"}});
    ASSERT_TRUE(room.ok()) << room.status().message();
    room_.emplace(*std::move(room));
  }

  Json Judged(Json arguments) {
    arguments["wait_seconds"] = 600;
    const BegunCall begun = room_->tools->Begin("judge_source", arguments);
    const auto* const awaited = std::get_if<AwaitedVerdict>(&begun);
    const ToolAnswer answer = awaited != nullptr ? room_->tools->Await(*awaited) : std::get<ToolAnswer>(begun);
    EXPECT_FALSE(answer.is_error) << answer.text;
    return Json::parse(answer.text);
  }

  const TemporaryFolder home_ = *TemporaryFolder::Create("gemmsmith-answers-test");
  const ScopedVariable variable_{"GEMMSMITH_HOME", home_.path().c_str()};
  std::optional<JudgeRoom> room_;
};

class AnswersOf : public Answers, public testing::WithParamInterface<std::pair<const char*, ExpectedAnswer>> {};

TEST_P(AnswersOf, EndInTheirStage) {
  const auto& [folder, expected] = GetParam();
  const std::filesystem::path file =
      std::filesystem::path(GEMMSMITH_SOURCE_DIR) / "tests" / folder / (std::string(expected.name) + ".cu");
  const Result<Case> tested = ParseCase(file, *ReadFile(file));
  ASSERT_TRUE(tested.ok()) << tested.status().message();
  const Json answer = Judged({{"problem", Print(tested->gemm)}, {"source", tested->text}, {"name", expected.name}});
  if (expected.stage == nullptr) {
    EXPECT_EQ(answer["state"], "untimed") << answer;
    EXPECT_NE(answer["recipe"], "");
    EXPECT_FALSE(answer.contains("outcome"));
    return;
  }
  EXPECT_EQ(answer["state"], "judged") << answer;
  EXPECT_EQ(answer["stage"], expected.stage) << answer;
  EXPECT_EQ(answer["passed"], false);
  const std::optional<OutcomeKind> kind = ParseOutcomeKind(answer["outcome"].get<std::string>());
  EXPECT_NE(std::find(tested->expected.begin(), tested->expected.end(), kind), tested->expected.end()) << answer;
  EXPECT_NE(answer["reason"].get<std::string>().find(tested->says), std::string::npos) << answer;
}

std::vector<std::pair<const char*, ExpectedAnswer>> AllAnswers() {
  std::vector<std::pair<const char*, ExpectedAnswer>> all;
  for (const ExpectedAnswer& expected : kHonest) all.emplace_back("honest_kernels", expected);
  for (const ExpectedAnswer& expected : kBroken) all.emplace_back("broken_kernels", expected);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, AnswersOf, testing::ValuesIn(AllAnswers()),
                         [](const auto& tested) { return std::string(tested.param.second.name); });

class ExampleOf : public Answers, public testing::WithParamInterface<Layout> {};

TEST_P(ExampleOf, EveryTypeBuildsAndRecords) {
  for (const ScalarType type : {ScalarType::kF16, ScalarType::kBf16}) {
    const Gemm gemm{.shape = {65, 33, 17}, .kind = {.layout = GetParam(), .type = type}};
    const Json answer = Judged({{"problem", Print(gemm)}, {"source", ExampleSource(gemm.kind)}});
    EXPECT_EQ(answer["state"], "untimed") << answer;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExampleOf, testing::ValuesIn(kLayouts), [](const auto& tested) {
  std::string name(Name(tested.param));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace gemmsmith
