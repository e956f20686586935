"""Whatever stands in an author's files, the answer is a list of problems."""

from __future__ import annotations

import copy
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_fdegym.scenario.loader import load, peek
from pytest_fdegym.scenario.problems import Problem, ScenarioProblems
from tests.support.tiny_scenario import edit, write_tiny_scenario

Path_ = tuple[str | int, ...]
FILES = ("scenario.yaml", "people.yaml", "solutions/reference/manifest.yaml", "solutions/ablations/F_LIMIT/guess_250/manifest.yaml")
_ODD: tuple[Any, ...] = (
    None, True, 0, -1, 3.5, float("inf"), float("nan"), "", "x", "{{ limit", "{{ nothing }}", "(", "../x", [], {}, [None], ["x", "x"], [[]],
    {"x": "y"}, {1: 2}, {None: []}, {"only_in": ["v9"]}, date(2025, 3, 4), datetime(2025, 3, 4, 8),
)  # fmt: skip  # a table of values
ODD = st.sampled_from(_ODD).map(copy.deepcopy)  # the next change may be made inside of it


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_scenario(tmp_path_factory.mktemp("odd") / "tiny_post")


def places(data: Any, path: Path_ = ()) -> list[Path_]:
    parts: list[tuple[Any, Any]] = list(data.items()) if isinstance(data, dict) else list(enumerate(data)) if isinstance(data, list) else []
    return [path, *(place for part, value in parts for place in places(value, (*path, part)))]


def changed(data: Any, path: Path_, draw: Any) -> Any:
    """The data with the value at `path` replaced, taken out, or joined by an odd neighbour."""
    if not path:
        return draw(ODD)
    owner = data
    for part in path[:-1]:
        owner = owner[part]
    way = draw(st.sampled_from(["replace", "take out", "neighbour"]))
    if way == "replace":
        owner[path[-1]] = draw(ODD)
    elif way == "take out":
        del owner[path[-1]]
    elif isinstance(owner, list):
        owner.append(draw(ODD))
    else:
        owner[draw(st.sampled_from(["x", "only_in", 7, None, *map(str, path)]))] = draw(ODD)
    return data


def problems(folder: Path) -> tuple[Problem, ...]:
    """What is wrong; any other exception than the one that lists it fails the test."""
    peek(folder)
    try:
        load(folder)
    except ScenarioProblems as error:
        return error.problems
    return ()


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_odd_values_anywhere(folder: Path, data: st.DataObject) -> None:
    originals = {name: (folder / name).read_text() for name in FILES}
    try:
        for name in data.draw(st.lists(st.sampled_from(FILES), min_size=1, max_size=2, unique=True), label="files"):
            content = yaml.safe_load(originals[name])
            for _ in range(data.draw(st.integers(1, 2), label="changes")):
                content = changed(content, data.draw(st.sampled_from(places(content)), label="place"), data.draw)
            (folder / name).write_text(yaml.safe_dump(content, sort_keys=False))
        for problem in problems(folder):
            assert problem.file.is_relative_to(folder)
            assert problem.message
    finally:
        for name, text in originals.items():
            (folder / name).write_text(text)


@settings(max_examples=100)
@given(junk=st.binary(max_size=40), at=st.integers(0, 1500), name=st.sampled_from([*FILES, "world.py", "briefs/L0.md"]))
def test_odd_bytes_anywhere(folder: Path, junk: bytes, at: int, name: str) -> None:
    original = (folder / name).read_bytes()
    try:
        (folder / name).write_bytes(original[:at] + junk + original[at:])
        problems(folder)
    finally:
        (folder / name).write_bytes(original)


@pytest.mark.parametrize(("name", "where"), [("people.yaml", "people.pike.topics.limit.answer"), ("scenario.yaml", "facts.F_LIMIT.text")])
def test_a_template_nested_beyond_measure(tmp_path: Path, name: str, where: str) -> None:
    folder = write_tiny_scenario(tmp_path / "tiny_post")
    nested = "{{ " + "[" * 400 + "]" * 400 + " }}"
    old, new = ("Up to {{ limit }} g goes as a letter these days.", f"'{nested}'")
    if name == "scenario.yaml":
        old, new = "A letter may weigh up to {{ limit }} g.", nested
    line = edit(folder, name, old, new)
    assert [str(problem) for problem in problems(folder)] == [
        f"{folder / name}:{line}: {where}: the template cannot be read: it is nested too deeply"
    ]


def test_a_file_whose_name_is_no_text_has_a_digest(tmp_path: Path) -> None:
    folder = write_tiny_scenario(tmp_path / "tiny_post")
    before = load(folder).digest("v1")
    (folder / "site" / "docs" / "\udcff.md").write_text("Bell pepper\n")
    assert load(folder).digest("v1") != before
