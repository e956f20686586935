"""Decides whether a call of the gateway is answered, asks the model, and keeps the log."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Literal

from pytest_fdegym.errors import FdeGymError, GatewayModelFault, InfrastructureFault, ScenarioError
from pytest_fdegym.gateway.models import Model
from pytest_fdegym.gateway.protocol import ANSWER_CHARACTERS, Chat, Refused
from pytest_fdegym.scenario.model import Gateway
from pytest_fdegym.scenario.world import GatewayCall, GatewayRequest

Stage = Literal["work", "trial", "production"]

REPLAY_CALLS = 200_000
REPLAY_CHARACTERS = 256 << 20
"""What all requests and answers of one replay may come to; they are kept for the scenario to look at."""


class Service:
    """The gateway at one stage. Requests of several threads are answered one after another."""

    def __init__(
        self, spec: Gateway, model: Model, stage: Stage, *, most_calls: int, told: Callable[[GatewayCall], None] | None = None
    ) -> None:
        """`most_calls` are answered, later ones refused; `told` hears of each call that was answered."""
        self.spec, self.stage = spec, stage
        self._model, self._most, self._told = model, most_calls, told
        self._lock = threading.Lock()
        self._open = False
        self._call: int | None = None
        self._calls: list[GatewayCall] = []
        self._characters = 0
        self._fault: FdeGymError | None = None
        self._busy = 0.0
        self._since: float | None = None

    @property
    def calls(self) -> tuple[GatewayCall, ...]:
        """The calls that were answered, in order."""
        return tuple(self._calls)

    @property
    def seconds(self) -> float:
        """Wall time that callers have spent waiting for the model, up to this moment."""
        since = self._since
        return self._busy + (0.0 if since is None else time.monotonic() - since)

    @contextmanager
    def open(self, call: int | None = None) -> Iterator[None]:
        """Answer while the context lasts; `call` numbers the entry point call in progress.

        Leaving it waits for an answer that is still being made, so that afterwards nothing of the scenario's runs. Raises what the model
        failed with meanwhile.
        """
        self._call, self._open = call, True
        try:
            yield
        finally:
            self._open = False
            with self._lock:
                fault = self._fault
        if fault is not None:
            raise fault

    def close(self) -> None:
        """Refuse what is still asked; an answer that is being made is not waited for."""
        self._open = False

    def chat(self, chat: Chat) -> tuple[int, str]:
        """The answer, and which one it is (from 1). Raises Refused."""
        with self._lock:
            if not self._open:
                closed = "the engagement is over" if self.stage == "work" else "the gateway serves nobody outside of a call of production's"
                raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, closed)
            if self._fault is not None:
                raise Refused(HTTPStatus.INTERNAL_SERVER_ERROR, "the gateway failed")
            if len(self._calls) >= self._most or self._characters >= REPLAY_CHARACTERS:
                raise Refused(HTTPStatus.TOO_MANY_REQUESTS, self._used_up)
            request = GatewayRequest(self.stage, chat.model, chat.messages)
            self._since = begun = time.monotonic()
            try:
                answer = self._checked(self._model.answer(request))
            except Refused:
                raise
            except ScenarioError as error:
                self._fault = error
                raise Refused(HTTPStatus.INTERNAL_SERVER_ERROR, "the gateway failed") from None
            except InfrastructureFault as error:
                self._fault = GatewayModelFault(str(error))
                self._fault.__cause__ = error
                raise Refused(HTTPStatus.INTERNAL_SERVER_ERROR, "the gateway failed") from None
            except Exception as error:
                self._fault = GatewayModelFault(f"the gateway failed: {type(error).__name__}: {error}")
                self._fault.__cause__ = error
                raise Refused(HTTPStatus.INTERNAL_SERVER_ERROR, "the gateway failed") from None
            finally:
                self._since = None
                self._busy += time.monotonic() - begun
            logged = GatewayCall(self.stage, request.text, answer, self.spec.usd_per_call, self._call)
            self._calls.append(logged)
            self._characters += len(logged.text) + len(answer)
            if self._told is not None:
                self._told(logged)
            return len(self._calls), answer

    def _checked(self, answer: str) -> str:
        if len(answer) > ANSWER_CHARACTERS:
            raise ScenarioError(
                f"the gateway's model answered with {len(answer):,} characters; at most {ANSWER_CHARACTERS:,} are passed on"
            )
        return answer

    @property
    def _used_up(self) -> str:
        if self.stage == "work":
            return f"the {self._most:,} calls that the gateway allows for engineering work are used up"
        return "the gateway answers no further calls: its quota is used up"
