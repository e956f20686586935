"""The engagement as an MCP server, seen by the official SDK's client over a real process: with the SDK, and the program in bin/."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_fdegym.agents.command import CommandAgent
from pytest_fdegym.agents.engagement import Engagement
from pytest_fdegym.channel.server import Channel, Customer
from pytest_fdegym.limits import Limits, LimitTracker
from pytest_fdegym.observer import Observers
from pytest_fdegym.people.conversation import Conversation
from pytest_fdegym.results.record import AgentIdentity, Record
from pytest_fdegym.runner import Case, Settings, run
from tests.support.settings import python_agent

pytest.importorskip("mcp", reason='pip install "pytest-fdegym[mcp]"')

from mcp import Client, StdioServerParameters, stdio_client

PEOPLE = ["people", "ask", "inbox", "wait", "trial", "log", "status"]
FILES = ["list_files", "read_file", "write_file", "edit_file"]
Server = Callable[[Engagement], list[str]]
Use = Callable[[Client], Awaitable[None]]


def with_the_sdk(engagement: Engagement) -> list[str]:
    return engagement.mcp_command()


def with_files(engagement: Engagement) -> list[str]:
    return engagement.mcp_command(files=True)


def in_bin(engagement: Engagement) -> list[str]:
    return [sys.executable, str(engagement.workspace / "bin" / "mcp")]


def engaged(case: Case, settings: Settings, server: Server, use: Use) -> Record:
    """A run whose agent is an MCP client of `server`."""

    async def agent(engagement: Engagement) -> None:
        command, *arguments = server(engagement)
        async with Client(stdio_client(StdioServerParameters(command=command, args=arguments))) as client:
            await use(client)

    record = run(case, python_agent(agent), settings)
    assert record.agent_error is None, record.agent_error
    return record


async def answer(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert content.type == "text"
    assert not result.is_error, content.text
    return content.text


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert content.type == "text"
    assert result.is_error, content.text
    return content.text


@pytest.mark.parametrize("server", [with_the_sdk, in_bin])
def test_people_mail_and_calendar(case: Case, settings: Settings, server: Server) -> None:
    async def use(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == PEOPLE
        people = json.loads(await answer(client, "people"))
        assert [person["id"] for person in people] == ["moss", "pike"]
        reply = json.loads(await answer(client, "ask", person="pike", message="How heavy may a letter be?"))
        assert (reply["person"], reply["text"]) == ("pike", "Up to 500 g goes as a letter these days.")
        assert json.loads(await answer(client, "wait", days=1)) == {"now": "2025-03-05T08:00:00", "new_mail": 1}
        assert [mail["subject"] for mail in json.loads(await answer(client, "inbox"))] == ["Welcome"]
        assert json.loads(await answer(client, "wait", until="2025-03-05T09:00"))["now"] == "2025-03-05T09:00:00"
        assert [line["message"] for line in json.loads(await answer(client, "log"))] == ["How heavy may a letter be?"]
        status = json.loads(await answer(client, "status"))
        assert (status["now"], status["turns_left"], status["usd_left"]) == ("2025-03-05T09:00:00", 200, 8.0)

    record = engaged(case, settings, server, use)
    assert (record.engaged.messages, record.engaged.days_waited, record.engaged.facts) == (1, 1, ("F_LIMIT",))


@pytest.mark.parametrize("server", [with_the_sdk, in_bin])
def test_a_refusal_is_a_tool_error_with_the_reason_and_costs_nothing(case: Case, settings: Settings, server: Server) -> None:
    async def use(client: Client) -> None:
        assert await refusal(client, "ask", person="pika", message="Hello") == ("there is nobody with the id 'pika'. Did you mean 'pike'?")
        assert await refusal(client, "ask", person="pike") == "message: Field required"
        assert await refusal(client, "ask", person="pike", message="Hello", to="moss") == (
            "ask takes no argument 'to'; it takes: person, message"
        )
        assert await refusal(client, "people", of="Fernhill") == "people takes no argument 'of'; it takes: none"
        assert await refusal(client, "wait") == "say how long to wait: a number of working days, or a moment to wait until"
        assert await refusal(client, "wait", days=0) == "days: Input should be greater than or equal to 1"
        assert await refusal(client, "trial") == "trial runs are not possible here"
        assert await refusal(client, "read_file", path="TASK.md") == f"there is no tool 'read_file'; the tools are: {', '.join(PEOPLE)}"

    record = engaged(case, settings, server, use)
    assert (record.engaged.messages, record.scores and record.scores.contact_cost) == (0, 0.0)


@pytest.fixture
def customer(case: Case, settings: Settings) -> Customer:
    """The customer's side of an engagement, without an agent."""
    prepared = settings.prepared.get(case.scenario, case.variant, case.seed)
    conversation = Conversation(prepared.people, prepared.file.calendar, prepared.facts, settings.router)
    return Customer(conversation, LimitTracker(Limits()), Observers([]), lambda: pytest.fail("no trial run is asked for"))


def test_when_the_engagement_is_over_every_tool_says_so(customer: Customer, tmp_path: Path) -> None:
    workspace, sockets = tmp_path / "work", tmp_path / "sockets"
    workspace.mkdir()
    sockets.mkdir()
    (workspace / "labels.py").write_text("as it was")

    async def use() -> None:
        with Channel(customer, sockets) as channel:
            arguments = ["-P", "-m", "pytest_fdegym.cli", "mcp", "--socket", str(channel.socket), "--files", str(workspace)]
            async with Client(stdio_client(StdioServerParameters(command=sys.executable, args=arguments))) as client:
                assert await answer(client, "read_file", path="labels.py") == "as it was"
                customer.end("the engagement is over: the system was handed over")
                calls: list[tuple[str, dict[str, str]]] = [
                    ("people", {}),
                    ("ask", {"person": "pike", "message": "Are you there?"}),
                    ("read_file", {"path": "labels.py"}),
                    ("write_file", {"path": "labels.py", "content": "too late"}),
                    ("edit_file", {"path": "labels.py", "old": "was", "new": "is"}),
                ]
                for tool, values in calls:
                    assert await refusal(client, tool, **values) == "the engagement is over: the system was handed over"
                channel.__exit__(None, None, None)
                assert await refusal(client, "people") == "nobody answers any more: the engagement is over"

    asyncio.run(use())
    assert (workspace / "labels.py").read_text() == "as it was"


def test_an_agent_without_a_shell_resolves_the_task(case: Case, settings: Settings) -> None:
    async def use(client: Client, overpaid: str) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == PEOPLE + FILES
        assert (await answer(client, "read_file", path="TASK.md")).startswith("Our labels look dull.")
        assert "system/shipping.py" in (await answer(client, "list_files", folder="system")).splitlines()
        await answer(client, "ask", person="pike", message="How heavy may a letter be before it has to be a parcel?")
        await answer(client, "ask", person="moss", message=f"{overpaid} orders went as parcels. Do you approve a new shipping rule?")
        changed = await answer(client, "edit_file", path="system/shipping.py", old="GRAMS = 100", new="GRAMS = 500")
        assert changed == "changed system/shipping.py"
        assert await answer(client, "write_file", path="system/notes/limit.txt", content="500\n") == "wrote system/notes/limit.txt"
        assert await answer(client, "read_file", path="system/shipping.py", first_line=3, lines=1) == "LETTER_LIMIT_GRAMS = 500\n"

    async def agent(engagement: Engagement) -> None:
        overpaid = engagement.run(["python3", "-c", COUNT]).stdout.strip()
        command, *arguments = engagement.mcp_command(files=True)
        async with Client(stdio_client(StdioServerParameters(command=command, args=arguments))) as client:
            await use(client, overpaid)
        assert engagement.run("echo more >> system/notes/limit.txt").exit_code == 0, "what it wrote is the sandboxed user's"

    record = run(case, python_agent(agent), settings)
    assert record.agent_error is None, record.agent_error
    assert record.scores is not None
    assert (record.scores.score, record.scores.resolved) == (0.95, True)


COUNT = """
import sqlite3
with sqlite3.connect("file:data/orders.db?mode=ro", uri=True) as db:
    print(db.execute("SELECT count(*) FROM orders WHERE grams > 100 AND grams <= 500").fetchone()[0])
"""


def test_what_the_file_tools_refuse(case: Case, settings: Settings) -> None:
    async def agent(engagement: Engagement) -> None:
        engagement.run("ln -s /etc system/away; mkfifo system/pipe; ln -s ../docs/post.md system/near.md")
        command, *arguments = engagement.mcp_command(files=True)
        async with Client(stdio_client(StdioServerParameters(command=command, args=arguments))) as client:
            for tool in ("read_file", "write_file"):
                more = {"content": "mine"} if tool == "write_file" else {}
                for path in ("../../etc/passwd", "/etc/passwd", "system/away/passwd"):
                    assert await refusal(client, tool, path=path, **more) == f"{path!r} leads out of the workspace"
                assert await refusal(client, tool, path="system/pipe", **more) == (
                    "system/pipe: not a regular file" if tool == "read_file" else "system/pipe: No such device or address"
                )
            assert await refusal(client, "list_files", folder="..") == "'..' leads out of the workspace"
            assert await refusal(client, "read_file", path="system/nowhere.py") == "system/nowhere.py: No such file or directory"
            assert await refusal(client, "read_file", path="a\0b") == "embedded null byte"
            assert await refusal(client, "read_file", paht="TASK.md") == "path: Field required"
            assert await refusal(client, "edit_file", path="system/labels.py", old="e", new="i") == (
                "system/labels.py: the text to replace stands there 7 times; exactly once is expected"
            )
            engagement.write_text("system/long.txt", "x" * 100_001)
            assert await refusal(client, "read_file", path="system/long.txt") == (
                "that is 100,001 characters, and at most 100,000 are given at a time; ask for fewer lines"
            )
            assert (await answer(client, "read_file", path="system/near.md")).startswith("# Post room"), "a link to a place inside is fine"

    record = run(case, python_agent(agent), settings)
    assert record.agent_error is None, record.agent_error


def test_no_module_of_the_workspace_is_loaded_outside_of_the_sandbox(case: Case, settings: Settings, tmp_path: Path) -> None:
    async def agent(engagement: Engagement) -> None:
        for name in ("mcp", "pytest_fdegym", "json", "sitecustomize"):
            engagement.write_text(f"{name}.py", f"open({str(tmp_path / name)!r}, 'w').close()\n")
        command, *arguments = engagement.mcp_command()
        parameters = StdioServerParameters(command=command, args=arguments, cwd=engagement.workspace)
        async with Client(stdio_client(parameters)) as client:
            await answer(client, "people")

    record = run(case, python_agent(agent), settings)
    assert record.agent_error is None, record.agent_error
    assert list(tmp_path.iterdir()) == []


CLIENT = """
import json, subprocess

def ask(number, method, **params):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())

server = subprocess.Popen(["bin/mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
begun = ask(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "c", "version": "1"})
print(begun["result"]["protocolVersion"])
server.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\\n')
print([tool["name"] for tool in ask("two", "tools/list")["result"]["tools"]])
print(ask(3, "tools/call", name="ask", arguments={"person": "pike", "message": "How heavy may a letter be?"})["result"])
print(ask(4, "resources/list"))
print(ask(5, "ping")["result"])
server.stdin.write("no json\\n")
server.stdin.flush()
print(server.stdout.readline().strip())
server.stdin.close()
print(server.wait())
"""


def test_inside_the_sandbox_a_command_starts_the_program_in_bin(case: Case, settings: Settings) -> None:
    record = run(case, CommandAgent(AgentIdentity(name="cmd"), f"python3 - > system/answer.txt 2>&1 <<'END'\n{CLIENT}\nEND"), settings)
    assert settings.store is not None
    patch = settings.store.paths(record).patch.read_text()
    version, tools, reply, unknown, pong, garbage, code = [
        line[1:] for line in patch.splitlines() if line.startswith("+") and line[:3] != "+++"
    ]
    assert (version, tools, pong, code) == ("2025-06-18", str(PEOPLE), "{}", "0")
    assert "Up to 500 g goes as a letter these days." in reply
    assert unknown == "{'jsonrpc': '2.0', 'id': 4, 'error': {'code': -32601, 'message': 'there is no method resources/list'}}"
    assert garbage == '{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "this is no JSON"}}'
    assert record.engaged.messages == 1
