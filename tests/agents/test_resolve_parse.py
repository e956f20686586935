"""What a value of --fde-agent refers to."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.agents.resolve import ENTRY_POINT_GROUP, Installed, Reference, parse
from pytest_fdegym.errors import AgentNotFound, UsageError


def entry_point(name: str, value: str = "somewhere:agent") -> EntryPoint:
    return EntryPoint(name, value, ENTRY_POINT_GROUP)


NOTHING: Installed = {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("do-nothing", Reference("do-nothing", "builtin", "do-nothing")),
        ("literal", Reference("literal", "builtin", "literal")),
        ("builtin:expert", Reference("builtin:expert", "builtin", "expert")),
        ("solution:shortcuts/all_letters", Reference("solution:shortcuts/all_letters", "builtin", "solution:shortcuts/all_letters")),
        ("agents.mine:run", Reference("agents.mine:run", "module", "agents.mine", "run")),
        ("mine:Agents.run", Reference("mine:Agents.run", "module", "mine", "Agents.run")),
        ("agents/mine.py", Reference("agents/mine.py", "file", "agents/mine.py")),
        ("mine.py:run", Reference("mine.py:run", "file", "mine.py", "run")),
        ("/a b/mine.py:run", Reference("/a b/mine.py:run", "file", "/a b/mine.py", "run")),
        ("cmd:python3 x.py: y", Reference("cmd:python3 x.py: y", "command", "python3 x.py: y")),
        ("myagent", Reference("myagent", "fixture", "myagent")),
        ("fixture:literal", Reference("fixture:literal", "fixture", "literal")),
    ],
)
def test_forms(text: str, expected: Reference) -> None:
    assert parse(text, NOTHING) == expected


@pytest.mark.parametrize("text", ["house-agent", "entrypoint:house-agent"])
def test_installed_agent(text: str) -> None:
    assert parse(text, {"house-agent": [entry_point("house-agent")]}) == Reference(text, "entrypoint", "house-agent")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("builtin:literal", "literal"),
        ("solution:literal", "solution:literal"),
        ("fixture:mine", "mine"),
        ("mine.py", "mine.py"),
        ("cmd:ls", "cmd:ls"),
        ("cmd:\n ls -l \n", "cmd:ls -l"),
        ("cmd:cd system\nls\n", "cmd:cd system..."),
        ("cmd:#!/bin/sh\n# of a script\n\n  exec codex\n", "cmd:exec codex..."),
        ("cmd:# nothing", "cmd:# nothing"),
        (f"cmd:{'x' * 60}", f"cmd:{'x' * 60}"),
        (f"cmd:{'x' * 59} y", f"cmd:{'x' * 59}..."),
        ("cmd::", "cmd::"),
    ],
)
def test_name_in_records(text: str, name: str) -> None:
    assert parse(text, NOTHING).name == name


@pytest.mark.parametrize(
    ("text", "maybe"),
    [("literal", True), ("do-nothing", False), ("builtin:literal", False), ("fixture:literal", False), ("mine.py", False)],
)
def test_only_a_bare_name_may_be_a_fixture_too(text: str, maybe: bool) -> None:
    assert parse(text, NOTHING).may_be_a_fixture_too is maybe


def test_nothing_of_that_name() -> None:
    with pytest.raises(AgentNotFound) as caught:
        parse("do-nothin", {"house": [entry_point("house")]})
    assert str(caught.value) == (
        "--fde-agent=do-nothin is no agent. Did you mean 'do-nothing'? "
        "Built in: do-nothing, literal, reference, expert, five-tools. Installed: house. "
        "A name of these is accepted, or solution:NAME, package.module:callable, path/to/agent.py[:callable], 'cmd:SHELL COMMAND', "
        "or a fixture's name."
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "builtin:referense",
            "--fde-agent=builtin:referense: there is no such built-in. Did you mean 'reference'? "
            "Built in: do-nothing, literal, reference, expert, five-tools.",
        ),
        ("entrypoint:hose", "--fde-agent=entrypoint:hose: no such agent is installed. Did you mean 'house'? Installed: house."),
        ("fixture:my-agent", "--fde-agent=fixture:my-agent: 'my-agent' cannot be the name of a fixture."),
        ("cmd: ", "something is expected after cmd: (--fde-agent=cmd: )"),
        ("fixture:", "something is expected after fixture: (--fde-agent=fixture:)"),
    ],
)
def test_prefixed_name_that_is_wrong(text: str, message: str) -> None:
    with pytest.raises(AgentNotFound) as caught:
        parse(text, {"house": [entry_point("house")]})
    assert str(caught.value) == message


def test_built_in_and_installed() -> None:
    with pytest.raises(UsageError) as caught:
        parse("literal", {"literal": [entry_point("literal", "house.agents:literal")]})
    assert str(caught.value) == (
        "--fde-agent=literal could be two things: the built-in 'literal', and the agent of that name that house.agents:literal installed. "
        "Say builtin:literal or entrypoint:literal."
    )


def test_installed_twice() -> None:
    with pytest.raises(UsageError) as caught:
        parse("house", {"house": [entry_point("house", "b:x"), entry_point("house", "a:x")]})
    assert str(caught.value) == "--fde-agent=house could be two things: a:x and b:x both installed an agent of that name."


@given(st.text(min_size=1, max_size=30))
def test_any_text_is_understood_or_refused(text: str) -> None:
    try:
        said = parse(text, NOTHING).text
    except UsageError as error:
        said = str(error)
    assert text in said
