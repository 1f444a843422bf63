#include "llm/http_client.h"

#include <dlfcn.h>
#include <fmt/format.h>


#include "base/lower_case.h"
#include "base/text.h"

namespace gemmsmith {
namespace {

// Numbers of libcurl's ABI, which has kept them since version 7.
enum CurlOption : int {
  kNoProgress = 43,
  kNoSignal = 99,
  kTimeoutMs = 155,
  kConnectTimeoutMs = 156,
  kWriteData = 10001,
  kUrl = 10002,
  kErrorBuffer = 10010,
  kPostFields = 10015,
  kUserAgent = 10018,
  kHttpHeader = 10023,
  kHeaderData = 10029,
  kProgressData = 10057,
  kWriteFunction = 20011,
  kHeaderFunction = 20079,
  kProgressFunction = 20219,
  kPostFieldSize = 30120,
};
constexpr int kResponseCode = 0x200002, kOk = 0, kWriteError = 23, kAborted = 42;
constexpr long kDefaultFeatures = 3;
constexpr size_t kMostBytes = size_t{64} << 20, kErrorBytes = 256;

struct Curl {
  int (*global_init)(long);
  void* (*init)();
  int (*set)(void*, int, ...);
  int (*perform)(void*);
  int (*get)(void*, int, ...);
  void (*cleanup)(void*);
  const char* (*error)(int);
  void* (*append)(void*, const char*);
  void (*free_list)(void*);
};

using Write = size_t (*)(char*, size_t, size_t, void*);
using Watch = int (*)(void*, int64_t, int64_t, int64_t, int64_t);

size_t TakeBody(char* bytes, size_t, size_t count, void* response) {
  std::string& body = static_cast<HttpResponse*>(response)->body;
  if (body.size() + count > kMostBytes) return 0;
  body.append(bytes, count);
  return count;
}

size_t TakeHeader(char* bytes, size_t, size_t count, void* response) {
  constexpr std::string_view kName = "retry-after:";
  const std::string line = Lowered({bytes, count});
  if (!line.starts_with(kName)) return count;
  const std::string rest = line.substr(kName.size());
  const std::vector<std::string_view> words = SplitWords(rest);
  if (words.size() == 1) static_cast<HttpResponse*>(response)->retry_after_seconds = ParseDouble(words[0]);
  return count;
}

int AskToStop(void* stop, int64_t, int64_t, int64_t, int64_t) {
  const auto& asked = *static_cast<const std::function<bool()>*>(stop);
  return asked && asked() ? 1 : 0;
}

class CurlClient : public HttpClient {
 public:
  explicit CurlClient(const Curl& curl) : curl_(curl) {}

  Result<HttpResponse> Call(const HttpCall& call) const override {
    const std::unique_ptr<void, void (*)(void*)> handle(curl_.init(), curl_.cleanup);
    if (!handle) return Unavailable("libcurl gives no handle");
    std::unique_ptr<void, void (*)(void*)> headers(nullptr, curl_.free_list);
    const auto add = [&](const std::string& header) { headers.reset(curl_.append(headers.release(), header.c_str())); };
    if (!call.bearer.empty()) add("Authorization: Bearer " + call.bearer);
    if (call.body) add("Content-Type: application/json");
    add("Expect:");  // some servers never say 100

    HttpResponse response;
    char error[kErrorBytes] = "";
    void* const to = handle.get();
    curl_.set(to, kUrl, call.url.c_str());
    curl_.set(to, kHttpHeader, headers.get());
    curl_.set(to, kUserAgent, "gemmsmith");
    curl_.set(to, kNoSignal, 1L);
    curl_.set(to, kConnectTimeoutMs, 20'000L);
    curl_.set(to, kTimeoutMs, long(call.seconds * 1000));
    curl_.set(to, kErrorBuffer, error);
    curl_.set(to, kWriteFunction, Write(TakeBody));
    curl_.set(to, kWriteData, &response);
    curl_.set(to, kHeaderFunction, Write(TakeHeader));
    curl_.set(to, kHeaderData, &response);
    curl_.set(to, kNoProgress, 0L);
    curl_.set(to, kProgressFunction, Watch(AskToStop));
    curl_.set(to, kProgressData, &call.stop);
    if (call.body) {
      curl_.set(to, kPostFieldSize, int64_t(call.body->size()));
      curl_.set(to, kPostFields, call.body->c_str());
    }
    const int code = curl_.perform(to);
    if (code == kAborted) return Interrupted("stopped while a request was under way");
    if (code == kWriteError)
      return Unavailable(fmt::format("{} answers with more than {} MiB", call.url, kMostBytes >> 20));
    if (code != kOk) return Unavailable(fmt::format("{}: {}", call.url, error[0] != '\0' ? error : curl_.error(code)));
    curl_.get(to, kResponseCode, &response.status);
    return response;
  }

 private:
  const Curl curl_;
};

}  // namespace

Result<std::unique_ptr<HttpClient>> HttpClient::Open() {
  void* const library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Unavailable("libcurl.so.4 does not open: apt-get install libcurl4");
  Curl curl;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr;
  };
  const bool has_all = find(curl.global_init, "curl_global_init") && find(curl.init, "curl_easy_init") &&
                       find(curl.set, "curl_easy_setopt") && find(curl.perform, "curl_easy_perform") &&
                       find(curl.get, "curl_easy_getinfo") && find(curl.cleanup, "curl_easy_cleanup") &&
                       find(curl.error, "curl_easy_strerror") && find(curl.append, "curl_slist_append") &&
                       find(curl.free_list, "curl_slist_free_all");
  if (!has_all) return Unavailable("libcurl.so.4 lacks functions of its easy interface");
  static const int initialised = curl.global_init(kDefaultFeatures);
  if (initialised != kOk) return Unavailable(fmt::format("libcurl does not start: {}", curl.error(initialised)));
  return std::unique_ptr<HttpClient>(std::make_unique<CurlClient>(curl));
}

}  // namespace gemmsmith
