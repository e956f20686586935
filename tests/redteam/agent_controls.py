"""The layers between an agent and the customer, each switched off; for throwaway processes only."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from pydantic import BaseModel, ConfigDict

from pytest_fdegym import engage
from pytest_fdegym.agents.commands import Commands
from pytest_fdegym.agents.metering import account, meter, proxy
from pytest_fdegym.agents.metering.endpoints import Endpoint
from pytest_fdegym.agents.python import PythonAgent
from pytest_fdegym.agents.session import Ending, Session, Surroundings
from pytest_fdegym.channel import server as channel
from pytest_fdegym.channel.protocol import UsageReport
from pytest_fdegym.deployment.freeze import Frozen
from pytest_fdegym.errors import SandboxFault
from pytest_fdegym.gateway.server import GatewayServer
from pytest_fdegym.gateway.service import Service
from pytest_fdegym.grading import granted_signoffs
from pytest_fdegym.limits import LimitTracker
from pytest_fdegym.people import conversation as people
from pytest_fdegym.people.charges import reply_charge
from pytest_fdegym.people.ledger import Ledger
from pytest_fdegym.people.router.base import Candidate, RoutablePerson, RouterContext, Routing
from pytest_fdegym.sandbox.base import CommandResult
from pytest_fdegym.scenario.model import Condition, Person
from pytest_fdegym.scenario.world import SignOff
from pytest_fdegym.trials import Trials
from tests.redteam.catalogue import Control

_ENDLESS = 1 << 40


@contextlib.contextmanager
def agent_layer_off(control: Control) -> Iterator[None]:
    """Without one layer, as long as the context is open; nothing for controls of another kind."""
    with contextlib.ExitStack() as stack:
        for patch in _patches(control):
            stack.enter_context(patch)
        yield


def _patches(control: Control) -> Iterator[Any]:
    match control:
        case Control.AGENTS_WORD:
            yield from _agents_word()
        case Control.RETURN_TAKEN:
            yield mock.patch.object(PythonAgent, "deliver", _returned(PythonAgent.deliver))
        case Control.REPORTS_BY_NAME:
            yield mock.patch.object(Ledger, "trial_reports", ("TR-1", "TR-2"))
        case Control.NO_BOUNDS_FOR_MESSAGES:
            yield from _unbounded()
        case Control.NO_CHARGES:
            yield mock.patch.object(people, "reply_charge", return_value=0.0)
        case Control.TALKATIVE:
            yield mock.patch("tests.redteam.support.default_router", _Talkative)
            yield mock.patch("pytest_fdegym.people.asked.MAX_TOPICS", _ENDLESS)
        case Control.SIDE_BY_SIDE:
            yield mock.patch.object(channel.Customer, "__init__", _unlocked(channel.Customer.__init__))
            yield mock.patch.object(people, "reply_charge", _priced_together())
        case Control.ANY_MOMENT:
            yield mock.patch.object(people, "check_moment", return_value=None)
            yield mock.patch.object(people, "days_skipped", lambda calendar, begun, ended: max((ended - begun).days, 0))
        case Control.BELIEVED_MODEL:
            yield mock.patch("pytest_fdegym.people.router.answers._borne_out", _believed)
            yield mock.patch("pytest_fdegym.people.router.decided.can_be_borne_out", return_value=True)
        case Control.UNCAPPED:
            yield from _uncapped()
        case Control.ANY_REPORT:
            yield mock.patch.object(channel, "UsageReport", _AnyReport)
        case Control.STILL_OPEN:
            yield from _still_open()
        case Control.LIVE_WORKSPACE:
            yield mock.patch.object(engage, "freeze", _not_copied)
        case Control.NOTHING_HIDDEN:
            yield mock.patch.object(engage, "_surroundings", return_value=Surroundings())
        case Control.KEY_PASSED_ON:
            yield from _key_passed_on()
        case Control.EXCUSED:
            yield mock.patch.object(Commands, "run", _excused(Commands.run))
            yield mock.patch.object(proxy._Handler, "_refuse", _blamed(proxy._Handler._refuse))
            yield mock.patch.object(account.Account, "_provoked", return_value=False)
        case _:
            pass


# --- what is evidence ---


def _agents_word() -> Iterator[Any]:
    texts = list[str]()
    granted, look, answer = granted_signoffs, engage._look_into, channel.Customer.answer

    def looked(workspace: Path) -> None:
        texts.extend(path.read_text(encoding="utf-8", errors="replace") for path in workspace.rglob("*") if path.is_file())
        look(workspace)

    def heard(self: Any, method: str, path: str, body: bytes) -> tuple[int, Any]:
        texts.append(body.decode("utf-8", "replace"))
        return answer(self, method, path, body)

    def claimed(prepared: Any, topics: Sequence[str]) -> tuple[SignOff, ...]:
        said = "\n".join(texts)
        found = [
            f"{name}/{key}"
            for name, person in prepared.people.people.items()
            for key, topic in person.topics.items()
            if topic.signoff is not None and topic.signoff.reference in said
        ]
        return granted(prepared, [*topics, *found])

    yield mock.patch.object(engage, "granted_signoffs", claimed)
    yield mock.patch.object(engage, "_look_into", looked)
    yield mock.patch.object(channel.Customer, "answer", heard)
    yield mock.patch.object(channel, "AskRequest", _AnyRequest)


class _AnyRequest(BaseModel):
    model_config = ConfigDict(extra="allow")
    person: str
    message: str


class _AnyReport(UsageReport):
    model_config = ConfigDict(extra="ignore")

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **_: Any) -> _AnyReport:
        told: dict[str, Any] = {name: float(value) if name == "usd" else int(value) for name, value in json.loads(json_data).items()}
        return cls.model_construct(**{"turns": 0, "input_tokens": 0, "output_tokens": 0, "usd": None, **told})


def _returned(deliver: Any) -> Any:
    def taken(self: PythonAgent, session: Session) -> Ending:
        agent, returned = self._agent, list[Any]()

        def kept(engagement: Any) -> Any:
            returned.append(agent(engagement))
            return returned[-1]

        self._agent = kept
        ending = deliver(self, session)
        return returned[-1] if returned and isinstance(returned[-1], Ending) else ending

    return taken


def _excused(run: Any) -> Any:
    def excusing(self: Commands, *args: Any, **more: Any) -> CommandResult:
        result: CommandResult = run(self, *args, **more)
        if result.exit_code < 0 or result.exit_code > 128:
            self.fault = SandboxFault("something ended the command")
        return result

    return excusing


def _blamed(refuse: Any) -> Any:
    def blaming(self: Any, refused: Exception) -> None:
        self.server.desk.broke(refused)
        refuse(self, refused)

    return blaming


# --- people ---


class _Talkative:
    id = "talkative"

    def route(self, person: RoutablePerson, message: str, context: RouterContext) -> Routing:
        return Routing("topics", tuple(Candidate(name, 1.0) for name in person.topics))


class _AsItComes(BaseModel):
    person: str
    message: str

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **_: Any) -> _AsItComes:
        data = bytes(json_data) if not isinstance(json_data, str) else json_data.encode()
        return cls.model_construct(**json.loads(data.decode("utf-8", "surrogateescape"), strict=False))


class _AnyPath(channel._Handler):
    """Answers whatever it is asked for, as far as it reads it."""

    def do_POST(self) -> None:
        length = self.headers.get("content-length", "0")
        body = self.rfile.read(int(length)) if length.isdigit() and int(length) < _ENDLESS else b""
        status, answer = self.server.customer.answer("POST", self.path, body)
        self._send(200 if status == 404 else status, answer)

    def do_GET(self) -> None:
        status, answer = self.server.customer.answer("GET", self.path, b"")
        self._send(200 if status == 404 else status, answer)


def _unbounded() -> Iterator[Any]:
    for name in ("people.asked.MAX_TOPICS", "people.offers.MAX_NUMBERS", "people.offers.MAX_ENTRIES"):
        yield mock.patch(f"pytest_fdegym.{name}", _ENDLESS)
    yield mock.patch("pytest_fdegym.people.offers.most_others", return_value=_ENDLESS)
    for name in ("MAX_BODY", "MAX_BYTES", "MAX_REQUESTS"):
        yield mock.patch.object(channel, name, _ENDLESS)
    yield mock.patch.object(channel, "MAX_CONNECTIONS", 1000)
    yield mock.patch.object(channel, "AskRequest", _AsItComes)
    yield mock.patch.object(channel, "_Handler", _AnyPath)
    yield mock.patch.object(people, "check_message", return_value=None)


class _NoLock:
    def acquire(self, timeout: float = 0) -> bool:
        return True

    def release(self) -> None:
        """Nobody waits for it."""

    def __enter__(self) -> None:
        """Nobody waits for it."""

    def __exit__(self, *error: object) -> None:
        """Nobody waits for it."""


def _unlocked(make: Any) -> Any:
    def made(self: Any, *args: Any) -> None:
        make(self, *args)
        self._lock = _NoLock()

    return made


def _priced_together() -> Any:
    price, together = reply_charge, threading.Barrier(8)

    def priced(person: Person, before: int) -> float:
        charge = price(person, before)
        with contextlib.suppress(threading.BrokenBarrierError):
            together.wait(3)
        return charge

    return priced


def _believed(leaf: Condition, said: Mapping[str, Any], message: Any, gate: Any) -> tuple[str, ...]:
    if leaf.number is not None:
        return ("number",)
    return (leaf.id,) if leaf.id is not None else tuple(leaf.ids or ("phrase",))


# --- caps ---


def _uncapped() -> Iterator[Any]:
    chat, make = Service.chat, Trials.run

    def any_number(self: Service, asked: Any) -> Any:
        self._most = _ENDLESS
        return chat(self, asked)

    def one_more(self: Trials) -> Any:
        spec = self._prepared.file.trial
        assert spec is not None
        with mock.patch.object(type(self._conversation.ledger), "trials", 0):
            return make(self)

    yield mock.patch.object(Service, "chat", any_number)
    yield mock.patch.object(Trials, "run", one_more)
    yield mock.patch.object(LimitTracker, "reached", None)
    yield mock.patch.object(LimitTracker, "check", return_value=None)
    yield mock.patch.object(LimitTracker, "turns_left", None)


def _key_passed_on() -> Iterator[Any]:
    def environment_of(self: Any, address: str, token: str) -> dict[str, str]:
        return {
            "OPENAI_BASE_URL": f"http://{address}/openai/v1",
            "OPENAI_API_KEY": token,
            "PROVIDER_KEY": self._upstreams["openai"].key,
        }

    def whose(self: Any, credentials: Sequence[str], fixed: Any) -> tuple[Any, bool]:
        return self._current, True

    yield mock.patch.object(meter.Meter, "_environment_of", environment_of)
    yield mock.patch.object(meter.Meter, "whose", whose)
    yield mock.patch.object(proxy, "endpoint", lambda provider, method, path: Endpoint(provider, method, ".*"))
    yield mock.patch.object(account.Account, "_limit_reached", return_value=None)


# --- the end ---


def _still_open() -> Iterator[Any]:
    @contextlib.contextmanager
    def opened(self: Service, call: int | None = None) -> Iterator[None]:
        self._call, self._open = call, True
        yield

    yield mock.patch.object(channel.Customer, "end", return_value=None)
    yield mock.patch.object(channel.Channel, "__exit__", return_value=None)
    yield mock.patch.object(GatewayServer, "__exit__", return_value=None)
    yield mock.patch.object(Service, "open", opened)
    yield mock.patch.object(Commands, "close", return_value=None)


def _not_copied(workspace: Path, folders: Sequence[str], destination: Path, **_: Any) -> Frozen:
    destination.mkdir()
    time.sleep(1)  # production starts when it starts
    return Frozen(workspace, "0" * 64, ())
