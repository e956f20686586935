"""What a command agent's placeholders become, run by a real shell."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.agents.placeholders import VARIABLES, filled

TASK = "Dear all;\n  'quotes' \"and\" $(touch owned) `touch owned` ${HOME} \\ {task} *"


def said(command: str, task: str = TASK) -> list[str]:
    """The arguments that a program called in `command` got."""
    values = {"workspace": "/w o", "task_file": "/w o/TASK.md", "task": task}
    environment = {"PATH": "/usr/bin:/bin", **{VARIABLES[name]: value for name, value in values.items()}}
    script = f"say() {{ printf '%s\\0' \"$@\"; }}\n{filled(command)}"
    done = subprocess.run(["sh", "-c", script], env=environment, capture_output=True, check=True)
    return done.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("say {workspace} {task_file}", ["/w o", "/w o/TASK.md"]),
        ("say --cd={workspace} x", ["--cd=/w o", "x"]),
        ("say {task}", [TASK]),
        ('say "{task}"', [TASK]),
        ("say '{task}'", [TASK]),
        ("say \"do: {task}\" and 'do: {task}'", [f"do: {TASK}", "and", f"do: {TASK}"]),
        ("say 'it'\\''s {workspace}'", ["it's /w o"]),
        ('say \\"{workspace}\\"', ['"/w o"']),
        ('say "a \\" {workspace}"', ['a " /w o']),
    ],
)
def test_a_placeholder_is_one_word_in_and_out_of_quotes(command: str, expected: list[str]) -> None:
    assert said(command) == expected


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40))
def test_whatever_the_task_says_is_data(task: str) -> None:
    assert said("say {task} \"{task}\" '{task}'", task) == [task] * 3


@pytest.mark.parametrize(
    "command",
    [
        "awk '{ print $1 }' file",
        "awk '{print}' file",
        "echo ${task} ${HOME} {tasks} {Task} { task }",
        "f() { true; }; f",
        'curl -d \'{"model": "small"}\' x',
        "echo {1..3} {} {a,b}",
    ],
)
def test_other_braces_stay(command: str) -> None:
    assert filled(command) == command
