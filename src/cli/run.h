// The command line as a whole, and one function a verb. Each returns the exit code, or the Status that exit.h turns
// into one.
#pragma once

#include "base/status.h"
#include "cli/command.h"

namespace gemmsmith {

int RunCommandLine(int argc, const char* const* argv);

Result<int> Run(const OptimizeCommand& command);
Result<int> RunWriting(const OptimizeCommand& command);  // --proposer llm
Result<int> Run(const EvaluateCommand& command);
Result<int> Run(const VerifyCommand& command);
Result<int> Run(const RecipeCommand& command);
Result<int> Run(const SelfTestCommand& command);
Result<int> Run(const PlanCheckCommand& command);
Result<int> Run(const PlanListCommand& command);
Result<int> Run(const PlanEmitCommand& command);
Result<int> Run(const PlanExplainCommand& command);
Result<int> Run(const PlanFactsCommand& command);
Result<int> Run(const RecordsImportCommand& command);
Result<int> Run(const RecordsExportCommand& command);
Result<int> Run(const RecordsListCommand& command);
Result<int> Run(const RecordsStatsCommand& command);
Result<int> Run(const RecordsPairsCommand& command);
Result<int> Run(const RecordsCompareCommand& command);
Result<int> Run(const RecordsMeasureCommand& command);
Result<int> Run(const BenchCommand& command);
Result<int> Run(const PromoteCommand& command);
Result<int> Run(const CatalogueShowCommand& command);
Result<int> Run(const CatalogueFindCommand& command);
Result<int> Run(const CatalogueCompareCommand& command);
Result<int> Run(const CatalogueSettleCommand& command);
Result<int> Run(const CatalogueProveCommand& command);
Result<int> Run(const CatalogueBuildCommand& command);
Result<int> Run(const CatalogueGeneralCommand& command);
Result<int> Run(const ReportCommand& command);
Result<int> Run(const TrainCommand& command);
Result<int> Run(const CompareCommand& command);
Result<int> Run(const CorpusFlatCommand& command);
Result<int> Run(const CorpusTokenizerCommand& command);
Result<int> Run(const CorpusTrainCommand& command);
Result<int> Run(const CorpusShrinkCommand& command);
Result<int> Run(const CorpusSampleCommand& command);
Result<int> Run(const CorpusJudgeCommand& command);
Result<int> Run(const CorpusNovelCommand& command);
Result<int> Run(const CorpusCompareCommand& command);
Result<int> Run(const CorpusReinforceCommand& command);
Result<int> Run(const CorpusCollectCommand& command);
Result<int> Run(const CorpusCleanCommand& command);
Result<int> Run(const CorpusInstructCommand& command);
Result<int> Run(const CorpusRetrieveCommand& command);
Result<int> Run(const CorpusStatsCommand& command);
Result<int> Run(const RunProgramCommand& command);
Result<int> Run(const McpCommand& command);
Result<int> Run(const ServeCommand& command);
Result<int> Run(const DoctorCommand& command);
Result<int> Run(const WorkerCommand& command);
Result<int> Run(const CompilerCommand& command);
Result<int> Run(const OnceCommand& command);

}  // namespace gemmsmith
