#!/usr/bin/env python3
"""Sends cases of the judge's own test through `gemmsmith mcp` and checks each outcome: mcp_answers.py PROGRAM [--gpu].

With --gpu an untimed answer is a failure. Without it, what only a GPU can decide may stay untimed.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CASES = [
    "honest_kernels/wmma", "honest_kernels/split_k_two_kernels", "broken_kernels/numbers_k_loop_ends_early",
    "broken_kernels/memory_writes_behind_c", "broken_kernels/process_launches_by_count",
    "broken_kernels/code_counts_its_launches", "broken_kernels/timing_host_callback",
]
PLAN = {"problem": "256x512x4096", "plan": "direct tile_m=32 warps_k=8"}


def header(text, key, default):
    found = re.search(rf"^// {key}: (.*)$", text, re.M)
    return found[1].strip() if found else default


def case_call(name):
    with open(os.path.join(TESTS, name + ".cu")) as file:
        text = file.read()
    problem = f"{header(text, 'shape', '')} {header(text, 'layout', 'tn')} {header(text, 'type', 'f16')} f32"
    arguments = {"problem": problem, "source": text, "name": name.split("/")[1]}
    return "judge_source", arguments, header(text, "expect", "measured").split("|")


def ask(program, calls):
    lines = []
    for number, (tool, arguments, _) in enumerate(calls):
        params = {"name": tool, "arguments": dict(arguments, wait_seconds=600)}
        lines.append(json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}) + "\n")
    with tempfile.TemporaryDirectory() as home:
        environment = dict(os.environ, GEMMSMITH_HOME=home)
        done = subprocess.run([program, "mcp"], input="".join(lines), stdout=subprocess.PIPE, text=True,
                              env=environment, check=True)
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())}
    return [answers[number]["structuredContent"] for number in range(len(calls))]


def main(program, needs_gpu):
    task = subprocess.run([program, "mcp"], text=True, stdout=subprocess.PIPE, check=True, input=json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
         "params": {"name": "get_task", "arguments": {"problem": "65x130x257 nn bf16 f32"}}})).stdout
    example = json.loads(task)["result"]["content"][0]["text"].split("```cuda\n")[1].split("```")[0]
    calls = [case_call(name) for name in CASES]
    calls.append(("judge_source", {"problem": "65x130x257 nn bf16 f32", "source": example, "name": "example"}, ["measured"]))
    calls.append(("judge_plan", PLAN, ["measured"]))
    failures = 0
    for (_, arguments, expected), answer in zip(calls, ask(program, calls)):
        state = answer["state"]
        right = answer.get("outcome") in expected or (state == "untimed" and not needs_gpu)
        failures += not right
        print("as expected" if right else "UNEXPECTED ", arguments.get("name", "plan"), "|", answer["words"])
    return failures


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--gpu" in sys.argv) > 0)
