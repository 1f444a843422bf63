// source_bench LIST [--alone]: builds, screens and records sources, as the judge does before its GPU tests
// (docs/judging_sources.md). A line of LIST is "kernel.cu MxNxK". It prints what came out and a hash of the machine
// code. --alone gives each source a compiler of its own, which takes all headers.
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <thread>

#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "compile/recording.h"
#include "compile/screening.h"
#include "compile/source_program.h"

namespace gemmsmith {

namespace {

struct BenchSource {
  std::filesystem::path file;
  Shape shape;
};

Result<std::vector<BenchSource>> ReadList(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::vector<BenchSource> sources;
  for (const ListLine& line : ListLines(text)) {
    const std::vector<std::string_view> words = SplitWords(line.text);
    if (words.size() < 2)
      return InvalidArgument(fmt::format("{}:{}: no \"kernel.cu MxNxK\"", path.string(), line.number));
    ASSIGN_OR_RETURN(const Shape shape, ParseShape(words[1]));
    sources.push_back({path.parent_path() / words[0], shape});
  }
  return sources;
}

Result<std::string> Judge(const BenchSource& source, SourceCompiler& compiler, const Device& device,
                          std::atomic<size_t>& narrow) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(source.file));
  ASSIGN_OR_RETURN(const SourceCompilation built, compiler.Compile(text, device.Architecture()));
  narrow += size_t(built.has_narrow_headers);
  if (!built.program) return std::string("does not compile");
  std::string code;
  for (const std::vector<uint8_t>& cubin : built.program->cubins) {
    if (!ScreenMachineCode(cubin).empty()) return std::string("refused");
    code.append(cubin.begin(), cubin.end());
  }
  ASSIGN_OR_RETURN(const std::vector<LaunchRecord> records,
                   RecordLaunches(*built.program, device, std::array{source.shape, source.shape}, 1));
  if (!records[0].recipe) return records[0].reason;
  return fmt::format("{} {}", HashBytes(code).Hex(), HashBytes(Print(*records[0].recipe)).Hex());
}

Status Run(const std::filesystem::path& list, bool alone) {
  ASSIGN_OR_RETURN(const std::vector<BenchSource> sources, ReadList(list));
  ASSIGN_OR_RETURN(const Device device, FindDevice("h200"));
  ASSIGN_OR_RETURN(const std::unique_ptr<SourceCompiler> shared, MakeSourceCompiler());
  std::vector<std::string> lines(sources.size());
  std::atomic<size_t> next = 0, narrow = 0;
  const auto work = [&] {
    for (size_t i = next++; i < sources.size(); i = next++) {
      Result<std::unique_ptr<SourceCompiler>> own = Unavailable("shared");
      if (alone) own = MakeSourceCompiler();
      const Result<std::string> line = Judge(sources[i], own.ok() ? **own : *shared, device, narrow);
      lines[i] = line.ok() ? *line : line.status().message();
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  threads.clear();
  for (size_t i = 0; i < sources.size(); ++i) fmt::print("{} {}\n", sources[i].file.filename().string(), lines[i]);
  fmt::print(stderr, "{} of {} with narrow headers\n", narrow.load(), sources.size());
  return OkStatus();
}

}  // namespace

}  // namespace gemmsmith

int main(int count, char** words) {
  const bool alone = count == 3 && std::string_view(words[2]) == "--alone";
  if (count != 2 && !alone) return fmt::print(stderr, "source_bench LIST [--alone]\n"), 2;
  const gemmsmith::Status status = gemmsmith::Run(words[1], alone);
  if (!status.ok()) fmt::print(stderr, "{}\n", status.message());
  return status.ok() ? 0 : 1;
}
