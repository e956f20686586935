"""An agent that has tools and no shell: an MCP client, with a fixed plan where a model would choose the tools.

    pip install "pytest-fdegym[mcp]"
    pytest --fde-agent=mcp_agent.py

It asks the sponsor one question and leaves the answer with the system. No code is changed, and the score stays at 0 or just below.
"""

from __future__ import annotations

import json

from mcp import Client, StdioServerParameters, stdio_client

from pytest_fdegym import Engagement

QUESTION = "What do you want to get out of this work, and how will you measure it?"


async def agent(engagement: Engagement) -> None:
    """Ask and take note, by nothing but the tools of the server."""
    # With files=True the server also reads and writes files of the workspace, for clients that have no other way to do so.
    command, *arguments = engagement.mcp_command(files=True)
    async with Client(stdio_client(StdioServerParameters(command=command, args=arguments))) as client:
        people = json.loads(await call(client, "people"))
        sponsor = next((person["id"] for person in people if "sponsor" in f"{person['role']} {person['directory']}".lower()), None)
        if sponsor is None:
            print("nobody here is called a sponsor; nothing was changed")
            return
        reply = json.loads(await call(client, "ask", person=sponsor, message=QUESTION))
        note = f"# What {sponsor} wants from this system\n\n{reply['text']}\n"
        print(await call(client, "write_file", path="system/GOAL.md", content=note))


async def call(client: Client, tool: str, **arguments: object) -> str:
    """The text that a tool answers. A model would be given a refusal, too; here it ends the run."""
    result = await client.call_tool(tool, arguments)
    text = "".join(part.text for part in result.content if part.type == "text")
    if result.is_error:
        raise RuntimeError(f"{tool}: {text}")
    return text
