// Tests and times libgemmsmith.so on a GPU (bench/README.md).
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <string>

#include "commands.h"

namespace {

constexpr const char* kUsage =
    "library_bench check|race|host|first|threads [--count N] [--seed N] [--seconds S] [--problems FILE] [--details "
    "FILE] [--own]\n";

}  // namespace

int main(int count, char** words) {
  using namespace gemmsmith;
  BenchOptions options;
  const std::string command = count > 1 ? words[1] : "";
  for (int i = 2; i < count; ++i) {
    const std::string option = words[i];
    if (option == "--own") {
      options.own = true;
      continue;
    }
    const std::string value = ++i < count ? words[i] : "";
    if (value.empty()) return fmt::print(stderr, "{} needs a value\n{}", option, kUsage), 2;
    if (option == "--count")
      options.count = std::atoll(value.c_str());
    else if (option == "--seed")
      options.seed = uint64_t(std::atoll(value.c_str()));
    else if (option == "--seconds")
      options.seconds = std::atof(value.c_str());
    else if (option == "--problems")
      options.problems = value;
    else if (option == "--details")
      options.details = value;
    else
      return fmt::print(stderr, "unknown option {}\n{}", option, kUsage), 2;
  }
  if (command != "check" && command != "race" && command != "host" && command != "first" && command != "threads")
    return fmt::print(stderr, "{}", kUsage), 2;
  if (options.own) setenv("GEMMSMITH_ALWAYS", "1", 1);
  Result<BenchGpu> bench = BenchGpu::Open();
  if (!bench.ok()) return fmt::print(stderr, "library_bench: {}\n", bench.status().message()), 3;
  const Status done = command == "check"   ? CheckProblems(*bench, options)
                      : command == "race"  ? RaceProblems(*bench, options)
                      : command == "host"  ? TimeHost(*bench)
                      : command == "first" ? TimeFirstCalls(options)
                                           : RunThreads(*bench, options);
  if (done.ok()) return 0;
  fmt::print(stderr, "library_bench: {}\n", done.message());
  return 1;
}
