"""YAML with positions: data as PyYAML reads it, and the line of every key and item."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.scenario.problems import KeyPath
from pytest_fdegym.scenario.yaml_source import YamlProblems, YamlSource, parse_yaml, read_yaml

FILE = Path("scenario.yaml")


def parse(text: str) -> YamlSource:
    return parse_yaml(text, FILE)


def problems(text: str) -> list[str]:
    with pytest.raises(YamlProblems) as caught:
        parse(text)
    return [str(problem) for problem in caught.value.problems]


def test_lines_of_keys_and_items() -> None:
    source = parse("a:\n  b: 1\n  c:\n    - x\n    - {d: y,\n       e: z}\n")
    assert source.data == {"a": {"b": 1, "c": ["x", {"d": "y", "e": "z"}]}}
    assert {path: source.line(path) for path in [("a",), ("a", "b"), ("a", "c"), ("a", "c", 0), ("a", "c", 1), ("a", "c", 1, "e")]} == {
        ("a",): 1,
        ("a", "b"): 2,
        ("a", "c"): 3,
        ("a", "c", 0): 4,
        ("a", "c", 1): 5,
        ("a", "c", 1, "e"): 6,
    }


def test_the_line_of_what_is_missing_is_that_of_what_should_hold_it() -> None:
    assert parse("a: 1\nb:\n  c: 2\n").line(("b", "nowhere", "at", 7, "all")) == 2


def test_lines_within_a_text() -> None:
    source = parse("plain: one\nblock: |-\n  first\n  second\nquoted: 'x'\n")
    assert source.text_line(("block",), 2) == 4
    assert source.text_line(("plain",), 1) == 1
    assert source.text_line(("quoted",), 1) == 5


def test_timestamps_and_clock_times() -> None:
    data = parse("at: 2025-03-04 08:00:00\nday_ends: 18:00\nlong: 190:20:30\nratio: 1:30.5\n").data
    assert data == {"at": datetime(2025, 3, 4, 8), "day_ends": "18:00", "long": "190:20:30", "ratio": "1:30.5"}


def test_the_rest_is_what_yaml_1_1_says() -> None:
    text = "a: no\nb: on\nc: 010\nd: 0x1f\ne: 1_000\nf: 1.5\ng: .inf\nh: ~\ni: 1e3\nj: -7\nk: 0b11\n"
    assert parse(text).data == yaml.safe_load(text)


def test_a_key_given_twice() -> None:
    assert problems("a:\n  x: 1\n  y: 2\n  x: 3\na: 4\n") == [
        "scenario.yaml:5: a: the key is given twice, first on line 1",
        "scenario.yaml:4: a.x: the key is given twice, first on line 2",
    ]


def test_merge_keys_and_aliases_work_and_are_no_duplicates() -> None:
    source = parse("base: &base {x: 1, y: 2}\none:\n  <<: *base\n  x: 3\ntwo:\n  <<: *base\nthree: *base\n")
    assert source.data["one"] == {"x": 3, "y": 2}
    assert source.data["two"] == source.data["three"] == {"x": 1, "y": 2}
    assert source.line(("one", "x")) == 4


def test_an_alias_of_itself() -> None:
    assert problems("a: &a\n  b: *a\n") == ["scenario.yaml:1: a.b: an alias that contains itself cannot be read"]


@pytest.mark.parametrize("line", ["answer: {{ allow }} hours", "answer: [{{ allow }} h]", "- {{ allow }} hours"])
def test_a_text_that_begins_with_a_template_without_quotes(line: str) -> None:
    start = "a:\n" if line.startswith("-") else "a: 1\n"
    assert problems(f"{start}{line}\nb: 2\n") == ["scenario.yaml:2: a text that begins with '{{' must stand in quotes: \"{{ name }}\""]


def test_a_template_without_quotes() -> None:
    assert problems("a: 1\nnumber: {{ allow }}\n") == [
        "scenario.yaml:2: number: a text that begins with '{{' must stand in quotes: \"{{ name }}\""
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [1\nb: 2\n", "scenario.yaml:2: is not valid YAML: did not find expected ',' or ']' (while parsing a flow sequence)"),
        (
            "a: 1\n\tb: 2\n",
            "scenario.yaml:2: is not valid YAML: found a tab character that violates indentation (while scanning a plain scalar)",
        ),
        (
            "x: [1]\ny: " + "[" * 70 + "]" * 70,
            "scenario.yaml:2: is nested more than 60 levels deep, aliases included; nothing so large can be read",
        ),
        (
            "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)),
            "scenario.yaml:1: holds more than 200,000 values, aliases included; nothing so large can be read",
        ),
        ("a: *nowhere\n", "scenario.yaml:1: is not valid YAML: found undefined alias"),
        ("a: 2025-02-30\n", "scenario.yaml:1: a: '2025-02-30' cannot be read: day is out of range for month"),
        ("a: !!python/name:os.system x\n", "scenario.yaml:1: a: cannot be read: could not determine a constructor for the tag"),
        ("? [a]\n: 1\n", "scenario.yaml:1: a list or mapping cannot be a key"),
        ("~: 1\n", "scenario.yaml:1: a key without a name is found"),
        ("a: 1\n---\nb: 2\n", "scenario.yaml:2: is not valid YAML: but found another document (expected a single document in the stream)"),
        ("a: 1\nb: \x07\n", "scenario.yaml:2: is not valid YAML: control characters are not allowed"),
    ],
)
def test_what_cannot_be_read(text: str, problem: str) -> None:
    [found] = problems(text)
    assert found.startswith(problem)


def test_files_that_are_not_there_or_not_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.yaml").write_bytes("a: 1\nb: Zürich\n".encode("latin-1"))
    (tmp_path / "folder.yaml").mkdir()
    found = {}
    for name in ("latin.yaml", "folder.yaml", "nowhere.yaml"):
        with pytest.raises(YamlProblems) as caught:
            read_yaml(tmp_path / name)
        found[name] = str(caught.value)
    assert found == {
        "latin.yaml": "latin.yaml:2: is not UTF-8 text",
        "folder.yaml": "folder.yaml: cannot be read: Is a directory",
        "nowhere.yaml": "nowhere.yaml: is missing",
    }


_names = st.text("abcdefgh", min_size=1, max_size=5).map("k".__add__)
_values = st.recursive(
    st.integers() | st.text("xyz: -#'\"\n{}", max_size=12) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=3),
    max_leaves=15,
)


def paths(data: Any, path: KeyPath = ()) -> list[KeyPath]:
    found = [path] if path else []
    parts: list[tuple[str | int, Any]] = (
        list(data.items()) if isinstance(data, dict) else list(enumerate(data)) if isinstance(data, list) else []
    )
    for part, value in parts:
        found += paths(value, (*path, part))
    return found


@given(st.dictionaries(_names, _values, min_size=1, max_size=4), st.booleans())
def test_every_key_has_the_line_on_which_it_stands(data: dict[str, Any], flow: bool) -> None:
    text = yaml.safe_dump(data, default_flow_style=flow, sort_keys=False, width=20, allow_unicode=True)
    source = parse(text)
    assert source.data == data
    lines = text.splitlines()
    assert set(source.lines) == {(), *paths(data)}
    for path, line in source.lines.items():
        if path and isinstance(path[-1], str):
            assert path[-1] in lines[line - 1]
