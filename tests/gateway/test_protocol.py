"""What is sent to the gateway is hostile input: every request that gets no answer is told why."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fdegym.gateway.protocol import Chat, Refused, completion, parse_chat

MODELS = ("post-small", "post-large")
HELLO = {"role": "user", "content": "hello"}


def refusal(request: Any) -> tuple[int, str]:
    with pytest.raises(Refused) as refused:
        parse_chat(request if isinstance(request, bytes) else json.dumps(request).encode(), MODELS)
    return int(refused.value.status), str(refused.value)


def test_without_a_name_the_first_model_is_meant() -> None:
    assert parse_chat(json.dumps({"messages": [HELLO]}).encode(), MODELS) == Chat("post-small", (HELLO,))
    assert parse_chat(json.dumps({"model": "post-large", "messages": [HELLO], "temperature": 0}).encode(), MODELS).model == "post-large"


@pytest.mark.parametrize(
    ("request_", "status", "message"),
    [
        (b"\xff{", 400, "the request is not JSON"),
        (b"[" * 100_000, 400, "the request is not JSON"),
        (b"1" * 10_000, 400, "the request is not JSON"),
        ([HELLO], 400, "the request is not a JSON object"),
        (
            {"model": "post-smal", "messages": [HELLO]},
            404,
            "there is no such model. Did you mean 'post-small'? This gateway serves: post-small, post-large",
        ),
        ({"model": 7, "messages": [HELLO]}, 404, "there is no such model. This gateway serves: post-small, post-large"),
        ({"messages": [HELLO], "stream": True}, 400, "this gateway does not stream; leave 'stream' out"),
        ({"messages": "hello"}, 400, "'messages' has to be a list of 1 to 200 messages"),
        ({"messages": []}, 400, "'messages' has to be a list of 1 to 200 messages"),
        ({"messages": [HELLO] * 201}, 400, "'messages' has to be a list of 1 to 200 messages"),
        (
            {"messages": [HELLO, {"role": "tool", "content": "x"}]},
            400,
            "message 2: 'role' has to be one of system, developer, user, assistant",
        ),
        ({"messages": ["hello"]}, 400, "message 1: 'role' has to be one of system, developer, user, assistant"),
        ({"messages": [{"role": "user", "content": [HELLO]}]}, 400, "message 1: 'content' has to be a text"),
        (b'{"messages": [{"role": "user", "content": "\\ud800"}]}', 400, "message 1: 'content' holds half a surrogate pair"),
    ],
)
def test_refused(request_: Any, status: int, message: str) -> None:
    assert refusal(request_) == (status, message)


@settings(max_examples=50)
@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_no_json_value_breaks_it(messages: Any) -> None:
    with pytest.raises(Refused):
        parse_chat(json.dumps({"messages": messages}).encode(), MODELS)


def test_the_answer_is_what_clients_of_the_protocol_read() -> None:
    answer = json.loads(completion(3, Chat("post-small", (HELLO,)), "Grüß Gott"))
    assert answer["choices"] == [{"index": 0, "message": {"role": "assistant", "content": "Grüß Gott"}, "finish_reason": "stop"}]
    assert (answer["id"], answer["object"], answer["model"]) == ("chatcmpl-3", "chat.completion", "post-small")
    assert answer["usage"] == {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}
