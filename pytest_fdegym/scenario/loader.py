"""Loads a scenario's folder: every file validated, every reference checked, all mistakes told at once.

`load` is the whole thing; `peek` reads scenario.yaml alone, for a collection of a hundred tasks that must not cost a second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from . import checks
from .model import LEVELS, Level, PeopleFile, ScenarioFile, SolutionManifest
from .problems import Problem, ScenarioProblems, unknown
from .scenario import FIRST_VARIANT, Brief, Scenario, Solution, SolutionKind
from .solutions import MANIFEST
from .validation import Validated, validate
from .worth import WORTH_FILE, WorthFile
from .yaml_source import YamlProblems, YamlSource, read_yaml

__all__ = ["Outline", "OutlineVariant", "Scenario", "Solution", "load", "peek"]

_KINDS: Mapping[str, tuple[SolutionKind, int]] = {
    "reference": ("reference", 0),
    "literal": ("literal", 0),
    "shortcuts": ("shortcut", 1),
    "bypasses": ("bypass", 1),
    "alternates": ("alternate", 1),
    "ablations": ("ablation", 2),
}
"""Folder of solutions/ -> kind, and how many folders deep below it a solution lies."""

_LAYOUT: Mapping[SolutionKind, str] = {
    "reference": "reference/",
    "literal": "literal/",
    "shortcut": "shortcuts/NAME/",
    "bypass": "bypasses/NAME/",
    "alternate": "alternates/NAME/",
    "ablation": "ablations/FACT/FILL/",
}

_BRIEF = re.compile(r"(L[0-3])(?:\.(v[1-9][0-9]*))?\.md")
_VARIANT = re.compile(r"v[1-9][0-9]*")

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class OutlineVariant:
    """A variant as far as collection needs it; `line` is where scenario.yaml declares it."""

    id: str
    title: str
    line: int
    levels: tuple[Level, ...]


@dataclass(frozen=True)
class Outline:
    """What a first look at a scenario's folder tells. With `problems`, whatever could not be read is empty."""

    folder: Path
    id: str
    sector: str
    title: str
    variants: tuple[OutlineVariant, ...]
    problems: tuple[Problem, ...]


def peek(path: Path) -> Outline:
    """A cheap first look at a scenario's folder, or at its scenario.yaml. Never raises for what an author wrote."""
    folder = path.parent if path.name == "scenario.yaml" else path
    source, validated = _read(folder / "scenario.yaml", ScenarioFile)
    if validated.model is None or validated.problems:
        return Outline(folder, folder.name, "", "", (), tuple(validated.problems))
    file = validated.model
    briefs, problems = _find_briefs(folder, _declared(source))
    if problems:
        return Outline(folder, file.id, file.sector, file.title, (), tuple(problems))
    variants = tuple(
        OutlineVariant(
            name,
            file.variants[name].title,
            source.line(("variants", name)) or 1,
            tuple(level for level in LEVELS if (level, name) in briefs),
        )
        for name in _declared(source)
    )
    return Outline(folder, file.id, file.sector, file.title, variants, ())


def load(folder: Path) -> Scenario:
    """Read and check a scenario. Raises `ScenarioProblems` with all mistakes that can be seen without running world.py."""
    if not folder.is_dir():
        raise ScenarioProblems(folder, [Problem(folder, None, "", "is not a folder; one that holds a scenario.yaml is expected")])
    file_source, file = _read(folder / "scenario.yaml", ScenarioFile)
    people_source, people = _read(folder / "people.yaml", PeopleFile)
    problems = [*file.problems, *people.problems]
    briefs: dict[tuple[Level, str], Brief] = {}
    if file.model is not None:
        found, brief_problems = _find_briefs(folder, _declared(file_source))
        briefs, text_problems = _read_briefs(found)
        problems += [*brief_problems, *text_problems]
    solutions, unreadable, solution_problems = _find_solutions(folder)
    worth, worth_problems = _read_worth(folder / WORTH_FILE)
    problems += [*solution_problems, *worth_problems]
    material = checks.Material(folder, file_source, people_source, file, people, briefs, solutions, unreadable)
    problems += checks.problems_of(material)
    if problems or file.model is None or people.model is None:
        raise ScenarioProblems(folder, problems)
    warnings = tuple(checks.warnings_of(material))
    return Scenario(folder, file.model, people.model, briefs, solutions, warnings, file_source, people_source, worth)


def _read_worth(file: Path) -> tuple[Mapping[str, Mapping[str, float]], list[Problem]]:
    """What admission measured, if it was asked to keep that. Names that the scenario no longer has do no harm: it writes them no more."""
    if not file.exists():
        return {}, []
    _, validated = _read(file, WorthFile)
    return {} if validated.model is None else validated.model.worth, validated.problems


def _read(file: Path, kind: type[M]) -> tuple[YamlSource, Validated[M]]:
    try:
        source = read_yaml(file)
    except YamlProblems as error:
        return YamlSource(file, None), Validated(None, error.problems, [])
    return source, validate(kind, source)


def _declared(source: YamlSource) -> list[str]:
    """The variants that scenario.yaml declares, readable or not, in the order of their numbers."""
    declared = source.data.get("variants")
    names = [name for name in declared if isinstance(name, str) and _VARIANT.fullmatch(name)] if isinstance(declared, dict) else []
    return sorted(names, key=lambda variant: int(variant[1:]))


def _find_briefs(folder: Path, variants: Sequence[str]) -> tuple[dict[tuple[Level, str], Path], list[Problem]]:
    """Which file is the brief of which level and variant: L3.v7.md before L3.md; L0 to L2 belong to the first variant."""
    briefs, problems = folder / "briefs", []
    plain: dict[str, Path] = {}
    found: dict[tuple[Level, str], Path] = {}
    for file in sorted(briefs.iterdir()) if briefs.is_dir() else ():
        name = _BRIEF.fullmatch(file.name)
        if name is None or not file.is_file():
            problems.append(Problem(file, None, "", "is not a brief; L0.md, L1.md, L2.md, L3.md and L3.<variant>.md are accepted"))
        elif name[2] is None:
            plain[name[1]] = file
        elif name[1] != "L3":
            problems.append(Problem(file, None, "", f"L0 to L2 exist for {FIRST_VARIANT} only; {name[1]}.md is accepted"))
        elif variants and name[2] not in variants:
            problems.append(Problem(file, None, "", unknown(name[2], "a variant of scenario.yaml", variants)))
        else:
            found["L3", name[2]] = file
    for level in LEVELS:
        for variant in variants if level == "L3" else [FIRST_VARIANT] if FIRST_VARIANT in variants else []:
            if (level, variant) not in found and level in plain:
                found[level, variant] = plain[level]
    if missing := [variant for variant in variants if ("L3", variant) not in found]:
        message = f"is missing; L3 exists for every variant, and {', '.join(missing)} would be without"
        problems.append(Problem(briefs / "L3.md", None, "", message))
    return found, problems


def _read_briefs(found: Mapping[tuple[Level, str], Path]) -> tuple[dict[tuple[Level, str], Brief], list[Problem]]:
    briefs: dict[tuple[Level, str], Brief] = {}
    problems: list[Problem] = []
    for key, file in found.items():
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            problems.append(Problem(file, None, "", "is not UTF-8 text"))
            continue
        if not text.strip():
            problems.append(Problem(file, None, "", "is empty"))
        briefs[key] = Brief(file, text)
    return briefs, problems


def _find_solutions(folder: Path) -> tuple[dict[str, Solution], list[str], list[Problem]]:
    """The solutions by name, the names of those that cannot be read, and what is wrong with their folders and manifests."""
    solutions: dict[str, Solution] = {}
    unreadable: list[str] = []
    problems: list[Problem] = []
    for kind, place in _solution_folders(folder / "solutions", problems):
        name = place.relative_to(folder / "solutions").as_posix()
        if not (place / MANIFEST).is_file():
            problems.append(Problem(place / MANIFEST, None, "", "is missing; every solution says there what it is"))
            unreadable.append(name)
            continue
        source, validated = _read(place / MANIFEST, SolutionManifest)
        problems += validated.problems
        if validated.model is None or validated.dropped:
            unreadable.append(name)
        else:
            solutions[name] = Solution(name, kind, place, validated.model, source)
    return solutions, unreadable, problems


def _solution_folders(solutions: Path, problems: list[Problem]) -> Iterator[tuple[SolutionKind, Path]]:
    for top in sorted(solutions.iterdir()) if solutions.is_dir() else ():
        if top.name not in _KINDS:
            problems.append(Problem(top, None, "", unknown(top.name, "a kind of solution", _KINDS, label="Accepted")))
            continue
        kind, depth = _KINDS[top.name]
        places = [top]
        for _ in range(depth):
            places = [each for place in places if place.is_dir() for each in sorted(place.iterdir()) if each.name != "__pycache__"]
        for place in places:
            if place.is_dir():
                yield kind, place
            else:
                problems.append(Problem(place, None, "", f"is not a folder; {_LAYOUT[kind]} is expected"))
