// durability_writer ARCHIVE COUNT: what a campaign does, as fast as it can. Finds out which of the trials 0 to COUNT -
// 1 are stored, adds the others in order, and says each number on its standard output once Add() has returned OK.
#include <unistd.h>

#include <cstdio>
#include <map>

#include "archive/archive.h"
#include "archive/example_trials.h"
#include "base/text.h"

namespace gemmsmith {
namespace {

Status WriteMissing(Archive& archive, int count) {
  std::map<std::pair<std::string, std::string>, bool> stored;
  RETURN_IF_ERROR(archive.ForEach({.campaign = "example"}, [&](const Trial& trial) {
    stored[{Print(trial.gemm), Print(trial.plan())}] = true;
  }));
  for (int number = 0; number < count; ++number) {
    const Trial trial = ExampleTrial(number);
    if (stored.contains({Print(trial.gemm), Print(trial.plan())})) continue;
    RETURN_IF_ERROR(archive.Add(trial));
    const std::string line = fmt::format("{}\n", number);
    if (::write(STDOUT_FILENO, line.data(), line.size()) != ssize_t(line.size())) return IoError("nobody listens");
  }
  return OkStatus();
}

}  // namespace
}  // namespace gemmsmith

int main(int argc, char** argv) {
  using namespace gemmsmith;
  if (argc != 3) return 2;
  const Result<std::unique_ptr<Archive>> archive = Archive::Open(argv[1]);
  const Status status =
      archive.ok() ? WriteMissing(**archive, int(ParseInteger(argv[2]).value_or(0))) : archive.status();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
