"""The five tools: what they answer, what goes wrong as text, and what is too much."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic_ai.messages import ToolCallPart

from pytest_fdegym.agents.engagement import Engagement
from pytest_fdegym.agents.five_tools.tools import LONGEST_OUTPUT, Toolbox
from pytest_fdegym.runner import Case, Settings, run
from tests.agents.five_tools.models import call
from tests.support.settings import python_agent

Answers = Callable[..., list[str]]


@pytest.fixture
def answers(case: Case, settings: Settings) -> Answers:
    """What the tools answer to calls, one after the other, in a workspace that `prepare` may have changed."""

    def answers(*calls: ToolCallPart, prepare: Callable[[Path], object] | None = None) -> list[str]:
        got: list[str] = []

        def agent(engagement: Engagement) -> None:
            if prepare is not None:
                prepare(engagement.workspace)
            toolbox = Toolbox(engagement)
            got.extend(toolbox.call(each.tool_name, each.args) for each in calls)

        record = run(case, python_agent(agent), settings)
        assert record.agent_error is None, record.agent_error
        return got

    return answers


# --- execute ---


def test_execute_shows_output_errors_and_exit_code(answers: Answers) -> None:
    assert answers(
        call("execute", command="echo out; echo err >&2; exit 3"),
        call("execute", command="true"),
        call("execute", command="printf 'no newline'"),
        call("execute", command="no-such-program 2>/dev/null"),
    ) == ["out\nerr\n[exit code 3]", "[exit code 0]", "no newline\n[exit code 0]", "[exit code 127]"]


def test_a_command_that_takes_too_long_is_stopped(answers: Answers) -> None:
    assert answers(call("execute", command="echo begun; sleep 600", seconds=0.5)) == ["begun\n[stopped: it ran longer than 0.5 s]"]


def test_long_output_is_shortened_in_the_middle(answers: Answers) -> None:
    (text,) = answers(call("execute", command="seq 100000"))
    assert len(text) <= LONGEST_OUTPUT
    assert text.startswith("1\n2\n3\n")
    assert text.endswith("\n99999\n100000\n[exit code 0]")
    assert " characters left out ...\n" in text


def test_a_flood_of_output_is_stopped(answers: Answers) -> None:
    (text,) = answers(call("execute", command="yes"))
    assert len(text) <= LONGEST_OUTPUT
    assert text.endswith("\n[stopped: it printed more than is taken]")


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("echo \0", "the command holds a NUL character\n[exit code 126]"),
        ("echo \ud800", "the command holds characters that are no text (lone surrogates)\n[exit code 126]"),
        (
            f"echo {'x' * 200_000}",
            "the command is too long (200,009 bytes; at most 120,000 are taken); write it to a file first\n[exit code 126]",
        ),
    ],
)
def test_a_command_that_no_system_could_run(answers: Answers, command: str, answer: str) -> None:
    assert answers(call("execute", command=command)) == [answer]


# --- read ---


def test_read_gives_a_file_as_it_is(answers: Answers) -> None:
    text = "one\n\ttwo\nno newline at the end"
    assert answers(call("write", path="new/folder/a.txt", content=text), call("read", path="new/folder/a.txt")) == [
        "[new/folder/a.txt written]",
        text,
    ]


def test_read_in_pieces(answers: Answers) -> None:
    def ten(workspace: Path) -> None:
        (workspace / "ten").write_text("".join(f"{n}\n" for n in range(1, 11)))

    assert answers(
        call("read", path="ten", first_line=3, lines=2),
        call("read", path="ten", first_line=9),
        call("read", path="ten", first_line=11),
        prepare=ten,
    ) == ["3\n4\n[lines 3 to 4 of 10; read on with first_line 5]", "9\n10\n", "[ten has 10 lines]"]


def test_reading_on_as_told_reads_a_long_file_whole(answers: Answers, case: Case, settings: Settings) -> None:
    whole = "".join(f"line {n} {'x' * (n % 97)}\n" for n in range(3000))
    pieces = []

    def agent(engagement: Engagement) -> None:
        engagement.write_text("long", whole)
        toolbox, first = Toolbox(engagement), 1
        while True:
            text = toolbox.call("read", {"path": "long", "first_line": first})
            assert len(text) <= LONGEST_OUTPUT
            piece, _, more = text.partition("[lines ")
            pieces.append(piece)
            if not more:
                return
            first = int(more.rpartition(" ")[2].rstrip("]"))

    assert run(case, python_agent(agent), settings).agent_error is None
    assert "".join(pieces) == whole


def test_a_line_that_is_too_long_is_shortened(answers: Answers) -> None:
    (text,) = answers(call("read", path="one"), prepare=lambda workspace: (workspace / "one").write_text("a" * 100_000 + "b"))
    assert len(text) <= LONGEST_OUTPUT
    assert text.startswith("aaa")
    assert text.endswith("aaab")


def test_a_huge_file_is_not_read(answers: Answers) -> None:
    def huge(workspace: Path) -> None:
        with (workspace / "huge").open("wb") as file:
            file.truncate(100 << 20)

    assert answers(call("read", path="huge"), call("edit", path="huge", old="a", new="b"), prepare=huge) == [
        "huge: larger than 8,388,608 bytes",
        "huge: larger than 8,388,608 bytes",
    ]


def test_an_empty_file(answers: Answers) -> None:
    assert answers(call("write", path="e", content=""), call("read", path="e")) == ["[e written]", "[e is empty]"]


def test_bytes_that_are_no_text(answers: Answers) -> None:
    (text,) = answers(call("read", path="b"), prepare=lambda workspace: (workspace / "b").write_bytes(b"a\xff\x00b\n"))
    assert text == "a\ufffd\0b\n"


# --- edit ---


def test_edit_replaces_the_one_place(answers: Answers) -> None:
    calls = [call("write", path="a", content="x = 1\n"), call("edit", path="a", old="1", new="2"), call("read", path="a")]
    assert answers(*calls) == ["[a written]", "[a changed]", "x = 2\n"]


def test_edit_of_a_text_that_is_not_unique(answers: Answers) -> None:
    assert answers(
        call("write", path="a", content="1 1\n"),
        call("edit", path="a", old="1", new="2"),
        call("edit", path="a", old="3", new="2"),
        call("read", path="a"),
    )[1:] == [
        "a was not changed: the old text stands there 2 times; exactly once is expected",
        "a was not changed: the old text stands there nowhere; exactly once is expected",
        "1 1\n",
    ]


# --- list ---


def test_list_shows_a_folder(answers: Answers) -> None:
    first, second = answers(call("list"), call("list", path="system"))
    assert {"TASK.md", "bin/", "system/"} <= set(first.splitlines())
    assert "shipping.py" in second.splitlines()


def test_list_of_many_files(answers: Answers) -> None:
    def many(workspace: Path) -> None:
        (workspace / "many").mkdir()
        for number in range(620):
            (workspace / "many" / f"{number:04}").touch()

    (text,) = answers(call("list", path="many"), prepare=many)
    assert text.splitlines() == [*(f"{number:04}" for number in range(500)), "[and 120 more]"]


# --- files that are not there, and places that are none of the workspace ---


@pytest.mark.parametrize(
    ("wrong", "answer"),
    [
        (call("read", path="gone.txt"), "gone.txt: No such file or directory"),
        (call("edit", path="gone.txt", old="a", new="b"), "gone.txt: No such file or directory"),
        (call("list", path="gone"), "gone: No such file or directory"),
        (call("list", path="TASK.md"), "TASK.md: Not a directory"),
        (call("read", path="system"), "system: not a regular file"),
        (call("write", path="system", content=""), "system: Is a directory"),
        (call("read", path="/etc/passwd"), "'/etc/passwd' leads out of the workspace"),
        (call("write", path="../x", content=""), "'../x' leads out of the workspace"),
        (call("list", path="elsewhere"), "'elsewhere' leads out of the workspace"),
        (call("read", path="elsewhere/passwd"), "'elsewhere/passwd' leads out of the workspace"),
        (call("read", path="pipe"), "pipe: not a regular file"),
        (call("read", path="a\0b"), "embedded null byte"),
        (call("write", path="x" * 300, content=""), f"{'x' * 300}: File name too long"),
    ],
)
def test_what_goes_wrong_is_told(answers: Answers, wrong: ToolCallPart, answer: str) -> None:
    def prepare(workspace: Path) -> None:
        (workspace / "elsewhere").symlink_to("/etc")
        os.mkfifo(workspace / "pipe")

    assert answers(wrong, prepare=prepare) == [answer]


@pytest.mark.parametrize("name", ["circle", "a\ud800"])
def test_paths_that_python_words_in_its_own_way(answers: Answers, name: str) -> None:
    (text,) = answers(call("read", path=name), prepare=lambda workspace: (workspace / "circle").symlink_to("circle"))
    assert text
