"""Mutated scenario folders: what is wrong is told as the author's mistake, with file and place, and nothing else happens."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pytest_fdegym.errors import ScenarioError
from pytest_fdegym.scenario.loader import load, peek
from pytest_fdegym.scenario.problems import ScenarioProblems
from pytest_fdegym.scenario.scenario import Scenario
from pytest_fdegym.workspace.prepare import prepare_task
from tests.redteam.fuzz.mutating import ODD_VALUES, disturb, generator, mutated, no_hang
from tests.support.tiny_gateway import write_tiny_gateway

ALL = 1000
SAMPLE = 40
STEP = 60
NAMES = ("scenario.yaml", "people.yaml", "world.py", "/site", "/briefs", "/solutions")
SECONDS = 60
"""No mutant takes a hundredth of it."""


def mutant(number: int, folder: Path) -> bool:
    """Make the mutant; says whether world.py is as it was, and can be run."""
    rng = generator("scenario", number)
    write_tiny_gateway(folder)
    if number % 5 == 0:
        disturb(folder, rng)
    texts = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    often = [path for path in texts if path.suffix == ".yaml"]
    whole = True
    for _ in range(rng.randint(0 if number % 5 == 0 else 1, 2)):
        path = rng.choice(often if often and rng.random() < 0.7 else texts)
        path.write_bytes(mutated(path.read_bytes(), rng, ODD_VALUES))
        whole = whole and path.name != "world.py"
    return whole


def told(number: int, folder: Path) -> str:
    """What an author is told of the mutant; any exception but the one that says it fails the test."""
    whole = mutant(number, folder)
    with no_hang(SECONDS, f"mutant {number}"):
        peek(folder)
        found = _refused(folder)
        if isinstance(found, ScenarioProblems):
            for problem in found.problems:
                assert problem.file.is_relative_to(folder), f"mutant {number}: {problem}"
                assert problem.message, f"mutant {number}: {problem}"
                assert problem.line is not None or problem.where or not _has_keys(problem.file), f"mutant {number}: {problem}"
            return str(found)
        said = str(_not_prepared(found, folder.parent) or "") if whole else ""
    assert not said or any(name in said for name in NAMES), f"mutant {number}: {said}"
    return said


def _refused(folder: Path) -> Scenario | ScenarioProblems:
    try:
        return load(folder)
    except ScenarioProblems as problems:
        return problems


def _not_prepared(scenario: Scenario, root: Path) -> ScenarioError | None:
    try:
        for variant in scenario.variants:
            prepared = prepare_task(scenario, variant, 1, root / f"prepared-{variant}")
            for level in scenario.levels(variant):
                prepared.brief(level)
    except ScenarioError as error:
        return error
    return None


def _has_keys(file: Path) -> bool:
    """Whether there is something in the file that a line or a key could be named for."""
    return file.suffix == ".yaml" and file.is_file() and b":" in file.read_bytes()


def check(numbers: range, tmp_path: Path) -> list[str]:
    said = []
    for number in numbers:
        folder = tmp_path / "mutant" / "tiny_post"
        said.append(told(number, folder))
        shutil.rmtree(folder.parent)
    return said


def test_a_sample(tmp_path: Path) -> None:
    said = check(range(SAMPLE), tmp_path)
    assert SAMPLE // 2 < sum(map(bool, said)) < SAMPLE, "mutants that are all right, or all wrong, test nothing"


@pytest.mark.slow
@pytest.mark.parametrize("first", range(SAMPLE, ALL, STEP))
def test_all(first: int, tmp_path: Path) -> None:
    check(range(first, min(ALL, first + STEP)), tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 2000,
        "[" * 500 + "]" * 500,
        "{a: " * 500 + "x" + "}" * 500,
        "- " * 2000 + "x",
        "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}' if n else 'x'] * 10)}]\n" for n in range(12)),
    ],
    ids=["open", "lists", "mappings", "items", "aliases"],
)
@pytest.mark.parametrize("file", ["scenario.yaml", "people.yaml", "solutions/reference/manifest.yaml"])
def test_yaml_that_grows(text: str, file: str, tmp_path: Path) -> None:
    folder = write_tiny_gateway(tmp_path / "tiny_post")
    (folder / file).write_text(text)
    with no_hang(SECONDS, "it"):
        peek(folder)
        with pytest.raises(ScenarioProblems) as caught:
            load(folder)
    assert any(problem.file == folder / file for problem in caught.value.problems)
