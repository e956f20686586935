"""What is wrong in a scenario's files: one `Problem` a mistake, all of them in one `ScenarioProblems`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_fdegym.errors import ScenarioError, nearest

KeyPath = tuple[str | int, ...]
"""Where in a YAML file: ``("people", "okafor", "topics", "rule", "facts", 0)``."""


def dotted(path: Sequence[str | int]) -> str:
    """Render a key path the way an author would say it: ``expert[2].ask``."""
    text = ""
    for part in path:
        if isinstance(part, int) and not isinstance(part, bool):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else str(part)
    return text


def shown(path: Path) -> str:
    """A path as a reader would type it: relative to the working directory where it lies below."""
    try:
        return path.absolute().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()


def unknown(word: str, kind: str, known: Iterable[str], label: str = "Known") -> str:
    """``'F_CAUZE' is not a fact of scenario.yaml. Did you mean 'F_CAUSE'? Known: F_ALLOW, F_CAUSE.``"""
    names = sorted(known)
    return f"{word!r} is not {kind}.{nearest(word, names)} {label}: {', '.join(names) or 'none'}."


@dataclass(frozen=True)
class Problem:
    """One mistake of an author. `where` is a key path in the file, empty when the file as a whole is meant."""

    file: Path
    line: int | None
    where: str
    message: str

    def __str__(self) -> str:
        place = shown(self.file) + (f":{self.line}" if self.line is not None else "")
        return ": ".join(part for part in (place, self.where, self.message) if part)


class ScenarioProblems(ScenarioError):
    """All mistakes found in a scenario, sorted by file and line."""

    def __init__(self, folder: Path, problems: Iterable[Problem]) -> None:
        self.folder = folder
        self.problems: tuple[Problem, ...] = tuple(
            sorted(set(problems), key=lambda each: (each.file.as_posix(), each.line or 0, each.where, each.message))
        )
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        super().__init__("\n".join([f"{count} in the scenario {shown(folder)}:", *map(str, self.problems)]))
