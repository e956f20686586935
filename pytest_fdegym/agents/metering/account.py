"""One run's account with the proxy: lets its calls through while its limits last, counts each once, and ends with the run."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from pytest_fdegym.agents.metering.endpoints import Endpoint
from pytest_fdegym.agents.metering.faults import ProviderFault
from pytest_fdegym.agents.metering.prices import Price
from pytest_fdegym.agents.metering.usage import Tokens
from pytest_fdegym.errors import InfrastructureFault, LimitReached
from pytest_fdegym.observer import Event, Observer
from pytest_fdegym.results.record import Usage

SOCKET_NAME: Final = "meter.sock"
LAST_CALLS_SECONDS: Final = 1.0
"""How long the end of a run waits for calls that it cut off to be counted; only one that is still being connected takes so long."""
_LOOK_AGAIN: Final = 1.0


class Tracker(Protocol):
    """What an account asks of a LimitTracker."""

    def meter(self, *, turns: int = 0, input_tokens: int | None = 0, output_tokens: int | None = 0, usd: float | None) -> None: ...
    def on_reached(self, callback: Callable[[str], None]) -> None: ...
    @property
    def reached(self) -> str | None: ...
    @property
    def turns_left(self) -> int | None: ...
    @property
    def usage(self) -> Usage: ...


class RunOver(Exception):
    """The run that the account belongs to is over."""


@dataclass(frozen=True)
class Outcome:
    """What became of a model call. `turns` is 1 for an answer that is a turn of the agent; `tokens` None for a call that used none."""

    status: int | str
    turns: int = 0
    model: str | None = None
    tokens: Tokens | None = None
    price: Price = Price(None)
    fault: ProviderFault | None = None


class Call:
    """A request that was let through, to be settled once; it can be cut off from any thread. A context manager around its handling."""

    def __init__(self, account: Account | None, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.own_key = False
        """Whether the client sent a key of its own instead of a token."""
        self.cut_off = False
        self.settled = False
        self._account = account
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> Call:
        return self

    def __exit__(self, *exc_info: object) -> None:
        with self._lock:
            self._sockets.clear()
        if self._account is not None:
            self._account._leave(self)

    def carried_by(self, *sockets: socket.socket) -> None:
        """What to shut down to cut the call off, from now on. Raises OSError when it has been cut off already."""
        with self._lock:
            self._sockets = list(sockets)
            if self.cut_off:
                raise ConnectionAbortedError("the run is over")

    def cut(self) -> None:
        """End it: whoever waits for one of its sockets finds it closed."""
        with self._lock:
            self.cut_off = True
            for each in self._sockets:
                with contextlib.suppress(OSError):
                    # Not the method of a TLS socket, which is no business of another thread.
                    socket.socket.shutdown(each, socket.SHUT_RDWR)

    def settle(self, outcome: Outcome) -> None:
        """Count it; only the first time counts."""
        if self.settled:
            return
        self.settled = True
        if self._account is not None:
            self._account._count(self, outcome)
            self._account._leave(self)


class Account:
    """Calls attributed to one run. `calls` are those of a model that were let through; `last_fault` says how the last one failed, while
    none has succeeded since."""

    def __init__(
        self,
        token: str,
        tracker: Tracker,
        observer: Observer,
        environment_of: Callable[[str, str], dict[str, str]],
        address: str,
        serve: Callable[[Account, Path], contextlib.AbstractContextManager[None]],
    ) -> None:
        self.token = token
        self.calls = 0
        self.last_fault: ProviderFault | None = None
        self._tracker = tracker
        self._observer = observer
        self._environment_of = environment_of
        self._address = address
        self._serve = serve
        self._changed = threading.Condition()
        self._telling = threading.Lock()
        self._under_way: set[Call] = set()
        self._over = self._closed = self._answered = False
        self._broken: InfrastructureFault | None = None
        tracker.on_reached(self._limit_reached)

    @property
    def environment(self) -> Mapping[str, str]:
        """What makes clients in a process of this machine use the proxy, with a token that is refused once the run is over."""
        return self.environment_at(self._address)

    def environment_at(self, address: str) -> Mapping[str, str]:
        """The same for ``host:port``, where something passes connections on to the proxy."""
        return self._environment_of(address, self.token)

    @contextmanager
    def socket_in(self, directory: Path) -> Iterator[Path]:
        """Serve the proxy on ``meter.sock`` in `directory`, for this run alone. Raises InfrastructureFault."""
        path = directory / SOCKET_NAME
        try:
            serving = self._serve(self, path)
            serving.__enter__()
        except OSError as error:
            raise InfrastructureFault(f"no socket could be opened at {path}: {error}") from error
        try:
            yield path
        finally:
            serving.__exit__(None, None, None)

    # --- what the proxy does with it ---

    def let_through(self, endpoint: Endpoint) -> Call:
        """Raises LimitReached when a limit is used up, and RunOver.

        Waits while calls that are under way may be the run's last turns, so that agents that ask in parallel get no turn too many.
        """
        while True:
            if (reason := self._tracker.reached) is not None:
                raise LimitReached(reason)
            with self._changed:
                if self._over:
                    raise RunOver
                left = self._tracker.turns_left
                if not endpoint.turn or left is None or sum(call.endpoint.turn for call in self._under_way) < left:
                    call = Call(self, endpoint)
                    self._under_way.add(call)
                    self.calls += endpoint.api is not None
                    return call
                self._changed.wait(_LOOK_AGAIN)

    def close(self) -> None:
        """Refuse what comes from now on, cut off what is under way, and wait until that is counted."""
        with self._changed:
            self._over = True
            self._changed.notify_all()
        self._cut()
        with self._changed:
            self._changed.wait_for(lambda: not self._under_way, LAST_CALLS_SECONDS)
            self._closed = True

    def complain(self) -> None:
        """Raise what broke on the harness's side while the account was open, if anything did."""
        if self._broken is not None:
            raise self._broken

    def broke(self, what: str, error: Exception) -> None:
        """Note a fault of the harness's own for the end of the run; the first one stays."""
        if self._broken is None:
            self._broken = InfrastructureFault(f"{what} failed: {type(error).__name__}: {error}")
            self._broken.__cause__ = error

    def _limit_reached(self, reason: str) -> None:
        # The answer that used up the turns or the USD still reaches the agent; time is up for everything.
        if reason == "minutes":
            self._cut()
        with self._changed:
            self._changed.notify_all()

    def _cut(self) -> None:
        with self._changed:
            calls = list(self._under_way)
        for call in calls:
            call.cut()

    def _leave(self, call: Call) -> None:
        with self._changed:
            self._under_way.discard(call)
            self._changed.notify_all()

    def _count(self, call: Call, outcome: Outcome) -> None:
        endpoint = call.endpoint
        if endpoint.api is None:
            return
        with self._changed:
            if self._closed:
                return
            if outcome.fault is not None:
                if not self._provoked(call, outcome.fault):
                    self.last_fault = outcome.fault
            elif isinstance(outcome.status, int):
                self.last_fault, self._answered = None, True
        tokens = outcome.tokens
        if outcome.turns or tokens is not None:
            read, written = (tokens.input, tokens.output) if tokens is not None else (None, None)
            self._tracker.meter(turns=outcome.turns, input_tokens=read, output_tokens=written, usd=outcome.price.usd)
        self._tell(_event(endpoint, outcome, self._tracker.usage))

    def _provoked(self, call: Call, fault: ProviderFault) -> bool:
        """Whether it is no fault of the provider's or the user's: who has had answers of a model has a key, and need not send another."""
        return fault.kind == "authentication" and call.own_key and self._answered

    def _tell(self, event: Event) -> None:
        try:
            with self._telling:
                self._observer.notify(event)
        except Exception as error:
            # Whoever listens must not take the agent's answer away.
            self.broke("an observer of model calls", error)


def _event(endpoint: Endpoint, outcome: Outcome, so_far: Usage) -> Event:
    tokens = outcome.tokens or Tokens()
    data: dict[str, Any] = {
        "api": endpoint.api,
        "model": outcome.model,
        "status": outcome.status,
        "turns": outcome.turns,
        "input_tokens": tokens.input,
        "cached_tokens": tokens.cached,
        "output_tokens": tokens.output,
        "usd": outcome.price.usd,
        "so_far": so_far.model_dump(),
    }
    if outcome.tokens is not None and outcome.price.unknown is not None:
        data["usd_unknown"] = outcome.price.unknown
    if outcome.fault is not None:
        data["fault"] = {"kind": outcome.fault.kind, "text": outcome.fault.text}
    return Event("usage", data)
