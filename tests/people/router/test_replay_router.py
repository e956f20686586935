"""A run played again from the decisions that it left, without any model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_fdegym.chat_endpoint import ChatEndpoint
from pytest_fdegym.errors import InfrastructureFault, UsageError
from pytest_fdegym.people import Conversation, Ledger
from pytest_fdegym.people.router import router_named
from pytest_fdegym.people.router.base import Router
from pytest_fdegym.people.router.llm import router_over
from pytest_fdegym.people.router.replay import replaying_router
from tests.people.scripts import person, talk, topic
from tests.support.chat_server import Answer, Chat, ChatServer

COUNT = {"items": {"count": {"number": 212, "near": "line"}}, "miss": "How many lines?"}


def rule(chat: Chat) -> Answer:
    text = chat[1]["content"]
    if '{"shown"' in text:
        return '{"shown": {"a": {"quote": "212 entries", "value": 212}}}'
    return json.dumps({"message": "specific", "topics": {"approval": "asked" if "sign" in text.lower() else "no"}})


def people(about: str = "Approved.") -> dict[str, Any]:
    return {"gwen": person("Gwen", {"approval": topic("Approved.", evidence=COUNT) | {"about": about}, "food": topic("At noon.")})}


def engage(router: Router, *messages: str, about: str = "Approved.") -> Ledger:
    chat: Conversation = talk(people(about), router=router)
    for message in messages:
        chat.ask("gwen", message)
    return chat.ledger


MESSAGES = ("Will you sign?", "How is the weather?", "Will you sign? It is 212 entries.")


@pytest.fixture
def live() -> Ledger:
    with ChatServer(rule) as server:
        return engage(router_over(ChatEndpoint(server.url, "small-1")), *MESSAGES)


def events(ledger: Ledger) -> str:
    """The messages of an event log."""
    lines = [{"kind": "start", "at": None, "task": "x"}]
    lines += [{"kind": "message", "at": None, "entry": entry} for entry in ledger.to_json()["entries"]]
    return "".join(json.dumps(line) + "\n" for line in lines)


def decisions(ledger: Ledger) -> list[dict[str, Any]]:
    return [decision for entry in ledger.to_json()["entries"] for decision in entry["routing"].get("decisions", [])]


def test_the_same_ledger_without_a_server(live: Ledger, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(events(live), encoding="utf-8")
    router = replaying_router(tmp_path / "log.jsonl")
    assert engage(router, *MESSAGES).to_json() == live.to_json()
    assert router.id == "llm:small-1#prompts-2"
    assert router.source == f"4 decisions replayed from {tmp_path}/log.jsonl"
    assert [entry.reply for entry in live.entries] == ["How many lines?", "Not my business.", "Approved."]


def test_a_folder_of_event_logs_and_files_of_bare_decisions(live: Ledger, tmp_path: Path) -> None:
    first, *others = decisions(live)
    (tmp_path / "myagent").mkdir()
    (tmp_path / "myagent" / "a.jsonl").write_text(json.dumps(first) + "\n\n", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(one) + "\n" for one in others), encoding="utf-8")
    (tmp_path / "record.json").write_text("{", encoding="utf-8")
    assert engage(replaying_router(tmp_path), *MESSAGES).to_json() == live.to_json()


@pytest.mark.parametrize(
    ("messages", "about", "why"),
    [
        (["Will you sign, please?"], "Approved.", "this message is not among those decided"),
        (["How is the weather?"], "Approved.", "this message was decided in another context only"),
        (
            ["Will you sign?"],
            "approval of rules",
            "this message was decided for other topics or conditions only (another variant or seed, or a scenario that has changed)",
        ),
    ],
)
def test_a_decision_that_is_missing(live: Ledger, tmp_path: Path, messages: list[str], about: str, why: str) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text(events(live), encoding="utf-8")
    with pytest.raises(InfrastructureFault) as fault:
        engage(replaying_router(file), *messages, about=about)
    start, found, reason = str(fault.value).partition(f" (topics of a message to gwen) in {file}: ")
    assert start.startswith("no stored decision ")
    assert found
    assert reason == why


def test_a_gate_that_is_missing_is_named(live: Ledger, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in decisions(live) if one["kind"] == "topics"), encoding="utf-8")
    with pytest.raises(
        InfrastructureFault, match=r"\(gate of a message to gwen, gate of approval\) in .*: this message is not among those"
    ):
        engage(replaying_router(file), *MESSAGES)


def test_of_two_verdicts_the_first_counts_and_the_header_says_so(live: Ledger, tmp_path: Path) -> None:
    first = decisions(live)[0]
    second = first | {"verdict": {"message": "fishing", "topics": {}}}
    for name, one in (("1.jsonl", first), ("2.jsonl", second), ("3.jsonl", first)):
        (tmp_path / name).write_text(json.dumps(one), encoding="utf-8")
    router = replaying_router(tmp_path)
    assert router.source == f"1 decisions replayed from {tmp_path}; 1 were made more than once and differently, of which the first is taken"
    assert engage(router, MESSAGES[0]).to_json()["entries"] == live.to_json()["entries"][:1]


@pytest.mark.parametrize(
    ("name", "hint"),
    [("embeded", " Did you mean 'embedded'?"), ("llm", ""), ("llm:", ""), ("replay:", ""), ("embedded:2", " Did you mean 'embedded'?")],
)
def test_a_router_that_there_is_not(name: str, hint: str) -> None:
    with pytest.raises(UsageError) as error:
        router_named(name, Path(), {})
    assert str(error.value) == f"there is no router {name!r}.{hint} Known: embedded, llm:MODEL, replay:PATH"


def refused(path: Path) -> str:
    with pytest.raises(UsageError) as error:
        replaying_router(path)
    return str(error.value).removeprefix("--fde-router=replay: ")


def test_what_cannot_be_replayed(live: Ledger, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    assert refused(file) == f"{file} cannot be read: [Errno 2] No such file or directory: '{file}'"
    file.write_text('{"kind": "start"}\n', encoding="utf-8")
    nothing = "there are no stored decisions in {}; runs with --fde-router=llm:MODEL leave them."
    assert (refused(file), refused(tmp_path)) == (nothing.format(file), nothing.format(tmp_path))
    file.write_text('{"kind": "start"}\n{"kind": "mess', encoding="utf-8")
    assert refused(file).startswith(f"{file}:2: a line of JSON is expected: Unterminated string")
    decision = decisions(live)[0]
    file.write_text(json.dumps(decision | {"format": 2}), encoding="utf-8")
    assert refused(file) == f"{file}:1: no stored decision: format: Input should be 1"
    other = decision | {"key": "0" * 64, "router": "llm:other#prompts-2"}
    file.write_text(json.dumps(decision) + "\n" + json.dumps(other), encoding="utf-8")
    assert (
        refused(file) == f"the decisions of one router are expected in {file}, found those of llm:other#prompts-2, llm:small-1#prompts-2."
    )
