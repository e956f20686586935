"""A scenario in memory: what an author wrote, validated, with the files it came from."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pytest_fdegym.errors import UsageError, nearest

from .model import LEVELS, Level, PeopleFile, Person, ScenarioFile, SolutionManifest, VariantSpec
from .problems import Problem
from .worth import WORTH_FILE
from .yaml_source import YamlSource

FIRST_VARIANT = "v1"
"""The original; L0 to L2 exist for it alone."""

NOT_IN_DIGEST = re.compile(rf"README\.md|questions(_\w+)?\.yaml|{re.escape(WORTH_FILE)}")
"""Files of a scenario's folder for readers and for the author's own measurements."""

SolutionKind = Literal["reference", "literal", "shortcut", "bypass", "alternate", "ablation"]


@dataclass(frozen=True)
class Brief:
    """The text of a level as written, and the file it stands in."""

    file: Path
    text: str


@dataclass(frozen=True)
class Solution:
    """A folder of ``solutions/``: something that may be delivered, and what it is granted."""

    name: str
    """``reference``, ``literal``, ``shortcuts/NAME``, ``bypasses/NAME``, ``alternates/NAME`` or ``ablations/FACT/FILL``."""
    kind: SolutionKind
    folder: Path
    manifest: SolutionManifest
    source: YamlSource

    @property
    def fact(self) -> str | None:
        """The key fact that an ablation lacks."""
        return self.name.split("/")[1] if self.kind == "ablation" else None

    def exists_in(self, variant: str) -> bool:
        """Whether `variant` has this solution."""
        return self.manifest.exists_in(variant)


@dataclass(frozen=True)
class Scenario:
    """One customer, as loaded from its folder. Texts are as written; `fill` gives them a variant's values."""

    folder: Path
    file: ScenarioFile
    people: PeopleFile
    briefs: Mapping[tuple[Level, str], Brief]
    """(level, variant) -> brief, for the tasks that exist."""
    solutions: Mapping[str, Solution]
    warnings: tuple[Problem, ...]
    file_source: YamlSource
    people_source: YamlSource
    worth: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By variant and key fact, as worth.yaml has it; what is not measured is missing."""

    @property
    def id(self) -> str:
        return self.file.id

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants' ids in the order of their numbers."""
        return tuple(sorted(self.file.variants, key=lambda variant: int(variant[1:])))

    @property
    def sponsor(self) -> Person:
        return self.people.people[self.file.sponsor]

    def variant(self, variant: str) -> VariantSpec:
        """What scenario.yaml says about `variant`. Raises `UsageError` naming the nearest one."""
        try:
            return self.file.variants[variant]
        except KeyError:
            raise UsageError(
                f"the scenario {self.id} has no variant {variant!r}.{nearest(variant, self.variants)} Known: {', '.join(self.variants)}."
            ) from None

    def levels(self, variant: str) -> tuple[Level, ...]:
        """The levels that exist for `variant`, from L0 to L3."""
        self.variant(variant)
        return tuple(level for level in LEVELS if (level, variant) in self.briefs)

    def solution(self, name: str) -> Solution:
        """The solution of that name. Raises `UsageError` naming the nearest one."""
        try:
            return self.solutions[name]
        except KeyError:
            known = ", ".join(self.solutions)
            raise UsageError(f"the scenario {self.id} has no solution {name!r}.{nearest(name, self.solutions)} Known: {known}.") from None

    def solutions_in(self, variant: str) -> dict[str, Solution]:
        """The solutions that exist for `variant`, by name."""
        return {name: solution for name, solution in self.solutions.items() if solution.exists_in(variant)}

    def key_facts(self, variant: str) -> tuple[str, ...]:
        """The key facts that exist in `variant`."""
        return tuple(name for name, fact in self.file.facts.items() if fact.key and fact.exists_in(variant))

    def worth_in(self, variant: str) -> dict[str, float]:
        """What the key facts of `variant` are worth, in uplift units, as far as that was measured."""
        known = self.worth.get(variant, {})
        return {name: known[name] for name in self.key_facts(variant) if name in known}

    def site_folders(self, variant: str) -> tuple[Path, ...]:
        """What is laid into the workspace, in this order: ``site/``, then ``site.<variant>/`` where there is one."""
        return tuple(folder for folder in (self.folder / "site", self.folder / f"site.{variant}") if folder.is_dir())

    def digest(self, variant: str) -> str:
        """SHA-256 (hex) of the variant's id and of every file that can change the task's outcome: all but `NOT_IN_DIGEST` and bytecode.

        Files of other variants count too: a digest that changes too often costs a run, one that is stale costs trust.
        """
        self.variant(variant)
        names = (file for file in content_files(self.folder) if not NOT_IN_DIGEST.fullmatch(file.relative_to(self.folder).as_posix()))
        return self._digest(variant, names)

    def met_digest(self, variant: str, level: Level, params: Mapping[str, Any]) -> str:
        """SHA-256 (hex) of what an agent meets, as far as it stands in files: brief, people.yaml, site, and the parameters in their texts.

        What world.py writes into the site is not in it.
        """
        site = (file for folder in self.site_folders(variant) for file in content_files(folder))
        values = json.dumps(params, sort_keys=True, default=str)
        return self._digest(f"{variant}\0{values}", [self.briefs[level, variant].file, self.people_source.file, *site])

    def _digest(self, start: str, files: Iterable[Path]) -> str:
        digest = hashlib.sha256(start.encode())
        for file in files:
            name, content = file.relative_to(self.folder).as_posix(), file.read_bytes()
            digest.update(f"\0{name}\0{len(content)}\0".encode("utf-8", "surrogateescape"))  # a name need not be text
            digest.update(content)
        return digest.hexdigest()


def content_files(folder: Path) -> Iterator[Path]:
    """The regular files below `folder`, sorted, without bytecode; links are not followed."""
    for path in sorted(folder.rglob("*")):
        if "__pycache__" in path.relative_to(folder).parts or path.suffix == ".pyc" or path.is_symlink() or not path.is_file():
            continue
        yield path
