#!/usr/bin/env python3
"""Drives `gemmsmith mcp` and /mcp of `gemmsmith serve` with the official Python SDK. Exits with 77 without `mcp`."""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
    try:
        from mcp.client.streamable_http import streamable_http_client
    except ImportError:  # its name before mcp 1.24
        from mcp.client.streamable_http import streamablehttp_client as streamable_http_client
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


async def over_stdio(program, environment):
    server = StdioServerParameters(command=program, args=["mcp", "--device", "h200"], env=environment)
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await use(session)


async def over_http(program, environment):
    server = subprocess.Popen([program, "serve", "--port", "0", "--device", "h200"], stdout=subprocess.PIPE, text=True,
                              env=environment)
    try:
        address = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())[0]
        async with streamable_http_client(f"{address}/mcp") as (read, write, *_), ClientSession(read, write) as session:
            await use(session)
    finally:
        server.kill()
        server.wait()


def main(program):
    for transport in (over_stdio, over_http):
        with tempfile.TemporaryDirectory() as home:
            asyncio.run(transport(program, dict(os.environ, GEMMSMITH_HOME=home)))
    print("the client of the Python SDK is served over both transports")


if __name__ == "__main__":
    main(sys.argv[1])
