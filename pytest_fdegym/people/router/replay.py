"""``--fde-router=replay:PATH``: decisions that a model made before, read from event logs or files of decisions; no model is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pytest_fdegym.errors import InfrastructureFault, UsageError
from pytest_fdegym.people.router.decided import DecidedRouter
from pytest_fdegym.people.router.decision import Decision, Question, digest


@dataclass(frozen=True)
class StoredDecisions:
    """The decisions of one router, by key."""

    path: Path
    router: str
    by_key: Mapping[str, Decision]
    differing: int
    """Keys under which another verdict is stored as well; the first (by path, then line) counts."""

    def __call__(self, key: str, question: Question) -> Decision:
        """Return the stored decision. Raises InfrastructureFault that names a missing one and says, if it can, why it is missing."""
        decision = self.by_key.get(key)
        if decision is not None:
            return decision
        gate = f", gate of {question.topic}" if question.topic else ""
        raise InfrastructureFault(
            f"no stored decision {key[:16]} ({question.kind} of a message to {question.person}{gate}) in {self.path}: {self._why(question)}"
        )

    def _why(self, question: Question) -> str:
        same = [
            one
            for one in self.by_key.values()
            if (one.kind, one.person, one.topic, one.message) == (question.kind, question.person, question.topic, digest(question.message))
        ]
        if not same:
            return "this message is not among those decided"
        if any(one.subject == digest(question.subject) for one in same):
            return "this message was decided in another context only"
        return "this message was decided for other topics or conditions only (another variant or seed, or a scenario that has changed)"


def stored_decisions(path: Path) -> StoredDecisions:
    """Read a file of JSON lines, or every ``*.jsonl`` below a folder.

    Raises UsageError for a path that is not there, a line that is no decision, no decisions, or those of several routers.
    """
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    by_key: dict[str, Decision] = {}
    differing: set[str] = set()
    for file in files:
        for decision in _decisions_in(file):
            first = by_key.setdefault(decision.key, decision)
            if first.verdict != decision.verdict:
                differing.add(decision.key)
    routers = sorted({decision.router for decision in by_key.values()})
    if not routers:
        raise UsageError(f"--fde-router=replay: there are no stored decisions in {path}; runs with --fde-router=llm:MODEL leave them.")
    if len(routers) > 1:
        raise UsageError(f"--fde-router=replay: the decisions of one router are expected in {path}, found those of {', '.join(routers)}.")
    return StoredDecisions(path, routers[0], by_key, len(differing))


def replaying_router(path: Path) -> DecidedRouter:
    """The router that decides as those decisions do, under its id. Raises UsageError, see `stored_decisions`."""
    stored = stored_decisions(path)
    source = f"{len(stored.by_key)} decisions replayed from {path}"
    if stored.differing:
        source += f"; {stored.differing} were made more than once and differently, of which the first is taken"
    return DecidedRouter(stored.router, stored, source)


def _decisions_in(file: Path) -> Iterator[Decision]:
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--fde-router=replay: {file} cannot be read: {error}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            for found in _in_line(json.loads(line)):
                yield Decision.model_validate(found)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise UsageError(f"--fde-router=replay: {file}:{number}: no stored decision: {where}: {first['msg']}") from None
        except (ValueError, RecursionError) as error:
            raise UsageError(f"--fde-router=replay: {file}:{number}: a line of JSON is expected: {error}") from None


def _in_line(line: Any) -> list[Any]:
    """The decisions in a line: itself, or those of a message in an event log."""
    if not isinstance(line, dict):
        return [line]
    if "kind" in line and "key" not in line:
        entry = line.get("entry")
        routing = entry.get("routing") if isinstance(entry, dict) else None
        found = routing.get("decisions", []) if isinstance(routing, dict) else []
        return found if isinstance(found, list) else [found]
    return [line]
