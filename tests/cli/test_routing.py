"""`fdegym routing`: figures on an author's test questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Fdegym


def test_the_tables(fdegym: Fdegym, demo: Path) -> None:
    (demo / "questions.yaml").write_text(
        "- {to: fenn, kind: terse, topics: [window], text: 'Return window?'}\n"
        "- {to: fenn, kind: plain, topics: [clock], text: 'What is the return window?'}\n"
        "- {to: fenn, kind: plain, topics: [clock_moved], text: 'From which day on do you count?'}\n"
        "- {to: fenn, kind: offtopic, topics: [], text: 'How long is the deadline for lunch?'}\n"
        "- {to: marsh, kind: plain, topics: [approval], text: 'Is the coffee machine mended?'}\n"
    )
    code, out, err = fdegym("routing", "demo")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "demo.v1, 4 questions, router embedded-1",
        "1 more are about people or topics that v1 does not have",
        "",
        "topic           asked  answered  right  asked back  precision  recall",
        "marsh/approval      1         0      0           0          -    0.00",
        "marsh/worry         0         0      0           0          -       -",
        "fenn/window         1         3      1           0       0.33    1.00",
        "fenn/clock          1         0      0           0          -    0.00",
        "ruiz/transit        0         0      0           0          -       -",
        "no question asks for marsh/worry, ruiz/transit",
        "",
        "asked for -> what came instead or besides",
        "   1  fenn: clock -> window   'What is the return window?'",
        "   1  fenn: nothing -> window   'How long is the deadline for lunch?'",
        "   1  marsh: approval -> nothing   'Is the coffee machine mended?'",
        "",
        "kind          n  released  unanswered  asked back     F1  exact  answered wrongly",
        "terse         1      0.0%        0.0%        0.0%   1.00 100.0%                 -",
        "plain         2     50.0%      100.0%        0.0%   0.00   0.0%                 -",
        "offtopic      1    100.0%           -        0.0%      -   0.0%            100.0%",
        "all           4     50.0%       66.7%        0.0%   0.33  25.0%            100.0%",
    ]


def test_files_named_instead(fdegym: Fdegym, demo: Path, project: Path) -> None:
    for name in ("a", "b"):
        (project / f"{name}.yaml").write_text("- {to: fenn, kind: terse, topics: [window], text: 'Return window?'}\n")
    code, out, _ = fdegym("routing", "demo", "--questions", "a.yaml", "--questions", "b.yaml", "--variant", "v2")
    assert code == 0
    assert out.startswith("demo.v2, 2 questions, router embedded-1\n\ntopic ")
    assert "asked for ->" not in out


def test_further_sets_are_asked_as_well(fdegym: Fdegym, demo: Path) -> None:
    (demo / "questions.yaml").write_text("- {to: fenn, kind: terse, topics: [window], text: 'Return window?'}\n")
    (demo / "questions_b.yaml").write_text("- {to: fenn, kind: plain, topics: [window], text: 'How many days do people have?'}\n")
    assert fdegym("routing", "demo")[1].startswith("demo.v1, 2 questions, router embedded-1\n\ntopic ")


def test_no_questions_yet(fdegym: Fdegym, demo: Path) -> None:
    (demo / "questions.yaml").unlink()
    assert fdegym("routing", "demo") == (
        2,
        "",
        "fdegym routing: there is no file tasks/demo/questions.yaml; write test questions there, or name a file with --questions\n",
    )


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("fenn: hello\n", ["tasks/demo/questions.yaml: holds a mapping of 1; a list of questions is expected"]),
        ("", ["tasks/demo/questions.yaml: holds nothing; a list of questions is expected"]),
        (
            "- {to: fen, kind: plain, topics: [window], text: a}\n- {to: fenn, kind: plain, topics: [windo], text: b}\n",
            [
                "tasks/demo/questions.yaml:1: to: 'fen' is not a person of people.yaml. Did you mean 'fenn'? Known: fenn, marsh, ruiz.",
                "tasks/demo/questions.yaml:2: topics: 'windo' is not a topic of fenn. Did you mean 'window'? "
                "Known: clock, clock_moved, window.",
            ],
        ),
        (
            "- {to: fenn, kind: short, topics: [], text: a}\n- {to: fenn, kind: plain, topic: [], text: b}\n",
            [
                "tasks/demo/questions.yaml:1: kind: 'short' (text) is not accepted; expected: 'terse', 'plain', 'long', "
                "'indirect', 'several', 'offtopic', 'fishing' or 'other'",
                "tasks/demo/questions.yaml:2: topics: is missing",
                "tasks/demo/questions.yaml:2: topic: unknown key. Did you mean 'topics'? Accepted: kind, text, to, topics.",
            ],
        ),
    ],
)
def test_a_wrong_file(fdegym: Fdegym, demo: Path, text: str, problems: list[str]) -> None:
    (demo / "questions.yaml").write_text(text)
    code, out, err = fdegym("routing", "demo")
    assert (code, out) == (1, "")
    count, *lines = err.splitlines()
    assert count == f"{len(problems)} problem{'s' * (len(problems) != 1)} in the questions of tasks/demo/questions.yaml:"
    assert lines == problems
