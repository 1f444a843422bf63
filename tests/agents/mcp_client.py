#!/usr/bin/env python3
"""Drives `gemmsmith mcp` with the official Python SDK. Exits with 77 where `mcp` is not installed."""

import asyncio
import json
import os
import sys
import tempfile

try:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
except ImportError:
    print("python3 has no package mcp: python3 -m pip install mcp")
    sys.exit(77)

PROBLEM = "64x64x64"


def plain(answer):
    """Versions of the package name attributes differently; the wire has one name for each."""
    return answer.model_dump(by_alias=True)


def text_of(result):
    return plain(result)["content"][0]["text"]


def parsed(result):
    return json.loads(text_of(result))


async def use(session):
    started = await session.initialize()
    assert plain(started)["serverInfo"]["name"] == "gemmsmith", started
    await session.send_ping()
    tools = {tool.name for tool in (await session.list_tools()).tools}
    assert tools == {"get_task", "judge_source", "judge_plan", "get_result", "list_best", "show_source"}, tools

    task = text_of(await session.call_tool("get_task", {"problem": PROBLEM}))
    assert "gemmsmith_descriptor_v1" in task
    python = "import triton\n@triton.jit\ndef kernel(): pass\n"
    refused = await session.call_tool("judge_source", {"problem": PROBLEM, "source": python})
    assert not plain(refused)["isError"] and parsed(refused)["outcome"] == "illegal", refused
    assert plain(refused)["structuredContent"] == parsed(refused)
    again = await session.call_tool("get_result", {"id": parsed(refused)["id"]})
    assert parsed(again) == parsed(refused)
    best = await session.call_tool("list_best", {"problem": PROBLEM})
    assert parsed(best)["archive"] == [], best
    plan = "direct tile_m=32 warps_k=8"
    shown = await session.call_tool("show_source", {"problem": PROBLEM, "plan": plan})
    assert "cudaError_t gemm(" in text_of(shown)
    wrong = await session.call_tool("get_task", {"problem": "no problem"})
    assert plain(wrong)["isError"], wrong


async def main(program):
    with tempfile.TemporaryDirectory() as home:
        environment = dict(os.environ, GEMMSMITH_HOME=home)
        server = StdioServerParameters(command=program, args=["mcp", "--device", "h200"], env=environment)
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await use(session)
    print("the client of the Python SDK is served")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
