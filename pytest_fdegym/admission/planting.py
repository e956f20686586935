"""A copy of a scenario with a marker in every piece of truth that one variant's agent must not see, and what each marker stands for.

Nothing that is planted is looked at by the variant's own world, briefs, people's decisions or router, so the copy behaves as the original
does; whatever of it turns up where an agent looks was carried there.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from pytest_fdegym.scenario.fill import TEMPLATE_SUFFIX
from pytest_fdegym.scenario.loader import load
from pytest_fdegym.scenario.model import Level
from pytest_fdegym.scenario.problems import KeyPath, dotted
from pytest_fdegym.scenario.scenario import Scenario

MARKER = re.compile(rb"fdecanary-[a-z]+-[0-9a-f]{8}")
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_NUMBERS = (10**11, 10**12)
"""From which numbers are drawn that stand for other variants' values: of so many digits that none is there by chance."""


_REMARKS = frozenset({".py", ".md", ".yaml", ".yml"})
"""Suffixes of files in which a line that begins with # is a remark."""
_LAID = ("solutions", "briefs")
"""Folders that world.py has no reason to read; others may hold data of its own, in which a remark would be a row."""
_SHORTEST_COPY = 20
"""Bytes; shorter files are alike by chance."""


@dataclass
class Markers:
    """What was planted: a marker, or the digits of a number, and what it stands for."""

    texts: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, str] = field(default_factory=dict)
    copies: dict[str, str] = field(default_factory=dict)
    """Files that cannot hold a remark: the digest of all their bytes, and their names."""

    def copied_in(self, name: str, data: bytes) -> list[str]:
        """The file that the file `name` of the workspace is a copy of; one at its own place is the system as found."""
        original = self.copies.get(hashlib.sha256(data).hexdigest())
        return [] if original is None or PurePosixPath(original).match(f"*/{name}") else [original]

    def text(self, kind: str, stands_for: str) -> str:
        """A new marker. `kind` is a word of small letters."""
        marker = f"fdecanary-{kind}-{secrets.token_hex(4)}"
        self.texts[marker] = stands_for
        return marker

    def number(self, stands_for: str, like: float) -> float:
        """A new number that is found again, whole where `like` is."""
        low, high = _NUMBERS
        drawn = low + secrets.randbelow(high - low)
        self.numbers[str(drawn)] = stands_for
        return drawn + 0.5 if isinstance(like, float) else drawn

    def seen_in(self, data: bytes) -> list[str]:
        """What the markers and numbers in `data` stand for, each once."""
        found = [self.texts.get(marker.decode(), "something that was planted") for marker in dict.fromkeys(MARKER.findall(data))]
        return list(dict.fromkeys([*found, *(means for digits, means in self.numbers.items() if digits.encode() in data)]))


@dataclass(frozen=True)
class Planted:
    """The copy, and what stands in it."""

    scenario: Scenario
    markers: Markers
    answers: Mapping[tuple[str, str], str]
    """(person, topic) -> the marker at the end of the topic's answer."""


def plant(scenario: Scenario, variant: str, level: Level, folder: Path, markers: Markers) -> Planted:
    """Copy `scenario` to `folder` (which must not exist) with markers in what the agent of `variant` at `level` must not see.

    Raises ScenarioError where the copy cannot be loaded: the original was changed meanwhile.
    """
    shutil.copytree(scenario.folder, folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    for file in _unseen(scenario, variant, level):
        _mark(folder / file, file, markers)
    written = _scenario_yaml(scenario, variant, markers)
    (folder / "scenario.yaml").write_text(_dumped(written, markers, "scenario.yaml"), encoding="utf-8")
    people, answers = _people_yaml(scenario, markers)
    (folder / "people.yaml").write_text(_dumped(people, markers, "people.yaml"), encoding="utf-8")
    return Planted(load(folder), markers, answers)


def _unseen(scenario: Scenario, variant: str, level: Level) -> Iterator[Path]:
    """Files of which nothing belongs into the workspace: all but the variant's own site, its brief, and the two big YAML files."""
    seen = {folder.name for folder in scenario.site_folders(variant)}
    brief = scenario.briefs[level, variant].file
    for file in sorted(scenario.folder.rglob("*")):
        name = file.relative_to(scenario.folder)
        if file.is_symlink() or not file.is_file() or "__pycache__" in name.parts or file.suffix == ".pyc" or file == brief:
            continue
        if name.parts[0] not in seen and name.as_posix() not in ("scenario.yaml", "people.yaml"):
            yield name


def _mark(file: Path, name: Path, markers: Markers) -> None:
    """Add a remark, or remember the whole content where that would change what the file says."""
    suffix = PurePosixPath(name.name.removesuffix(TEMPLATE_SUFFIX)).suffix
    if suffix in _REMARKS or (name.parts[0].startswith((*_LAID, "site.")) and suffix in (".txt", ".sh")):
        with file.open("ab") as out:
            out.write(f"\n# {markers.text('file', name.as_posix())}\n".encode())
    elif file.stat().st_size >= _SHORTEST_COPY:
        markers.copies[hashlib.sha256(file.read_bytes()).hexdigest()] = name.as_posix()


def _dumped(data: Any, markers: Markers, name: str) -> str:
    return f"# {markers.text('file', name)}\n" + yaml.dump(data, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=10**6)


def _scenario_yaml(scenario: Scenario, variant: str, markers: Markers) -> dict[str, Any]:
    """Facts and incidents as texts, remarks on parameters, titles, and each value that only other variants have."""
    data = _copied(scenario.file_source.data)
    for key, name in (("facts", "text"), ("incidents", "text"), ("variants", "title"), ("parameters", "about")):
        for each, spec in data.get(key, {}).items():
            if isinstance(spec, dict) and isinstance(spec.get(name), str):
                spec[name] += f" [{markers.text(key, f'{key}.{each}.{name} of scenario.yaml')}]"
    own = scenario.file.variants[variant].parameters
    for parameter in own:
        where: KeyPath = ("parameters", parameter, "value")
        data["parameters"][parameter]["value"] = _replaced(data["parameters"][parameter]["value"], where, markers)
    for other, spec in data["variants"].items():
        if other != variant and spec.get("parameters"):
            spec["parameters"] = _replaced(spec["parameters"], ("variants", other, "parameters"), markers)
    return data  # type: ignore[no-any-return]  # YAML's root, which the loader found to be a mapping


def _people_yaml(scenario: Scenario, markers: Markers) -> tuple[dict[str, Any], dict[tuple[str, str], str]]:
    """Every answer, mail that has to be waited for, and what the expert says."""
    data = _copied(scenario.people_source.data)
    answers: dict[tuple[str, str], str] = {}
    for person, who in data["people"].items():
        for topic, spec in who.get("topics", {}).items():
            marker = markers.text("answer", f"the answer of {person} to {topic}")
            answers[person, topic] = marker
            spec["answer"] += f" [{marker}]"
    for name, mail in (data.get("inbox") or {}).items():
        spec = scenario.people.inbox[name]
        if spec.after_fact or spec.after_messages or (spec.at is not None and spec.at > scenario.file.calendar.start):
            mail["text"] += f" [{markers.text('mail', f'the mail {name}, which has not arrived yet')}]"
    for step, spec in enumerate(data["expert"]):
        if isinstance(spec.get("say"), str):
            spec["say"] += f" [{markers.text('expert', f'step {step + 1} of the expert path')}]"
    return data, answers


def _copied(data: Any) -> Any:
    """The plain data anew, without what YAML's aliases share."""
    if isinstance(data, dict):
        return {key: _copied(value) for key, value in data.items()}
    return [_copied(value) for value in data] if isinstance(data, list) else data


def _replaced(value: Any, where: KeyPath, markers: Markers) -> Any:
    """The value with markers for its texts and numbers."""
    if isinstance(value, dict):
        return {key: _replaced(each, (*where, key), markers) for key, each in value.items()}
    if isinstance(value, list):
        return [_replaced(each, (*where, number), markers) for number, each in enumerate(value)]
    stands_for = f"{dotted(where)} of scenario.yaml"
    if isinstance(value, str):
        return markers.text("value", stands_for)
    return value if isinstance(value, bool) or not isinstance(value, int | float) else markers.number(stands_for, value)
