"""Hostile messages to the people's channel and to the company's gateway: refused, without a traceback, a hang or a charge."""

from __future__ import annotations

import socketserver
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest

from pytest_fdegym.channel import server as channel_server
from pytest_fdegym.channel.client import ChannelClient
from pytest_fdegym.channel.protocol import StatusCard
from pytest_fdegym.channel.server import Channel, Customer
from pytest_fdegym.gateway.server import GatewayServer
from pytest_fdegym.gateway.service import Service
from pytest_fdegym.limits import Limits, LimitTracker
from pytest_fdegym.observer import Event, Observers
from pytest_fdegym.people.conversation import BadRequest, Conversation
from pytest_fdegym.people.router import default_router
from pytest_fdegym.scenario.fill import fill_file, fill_people, parameters
from pytest_fdegym.scenario.loader import load
from pytest_fdegym.scenario.model import Gateway
from pytest_fdegym.scenario.world import GatewayRequest
from tests.redteam.fuzz.mutating import generator
from tests.redteam.fuzz.talking import hostile, said_to
from tests.support.tiny_scenario import write_tiny_scenario

SAMPLE = 250
ALL = 5000
"""At each of the two servers."""
STEP = 250
PATHS = ("/ask", "/wait", "/trial", "/usage", "/people", "/inbox", "/log", "/status", "/ledger", "/ask/")
ASKED = (
    {"person": "nobody", "message": "How heavy may a letter be?"},
    {"person": "pike", "message": "\x07"},
    {"person": "moss", "message": "   "},
    {"person": "pike"},
    {"days": -70},
    {"until": "1999-01-01T00:00:00"},
    {"until": "2025-03-05T00:00:00+01:00"},
    {"turns": -5, "usd": -0.1},
)
"""Nothing in them is right by the change of a character or two."""
CHAT_PATHS = ("/v1/chat/completions", "/v1/models", "/v1/chat", "/v1/chat/completions/")
CHATS = (
    {"model": "no-such-model", "messages": [{"role": "user", "content": "hello"}]},
    {"messages": [{"role": "robot", "content": "hello"}]},
    {"messages": [{"role": "user", "content": ["hello"]}]},
    {"messages": [], "temperature": 0},
    {"stream": True, "messages": [{"role": "user", "content": "hello"}], "model": "no-such-model"},
)


@contextmanager
def watched() -> Iterator[list[str]]:
    """What threads and servers raised that is no client's hanging up."""
    raised: list[str] = []

    def in_a_thread(args: threading.ExceptHookArgs) -> None:
        raised.append(f"{args.exc_type.__name__}: {args.exc_value}")

    def in_a_handler(server: socketserver.BaseServer, request: object, address: object) -> None:
        error = sys.exception()
        if not isinstance(error, ConnectionError | TimeoutError):
            raised.append(f"{type(error).__name__}: {error}")

    with mock.patch("threading.excepthook", in_a_thread), mock.patch.object(channel_server._Server, "handle_error", in_a_handler):
        yield raised


@pytest.fixture
def sockets() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="fz", dir="/tmp") as folder:  # the path of a socket is short
        yield Path(folder)


@pytest.fixture(scope="module")
def conversation(tmp_path_factory: pytest.TempPathFactory) -> Conversation:
    scenario = load(write_tiny_scenario(tmp_path_factory.mktemp("talk") / "tiny_post"))
    params, public = parameters(scenario, "v1"), {"overpaid": 20, "orders": 60, "parcels": 50, "heaviest": 990}
    file = fill_file(scenario, "v1", params, public)
    return Conversation(fill_people(scenario, "v1", params, public), file.calendar, file.facts, default_router())


def ask_the_customer(numbers: range, conversation: Conversation, sockets: Path) -> None:
    events: list[Event] = []

    class Listening:
        def notify(self, event: Event) -> None:
            events.append(event)

    def no_trial() -> object:
        raise BadRequest("trial runs are not possible here")

    begun, ledger = conversation.now, conversation.ledger
    customer = Customer(conversation, LimitTracker(Limits()), Observers([Listening()]), no_trial)  # type: ignore[arg-type]  # never returns
    with watched() as raised, Channel(customer, sockets) as channel:
        for number in numbers:
            message = hostile(generator("message", number), PATHS, ASKED)
            answer = said_to(channel.socket, message)
            for sign in (b"HTTP/1.1 5", b"Traceback", b"pytest_fdegym"):
                assert sign not in answer or answer.startswith(b"HTTP/1.1 501 Unsupported method"), (number, message[:300], answer[:300])
            assert raised == [], (number, message[:300])
        assert ChannelClient(channel.socket).request("GET", "/status", StatusCard).now == begun
    assert customer.fault is None
    assert [entry for entry in conversation.ledger.entries[len(ledger.entries) :] if entry.kind != "inbox"] == []
    assert (conversation.now, conversation.ledger.contact_cost) == (begun, 0)
    assert {event.kind for event in events} <= {"refused", "inbox", "usage"}


class Counting:
    """A model that answers; whatever gets to it counts as a call."""

    id = "counting"

    def answer(self, request: GatewayRequest) -> str:
        return "yes"


def ask_the_gateway(numbers: range, sockets: Path) -> None:
    spec = Gateway(models=("post-small",), usd_per_call=0.25, work_calls=3, client="system/gateway.py")
    service = Service(spec, Counting(), "work", most_calls=3)
    with watched() as raised, service.open(), GatewayServer(service, sockets) as server:
        for number in numbers:
            message = hostile(generator("chat", number), CHAT_PATHS, CHATS)
            answer = said_to(server.socket, message)
            for sign in (b"HTTP/1.1 5", b"Traceback", b"pytest_fdegym"):
                assert sign not in answer, (number, message[:300], answer[:300])
            assert raised == [], (number, message[:300])
        assert b'"post-small"' in said_to(server.socket, b"GET /v1/models HTTP/1.0\r\n\r\n")
    assert service.calls == ()


def test_a_sample_to_the_customer(conversation: Conversation, sockets: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ask_the_customer(range(SAMPLE), conversation, sockets)
    assert capfd.readouterr() == ("", "")


def test_a_sample_to_the_gateway(sockets: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ask_the_gateway(range(SAMPLE), sockets)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.parametrize("first", range(SAMPLE, ALL, STEP))
def test_all_to_the_customer(first: int, conversation: Conversation, sockets: Path) -> None:
    ask_the_customer(range(first, first + STEP), conversation, sockets)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(SAMPLE, ALL, STEP))
def test_all_to_the_gateway(first: int, sockets: Path) -> None:
    ask_the_gateway(range(first, first + STEP), sockets)
