"""The client of chat endpoints: what is tried again, what is a fault, and what it says."""

from __future__ import annotations

import socket
from collections.abc import Sequence

import pytest

from pytest_fdegym.chat_endpoint import MAX_ANSWER, ChatEndpoint, endpoint_from
from pytest_fdegym.errors import InfrastructureFault, UsageError
from tests.support.chat_server import Answer, ChatServer, Hang, Raw, Status

HELLO = [{"role": "user", "content": "Hello"}]


class Pauses(list[float]):
    """A sleep that only notes how long it would have taken."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def ask(answers: Sequence[Answer], seconds: float = 5.0, key: str | None = None) -> tuple[str, Pauses, ChatServer]:
    """Complete once against a server that gives `answers` in turn."""
    left, pauses = iter(answers), Pauses()
    with ChatServer(lambda chat: next(left)) as server:
        text = ChatEndpoint(server.url, "small-1", key, seconds=seconds, sleep=pauses).complete(HELLO, 10).text
    return text, pauses, server


def fault(answers: Sequence[Answer], seconds: float = 5.0, key: str | None = None) -> tuple[str, Pauses]:
    """What the fault says about the model."""
    left, pauses = iter(answers), Pauses()
    with ChatServer(lambda chat: next(left)) as server, pytest.raises(InfrastructureFault) as raised:
        ChatEndpoint(server.url, "small-1", key, seconds=seconds, sleep=pauses).complete(HELLO, 10)
    start = f"the model (small-1 at {server.url}) "
    assert str(raised.value).startswith(start)
    return str(raised.value).removeprefix(start), pauses


@pytest.mark.parametrize("code", [408, 409, 425, 429, 500, 502, 503, 529])
def test_faults_that_may_pass_are_tried_again_after_longer_and_longer_pauses(code: int) -> None:
    text, pauses, server = ask([Status(code)] * 3 + ["Hi"])
    assert (text, pauses, len(server.requests)) == ("Hi", [1.0, 2.0, 4.0], 4)


def test_a_server_may_ask_for_a_longer_pause_within_bounds() -> None:
    wishes = [Status(429, headers={"Retry-After": wish}) for wish in ("7", "86400", "Wed, 21 Oct 2015 07:28:00 GMT")]
    assert ask([*wishes, "Hi"])[1] == [7.0, 30.0, 4.0]


def test_a_server_that_stays_busy() -> None:
    assert fault([Status(429, '{"error": {"message": "slow down"}}')] * 4) == (
        'answered HTTP 429 Too Many Requests: {"error": {"message": "slow down"}} (4 attempts)',
        [1.0, 2.0, 4.0],
    )


@pytest.mark.parametrize("code", [400, 401, 403, 404])
def test_a_request_that_is_refused_is_not_tried_again(code: int) -> None:
    said, pauses = fault([Status(code, "no such model")])
    assert said.startswith(f"answered HTTP {code} ")
    assert said.endswith(": no such model")
    assert pauses == []


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(code: int) -> None:
    there = {"Location": "http://127.0.0.1:9/v1/chat/completions"}
    said, pauses = fault([Status(code, headers=there)], key="sk-secret")
    assert said.startswith(f"answered HTTP {code} ")
    assert pauses == []


def test_the_key_is_sent_and_never_shown() -> None:
    server = ask(["Hi"], key="sk-secret")[2]
    assert server.keys == ["Bearer sk-secret"]
    assert ask(["Hi"])[2].keys == [None]
    said, _ = fault([Status(401, "Incorrect API key provided: sk-secret")], key="sk-secret")
    assert said == "answered HTTP 401 Unauthorized: Incorrect API key provided: ***"
    assert "sk-secret" not in repr(ChatEndpoint("http://localhost", "small-1", "sk-secret"))


def test_a_server_that_hangs() -> None:
    assert fault([Hang()] * 4, seconds=0.05) == ("cannot be reached: timed out (4 attempts)", [1.0, 2.0, 4.0])


def test_an_answer_that_takes_too_long_in_all() -> None:
    times = iter(range(0, 100, 9))
    with ChatServer(lambda chat: "Hi") as server, pytest.raises(InfrastructureFault, match=r"no whole answer within 5 s \(1 attempts\)$"):
        ChatEndpoint(server.url, "small-1", seconds=5, attempts=1, clock=lambda: next(times)).complete(HELLO, 10)


def test_a_server_that_hangs_up_in_the_middle() -> None:
    cut = Raw(b'{"choices": [', length=500)
    said, _ = fault([cut] * 4)
    assert said == "cannot be reached: the connection was closed in the middle of an answer (4 attempts)"
    assert ask([cut, "Hi"])[0] == "Hi"


def test_nobody_there() -> None:
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        endpoint = ChatEndpoint(f"http://127.0.0.1:{taken.getsockname()[1]}/v1", "small-1", sleep=Pauses())
        with pytest.raises(InfrastructureFault, match=r"cannot be reached: \[Errno [0-9]+\] Connection refused \(4 attempts\)$"):
            endpoint.complete(HELLO, 10)


@pytest.mark.parametrize(
    "body", [b"<html>", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{"message": null}]}', b"\xff", b'{"a":' * 99_999]
)
def test_an_answer_that_is_no_chat_completion(body: bytes) -> None:
    said, pauses = fault([Raw(body)])
    assert said.startswith("gave an answer that is no chat completion: ")
    assert len(said) < 400
    assert pauses == []


def test_an_answer_without_end() -> None:
    assert fault([Raw(b"x" * (MAX_ANSWER + 1))])[0] == "gave an answer of more than 1,000,000 bytes"


@pytest.mark.parametrize(
    ("body", "text"),
    [(b'{"choices": [{"message": {"content": null}}]}', ""), (b'{"choices": [{"message": {"content": "\\ud800"}}], "model": 7}', "?")],
)
def test_text_that_is_missing_or_cannot_be_written(body: bytes, text: str) -> None:
    assert ask([Raw(body)])[0] == text


def test_the_address_is_shown_without_what_may_be_secret() -> None:
    assert ChatEndpoint("https://me:pass@models.example/v1/?token=7", "small-1").shown_url == "https://models.example/v1"


# --- the environment ---------------------------------------------------------


def endpoint(**environ: str) -> ChatEndpoint:
    return endpoint_from(environ, "FDEGYM_ROUTER", "small-1", "the router's model", "https://api.example/v1")


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"OPENAI_API_KEY": "k"}, ("https://api.example/v1", "k")),
        ({"OPENAI_API_KEY": "k", "FDEGYM_ROUTER_API_KEY": "r"}, ("https://api.example/v1", "r")),
        ({"OPENAI_BASE_URL": "http://a/v1", "OPENAI_API_KEY": " k\n"}, ("http://a/v1", "k")),
        ({"OPENAI_BASE_URL": "http://a/v1", "FDEGYM_ROUTER_BASE_URL": "http://b/v1"}, ("http://b/v1", None)),
        ({"FDEGYM_ROUTER_BASE_URL": "http://b/v1", "FDEGYM_ROUTER_API_KEY": ""}, ("http://b/v1", None)),
    ],
)
def test_where_the_model_is(environ: dict[str, str], expected: tuple[str, str | None]) -> None:
    found = endpoint(**environ)
    assert (found.base_url, found.key) == expected


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        (
            {},
            "the router's model needs a key: set FDEGYM_ROUTER_API_KEY or OPENAI_API_KEY, "
            "or FDEGYM_ROUTER_BASE_URL for an endpoint of your own.",
        ),
        (
            {"FDEGYM_ROUTER_BASE_URL": "localhost:8000"},
            "FDEGYM_ROUTER_BASE_URL: an address such as https://api.example/v1 is expected, found 'localhost:8000'.",
        ),
        (
            {"OPENAI_BASE_URL": "file:///etc"},
            "OPENAI_BASE_URL: an address such as https://api.example/v1 is expected, found 'file:///etc'.",
        ),
        ({"OPENAI_API_KEY": "two words"}, "OPENAI_API_KEY: a key of printable ASCII characters without spaces is expected."),
    ],
)
def test_an_environment_that_will_not_do(environ: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        endpoint(**environ)
    assert str(refused.value) == message
