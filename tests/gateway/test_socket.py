"""The gateway's socket and the customer's client, with real connections."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_fdegym.errors import InfrastructureFault, ScenarioError
from pytest_fdegym.gateway.client import VARIABLE, Gateway, GatewayError
from pytest_fdegym.gateway.server import SOCKET_NAME, GatewayServer
from pytest_fdegym.gateway.service import Service
from pytest_fdegym.scenario.model import Gateway as Spec
from pytest_fdegym.scenario.world import GatewayCall, GatewayRequest
from pytest_fdegym.scratch import scratch_folder


@dataclass
class Shouts:
    """A model that answers in capitals, and fails when it is told to."""

    id = "shouts"

    def answer(self, request: GatewayRequest) -> str:
        if request.text == "fail as the author":
            raise ScenarioError("world.py:7: answer: ZeroDivisionError")
        if request.text == "fail":
            raise OSError("no such model")
        return request.text.upper() if request.text != "long" else "x" * 300_000


SPEC = Spec.model_validate({"models": ["small", "large"], "usd_per_call": 0.05, "work_calls": 3})


@pytest.fixture
def folder() -> Iterator[Path]:
    with scratch_folder("fdegwtest") as folder:
        yield folder


@pytest.fixture
def client(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    monkeypatch.setenv(VARIABLE, str(folder / SOCKET_NAME))
    with contextlib.closing(Gateway()) as client:
        yield client


def service(most_calls: int = 100) -> Service:
    return Service(SPEC, Shouts(), "work", most_calls=most_calls)


def user(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def test_a_conversation_of_many_calls_over_one_connection(folder: Path, client: Gateway) -> None:
    desk = service()
    with desk.open(), GatewayServer(desk, folder):
        assert client.models() == ["small", "large"]
        assert [client.chat(user(f"call {number}")) for number in range(50)] == [f"CALL {number}" for number in range(50)]
        assert client.chat([{"role": "system", "content": "be brief"}, *user("hello")], "large") == "BE BRIEF\n\nHELLO"
    assert desk.calls[0] == GatewayCall("work", "call 0", "CALL 0", 0.05, None)
    assert len(desk.calls) == 51


def test_threads_may_share_a_client_and_each_gets_its_own_answer(folder: Path, client: Gateway) -> None:
    desk = service()
    with desk.open(), GatewayServer(desk, folder), ThreadPoolExecutor(8) as pool:
        texts = [f"call {number}" for number in range(80)]
        assert list(pool.map(lambda text: client.chat(user(text)), texts)) == [text.upper() for text in texts]
        assert list(pool.map(_by_a_client_of_its_own, texts[:20])) == [text.upper() for text in texts[:20]]


def test_a_connection_that_was_closed_meanwhile_is_opened_again(folder: Path, client: Gateway) -> None:
    for _ in range(2):
        desk = service()
        with desk.open(), GatewayServer(desk, folder):
            assert client.chat(user("still there?")) == "STILL THERE?"
    with pytest.raises(GatewayError, match="the gateway cannot be reached"):
        client.chat(user("hello?"))


def test_calls_beyond_the_number_allowed_are_refused(folder: Path, client: Gateway) -> None:
    desk = service(most_calls=2)
    with desk.open(), GatewayServer(desk, folder):
        for _ in range(2):
            client.chat(user("hello"))
        with pytest.raises(GatewayError) as refused:
            client.chat(user("hello"))
        assert (refused.value.status, str(refused.value)) == (429, "the 2 calls that the gateway allows for engineering work are used up")
        assert client.models() == ["small", "large"], "which is no call of a model"
    assert len(desk.calls) == 2


def test_outside_of_a_call_of_productions_nobody_is_answered(folder: Path, client: Gateway) -> None:
    desk = Service(SPEC, Shouts(), "production", most_calls=9)
    with GatewayServer(desk, folder):
        with desk.open(7):
            client.chat(user("hello"))
        with pytest.raises(GatewayError) as refused:
            client.chat(user("hello"))
        assert (refused.value.status, str(refused.value)) == (503, "the gateway serves nobody outside of a call of production's")
    assert desk.calls == (GatewayCall("production", "hello", "HELLO", 0.05, 7),)


@pytest.mark.parametrize(
    ("text", "fault", "message"),
    [
        ("fail as the author", ScenarioError, "world.py:7: answer: ZeroDivisionError"),
        ("fail", InfrastructureFault, "the gateway failed: OSError: no such model"),
        ("long", ScenarioError, "the gateway's model answered with 300,000 characters; at most 262,144 are passed on"),
    ],
)
def test_what_the_model_fails_with_is_raised_where_the_gateway_is_opened(
    folder: Path, client: Gateway, text: str, fault: type[Exception], message: str
) -> None:
    desk = service()
    refusals = []

    def calls() -> None:
        with GatewayServer(desk, folder), desk.open():
            for each in (text, "hello"):
                with pytest.raises(GatewayError) as refused:
                    client.chat(user(each))
                refusals.append((refused.value.status, str(refused.value)))

    with pytest.raises(fault) as raised:
        calls()
    assert refusals == [(500, "the gateway failed")] * 2, "nothing of the fault is told, and nothing is answered after it"
    assert str(raised.value) == message


def test_any_client_of_the_protocol_will_do(folder: Path) -> None:
    desk = service()
    with desk.open(), GatewayServer(desk, folder):
        assert raw(folder, b"GET /v1/models HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200 OK\r\n")
        assert b'"owned_by": "company"' in raw(folder, b"GET /v1/models HTTP/1.1\r\nConnection: close\r\n\r\n")
        status, answer = post(folder, json.dumps({"messages": user("hello"), "temperature": 0.7, "max_tokens": 5}).encode())
        assert (status, answer["choices"][0]["message"]["content"]) == (200, "HELLO")


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"411 Length Required"),
        (b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 262145\r\n\r\n", b"413 Request Entity Too Large"),
        (b"DELETE /v1/models HTTP/1.1\r\nConnection: close\r\n\r\n", b"404 Not Found"),
        (b"POST /v1/embeddings HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", b"404 Not Found"),
    ],
)
def test_requests_that_are_refused_end_the_connection_where_the_rest_cannot_be_read(folder: Path, request_: bytes, status: bytes) -> None:
    desk = service()
    with desk.open(), GatewayServer(desk, folder):
        head, _, body = raw(folder, request_).partition(b"\r\n\r\n")
    assert head.split(b"\r\n")[0] == b"HTTP/1.1 " + status
    assert b"Connection: close" in head
    assert set(json.loads(body)["error"]) == {"message", "type", "code"}


@pytest.mark.parametrize(
    "request_",
    [
        b"hello\r\n\r\n",
        b"\r\n",
        b"GET /v1/models HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /v1/models HTTP/1.1\r\n" + b"A: b\r\n" * 200 + b"\r\n",
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 99\r\n\r\n{}",
    ],
)
def test_what_is_not_http_is_hung_up_on_and_others_are_served(folder: Path, client: Gateway, request_: bytes) -> None:
    desk = service()
    with desk.open(), GatewayServer(desk, folder):
        assert raw(folder, request_) == b""
        assert client.chat(user("hello")) == "HELLO"


def test_more_connections_than_are_served_are_hung_up_on(folder: Path, client: Gateway) -> None:
    desk = service()
    with desk.open(), GatewayServer(desk, folder):
        held = [_connected(folder) for _ in range(100)]
        for connection in held:
            connection.sendall(b"GET /v1/models HTTP/1.1\r\n\r\n")
            assert connection.recv(10).startswith(b"HTTP/1.1")
        with pytest.raises(GatewayError):
            client.chat(user("hello"))
        for connection in held:
            connection.close()


def test_the_client_is_found_by_a_file_where_the_environment_says_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(GatewayError, match=r"the gateway is not configured: LLM_GATEWAY_SOCKET is not set"):
        Gateway().chat(user("hello"))


def _by_a_client_of_its_own(text: str) -> str:
    with contextlib.closing(Gateway()) as client:
        return client.chat(user(text))


def _connected(folder: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(str(folder / SOCKET_NAME))
    return connection


def raw(folder: Path, request: bytes) -> bytes:
    """All that comes back for some bytes, until the other side closes."""
    with _connected(folder) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        parts = []
        try:
            while part := connection.recv(65_536):
                parts.append(part)
        except ConnectionResetError:
            pass
        return b"".join(parts)


def post(folder: Path, body: bytes) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("gateway")
    connection.sock = _connected(folder)
    connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json", "Authorization": "Bearer anything"})
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    return response.status, answer
