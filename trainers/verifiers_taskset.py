"""verifiers: a taskset of GEMM problems (docs/agents.md, "Trainers").

    PYTHONPATH=trainers vf-eval verifiers_taskset --env.taskset.problems '["256x512x4096"]'

The token is taken from $GEMMSMITH_TOKEN alone: verifiers writes its settings to the disk.
"""

import asyncio
from pathlib import Path

import verifiers.v1 as vf
from gemmsmith_service import rewards_of

__all__ = ["GemmTaskset"]

ASK = """Write the fastest CUDA source for the GEMM problem {problem}. Answer with the whole file between lines of ```.
The rules of sources follow.

{rules}"""


class GemmData(vf.TaskData):
    problem: str


class GemmTaskConfig(vf.TaskConfig):
    service: str | None = None
    """Address of `gemmsmith serve`; default $GEMMSMITH_SERVICE, else http://127.0.0.1:8766."""


class GemmTask(vf.Task[GemmData, vf.State, GemmTaskConfig]):
    async def judge(self, text: str) -> tuple[float, bool]:
        answers = await asyncio.to_thread(rewards_of, [self.data.problem], [text], self.config.service)
        return answers[0]

    @vf.reward(weight=1.0)
    async def gemmsmith(self, trace: vf.Trace) -> float:
        reward, passed = await self.judge(trace.last_reply)
        trace.record_metric("passed", float(passed))
        return reward

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Whether the service answers and accepts the problem."""
        await self.judge("")
        return True


class GemmConfig(vf.TasksetConfig):
    problems: list[str] = ["256x512x4096"]
    rules: Path = Path(__file__).resolve().parent.parent / "docs" / "free_form.md"
    """Text that goes into each prompt."""
    task: GemmTaskConfig = GemmTaskConfig()


class GemmTaskset(vf.Taskset[GemmTask, GemmConfig]):
    def load(self) -> list[GemmTask]:
        rules = self.config.rules.read_text(encoding="utf-8")
        return [GemmTask(GemmData(name=problem, problem=problem, prompt=ASK.format(problem=problem, rules=rules)),
                         self.config.task) for problem in self.config.problems]
