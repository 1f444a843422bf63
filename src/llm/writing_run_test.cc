// A whole run without a GPU: an endpoint of our own, the real compilers and sandbox, and the cassette that is left.
#include "llm/writing_run.h"

#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "agents/task_text.h"
#include "base/files.h"
#include "base/scoped_variable.h"
#include "compile/source_program.h"
#include "llm/http_client.h"
#include "serve/http_server.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

// Answers with the example, first with an error in it, then mended by an edit.
HttpReply AnswerTo(const HttpRequest& request) {
  if (request.path == "/v1/models") return PlainAnswer(200, R"({"data": [{"id": "tiny"}]})");
  const bool is_repair = Json::parse(request.body)["messages"].size() > 2;
  const std::string example = ExampleSource({.layout = kTn});
  const std::string content = is_repair ? "<<<<<<< SEARCH\nnot C++\n=======\n// mended\n>>>>>>> REPLACE\n"
                                        : "```cuda\n" + example + "not C++\n```\n";
  return PlainAnswer(200, Json{{"choices", {{{"message", {{"content", content}}}}}}}.dump());
}

TEST(WritingRun, ASourceIsWrittenMendedAndKeptOnACassette) {
  if (const auto client = HttpClient::Open(); !client.ok()) GTEST_SKIP() << client.status().message();
  if (const auto compiler = MakeSourceCompiler(); !compiler.ok()) GTEST_SKIP() << compiler.status().message();
  const TemporaryFolder home = *TemporaryFolder::Create("writing");
  const ScopedVariable variable("GEMMSMITH_HOME", home.path().c_str());
  const std::unique_ptr<HttpServer> server = *HttpServer::Listen(0, {.body_bytes = 1 << 20});
  std::atomic<bool> ends = false;
  std::jthread serving([&] { EXPECT_TRUE(server->Serve(AnswerTo, [&] { return ends.load(); }).ok()); });

  const auto run = [&](const std::filesystem::path& cassette) {
    WritingRequest request{.options = {.gemm = {.shape = {64, 96, 32}}, .islands = 1, .repairs = 1, .answers = 2},
                           .endpoint = "http://127.0.0.1:" + std::to_string(server->port()) + "/v1",
                           .cassette = cassette};
    request.judge.machine.device = "h200";  // its limits, and no GPU
    const std::unique_ptr<StopRule> stop = StopOnAny({});
    return WriteKernels(
        request, *stop, [] { return false; }, [](const WritingRun&) {}, [](const WritingEvent&) {});
  };
  const Result<WritingRun> written = run("");
  ends = true;
  ASSERT_TRUE(written.ok()) << written.status().message();
  EXPECT_EQ(written->options.model, "tiny");
  EXPECT_EQ(written->result.counts.outcomes, (std::map<std::string, int64_t>{{"compile_failed", 1}, {"untimed", 1}}));
  ASSERT_EQ(written->result.best.size(), 1u);
  EXPECT_TRUE(written->result.best[0].source.ends_with("// mended\n"));
  EXPECT_NE(written->why_not_timed, "");

  serving.join();
  const Result<WritingRun> replayed = run(written->exchanges);
  ASSERT_TRUE(replayed.ok()) << replayed.status().message();
  EXPECT_EQ(replayed->result.counts.outcomes, written->result.counts.outcomes);
  EXPECT_EQ(replayed->result.best[0].source, written->result.best[0].source);
}

}  // namespace
}  // namespace gemmsmith
