"""``--fde-budget-usd`` and ``--fde-budget-minutes``: what a session may spend, shared by the workers of pytest-xdist through a file."""

from __future__ import annotations

import contextlib
import fcntl
import json
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_fdegym.pytest_side.plan import Plan
from pytest_fdegym.results.files import write_whole
from pytest_fdegym.results.record import Usage

FOLDER = "fdegym_budget"
"""Key of workerinput: the folder of the controller's budget."""
LOOKS_UP_SECONDS = 0.2

Answer = Literal["start", "wait", "refuse"]


class NotRun(Exception):
    """The budget has no room for the run; the text says why."""


@dataclass(frozen=True)
class Spent:
    """What a session has spent: pure arithmetic. USD as decimals in text, so that .3 three times is .9.

    An unknown price counts as the part of it that is known; `unknown` says of how many runs that holds.
    """

    usd: str = "0"
    largest: str = "0"
    """Of a finished run: what another one is expected to cost."""
    finished: int = 0
    unknown: int = 0
    running: Mapping[str, str] = field(default_factory=dict)
    """Runs under way: a token, and by which process."""

    def answer(self, budget: float) -> Answer:
        """Whether another run fits in `budget`.

        Each run under way may cost as much as the largest so far, or, while none has finished, anything: what may or may not fit waits
        until it is known. What cannot fit even if those under way cost nothing is refused, for good, since a session only spends more.
        """
        limit, spent, expected = Decimal(repr(budget)), Decimal(self.usd), Decimal(self.largest)
        if spent + expected > limit or spent >= limit:
            return "refuse"
        if self.running and (not self.finished or spent + (len(self.running) + 1) * expected > limit):
            return "wait"
        return "start"

    def started(self, token: str, process: str) -> Spent:
        return replace(self, running={**self.running, token: process})

    def ended(self, token: str, usage: Usage) -> Spent:
        """The run `token` is over, and used so much."""
        cost = usage.usd if usage.usd is not None else usage.usd_at_least or 0.0
        spent = Decimal(repr(float(cost)))
        return replace(
            self,
            usd=str(Decimal(self.usd) + spent),
            largest=str(max(Decimal(self.largest), spent)),
            finished=self.finished + 1,
            unknown=self.unknown + (usage.usd is None and usage != Usage()),
            running={each: process for each, process in self.running.items() if each != token},
        )

    def lost(self, token: str) -> Spent:
        """The process of the run `token` died: it is taken to have cost what a run is expected to."""
        return replace(self.ended(token, Usage(usd=float(self.largest))), unknown=self.unknown + 1)


class SessionBudget:
    """The budget of a session, in a folder that its processes share.

    `clock` gives seconds, the same in every process of the machine; `sleep` waits between two looks.
    """

    def __init__(
        self,
        folder: Path,
        usd: float | None,
        minutes: float | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._folder, self._usd, self._minutes = folder, usd, minutes
        self._clock, self._sleep = clock, sleep
        self._process = uuid.uuid4().hex
        # Held as long as this process lives, and by no process that it forks: how others learn that it died.
        self._alive = (folder / self._process).open("w")
        fcntl.lockf(self._alive, fcntl.LOCK_EX)
        with self._locked() as state:
            state.setdefault("begun", clock())

    def close(self) -> None:
        """Let go of the folder's files."""
        self._alive.close()

    @property
    def spent(self) -> Spent:
        """What is spent so far, by all processes."""
        with self._locked() as state:
            return _read(state)

    @contextlib.contextmanager
    def run(self) -> Iterator[Callable[[Usage], None]]:
        """Room for one run; the caller is given what to tell its usage. Waits where that depends on runs under way. Raises NotRun."""
        token = self._begin()
        told = [Usage()]
        try:
            yield lambda usage: told.__setitem__(0, usage)
        finally:
            with self._locked() as state:
                _write(state, _read(state).ended(token, told[0]))

    def _begin(self) -> str:
        while True:
            with self._locked() as state:
                spent = self._without_the_dead(_read(state))
                _write(state, spent)
                if self._minutes is not None and self._clock() - state["begun"] >= 60 * self._minutes:
                    raise NotRun(f"the session's budget of {self._minutes:g} minutes is used up")
                answer = "start" if self._usd is None else spent.answer(self._usd)
                if answer == "refuse":
                    raise NotRun(self._no_room(spent))
                if answer == "start":
                    token = uuid.uuid4().hex
                    _write(state, spent.started(token, self._process))
                    return token
            self._sleep(LOOKS_UP_SECONDS)

    def _no_room(self, spent: Spent) -> str:
        text = f"the session's budget of {self._usd:g} USD has no room for another run: {_usd(spent.usd)} USD are spent"
        if Decimal(spent.largest):
            text += f", and one run cost {_usd(spent.largest)} USD"
        return f"{text} ({spent.unknown} of {spent.finished} runs cost an unknown amount more)" if spent.unknown else text

    def _without_the_dead(self, spent: Spent) -> Spent:
        for token, process in spent.running.items():
            if process != self._process and not self._lives(process):
                spent = spent.lost(token)
        return spent

    def _lives(self, process: str) -> bool:
        with (self._folder / process).open("r+") as file:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return True
            return False

    @contextlib.contextmanager
    def _locked(self) -> Iterator[dict[str, Any]]:
        """The state, which nobody else reads or writes meanwhile."""
        with (self._folder / "lock").open("a") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            place = self._folder / "spent.json"
            state: dict[str, Any] = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}
            yield state
            write_whole(place, json.dumps(state))  # a worker may be killed at any moment


def _read(state: Mapping[str, Any]) -> Spent:
    return Spent(**state.get("spent", {}))


def _write(state: dict[str, Any], spent: Spent) -> None:
    state["spent"] = asdict(spent)


def _usd(text: str) -> str:
    return f"{Decimal(text).normalize():f}"


class BudgetPlugin:
    """Hands the folder to the workers of pytest-xdist; removes it in the end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[FOLDER] = str(self._folder)


def open_budget(config: pytest.Config, plan: Plan) -> SessionBudget | None:
    """The session's budget, open until the session ends; None where there is none.

    Raises pytest.UsageError where workers of pytest-xdist are to run on other machines.
    """
    if plan.budget_usd is None and plan.budget_minutes is None:
        return None
    given: dict[str, Any] | None = getattr(config, "workerinput", None)
    if given is None:
        _refuse_elsewhere(config, plan)
        folder = Path(tempfile.mkdtemp(prefix="fdegym-budget-"))
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        config.pluginmanager.register(BudgetPlugin(folder), "fdegym-budget")
    else:
        folder = Path(given[FOLDER])
    budget = SessionBudget(folder, plan.budget_usd, plan.budget_minutes)
    config.add_cleanup(budget.close)
    return budget


def _refuse_elsewhere(config: pytest.Config, plan: Plan) -> None:
    """Before a connection is made: the folder that holds a budget is on this machine."""
    for worker in config.getoption("tx", default=None) or ():
        if not any(part.partition("=")[0] == "popen" for part in worker.rpartition("*")[2].split("//")):
            flag = "--fde-budget-minutes" if plan.budget_usd is None else "--fde-budget-usd"
            raise pytest.UsageError(
                f"{flag}: a budget is kept by workers on this machine, found --tx {worker.partition('//')[0]}. "
                "Leave it out, or run a session of its own, with a share of the budget, on each host."
            )
