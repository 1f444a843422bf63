"""TRL: an asynchronous reward function of GRPOTrainer (docs/agents.md, "Trainers").

    from trl_reward import reward_function
    GRPOTrainer(reward_funcs=reward_function("http://HOST:8766"), ...)

The data set has a column `problem`, as in 256x512x4096.
"""

import asyncio

from gemmsmith_service import rewards_of

BATCH = 16  # answers a request


def text_of(completion):
    """A completion is a text, or a list of messages; the last one is the answer."""
    if isinstance(completion, str):
        return completion
    content = completion[-1]["content"] if completion else ""
    return content if isinstance(content, str) else "".join(part.get("text") or "" for part in content or [])


def reward_function(service=None, token=None):
    async def gemmsmith(completions, problem, log_metric=None, **_):
        texts = [text_of(completion) for completion in completions]
        batches = [slice(at, at + BATCH) for at in range(0, len(texts), BATCH)]
        answers = await asyncio.gather(
            *(asyncio.to_thread(rewards_of, problem[batch], texts[batch], service, token) for batch in batches))
        pairs = [pair for answer in answers for pair in answer]
        if log_metric and pairs:
            log_metric("gemmsmith/passed", sum(passed for _, passed in pairs) / len(pairs))
        return [reward for reward, _ in pairs]

    return gemmsmith
