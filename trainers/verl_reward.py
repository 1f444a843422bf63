"""verl: a custom reward function (docs/agents.md, "Trainers").

    reward.custom_reward_function.path=trainers/verl_reward.py
    +reward.custom_reward_function.reward_kwargs.service=http://HOST:8766

A row's reward_model.ground_truth is the problem, as in 256x512x4096.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))  # verl loads this file by its path
from gemmsmith_service import rewards_of  # noqa: E402


def compute_score(data_source, solution_str, ground_truth, extra_info=None, service=None, token=None, **_):
    """The reward; `acc`, which verl averages in validation, is 1 for a kernel that passed."""
    [(reward, passed)] = rewards_of([ground_truth], [solution_str], service, token)
    return {"score": reward, "acc": float(passed)}
