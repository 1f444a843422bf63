// `report --live`: the verb as people use it, and in a browser the page that it serves.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "archive/archive.h"
#include "base/text.h"
#include "report/page.h"
#include "serve/live_report.h"
#include "serve/loopback_client.h"
#include "tests/end_to_end/browser.h"

namespace gemmsmith {
namespace {

constexpr std::chrono::seconds kPatience{60};

std::string BodyOf(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

std::string Get(int port, const std::string& path, const std::string& headers = "") {
  return LoopbackClient(port).Ask("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n" +
                                  headers + "\r\n");
}

class LiveTest : public testing::Test {
 protected:
  ~LiveTest() override {
    if (server_ > 0) {
      kill(server_, SIGKILL);
      Home::Wait(server_);
    }
  }

  // Starts the verb on any port, and returns the port that its line names.
  int Start(Words words) {
    words.insert(words.begin(), {"report", "--live", "0", "--archive", archive_});
    std::filesystem::remove(home.Path("live.out"));
    server_ = home.Start(words, home.Path("live.out"), home.Path("live.error"));
    std::string line;
    EXPECT_TRUE(Becomes([&] {
      const Result<std::string> out = ReadFile(home.Path("live.out"));
      line = out.ok() ? *out : "";
      return line.ends_with("\n");
    })) << *ReadFile(home.Path("live.error"));
    const std::string before = "http://127.0.0.1:";
    EXPECT_TRUE(line.starts_with(before)) << line;
    return int(ParseInteger(line.substr(before.size(), line.find('/', before.size()) - before.size())).value_or(0));
  }
  int Stop(int signal) {
    kill(server_, signal);
    return Home::Wait(std::exchange(server_, 0));
  }
  void Import(const std::vector<Trial>& trials, const std::string& name) const {
    const Finished finished =
        home.Run({"records", "import", home.File(name, JsonLines(trials)), "--archive", archive_});
    ASSERT_EQ(finished.exit_code, 0) << finished.error;
  }
  static bool Becomes(const std::function<bool()>& holds) {
    for (const auto start = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - start < kPatience;) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }

  Home home;
  const std::string archive_ = home.Path("archive.sqlite");
  pid_t server_ = 0;
};

TEST_F(LiveTest, WaitsForTheArchiveFollowsItAndEndsWithCtrlC) {
  const int port = Start({});
  ASSERT_GT(port, 0);
  EXPECT_FALSE(std::filesystem::exists(archive_));
  EXPECT_NE(BodyOf(Get(port, "/")).find("id=\"data\">null</script>"), std::string::npos);
  EXPECT_NE(Parsed(BodyOf(Get(port, "/status.json")))["trouble"].get<std::string>().find("no archive"),
            std::string::npos);
  EXPECT_TRUE(Get(port, "/data.json").starts_with("HTTP/1.1 404 "));

  Import(MadeUpTrials({64, 64, 64}, 5, kTn), "first.jsonl");
  const auto shapes = [&] {
    const std::string answer = Get(port, "/data.json");
    return answer.starts_with("HTTP/1.1 200 ") ? Parsed(BodyOf(answer))["shapes"]["m"] : nlohmann::json();
  };
  ASSERT_TRUE(Becomes([&] { return shapes() == nlohmann::json({64}); }));
  Import(MadeUpTrials({128, 64, 64}, 5, kTn), "second.jsonl");
  ASSERT_TRUE(Becomes([&] { return shapes() == nlohmann::json({64, 128}); }));
  const nlohmann::json status = Parsed(BodyOf(Get(port, "/status.json")));
  EXPECT_EQ(status["trials"], 10);
  EXPECT_EQ(status["shapes_asked"], 1000);
  EXPECT_EQ(status["latest"]["shape"], "128x64x64");
  EXPECT_TRUE(Get(port, "/data.json", "If-None-Match: " + status["version"].get<std::string>() + "\r\n")
                  .starts_with("HTTP/1.1 304 "));

  // Two at one port, and the same words again once the first has gone.
  ExpectOneError(home.Run({"report", "--live", std::to_string(port)}), 3, "in use: choose another");
  EXPECT_EQ(Stop(SIGINT), 130);
  EXPECT_EQ(*ReadFile(home.Path("live.error")).value().begin(), 'w') << "the note that it waits, and no more";
  EXPECT_FALSE(LoopbackClient(port).is_connected());
  EXPECT_GT(Start({}), 0);
  EXPECT_EQ(Stop(SIGTERM), 130);
}

TEST_F(LiveTest, ServesTheDataOfTheOfflinePage) {
  Import(MadeUpTrials({64, 64, 64}, 5, kTn), "trials.jsonl");
  const int port = Start({"--shapes", "64x64x64"});
  const std::string path = home.Path("page.html");
  ASSERT_EQ(home.Run({"report", "--archive", archive_, "--shapes", "64x64x64", "--html", path}).exit_code, 0);
  const std::string page = *ReadFile(path), begin = "id=\"data\">";
  const size_t at = page.find(begin) + begin.size();
  EXPECT_EQ(Parsed(BodyOf(Get(port, "/data.json"))), Parsed(page.substr(at, page.find("</script>", at) - at)));
}

TEST_F(LiveTest, WrongWordsAndRecordsAreOneLine) {
  for (const char* port : {"65536", "-1", "http", "80x"})
    ExpectOneError(home.Run({"report", "--live", port}), 2, "is no port");
  ExpectOneError(home.Run({"report", "--live", "0", "--html", "x.html"}), 2, "leave out");
  ExpectOneError(home.Run({"report", "--live", "0", "--json"}), 2, "leave out");
  ExpectOneError(home.Run({"report", home.File("x.jsonl", ""), "--live"}), 2, "follows an archive");
  ExpectOneError(home.Run({"report", "--live", "0", "--archive", home.File("x.sqlite", std::string(9000, 'x'))}), 1,
                 "damaged");
  ExpectOneError(home.Run({"report", "--live", "0"}, "/dev/full"), 1, "standard output");
}

// Drives the page as a reader does; what it saw stands in attributes of the root element.
constexpr const char* kReader = R"html(<script>
const seen = document.documentElement.dataset;
const shown = () => [...document.querySelectorAll("#shapes tbody tr:not([hidden])")].map((row) => row.cells[0].textContent);
async function until(name, holds) {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 100));
  seen[name] = "yes";
}
async function read() {
  seen.waits = document.getElementById("overview").textContent;
  await fetch("/add");
  await until("first", () => data !== null && shapes.length === 13);
  changeView({row: "cublas_tn"});
  d3.select("button.theme").dispatch("click");
  seen.theme = document.documentElement.dataset.theme;
  const filter = document.querySelector("#shapes input");
  filter.value = "k>=1024";
  filter.dispatchEvent(new Event("input"));
  filter.focus();
  filter.setSelectionRange(2, 4);
  document.getElementById("shapes").scrollIntoView();
  const place = document.getElementById("shapes").getBoundingClientRect().top;
  seen.before = shown().join();
  await fetch("/add");
  await until("second", () => shapes.length === 14);
  seen.after = shown().join();
  const again = document.querySelector("#shapes input");
  seen.cursor = String(again !== filter && document.activeElement === again && again.selectionStart === 2);
  seen.baseline = view.row + " " + document.querySelector("#controls select").value;
  seen.moved = String(Math.round(document.getElementById("shapes").getBoundingClientRect().top - place));
  seen.themeAfter = document.documentElement.dataset.theme;
  seen.status = document.getElementById("live").textContent;
  await fetch("/die");
  await until("gone", () => document.getElementById("live").textContent.includes("gone away"));
}
read();
</script>)html";

class LiveBrowserTest : public LiveTest {
 protected:
  void SetUp() override {
    if (!Browser::Find()) GTEST_SKIP() << Browser::kLacking;
  }

  HttpAnswer Answer(const HttpRequest& request) {
    if (is_dead_) return PlainAnswer(404, "gone");
    is_dead_ = request.path == "/die";
    if (request.path == "/add") {
      std::vector<Trial> trials;
      if (added_++ == 0)
        for (int k = 64; k <= 64 * 13; k += 64)
          for (const Trial& trial : MadeUpTrials({64, 64, k == 64 ? 4096 : k}, 3, kTn)) trials.push_back(trial);
      else
        trials = MadeUpTrials({64, 64, 2048}, 3, kTn);
      EXPECT_TRUE((*Archive::Open(archive_))->Add(trials).ok());
      EXPECT_TRUE(report_.Refresh().ok());
    }
    if (request.path != "/") return report_.Answer(request);
    return {.content_type = "text/html", .body = std::make_shared<const std::string>(LivePage() + kReader)};
  }

  LiveReport report_{{.archive = archive_, .campaign = {}, .selection = {}, .against = {}}};
  int added_ = 0;
  bool is_dead_ = false;
};

TEST_F(LiveBrowserTest, NewShapesComeWithoutAReloadAndTheReaderStays) {
  const std::unique_ptr<HttpServer> server = *HttpServer::Listen(0);
  std::atomic<bool> is_over = false;
  std::thread thread([&] {
    EXPECT_TRUE(
        server->Serve([&](const HttpRequest& request) { return Answer(request); }, [&] { return is_over.load(); })
            .ok());
  });
  const std::string page = Browser::Find()->Drawn(home, "http://127.0.0.1:" + std::to_string(server->port()) + "/");
  is_over = true;
  thread.join();
  ExpectDrawn(page);
  const std::string root = page.substr(0, page.find('>', page.find("<html")));
  for (const char* seen :
       {"data-waits=\"The tables and figures come with the first measurement.\"", "data-first=\"yes\"",
        "data-before=\"64x64x4096\"", "data-second=\"yes\"", "data-after=\"64x64x2048,64x64x4096\"",
        "data-cursor=\"true\"", "data-baseline=\"cublas_tn cublas_tn\"", "data-moved=\"0\"", "data-gone=\"yes\"",
        "14 shapes begun, 14 in the tables", "42 candidates judged", "latest 64x64x2048 tn: 3 candidates"})
    EXPECT_NE(root.find(seen), std::string::npos) << seen << "\n" << root;
  const auto attribute = [&](const std::string& name) {
    const size_t at = root.find("data-" + name + "=\"");
    return root.substr(at, root.find('"', at + name.size() + 7) - at).substr(name.size() + 5);
  };
  EXPECT_EQ(attribute("theme"), attribute("theme-after"));
}

}  // namespace
}  // namespace gemmsmith
