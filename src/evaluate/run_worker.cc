#include <unistd.h>

#include <cstdlib>

#include "base/stderr_text.h"
#include "base/subprocess.h"
#include "evaluate/gpu_judge.h"
#include "evaluate/isolate/frame.h"
#include "evaluate/isolate/worker_loop.h"

namespace gemmsmith {

int RunWorker(int gpu_ordinal) {
  const Result<int> out = SeparateStandardOutput();
  if (!out.ok()) {
    WriteStderr(fmt::format("{}\n", out.status().message()));
    return 1;
  }
  DieWithProgram();
  const Result<std::unique_ptr<GpuJudge>> judge = GpuJudge::Open(gpu_ordinal);
  if (!judge.ok()) return WriteFrame(*out, FrameType::kFailed, EncodeFailure(judge.status())).ok() ? 3 : 1;
  const int exit_code = ServeRequests(**judge, (*judge)->hello(), STDIN_FILENO, *out);
  // Without tearing down a context that may be broken: that could hang, and the driver does it anyway.
  std::_Exit(exit_code);
}

}  // namespace gemmsmith
