"""A run's place in the store: kept from other sessions while it is made, and with ``--fde-resume`` what stands there already."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pytest_fdegym.pytest_side.budget import NotRun
from pytest_fdegym.pytest_side.session import FdeSession
from pytest_fdegym.results.claim import Claimed
from pytest_fdegym.results.record import AgentIdentity, Record
from pytest_fdegym.results.resume import Conditions, Standing, missing, standing
from pytest_fdegym.results.store import RunKey
from pytest_fdegym.runner import Case, conditions


@dataclass(frozen=True)
class Place:
    """Where a run is stored. `load` reads its scenario whole; it is called only where there is something to compare with."""

    session: FdeSession
    key: RunKey
    load: Callable[[], Case]

    def look(self) -> tuple[Standing, Record | None]:
        """What is there, and what it is worth now. Raises UsageError for a file that is not a record, ScenarioError."""
        store = self.session.settings.store
        assert store is not None
        record = store.find(self.key)
        if record is None:
            return missing(interrupted=store.paths(self.key).growing.exists()), None
        return standing(record, _conditions(self.session, self.key.agent, self.load())), record

    @contextlib.contextmanager
    def claimed(self, *, resume: bool, again: bool) -> Iterator[tuple[Standing | None, Record | None]]:
        """Keep other sessions from the run; gives the record where it is up to date and need not be made.

        With `resume` a session that is at it is waited for. `again` says that a plugin runs the item once more, and asks for another run.
        Raises NotRun where another session is at it, and what `look` raises.
        """
        store, session = self.session.settings.store, self.session
        assert store is not None
        try:
            with store.claim(self.key, wait=resume):
                found, record = self.look() if resume and not again else (None, None)
                if found is None or found.state != "up to date":
                    record = None
                    store.tidy(self.key)
                yield found, record
        except Claimed as holder:
            raise NotRun(
                f"{holder} is running the same into {session.plan.results}: --fde-resume waits for its record, --fde-results=DIR names "
                "another folder"
            ) from None


def _conditions(session: FdeSession, agent: AgentIdentity, case: Case) -> Conditions:
    settings = session.settings
    return conditions(
        case,
        agent,
        settings,
        command=session.is_command,
        content=case.scenario.digest(case.variant),
        gateway=settings.grader.gateway_of(case.scenario.file, case.variant),
    )
