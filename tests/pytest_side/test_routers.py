"""``--fde-router``: a model that judges messages, and what it decided, replayed."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_fdegym.chat_endpoint import ChatEndpoint
from pytest_fdegym.people.router import llm
from tests.pytest_side.support import collected, usage_error
from tests.support.chat_server import Answer, Chat, ChatServer, Status

V1 = ("-k", "v1")
KEY = "sk-router-secret"


def sensible(chat: Chat) -> Answer:
    """A model that knows what the expert of the tiny scenario asks for, and finds nothing that patterns do not."""
    text = chat[1]["content"]
    if '{"shown"' in text:
        return '{"shown": {}}'
    asked = "approval" if "Do you approve" in text.split("<<<MESSAGE")[1] else "limit"
    return json.dumps({"message": "specific", "topics": {asked: "asked"}})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    with ChatServer(sensible) as server:
        monkeypatch.setenv("FDEGYM_ROUTER_BASE_URL", server.url)
        monkeypatch.setenv("FDEGYM_ROUTER_API_KEY", KEY)
        yield server


@pytest.fixture(autouse=True)
def _no_keys_of_mine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FDEGYM_ROUTER_BASE_URL", "FDEGYM_ROUTER_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def stored(project: pytest.Pytester, agent: str, results: str = ".fdegym/results") -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The record of v1 and the entries of its messages."""
    stem = Path(project.path, results, agent, "tiny_post.v1.L3.run1")
    lines = [json.loads(line) for line in stem.with_suffix(".run1.events.jsonl").read_text(encoding="utf-8").splitlines()]
    return json.loads(stem.with_suffix(".run1.json").read_bytes()), [line["entry"] for line in lines if line["kind"] == "message"]


def test_a_model_routes_and_what_it_decided_is_replayed_without_it(project: pytest.Pytester, server: ChatServer) -> None:
    result = project.runpytest("--fde-agent=expert", "--fde-router=llm:small-1", *V1)
    result.assert_outcomes(passed=1, deselected=1)
    result.stdout.fnmatch_lines([f"fdegym: sandbox *, router llm:small-1#prompts-2 (asked at {server.url}), tasks *"])
    asked = len(server.requests)
    assert asked >= 2
    assert set(server.keys) == {f"Bearer {KEY}"}
    record, live = stored(project, "expert")
    assert record["router"] == "llm:small-1#prompts-2"
    assert [decision["kind"] for decision in live[0]["routing"]["decisions"]] == ["topics"]

    again = project.runpytest("--fde-agent=expert", "--fde-router=replay:.fdegym/results", "--fde-results=again", *V1)
    again.assert_outcomes(passed=1, deselected=1)
    again.stdout.fnmatch_lines([f"fdegym: *router llm:small-1#prompts-2 (* decisions replayed from {project.path}/.fdegym/results), *"])
    assert len(server.requests) == asked
    replayed_record, replayed = stored(project, "expert", "again")
    assert replayed == live
    assert (replayed_record["scores"], replayed_record["router"]) == (record["scores"], record["router"])


def test_a_missing_decision_makes_the_run_void(project: pytest.Pytester, server: ChatServer) -> None:
    project.runpytest("--fde-agent=expert", "--fde-router=llm:small-1", *V1).assert_outcomes(passed=1, deselected=1)
    project.makepyfile(mine="def agent(engagement):\n    engagement.ask('pike', 'Heavy letters?')\n")
    result = project.runpytest("--fde-agent=mine.py", "--fde-router=replay:.fdegym/results", *V1)
    result.assert_outcomes(errors=1, deselected=1)
    result.stdout.re_match_lines(
        [
            r"VOID: no stored decision [0-9a-f]{16} \(topics of a message to pike\) in .*/\.fdegym/results: this message is not among "
            r"those decided$"
        ]
    )


def test_a_model_that_refuses_makes_the_run_void(project: pytest.Pytester, server: ChatServer) -> None:
    server.rule = lambda chat: Status(401, f"bad key {KEY}")
    result = project.runpytest("--fde-agent=expert", "--fde-router=llm:small-1", *V1)
    result.assert_outcomes(errors=1, deselected=1)
    result.stdout.fnmatch_lines(
        [
            f"VOID: the router's model (small-1 at {server.url}) answered HTTP 401 Unauthorized: bad key [*][*][*]",
            "resolved 0/0, with incidents 0, void 1, graded 0 of 1 planned",
        ]
    )
    assert not [path for path in (project.path / ".fdegym").rglob("*") if path.is_file() and KEY in path.read_text(encoding="utf-8")]


def test_a_model_that_cannot_be_reached_makes_the_run_void(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        at_once = llm.router_over(ChatEndpoint(url, "small-1", what="the router's model", sleep=lambda seconds: None))
        monkeypatch.setattr(llm, "llm_router", lambda model, environ: at_once)
        result = project.runpytest("--fde-agent=expert", "--fde-router=llm:small-1", *V1)
    result.assert_outcomes(errors=1, deselected=1)
    result.stdout.fnmatch_lines([f"VOID: the router's model (small-1 at {url}) cannot be reached: *Connection refused (4 attempts)"])
    record, messages = stored(project, "expert")
    assert (record["status"], record["engaged"]["messages"], messages) == ("void", 0, [])


def test_commands_of_an_agent_do_not_see_the_key(project: pytest.Pytester, server: ChatServer) -> None:
    project.makepyfile(mine="def agent(engagement):\n    print('SEEN', engagement.run('env; cat /proc/*/environ').stdout)\n")
    result = project.runpytest("--fde-agent=mine.py", "--fde-router=llm:small-1", "--fde-gate=none", "-s", *V1)
    result.assert_outcomes(passed=1, deselected=1)
    result.stdout.fnmatch_lines(["*SEEN *=*", "PATH=*"])
    assert KEY not in result.stdout.str()
    assert "FDEGYM_ROUTER" not in result.stdout.str()


def test_no_key(project: pytest.Pytester) -> None:
    assert usage_error(project.runpytest("--fde-agent=expert", "--fde-router=llm:small-1")) == (
        "the router's model needs a key: set FDEGYM_ROUTER_API_KEY or OPENAI_API_KEY, "
        "or FDEGYM_ROUTER_BASE_URL for an endpoint of your own."
    )


def test_nothing_to_replay(project: pytest.Pytester) -> None:
    assert usage_error(project.runpytest("--fde-agent=expert", "--fde-router=replay:tasks")) == (
        f"--fde-router=replay: there are no stored decisions in {project.path}/tasks; runs with --fde-router=llm:MODEL leave them."
    )


def test_an_ini_value_is_relative_to_its_file(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nfde_router = replay:kept\nfde_agent = expert\nfde_tasks = tasks\n")
    below = project.mkdir("below")
    result = project.runpytest("--rootdir", str(project.path), "-c", str(project.path / "tox.ini"), str(below))
    assert usage_error(result) == f"--fde-router=replay: {project.path}/kept cannot be read: [Errno 2] No such file or directory: " + repr(
        f"{project.path}/kept"
    )


@pytest.mark.parametrize("router", ["llm:small-1", "replay:nowhere"])
def test_collecting_alone_needs_no_router(project: pytest.Pytester, router: str) -> None:
    result = project.runpytest("--fde-agent=expert", f"--fde-router={router}", "--collect-only", "-q", *V1)
    assert collected(result) == ["tasks/tiny_post/scenario.yaml::v1::L3"]
    assert project.runpytest("--fde-agent=expert", f"--fde-router={router}", "--collect-only").ret == 0
