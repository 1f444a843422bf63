"""Rewards from `gemmsmith serve` (docs/agents.md). Standard library only.

A failure of the service raises ServiceError; it never becomes a reward.
"""

import json
import math
import os
import time
import urllib.error
import urllib.request

SILENCE_SECONDS = 3600  # the longest wait for one batch, and for room in the queue
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class ServiceError(RuntimeError):
    """The service says nothing about the answers: it is missing, it has no GPU, or a request is wrong."""


def rewards_of(problems, texts, service=None, token=None):
    """A pair (reward, whether it passed) for each text, an answer of the model to the problem at its place.

    The address and the token default to $GEMMSMITH_SERVICE and $GEMMSMITH_TOKEN. Waits until all are judged.
    """
    service = service or os.environ.get("GEMMSMITH_SERVICE") or "http://127.0.0.1:8766"
    token = token or os.environ.get("GEMMSMITH_TOKEN")
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    body = {"query": list(texts), "prompts": [""] * len(texts), "labels": list(problems)}
    request = urllib.request.Request(f"{service.rstrip('/')}/get_reward", json.dumps(body).encode(), headers)
    return _pairs(_answer(request, service), len(texts))


def _answer(request, service):
    """The body of the answer. A full queue is asked again when it says."""
    deadline = time.monotonic() + SILENCE_SECONDS
    while True:
        try:
            with _OPENER.open(request, timeout=SILENCE_SECONDS) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            with error:
                words = error.read().decode(errors="replace").strip()
                seconds = error.headers.get("Retry-After", "")
            if error.code != 429 or time.monotonic() > deadline:
                raise ServiceError(f"{service} answers {error.code}: {words}") from None
            time.sleep(int(seconds) if seconds.isdecimal() else 5)
        except (OSError, ValueError) as error:
            raise ServiceError(f"no answer from {service}: {error}; start gemmsmith serve") from error


def _pairs(body, count):
    try:
        answer = json.loads(body)
        rewards = [float(reward) for reward in answer["rewards"]]
        passed = [bool(one) for one in answer["extra_logs"]["passed"]]
    except (ValueError, KeyError, TypeError) as error:
        raise ServiceError(f"the answer is not that of gemmsmith serve: {body[:200]!r}") from error
    if len(rewards) != count or len(passed) != count or not all(map(math.isfinite, rewards)):
        raise ServiceError(f"{count} answers were sent, and the rewards are {rewards}")
    return list(zip(rewards, passed))
