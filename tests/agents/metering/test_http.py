"""The proxy as HTTP has it: framing, headers, bounds, many at once; and what it does not take."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_fdegym.agents.metering import http_messages
from pytest_fdegym.limits import Limits
from tests.agents.metering.support import HELLO, MODELS, PATHS, Bare, Run, address, ask, question, run
from tests.support.providers import Answer, Call, Raw, Reply


def raw(metered: Run, request: bytes) -> bytes:
    """What comes back for these bytes until the connection is closed."""
    host, _, port = address(metered.account.environment).partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_a_body_in_chunks() -> None:
    def pieces() -> Iterator[bytes]:
        for start in range(0, len(content), 7):
            yield content[start : start + 7]

    content = json.dumps(question("messages")).encode()
    with run([HELLO]) as metered, Bare(metered.account.environment) as bare:
        answer = bare.request("POST", PATHS["messages"], pieces())
        assert answer.status == 200
        assert metered.provider.calls[0].body == question("messages")
        assert metered.provider.calls[0].headers["content-length"] == str(len(content))


def test_a_client_that_asks_before_it_sends_the_body() -> None:
    content = json.dumps(question("chat")).encode()
    with run([HELLO]) as metered:
        host, _, port = address(metered.account.environment).partition(":")
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            head = f"POST {PATHS['chat']} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {metered.account.token}\r\nConnection: close\r\n"
            connection.sendall(f"{head}Content-Length: {len(content)}\r\nExpect: 100-continue\r\n\r\n".encode())
            assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
            connection.sendall(content)
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
        assert "expect" not in metered.provider.calls[0].headers


def test_headers_that_are_for_the_next_hop_only() -> None:
    def answer(call: Call) -> Answer:
        headers = {"content-type": "application/json", "x-request-id": "req_7", "keep-alive": "timeout=5", "set-cookie": "who=you"}
        return Raw(b"{}", 200, headers)

    with run(answer) as metered, Bare(metered.account.environment) as bare:
        sent = {"connection": "keep-alive, x-mine", "x-mine": "1", "te": "trailers", "cookie": "a=b", "openai-organization": "org-7"}
        got = bare.ask("chat", sent | {"accept-encoding": "gzip, br"})
        received = metered.provider.calls[0].headers
        assert not {"connection", "x-mine", "te", "cookie"} & set(received)
        assert received["openai-organization"] == "org-7"
        assert received["accept-encoding"] == "identity"
        assert received["host"] == f"127.0.0.1:{metered.provider.port}"
        assert got.headers["x-request-id"] == "req_7"
        assert not {"keep-alive", "set-cookie"} & set(got.headers)


def test_the_query_is_passed_on() -> None:
    with run([HELLO]) as metered, Bare(metered.account.environment) as bare:
        assert bare.request("POST", "/anthropic/v1/messages?beta=true", question("messages")).status == 200
        assert metered.provider.calls[0].path == "/v1/messages?beta=true"


def test_one_connection_serves_many_requests_and_so_does_the_one_behind_it() -> None:
    with run([HELLO] * 20) as metered, Bare(metered.account.environment) as bare:
        for number in range(20):
            assert bare.ask("chat", stream=bool(number % 2)).status == 200
        assert metered.tracker.usage.turns == 20
        assert metered.provider.connections == 1


def test_a_connection_that_the_provider_has_closed_meanwhile() -> None:
    with run([HELLO] * 3) as metered, Bare(metered.account.environment) as bare:
        for _ in range(3):
            assert bare.ask("chat").status == 200
            metered.provider.drop_connections()


def test_a_provider_that_closes_after_each_answer() -> None:
    def closing(call: Call) -> Answer:
        return Raw(b"{}", 200, {"connection": "close", "content-type": "application/json"})

    with run(closing) as metered, Bare(metered.account.environment) as bare:
        assert [bare.ask("chat").status for _ in range(3)] == [200] * 3
        assert metered.account.last_fault is None


def test_an_old_client() -> None:
    content = json.dumps(question("chat", stream=True)).encode()
    with run([HELLO]) as metered:
        head = f"POST {PATHS['chat']} HTTP/1.0\r\nAuthorization: Bearer {metered.account.token}\r\nContent-Length: {len(content)}\r\n\r\n"
        head_of_answer, _, body = raw(metered, head.encode() + content).partition(b"\r\n\r\n")
        assert b"transfer-encoding" not in head_of_answer.lower()
        assert body.startswith(b"data: {")
        assert body.endswith(b"data: [DONE]\n\n")


def test_many_at_once() -> None:
    barrier = threading.Barrier(40)

    def answer(call: Call) -> Reply:
        barrier.wait(30)  # all forty are under way
        return Reply(f"answer to {call.body['messages'][0]['content']}")

    def one(number: int) -> str:
        messages = [{"role": "user", "content": f"question {number}"}]
        return ask(metered.account.environment, "chat", messages=messages).json["choices"][0]["message"]["content"]  # type: ignore[no-any-return]

    with run(answer) as metered, ThreadPoolExecutor(40) as threads:
        assert list(threads.map(one, range(40))) == [f"answer to question {number}" for number in range(40)]
        assert metered.tracker.usage.turns == 40
        assert metered.tracker.usage.input_tokens == 4000


def test_a_long_request() -> None:
    messages = [{"role": "user", "content": "x" * 20_000_000}]
    with run([HELLO]) as metered:
        assert ask(metered.account.environment, "chat", messages=messages).status == 200
        assert metered.provider.calls[0].body["messages"] == messages


def test_a_request_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_messages, "LONGEST_BODY", 1_000_000)
    with run([HELLO] * 2) as metered:
        long = ask(metered.account.environment, "chat", messages="x" * 1_000_000)
        assert (long.status, long.message) == (413, "pytest-fdegym: a request of at most 1,000,000 bytes is accepted")
        with Bare(metered.account.environment) as bare:
            chunks = iter([b"x" * 100_000] * 11)
            assert bare.request("POST", PATHS["messages"], chunks).status == 413
        assert metered.provider.calls == []


def test_requests_together_have_a_bound_too() -> None:
    room = http_messages.Room(100)
    room.take(60)
    with pytest.raises(http_messages.Refused) as refused:
        room.take(60)
    assert (refused.value.status, refused.value.text) == (503, "too many large requests are under way at the metering proxy")
    room.give_back(60)
    room.take(100)


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("Content-Length: 5\r\nTransfer-Encoding: chunked", 400),
        ("Content-Length: 5\r\nContent-Length: 6", 400),
        ("Content-Length: five", 400),
        ("Content-Length: -5", 400),
        ("Transfer-Encoding: gzip, chunked", 501),
        ("Transfer-Encoding: chunked", 400),
    ],
)
def test_bodies_whose_length_is_anybodys_guess(head: str, status: int) -> None:
    with run([HELLO]) as metered:
        answer = raw(metered, f"POST {PATHS['chat']} HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\nhello\r\n0\r\n\r\n".encode())
        assert answer.startswith(f"HTTP/1.1 {status} ".encode())
        assert answer.count(b"HTTP/1.1") == 1, "what follows is not taken for a request"
        assert metered.provider.calls == []


@pytest.mark.parametrize(
    ("method", "path", "message"),
    [
        ("GET", "/openai/v1/files", "GET /files is not metered, and so not passed on"),
        ("POST", "/openai/v1/batches", "POST /batches is not metered, and so not passed on"),
        ("DELETE", "/openai/v1/models/ft:gpt-4o", "DELETE /models/ft:gpt-4o is not metered, and so not passed on"),
        ("GET", "/openai/v1/chat/completions", "GET /chat/completions is not metered, and so not passed on"),
        ("GET", "/openai/v1/models/../files", "GET /models/../files is not metered, and so not passed on"),
        ("GET", "/openai/v1/models/%2e%2e", "GET /models/%2e%2e is not metered, and so not passed on"),
    ],
)
def test_what_the_users_key_is_not_lent_for(method: str, path: str, message: str) -> None:
    with run([HELLO]) as metered, Bare(metered.account.environment) as bare:
        answer = bare.request(method, path, {} if method == "POST" else None)
        accepted = "POST /chat/completions, /responses and /embeddings, GET /models"
        assert (answer.status, answer.message) == (404, f"pytest-fdegym: {message}; accepted: {accepted}")
        assert metered.provider.calls == []


@pytest.mark.parametrize("path", ["/", "/v1/chat/completions", "/openai", "/elsewhere/v1/messages"])
def test_a_path_that_leads_nowhere(path: str) -> None:
    with run() as metered, Bare(metered.account.environment) as bare:
        answer = bare.request("GET", path)
        assert (answer.status, answer.message) == (404, "pytest-fdegym: the metering proxy serves /openai and /anthropic")


def test_a_websocket() -> None:
    with run() as metered, Bare(metered.account.environment) as bare:
        answer = bare.request("GET", "/openai/v1/responses", None, {"connection": "Upgrade", "upgrade": "websocket"})
        assert (answer.status, answer.message) == (426, "pytest-fdegym: the metering proxy takes plain HTTP requests, no websocket")


def test_a_response_in_the_background() -> None:
    with run() as metered:
        answer = ask(metered.account.environment, "responses", background=True)
        assert (answer.status, answer.message) == (
            400,
            "pytest-fdegym: background responses cannot be metered: ask without background",
        )


def test_a_compressed_request() -> None:
    with run() as metered, Bare(metered.account.environment) as bare:
        answer = bare.ask("chat", {"content-encoding": "gzip"})
        assert answer.status == 415
        assert answer.message == "pytest-fdegym: a request without content encoding is accepted, so that it can be metered"


def test_a_body_that_is_no_json_is_the_providers_business() -> None:
    with (
        run([Raw(b'{"error": {"message": "We could not parse the JSON body"}}', 400)]) as metered,
        Bare(metered.account.environment) as bare,
    ):
        assert bare.request("POST", PATHS["chat"], b"{" * 100_000).message == "We could not parse the JSON body"
        assert metered.provider.calls[0].body == b"{" * 100_000


def test_embeddings_cost_something_and_are_no_turn() -> None:
    body = {"object": "list", "model": "text-embedding-3-small", "data": [], "usage": {"prompt_tokens": 8, "total_tokens": 8}}
    with run([Raw(json.dumps(body).encode())]) as metered, Bare(metered.account.environment) as bare:
        assert bare.request("POST", "/openai/v1/embeddings", {"model": "text-embedding-3-small", "input": "x"}).json == body
        usage = metered.tracker.usage
        assert (usage.turns, usage.input_tokens, usage.output_tokens) == (0, 8, 0)
        assert usage.usd == pytest.approx(8 * 0.02 / 1e6)


def test_a_client_that_gives_up_while_the_provider_thinks() -> None:
    held = threading.Event()
    with run([Reply("late", held=held)], Limits()) as metered:
        bare = Bare(metered.account.environment)
        content = json.dumps({"model": MODELS["chat"], "messages": []})
        bare.connection.request("POST", PATHS["chat"], content, {"authorization": f"Bearer {metered.account.token}"})
        while not metered.provider.calls:
            threading.Event().wait(0.01)
        bare.connection.close()
        metered.events.wait()
        (event,) = metered.events.data
        assert (event["status"], event["turns"], event["usd"]) == ("hung up", 0, None)
        assert metered.tracker.usage.usd is None, "it may have cost something"
        held.set()


def test_a_header_on_two_lines_becomes_one() -> None:
    with run() as metered:
        head = f"GET /openai/v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {metered.account.token}\r\nConnection: close\r\n"
        assert raw(metered, f"{head}X-Folded: one\r\n  two\r\n\r\n".encode()).startswith(b"HTTP/1.1 200 OK")
        assert metered.provider.calls[0].headers["x-folded"] == "one two"


def test_a_query_that_cannot_be_sent_on() -> None:
    with run() as metered:
        head = f"Host: x\r\nAuthorization: Bearer {metered.account.token}\r\nConnection: close\r\n\r\n"
        answer = raw(metered, f"GET /openai/v1/models?a=\x01 HTTP/1.1\r\n{head}".encode())
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b"pytest-fdegym: the request cannot be sent on: " in answer


def test_the_connection_is_left_usable_after_a_refusal() -> None:
    with run([HELLO]) as metered, Bare(metered.account.environment) as bare:
        assert bare.request("POST", "/openai/v1/batches", {"some": "content"}).status == 404
        assert bare.ask("chat").status == 200
        assert isinstance(bare.connection, http.client.HTTPConnection)
