"""Streams pass through at once, and are read on their way."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from pytest_fdegym.limits import Limits
from tests.agents.metering.support import APIS, HELLO, PATHS, USED, Bare, ask, question, run
from tests.support.providers import Answer, Api, Call, Raw, Reply, Tokens


def events(body: bytes) -> list[Any]:
    """The data of each event, parsed."""
    data = [block.split("data: ", 1)[1] for block in body.decode().split("\n\n") if block]
    return [one if one == "[DONE]" else json.loads(one) for one in data]


@pytest.mark.parametrize("api", APIS)
def test_a_piece_is_passed_on_while_the_next_one_is_not_written_yet(api: Api) -> None:
    held = threading.Event()
    with run([Reply("hello there", usage=USED, held=held)]) as metered, Bare(metered.account.environment) as bare:
        response = bare.send("POST", PATHS[api], question(api, stream=True))
        begun = b""
        while b"hello" not in begun:
            begun += response.read1()
        assert b"there" not in begun
        assert metered.tracker.usage.turns is None
        held.set()
        assert b"there" in response.read()
        assert metered.tracker.usage.turns == 1


def test_a_chat_is_asked_for_its_usage_and_the_client_is_not_shown_it() -> None:
    with run([HELLO]) as metered:
        shown = events(ask(metered.account.environment, "chat", stream=True).body)
        assert metered.provider.calls[0].body["stream_options"] == {"include_usage": True}
        assert all(event["choices"] for event in shown[:-1]), "each has a choice, as without the option"
        assert shown[-1] == "[DONE]"
        assert metered.tracker.usage.input_tokens == 1000


def test_a_client_that_asks_for_the_usage_is_shown_it() -> None:
    with run([HELLO]) as metered:
        shown = events(ask(metered.account.environment, "chat", stream=True, stream_options={"include_usage": True}).body)
        assert shown[-2]["choices"] == []
        assert shown[-2]["usage"]["prompt_tokens"] == 1000
        assert metered.tracker.usage.input_tokens == 1000


def test_other_stream_options_stay() -> None:
    with run([HELLO]) as metered:
        ask(metered.account.environment, "chat", stream=True, stream_options={"include_obfuscation": False})
        assert metered.provider.calls[0].body["stream_options"] == {"include_obfuscation": False, "include_usage": True}


def test_a_provider_that_refuses_to_be_asked_is_not_asked_again() -> None:
    def strict(call: Call) -> Answer:
        if "stream_options" in call.body:
            return Raw(b'{"error": {"message": "extra field: stream_options", "type": "invalid_request_error"}}', 422)
        return HELLO

    with run(strict) as metered:
        answers = [ask(metered.account.environment, "chat", stream=True) for _ in range(2)]
        assert [answer.status for answer in answers] == [200, 200]
        assert ["stream_options" in call.body for call in metered.provider.calls] == [True, False, False]
        usage = metered.tracker.usage
        assert (usage.turns, usage.input_tokens, usage.usd) == (2, None, None), "its streams do not tell their usage"
        assert metered.account.last_fault is None


@pytest.mark.parametrize("api", APIS)
def test_a_client_that_hangs_up_is_charged_what_is_known(api: Api) -> None:
    held = threading.Event()
    with run([Reply("hello there" * 500_000, usage=USED, held=held)]) as metered:
        with Bare(metered.account.environment) as bare:
            response = bare.send("POST", PATHS[api], question(api, stream=True))
            response.read1(10)
            response.close()
        held.set()
        metered.events.wait()
    usage = metered.tracker.usage
    known = 1000 if api == "messages" else None  # told at the beginning
    assert (usage.turns, usage.input_tokens, usage.output_tokens, usage.usd) == (1, known, None, None)
    (event,) = metered.events.data
    assert (event["status"], event["usd"]) == ("hung up", None)
    assert event["usd_unknown"] == "the answer did not say how many tokens it used"


@pytest.mark.parametrize("api", APIS)
def test_a_call_is_counted_before_its_last_event_is_passed_on(api: Api) -> None:
    """An agent may hand over the moment it has read that one."""
    last = {"chat": b"[DONE]", "messages": b"message_stop", "responses": b"response.completed"}[api]
    with run([HELLO]) as metered, Bare(metered.account.environment) as bare:
        response = bare.send("POST", PATHS[api], question(api, stream=True))
        got = b""
        while last not in got:
            got += response.read1(1)
        usage = metered.tracker.usage
        assert (usage.turns, usage.input_tokens, usage.output_tokens) == (1, 1000, 50)
        response.read()


@pytest.mark.parametrize("api", APIS)
def test_a_client_that_leaves_after_the_last_word_is_charged_in_full(api: Api) -> None:
    """Some stop reading at the finish reason; the figures come after it."""
    last = {"chat": b'"finish_reason": "stop"', "messages": b"end_turn", "responses": b"response.completed"}[api]
    with run([HELLO]) as metered, Bare(metered.account.environment) as bare:
        response = bare.send("POST", PATHS[api], question(api, stream=True))
        got = b""
        while last not in got:
            got += response.read1(1)
        response.close()
        bare.connection.close()
        metered.events.wait()
        usage = metered.tracker.usage
        assert (usage.turns, usage.input_tokens, usage.output_tokens) == (1, 1000, 50)


@pytest.mark.parametrize("api", APIS)
def test_a_stream_without_usage_leaves_the_cost_unknown(api: Api) -> None:
    with run([Reply("hello", usage=None), HELLO]) as metered:
        ask(metered.account.environment, api, stream=True)
        ask(metered.account.environment, api, stream=True)
        usage = metered.tracker.usage
        assert (usage.turns, usage.input_tokens, usage.output_tokens, usage.usd) == (2, None, None, None)
        assert usage.usd_at_least == pytest.approx(0.0025 if api != "messages" else 0.0002245)


@pytest.mark.parametrize("api", APIS)
def test_a_long_answer(api: Api) -> None:
    text = "All work and no play makes a long answer. " * 100_000
    with run([Reply(text, usage=Tokens(10, 1_000_000))] * 2, Limits(usd=None)) as metered:
        plain = ask(metered.account.environment, api)
        assert text in plain.body.decode()
        streamed = ask(metered.account.environment, api, stream=True)
        half = (len(text) + 1) // 2
        assert text[:half] in streamed.body.decode()
        assert text[half:] in streamed.body.decode()
        assert metered.tracker.usage.output_tokens == 2_000_000
