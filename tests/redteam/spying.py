"""Watches a run from outside of the delivery: what it told, what came back from its calls, what was taken over at handover."""

from __future__ import annotations

import math
import os
import stat
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from pytest_fdegym.deployment.host import Deployment, ReplayBounds
from pytest_fdegym.sandbox.base import Bounds, CommandResult, Layout, Sandbox, SandboxedProcess, WayOut
from pytest_fdegym.scenario.model import ScenarioFile
from pytest_fdegym.scenario.world import Json, Outcome, Returned
from tests.redteam.delivering import read_loot

LARGEST = 64 << 20
MOST_FILES = 5000
DEEPEST = 64


@dataclass
class Spy:
    """What was seen since it was last cleared."""

    canary: str
    told: list[tuple[str, str]] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    calls: list[tuple[str, tuple[Json, ...], Json]] = field(default_factory=list)
    """What the calls of production's returned, where they did."""

    def clear(self) -> None:
        self.told.clear()
        self.odd.clear()
        self.calls.clear()

    def told_by(self, replay: Path) -> None:
        """Read what the attack told about itself before its folder goes."""
        self.told += [each for each in read_loot(replay) if each not in self.told]

    def texts(self, kind: str) -> tuple[str, ...]:
        return tuple(text for each, text in self.told if each == kind)

    def returned(self, name: str, args: tuple[Json, ...], outcome: Outcome) -> None:
        """Look at what a call gave to the harness."""
        if isinstance(outcome, Returned):
            self.calls.append((name, args, outcome.value))
            if (reason := no_bounded_json(outcome.value)) is not None and reason not in self.odd:
                self.odd.append(reason)

    def taken_over(self, frozen: Path) -> None:
        """Look at what was deployed."""
        size = count = 0
        for folder, folders, files in os.walk(frozen):
            for name in (*folders, *files):
                path = Path(folder, name)
                status = path.lstat()
                count += 1
                if not name.isprintable():
                    self.odd.append(f"{name!a} was deployed, which is no name to print")
                if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
                    self.odd.append(f"{name} was deployed, which is no file and no folder")
                elif stat.S_ISREG(status.st_mode):
                    size += status.st_size
                    if status.st_size < 1 << 20 and self.canary.encode() in path.read_bytes():
                        self.odd.append(f"{name} was deployed with the truth in it")
        if size > LARGEST:
            self.odd.append(f"{size:,} bytes were deployed")
        if count > MOST_FILES:
            self.odd.append(f"{count:,} files and folders were deployed")


def no_bounded_json(value: Any, depth: int = 0) -> str | None:
    """Why a value is not what the contract of a call promises, or None."""
    if value is None or type(value) is bool:
        return None
    if type(value) is int:
        return None if -(1 << 63) <= value < 1 << 63 else "an integer of more than 64 bits"
    if type(value) is float:
        return None if math.isfinite(value) else f"the number {value}"
    if type(value) is str:
        if len(value) > 8 << 20:
            return f"a text of {len(value):,} characters"
        return "half a surrogate pair" if any("\ud800" <= letter <= "\udfff" for letter in value) else None
    if depth > DEEPEST:
        return f"a value nested deeper than {DEEPEST} levels"
    if type(value) is list:
        if len(value) > 4 << 20:
            return f"a list of {len(value):,}"
        return next((found for item in value[:1000] if (found := no_bounded_json(item, depth + 1))), None)
    if type(value) is dict:
        both = [*value.keys(), *value.values()][:1000]
        return next((found for item in both if (found := no_bounded_json(item, depth + 1))), None)
    return f"an object of the class {type(value).__name__}"


@dataclass
class _SpiedProcess:
    """Reads what the attack told when its process is gone and its folder is not."""

    process: SandboxedProcess
    workdir: Path
    spy: Spy
    stdin: BinaryIO = field(init=False)
    stdout: BinaryIO = field(init=False)
    stderr: BinaryIO = field(init=False)

    def __post_init__(self) -> None:
        self.stdin, self.stdout, self.stderr = self.process.stdin, self.process.stdout, self.process.stderr

    def poll(self) -> int | None:
        return self.process.poll()

    def stop(self) -> None:
        self.process.stop()

    def close(self) -> int:
        code = self.process.close()
        self.spy.told_by(self.workdir)
        return code


class SpiedSandbox:
    """A sandbox that tells the spy; it confines as the one that it stands before."""

    def __init__(self, sandbox: Sandbox, spy: Spy) -> None:
        self.name: str = sandbox.name
        self.way_out: WayOut = sandbox.way_out
        self._sandbox, self.spy = sandbox, spy

    def run(
        self, command: Sequence[str], layout: Layout, bounds: Bounds, *, stdin: bytes = b"", end: threading.Event | None = None
    ) -> CommandResult:
        result = self._sandbox.run(command, layout, bounds, stdin=stdin, end=end)
        self.spy.told_by(layout.workdir)
        return result

    def start(self, command: Sequence[str], layout: Layout, bounds: Bounds) -> SandboxedProcess:
        return _SpiedProcess(self._sandbox.start(command, layout, bounds), layout.workdir, self.spy)

    def give(self, path: Path) -> None:
        self._sandbox.give(path)


def spied_deployment(spy: Spy, bounds: ReplayBounds, then: Callable[[Path], None] = lambda frozen: None) -> type[Deployment]:
    """The class `Deployment` with an observer in it; `then` is called with what was deployed."""

    class Spied(Deployment):
        def __init__(
            self,
            frozen: Path,
            scenario: ScenarioFile,
            databases: Mapping[str, Path],
            sandbox: Sandbox,
            *,
            bounds: ReplayBounds = bounds,
            **more: Any,
        ) -> None:
            spy.taken_over(frozen)
            then(frozen)
            super().__init__(frozen, scenario, databases, sandbox, bounds=bounds, **more)

        def call(self, entry_point: str, *args: Json) -> Outcome:
            outcome = super().call(entry_point, *args)
            spy.returned(entry_point, args, outcome)
            return outcome

    return Spied
