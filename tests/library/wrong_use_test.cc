// Whatever a caller says gets a documented status, and a reason in one line.
#include "library_fixture.h"

#include <array>
#include <cmath>

namespace gemmsmith {
namespace {

struct BadProblem {
  const char* why;
  void (*spoil)(gemmsmith_problem&);
  gemmsmith_status status;
  const char* words;
};

TEST_F(Library, WhatIsWrongWithAProblemIsSaidInOneLine) {
  Open();
  const BadProblem cases[] = {
      {"size", [](auto& p) { p.size -= 8; }, GEMMSMITH_INVALID_ARGUMENT, "gemmsmith_problem_default"},
      {"negative", [](auto& p) { p.m = -1; }, GEMMSMITH_INVALID_ARGUMENT, "m = -1"},
      {"huge", [](auto& p) { p.n = INT64_MAX; }, GEMMSMITH_INVALID_ARGUMENT, "n = 9223372036854775807"},
      {"no depth", [](auto& p) { p.k = 0; }, GEMMSMITH_NOT_SUPPORTED, "k = 0"},
      {"short line", [](auto& p) { p.lda = 15; }, GEMMSMITH_INVALID_ARGUMENT, "lda = 15 is shorter"},
      {"negative line", [](auto& p) { p.ldd = -16; }, GEMMSMITH_INVALID_ARGUMENT, "negative"},
      {"overflow", [](auto& p) { p.ldb = INT64_MAX; }, GEMMSMITH_INVALID_ARGUMENT, "2^40"},
      {"overlap", [](auto& p) { p.batch = 2; }, GEMMSMITH_INVALID_ARGUMENT, "overlap"},
      {"overflowing step", [](auto& p) { p.batch = 1 << 30, p.a_step = INT64_MAX / 2, p.d_step = 256; },
       GEMMSMITH_INVALID_ARGUMENT, "2^40"},
      {"type", [](auto& p) { p.ab_type = gemmsmith_type(9); }, GEMMSMITH_INVALID_ARGUMENT, "ab_type"},
      {"mixed", [](auto& p) { p.cd_type = GEMMSMITH_BF16; }, GEMMSMITH_INVALID_ARGUMENT, "cd_type"},
      {"order", [](auto& p) { p.b_order = gemmsmith_order(7); }, GEMMSMITH_INVALID_ARGUMENT, "order"},
      {"activation", [](auto& p) { p.activation = gemmsmith_activation(5); }, GEMMSMITH_INVALID_ARGUMENT, "activation"},
      {"alignment", [](auto& p) { p.pointer_alignment = 12; }, GEMMSMITH_INVALID_ARGUMENT, "power of two"},
  };
  for (const BadProblem& bad : cases) {
    gemmsmith_problem problem = SomeCase(16, 16, 16).problem;
    bad.spoil(problem);
    gemmsmith_product* product = reinterpret_cast<gemmsmith_product*>(1);
    EXPECT_EQ(gemmsmith_prepare(context_, &problem, 0, &product), bad.status) << bad.why;
    EXPECT_EQ(product, nullptr) << bad.why;
    EXPECT_NE(std::string(gemmsmith_last_error()).find(bad.words), std::string::npos)
        << bad.why << ": " << gemmsmith_last_error();
  }
  gemmsmith_problem problem = SomeCase(16, 16, 16).problem;
  gemmsmith_product* product = nullptr;
  EXPECT_EQ(gemmsmith_prepare(context_, &problem, 3, &product), GEMMSMITH_NO_DEVICE);
  EXPECT_EQ(gemmsmith_prepare(context_, nullptr, 0, &product), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(gemmsmith_prepare(nullptr, &problem, 0, &product), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(gemmsmith_run(nullptr, nullptr, nullptr), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(gemmsmith_multiply(context_, nullptr, nullptr, nullptr), GEMMSMITH_INVALID_ARGUMENT);
}

TEST_F(Library, WhatIsWrongWithOperandsIsSaidAndNothingIsLaunched) {
  Open();
  gemmsmith_problem problem = SomeCase(16, 16, 16).problem;
  gemmsmith_product* product = nullptr;
  ASSERT_EQ(gemmsmith_prepare(context_, &problem, 0, &product), GEMMSMITH_OK);
  alignas(16) char matrix[1024] = {};
  gemmsmith_operands good;
  gemmsmith_operands_default(&good);
  good.a = good.b = good.d = matrix;
  const auto status_of = [&](auto&& spoil) {
    gemmsmith_operands operands = good;
    spoil(operands);
    return gemmsmith_run(product, &operands, nullptr);
  };
  EXPECT_EQ(status_of([](auto&) {}), GEMMSMITH_OK);
  EXPECT_EQ(status_of([](auto& o) { o.size = 8; }), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([](auto& o) { o.a = nullptr; }), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([](auto& o) { o.d = nullptr; }), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([](auto& o) { o.alpha = 2; }), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([](auto& o) { o.beta = 1; }), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&](auto& o) { o.b = matrix + 2; }), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_NE(std::string(gemmsmith_last_error()).find("16 bytes"), std::string::npos) << gemmsmith_last_error();
  gemmsmith_release(product);
}

TEST_F(Library, APointerBetweenElementsIsRefused) {
  Open();
  alignas(16) char matrix[2048] = {};
  gemmsmith_problem problem = SomeCase(16, 16, 16).problem;
  problem.has_bias = 1;
  gemmsmith_operands good;
  gemmsmith_operands_default(&good);
  good.a = good.b = good.bias = good.d = matrix;
  const auto status_of = [&](auto&& spoil) {
    gemmsmith_operands operands = good;
    spoil(operands);
    const gemmsmith_status status = gemmsmith_multiply(context_, &problem, &operands, nullptr);
    if (status != GEMMSMITH_OK) {
      EXPECT_NE(std::string(gemmsmith_last_error()).find("align"), std::string::npos) << gemmsmith_last_error();
    }
    return status;
  };
  EXPECT_EQ(status_of([](auto&) {}), GEMMSMITH_OK) << gemmsmith_last_error();
  EXPECT_EQ(status_of([&](auto& o) { o.a = matrix + 1; }), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&](auto& o) { o.bias = matrix + 1; }), GEMMSMITH_INVALID_ARGUMENT);
  problem.cd_type = GEMMSMITH_F32;
  EXPECT_EQ(status_of([&](auto& o) { o.a = matrix + 2; }), GEMMSMITH_OK);
  EXPECT_EQ(status_of([&](auto& o) { o.d = matrix + 2; }), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&](auto& o) { o.bias = matrix + 2; }), GEMMSMITH_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&](auto& o) { o.c = matrix + 2, o.beta = 1; }), GEMMSMITH_INVALID_ARGUMENT);
}

TEST_F(Library, NullsAndUnknownNumbersAreHarmless) {
  EXPECT_EQ(gemmsmith_context_create(nullptr, nullptr), GEMMSMITH_INVALID_ARGUMENT);
  gemmsmith_context_destroy(nullptr);
  gemmsmith_release(nullptr);
  gemmsmith_problem_default(nullptr);
  gemmsmith_operands_default(nullptr);
  size_t bytes = 7;
  EXPECT_EQ(gemmsmith_explain(nullptr, nullptr, &bytes), GEMMSMITH_INVALID_ARGUMENT);
  for (const int status : {-1, 0, 3, 9, 10, 1 << 30})
    EXPECT_STRNE(gemmsmith_status_text(gemmsmith_status(status)), "") << status;
  Open();
  const gemmsmith_problem problem = SomeCase(16, 16, 16).problem;
  EXPECT_EQ(gemmsmith_prepare(context_, &problem, 0, nullptr), GEMMSMITH_INVALID_ARGUMENT);
  gemmsmith_product* product = nullptr;
  for (const int device : {-1, 1, 255, 256, INT32_MAX, INT32_MIN})
    EXPECT_EQ(gemmsmith_prepare(context_, &problem, device, &product), GEMMSMITH_NO_DEVICE) << device;
  EXPECT_EQ(product, nullptr);
}

TEST_F(Library, AnExplanationIsCutToItsRoom) {
  Open();
  const gemmsmith_problem problem = SomeCase(16, 16, 16).problem;
  gemmsmith_product* product = nullptr;
  ASSERT_EQ(gemmsmith_prepare(context_, &problem, 0, &product), GEMMSMITH_OK);
  const std::string whole = Explain(problem);
  for (size_t room = 0; room <= whole.size() + 2; ++room) {
    std::string text(whole.size() + 3, '#');
    size_t bytes = room;
    EXPECT_EQ(gemmsmith_explain(product, text.data(), &bytes), GEMMSMITH_OK);
    EXPECT_EQ(bytes, whole.size() + 1);
    const std::string expected = room == 0 ? "" : whole.substr(0, room - 1) + '\0';
    EXPECT_EQ(text, expected + std::string(text.size() - expected.size(), '#')) << room;
  }
  EXPECT_EQ(gemmsmith_explain(product, nullptr, nullptr), GEMMSMITH_INVALID_ARGUMENT);
  gemmsmith_release(product);
}

TEST_F(Library, AnOverlayThatIsDamagedMissingOrForAnotherGpuIsRefusedByName) {
  gemmsmith_problem problem = SomeCase(16, 16, 16).problem;
  gemmsmith_product* product = nullptr;
  const auto status_with = [&](const std::string& bytes) {
    gemmsmith_context_destroy(std::exchange(context_, nullptr));
    const std::string path = folder_.path() / "overlay.kernels";
    std::filesystem::remove(path);
    if (!bytes.empty()) {
      EXPECT_TRUE(WriteFileAtomic(path, bytes).ok());
    }
    EXPECT_EQ(gemmsmith_context_create(&context_, path.c_str()), GEMMSMITH_OK);
    const gemmsmith_status status = gemmsmith_prepare(context_, &problem, 0, &product);
    if (status != GEMMSMITH_OK) {
      EXPECT_NE(std::string(gemmsmith_last_error()).find(path), std::string::npos) << gemmsmith_last_error();
    }
    return status;
  };
  const std::string good = KernelFile("h200").Print();
  EXPECT_EQ(status_with(good.substr(0, good.size() / 2)), GEMMSMITH_BAD_FILE);
  EXPECT_EQ(status_with(KernelFile("h100").Print()), GEMMSMITH_BAD_FILE);
  EXPECT_EQ(status_with(""), GEMMSMITH_BAD_FILE);
  EXPECT_EQ(status_with(good), GEMMSMITH_OK);
  gemmsmith_release(product);
}

TEST_F(Library, AnyNumbersAtAllGetADocumentedStatus) {
  Open();
  std::mt19937_64 random(7);
  const int64_t interesting[] = {0, 1, 2, 7, 16, 255, 4096, -1, INT32_MAX, INT64_MAX, INT64_MIN, int64_t{1} << 40};
  const auto any = [&] { return interesting[random() % std::size(interesting)]; };
  constexpr int kProblems = 1'000'000;
  int done = 0;
  for (int i = 0; i < kProblems; ++i) {
    gemmsmith_problem problem = SomeCase(16, 16, 16).problem;
    int64_t* const numbers[] = {&problem.m,      &problem.n,      &problem.k,      &problem.batch,
                                &problem.lda,    &problem.ldb,    &problem.ldc,    &problem.ldd,
                                &problem.a_step, &problem.b_step, &problem.c_step, &problem.d_step};
    for (int64_t* number : numbers)
      if (random() % 4 == 0) *number = any();
    int* const flags[] = {&problem.has_bias, &problem.alpha_is_one, &problem.beta_is_zero, &problem.constant_b};
    for (int* flag : flags) *flag = int(random());
    if (random() % 8 == 0) problem.a_order = gemmsmith_order(random() % 3);
    if (random() % 8 == 0) problem.cd_type = gemmsmith_type(random() % 5);
    if (random() % 8 == 0) problem.pointer_alignment = uint32_t(random() % 300);
    gemmsmith_product* product = nullptr;
    const gemmsmith_status status = gemmsmith_prepare(context_, &problem, 0, &product);
    ASSERT_TRUE(status == GEMMSMITH_OK || status == GEMMSMITH_INVALID_ARGUMENT || status == GEMMSMITH_NOT_SUPPORTED)
        << gemmsmith_last_error();
    ASSERT_EQ(product != nullptr, status == GEMMSMITH_OK);
    done += status == GEMMSMITH_OK;
    gemmsmith_release(product);
  }
  EXPECT_GT(done, 100);
}

}  // namespace
}  // namespace gemmsmith
