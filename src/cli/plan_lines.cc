#include "cli/plan_lines.h"

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"

namespace gemmsmith {

namespace {

Status Wrong(const std::filesystem::path& path, int number, std::string_view what) {
  return InvalidArgument(fmt::format("{}:{}: {}", path.string(), number, what));
}

// Of a line with a word.
Result<PlanLine> ReadLine(std::string_view line) {
  PlanLine read;
  const size_t bar = line.find('|');
  if (bar == line.npos && SplitWords(line).front() == "gemm") return InvalidArgument("PROBLEM | PLAN has a '|'");
  if (bar != line.npos) {
    ASSIGN_OR_RETURN(read.gemm, ParseGemm(line.substr(0, bar)));
    line.remove_prefix(bar + 1);
  }
  ASSIGN_OR_RETURN(read.plan, ParsePlan(line));
  return read;
}

}  // namespace

Result<std::vector<PlanLine>> ReadPlanLines(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::vector<PlanLine> lines;
  for (const ListLine& line : ListLines(text)) {
    Result<PlanLine> read = ReadLine(line.text);
    if (!read.ok()) return Wrong(path, line.number, read.status().message());
    read->number = line.number;
    lines.push_back(*std::move(read));
  }
  if (lines.empty()) return InvalidArgument(fmt::format("{} holds no plan", path.string()));
  return lines;
}

Result<std::vector<PlanLine>> ReadPlansOfProblems(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(std::vector<PlanLine> lines, ReadPlanLines(path));
  for (const PlanLine& line : lines)
    if (!line.gemm) return Wrong(path, line.number, "a line is PROBLEM | PLAN here, not a plan alone");
  return lines;
}

Result<std::vector<Plan>> ReadPlansOfAll(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::vector<PlanLine> lines, ReadPlanLines(path));
  std::vector<Plan> plans;
  for (const PlanLine& line : lines) {
    if (line.gemm) return Wrong(path, line.number, "a line is a plan for all problems here, without '|'");
    plans.push_back(line.plan);
  }
  return plans;
}

}  // namespace gemmsmith
