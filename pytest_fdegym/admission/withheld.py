"""Is the traffic of the evaluation, or what a key fact states, already in what the agent gets? Looks at the values themselves."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_fdegym.admission.contents import Contents
from pytest_fdegym.admission.printed import Document, Statement
from pytest_fdegym.scenario.world import Died, Json, Outcome
from pytest_fdegym.workspace.prepare import PreparedTask

LEAST_VALUES = 3
"""That the arguments of a call need before the same values in one place are no chance."""
WINDOW = 600
"""Characters of a text file around a row's own value in which its other texts are looked for."""
MOST_ROWS = 40
"""Rows of one kind that are looked for in text files."""
MOST_TOLD = 3


class Unanswered:
    """A deployed system that is down for good, and remembers what production did."""

    def __init__(self) -> None:
        self.inserted: dict[str, list[Mapping[str, Json]]] = defaultdict(list)
        self.called: dict[str, list[Sequence[Json]]] = defaultdict(list)

    def call(self, entry_point: str, *args: Json) -> Outcome:
        self.called[entry_point].append(args)
        return Died("the system is down")

    def calls(self, entry_point: str, many: Iterable[Sequence[Json]]) -> list[Outcome]:
        return [self.call(entry_point, *args) for args in many]

    def insert(self, database: str, table: str, rows: Sequence[Mapping[str, Json]]) -> None:
        self.inserted[f"{database}.{table}"] += rows

    def read(self, path: str, max_bytes: int = 1_000_000) -> bytes | None:
        del path, max_bytes
        return None


@dataclass(frozen=True)
class Row:
    """Something that production brings: its values as texts, and one of them that no other row has."""

    what: str
    own: str
    values: frozenset[str]
    texts: tuple[str, ...] = field(default=())
    """The values that are texts, which are looked for in files that are no database."""


def traffic(prepared: PreparedTask) -> list[Row]:
    """What production inserts and calls with during the replay, as rows. Nothing of a delivery runs."""
    system = Unanswered()
    prepared.worlds.operate(system, prepared.heldout, prepared.world, (), None)
    return rows_of(system)


def rows_of(system: Unanswered) -> list[Row]:
    """The rows that can be told from any other: with a value of their own and enough values beside it."""
    rows: list[Row] = []
    for table, inserted in system.inserted.items():
        rows += _distinct(f"a row that production inserts into {table}", [list(_leaves(dict(row))) for row in inserted], 2)
    for entry_point, called in system.called.items():
        rows += _distinct(f"a call of {entry_point}", [list(_leaves(list(args))) for args in called], LEAST_VALUES)
    return rows


def _distinct(what: str, found: Sequence[Sequence[Any]], least: int) -> Iterator[Row]:
    counts = Counter(value for values in found for value in {str(each) for each in values})
    for values in found:
        own = next((each for each in values if isinstance(each, str) and counts[each] == 1 and _telling(each)), None)
        texts = tuple(dict.fromkeys(each for each in values if isinstance(each, str) and each))
        if own is not None and len({str(each) for each in values}) >= least:
            yield Row(what, own, frozenset(str(each) for each in values), texts)


def _telling(text: str) -> bool:
    """Whether a text can be an identity: it holds a digit, or is as long as a sentence."""
    return len(text) >= 2 and (any(character.isdigit() for character in text) or len(text) >= 40)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for each in value.values():
            yield from _leaves(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    elif value is not None and not isinstance(value, bool):
        yield value


def rows_in(rows: Sequence[Row], files: Sequence[Contents]) -> Iterator[str]:
    """Sentences about rows that stand in the files of the workspace."""
    by_own = {row.own: row for row in rows}
    sample = _sample(rows)
    for file in files:
        found = _in_tables(by_own, file) if file.rows else _in_text(sample, file)
        for row in list(dict.fromkeys(found))[:MOST_TOLD]:
            yield f"{file.name} (workspace): holds {row.what}, {row.own!r}"


def _in_tables(by_own: Mapping[str, Row], file: Contents) -> Iterator[Row]:
    for values in file.rows:
        texts = {str(value) for value in values if value is not None}
        for own in by_own.keys() & texts:
            if by_own[own].values <= texts:
                yield by_own[own]


def _in_text(rows: Sequence[Row], file: Contents) -> Iterator[Row]:
    text = file.data.decode("utf-8", "replace")
    for row in rows:
        place = text.find(row.own)
        if place < 0 or len(row.texts) < 2:
            continue
        around = text[max(0, place - WINDOW) : place + len(row.own) + WINDOW]
        if all(each in around for each in row.texts):
            yield row


def _sample(rows: Sequence[Row]) -> list[Row]:
    """Some of each kind, spread evenly."""
    kinds: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        kinds[row.what].append(row)
    return [row for its in kinds.values() for row in its[:: max(1, len(its) // MOST_ROWS)]]


def told_early(prepared: PreparedTask) -> Iterator[str]:
    """Sentences about values of key facts in what people say while they refuse to tell, or have nothing to tell."""
    source = prepared.scenario.people_source
    facts = {name: Statement(fact.text) for name, fact in prepared.facts.items() if fact.key}
    for path, text in _refusals(prepared):
        document = Document(text)
        for name, statement in facts.items():
            for hit in document.find(statement):
                yield str(source.problem(path, f"states {hit.value!r}, as the key fact {name} does, before anything was shown or asked"))
                break


def _refusals(prepared: PreparedTask) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for person, who in prepared.people.people.items():
        here = ("people", person)
        for name in ("role", "directory", "fallback", "asks_back", "asks_back_one"):
            yield (*here, name), getattr(who, name)
        for name, spec in (("restricted", who.restricted), ("away", who.away), ("leaves", who.leaves)):
            if spec is not None:
                yield (*here, name, "reply"), spec.reply
        for topic, said in who.topics.items():
            path = (*here, "topics", topic)
            yield (*path, "call_it"), said.call_it
            yield (*path, "not_yet"), said.not_yet
            for name, asked in (("evidence", said.evidence), ("requires", said.requires)):
                if asked is not None:
                    yield (*path, name, "miss"), asked.miss
            if said.stalls is not None:
                yield (*path, "stalls", "says"), said.stalls.says
