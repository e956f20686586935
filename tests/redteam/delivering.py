"""Lays a delivery and an attack on it into a workspace."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from textwrap import indent

from pytest_fdegym.agents.session import Ending, Session
from pytest_fdegym.grading import lay_solution
from pytest_fdegym.results.record import AgentIdentity
from pytest_fdegym.scenario.model import ScenarioFile
from tests.redteam.catalogue import Attack

MODULE = "redteam_attack"
LOOT = "redteam_loot.txt"
UNSIGNED = "unsigned "
_PRELUDE = Path(__file__).with_name("prelude.py")
_TAIL = """

import {module} as _redteam

for _name in {names!r}:
    globals()[_name] = _redteam.wrapped(_name, globals()[_name])
"""


class Laid:
    """A Deliverer: the system as found or a solution, with the sign-offs of the reference, and the attack over it if there is one.

    With ``unsigned`` before it, a base has no sign-offs: what an agent that talked to nobody delivers.
    """

    def __init__(self, base: str, attack: Attack | None = None, given: Mapping[str, object] | None = None) -> None:
        self.identity = AgentIdentity(name=f"redteam {attack.name if attack else base}")
        self._signed = not base.startswith(UNSIGNED)
        self._base, self._attack, self._given = base.removeprefix(UNSIGNED), attack, given or {}

    def deliver(self, session: Session) -> Ending:
        """Lay it; what the attack does with commands runs in the agent's sandbox."""
        prepared = session.prepared
        solutions = prepared.scenario.solutions
        if self._base != "as_found":
            lay_solution(prepared, solutions[self._base], session.workspace, session.sandbox)
        if self._attack is not None:
            lay_attack(session.workspace, self._attack, prepared.file, {**self._given, "workspace": str(session.workspace)})
            session.sandbox.give(session.workspace)
            if self._attack.work is not None:
                self._attack.work(session, self._given)
        if not self._signed:
            return Ending()
        reference = solutions["reference"].manifest
        return Ending(
            granted_signoffs=reference.signoffs_granted_in(prepared.variant),
            granted_facts=tuple(sorted(reference.facts_granted_in(prepared.variant))),
        )


def here(file: ScenarioFile) -> PurePosixPath:
    """The folder of the first entry point: it is on the path of every process that holds the delivery."""
    return PurePosixPath(next(iter(file.entry_points.values())).file).parent


def lay_attack(workspace: Path, attack: Attack, file: ScenarioFile, given: Mapping[str, object]) -> None:
    """Put the attack's module beside the first entry point, and every entry point behind its ``around``."""
    folder = here(file)
    for name, text in attack.files.items():
        target = workspace / name.replace("{here}", str(folder))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    if not attack.code:
        return
    (workspace / folder / f"{MODULE}.py").write_text(module_text(attack.code, given), encoding="utf-8")
    by_file: dict[str, list[str]] = {}
    for entry in file.entry_points.values():
        by_file.setdefault(entry.file, []).append(entry.function)
    for name, functions in by_file.items():
        with (workspace / name).open("a", encoding="utf-8") as source:
            source.write(_TAIL.format(module=MODULE, names=tuple(dict.fromkeys(functions))))


def module_text(code: str, given: Mapping[str, object]) -> str:
    """The attack's module: the prelude, what it is given, and its code."""
    text = f"GIVEN.update(json.loads({json.dumps(json.dumps(given))}))\ntry:\n{indent(code, '    ')}"
    text += "\nexcept BaseException as error:\n    stopped(f'{type(error).__name__}: {error}')\n_tell('ran', '')\n"
    return f"{_PRELUDE.read_text(encoding='utf-8')}\n\n{text}"


def read_loot(replay: Path) -> list[tuple[str, str]]:
    """What an attack told about itself, from the folder in which its delivery ran; every line is the attacker's own."""
    told = []
    for path in replay.rglob(LOOT):
        if path.is_file() and not path.is_symlink():
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines()[:50]:
                kind, text = json.loads(line)
                told.append((str(kind), str(text)))
    return told


def copy_tree(source: Path, target: Path) -> Path:
    """A copy that everybody may read, so that permissions are not what stops an attack."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (target, *target.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return target
