"""Joins results folders into one: the shards of a session that was spread over machines."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from pytest_fdegym.errors import UsageError
from pytest_fdegym.results.claim import Claimed
from pytest_fdegym.results.events import PART
from pytest_fdegym.results.files import staged
from pytest_fdegym.results.record import AgentIdentity, Record
from pytest_fdegym.results.store import Store, StoredRun, stored_runs


@dataclass(frozen=True)
class Found:
    """A record, and where it is."""

    record: Record
    at: Path


@dataclass(frozen=True)
class Merged:
    """What merging comes to: the chosen record for each place in the new folder, and what whoever asked for it should know."""

    chosen: dict[Path, Found]
    replaced: int
    """Runs of which a newer one was taken."""
    unfinished: tuple[Path, ...]
    """Logs of runs that did not end."""
    cautions: tuple[str, ...]


def plan_merge(out: Path, stores: Sequence[Path], *, newest: bool) -> Merged:
    """What `out` is to hold: its own runs, if it is there, and those of all `stores`. Reads only.

    Of two records of one run the same one counts once, the newer one where `newest` is set. Raises UsageError for two that differ, and
    for runs that must not stand in one table.
    """
    sources = [*([out] if out.is_dir() else []), *(store for store in stores if not _same(store, out))]
    found = [Found(record, stored.record) for source in sources for stored, record in stored_runs(source)]
    if not found:
        raise UsageError(f"{', '.join(map(str, stores))}: there is no record of a run.")
    target, chosen, replaced = Store(out), dict[Path, Found](), 0
    for each in found:
        place = target.paths(each.record).record
        other = chosen.setdefault(place, each)
        if other is each or other.record == each.record:
            continue
        if not newest:
            what = f"{each.record.task} at {each.record.level}, run {each.record.run}, by {each.record.agent.name}"
            raise UsageError(f"{other.at} and {each.at} are two records of one run ({what}); --newest takes the one that was begun later.")
        replaced += 1
        chosen[place] = max(other, each, key=_age)
    by_agent: dict[Path, list[Found]] = defaultdict(list)
    for place, each in chosen.items():
        by_agent[place.parent].append(each)
    for its in by_agent.values():
        _refuse_mixed(its)
    unfinished = tuple(path for source in sources for path in sorted(source.glob(f"*/*{PART}")))
    return Merged(chosen, replaced, unfinished, tuple(_cautions(chosen.values())))


def merge(plan: Merged, out: Path) -> None:
    """Copy what was chosen to `out`, run by run, each whole or not at all. Raises UsageError where it cannot be written, or a session
    writes there at the moment."""
    store = Store(out)
    for place, found in plan.chosen.items():
        if _same(found.at, place):
            continue
        try:
            with store.claim(found.record, wait=False):
                _copy(StoredRun.of(found.at), store.paths(found.record), found.record, store)
        except Claimed as holder:
            raise UsageError(f"{place}: {holder} is running this now; merge when it has ended.") from None
        except OSError as error:
            raise UsageError(f"{out} cannot be written: {error.strerror or error} ({error.filename}).") from None


def _copy(source: StoredRun, target: StoredRun, record: Record, store: Store) -> None:
    store.ignore_itself()
    store.tidy(record)
    pairs = [(source.events, target.events), (source.patch, target.patch), (source.handover, target.handover)]
    with ExitStack() as stack:
        ready = [
            (stack.enter_context(staged(new, old.read_bytes())), new)
            for old, new in (*pairs, (source.record, target.record))
            if old.is_file()
        ]
        target.record.unlink(missing_ok=True)
        for old, new in pairs:
            if not old.is_file():
                new.unlink(missing_ok=True)
        for path, new in ready:  # the record last
            os.replace(path, new)


def _age(found: Found) -> tuple[float, float]:
    record = found.record
    return record.started_at.timestamp(), 0.0 if record.regraded is None else record.regraded.at.timestamp()


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _refuse_mixed(found: Sequence[Found]) -> None:
    """Runs of one agent stand in one table: they have to be of one agent, scored alike, in one world for each task."""
    firsts: dict[object, tuple[str, Found]] = {}
    for each in found:
        record = each.record
        for what, group, value in (
            ("the agent", (), _shown(record.agent)),
            ("the scoring version", (), str(record.scoring_version)),
            ("the router", (), record.router),
            (f"the digest of {record.task}", (record.task, record.seed), (record.world_digest or "unknown")[:16]),
        ):
            then, first = firsts.setdefault((what, group), (value, each))
            if then != value:
                raise UsageError(
                    f"not merged: {what} is {then} in {first.at} and {value} in {each.at}; such scores cannot stand in one table."
                )


def _shown(agent: AgentIdentity) -> str:
    return " ".join(
        [agent.name, *([agent.version] if agent.version else []), *(f"{key}={agent.options[key]}" for key in sorted(agent.options))]
    )


def _cautions(found: Iterable[Found]) -> Iterable[str]:
    """What may differ between machines, and better did not."""
    records = [each.record for each in found]
    for what, values in (
        ("harness versions", {record.harness_version for record in records}),
        ("sandboxes", {record.isolation for record in records}),
        ("limits", {"unknown" if record.limits is None else record.limits.model_dump_json() for record in records}),
    ):
        if len(values) > 1:
            yield f"caution: {len(values)} {what} among these runs: {', '.join(sorted(values))}"
