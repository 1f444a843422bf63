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
#include "corpus/text_shards.h"
#include "llm/http_client.h"
#include "serve/http_server.h"

namespace gemmsmith {
namespace {

using Json = nlohmann::ordered_json;

// Answers with the example, first with an error in it, then mended by an edit. Refuses questions that quote nothing.
HttpReply AnswerTo(const HttpRequest& request) {
  if (request.path == "/v1/models") return PlainAnswer(200, R"({"data": [{"id": "tiny"}]})");
  const Json messages = Json::parse(request.body)["messages"];
  const bool is_repair = messages.size() > 2;
  const std::string wanted = is_repair ? "> ### fix (tree/fix.cu:1)" : "> ### Tiles (guide/tiles.md:1)";
  if (messages.back()["content"].get<std::string>().find(wanted) == std::string::npos)
    return PlainAnswer(400, R"({"error": "no documentation"})");
  const std::string example = ExampleSource({.layout = kTn});
  const std::string content =
      is_repair ? "<<<<<<< SEARCH\nvoid f() { missing_name(); }\n=======\n// mended\n>>>>>>> REPLACE\n"
                : "```cuda\n" + example + "void f() { missing_name(); }\n```\n";
  return PlainAnswer(200, Json{{"choices", {{{"message", {{"content", content}}}}}}}.dump());
}

std::unique_ptr<Passages> PassagesOf(const std::vector<Snippet>& snippets) {
  const TemporaryFolder folder = *TemporaryFolder::Create("documents");
  EXPECT_TRUE(WriteSnippets({.origin = "a test", .snippets = snippets}, folder.path() / TextShardName(0)).ok());
  return *Passages::Read(folder.path());
}

TEST(WritingRun, ASourceIsWrittenMendedAndKeptOnACassette) {
  if (const auto client = HttpClient::Open(); !client.ok()) GTEST_SKIP() << client.status().message();
  if (const auto compiler = MakeSourceCompiler(); !compiler.ok()) GTEST_SKIP() << compiler.status().message();
  const TemporaryFolder home = *TemporaryFolder::Create("writing");
  const ScopedVariable variable("GEMMSMITH_HOME", home.path().c_str());
  const std::unique_ptr<HttpServer> server = *HttpServer::Listen(0, {.body_bytes = 1 << 20});
  std::atomic<bool> ends = false;
  std::jthread serving([&] { EXPECT_TRUE(server->Serve(AnswerTo, [&] { return ends.load(); }).ok()); });

  const Snippet page{.text = "A fast GEMM",
                     .kind = SnippetKind::kSection,
                     .title = "Tiles",
                     .source = "guide",
                     .path = "tiles.md",
                     .license = "MIT"};
  const Snippet code{.text = "missing_name();",
                     .kind = SnippetKind::kFunction,
                     .title = "fix",
                     .source = "tree",
                     .path = "fix.cu",
                     .license = "MIT"};
  const std::unique_ptr<Passages> documents = PassagesOf({page, code}), others = PassagesOf({page});
  const auto run = [&](const std::filesystem::path& cassette, const Passages* given) {
    WritingRequest request{.options = {.gemm = {.shape = {64, 96, 32}}, .islands = 1, .repairs = 1, .answers = 2},
                           .endpoint = "http://127.0.0.1:" + std::to_string(server->port()) + "/v1",
                           .name = "named",
                           .cassette = cassette,
                           .documents = given};
    request.judge.machine.device = "h200";  // its limits, and no GPU
    const std::unique_ptr<StopRule> stop = StopOnAny({});
    return WriteKernels(
        request, *stop, [] { return false; }, [](const WritingRun&) {}, [](const WritingEvent&) {});
  };
  const Result<WritingRun> written = run("", documents.get());
  const Status of_others = run("", others.get()).status();
  ends = true;
  EXPECT_NE(of_others.message().find("named.jsonl is of other options"), std::string::npos) << of_others.message();
  ASSERT_TRUE(written.ok()) << written.status().message();
  EXPECT_EQ(written->options.model, "tiny");
  EXPECT_EQ(written->result.counts.outcomes, (std::map<std::string, int64_t>{{"compile_failed", 1}, {"untimed", 1}}));
  ASSERT_EQ(written->result.best.size(), 1u);
  EXPECT_TRUE(written->result.best[0].source.ends_with("// mended\n"));
  EXPECT_NE(written->why_not_timed, "");

  serving.join();
  EXPECT_NE(run(written->exchanges, others.get()).status().message().find("quotes other documents"), std::string::npos);
  const Result<WritingRun> replayed = run(written->exchanges, nullptr);
  ASSERT_TRUE(replayed.ok()) << replayed.status().message();
  EXPECT_EQ(replayed->result.counts.outcomes, written->result.counts.outcomes);
  EXPECT_EQ(replayed->result.best[0].source, written->result.best[0].source);
}

}  // namespace
}  // namespace gemmsmith
