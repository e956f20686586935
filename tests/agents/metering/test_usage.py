"""Reading usage: whatever a provider writes, and however the network cuts a stream into pieces."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.agents.metering.stream import Passing
from pytest_fdegym.agents.metering.usage import Said, Tokens, said_in_body, said_in_event, tokens_of
from tests.agents.metering.support import APIS
from tests.support.providers import Api, Call, Reply, ToolCall, _events
from tests.support.providers import Tokens as Served

REPLY = Reply("Grüße, 世界", [ToolCall("run", {"command": "ls"})], Served(1000, 50, 400, 100))


def stream(api: Api, ending: str = "\n") -> bytes:
    call = Call("POST", "", {}, {"model": "m", "stream": True, "stream_options": {"include_usage": True}}, api, 1)
    blocks = []
    for name, data in _events(call, REPLY):
        if name != "held":
            text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
            blocks.append(("" if name is None else f"event: {name}{ending}") + f"data: {text}{ending}{ending}")
    return (f": a comment{ending}{ending}" + "".join(blocks)).encode()


def cut(whole: bytes, places: list[int]) -> list[bytes]:
    bounds = sorted({0, len(whole), *(place % (len(whole) + 1) for place in places)})
    return [whole[start:end] for start, end in itertools.pairwise(bounds)]


@given(st.sampled_from(APIS), st.sampled_from(["\n", "\r\n", "\r"]), st.lists(st.integers(0, 5000)), st.booleans())
def test_a_stream_is_read_the_same_in_any_pieces(api: Api, ending: str, places: list[int], hide: bool) -> None:
    whole = stream(api, ending)
    passing = Passing(api, hide_usage=hide)
    passed = b"".join(passing.feed(piece) for piece in cut(whole, places)) + passing.end()
    tokens = passing.said.tokens
    assert (tokens.input, tokens.output, tokens.cached) == (1000, 50, 400)
    assert passing.said.model == "m"
    assert passing.said.complete
    if hide and api == "chat":
        usage = next(block for block in whole.split(f"{ending}{ending}".encode()) if b'"choices": []' in block)
        assert passed == whole.replace(usage + f"{ending}{ending}".encode(), b"")
    else:
        assert passed == whole


@given(st.sampled_from(APIS), st.lists(st.binary()))
def test_anything_passes_unchanged(api: Api, pieces: list[bytes]) -> None:
    passing = Passing(api, hide_usage=False)
    assert b"".join(passing.feed(piece) for piece in pieces) + passing.end() == b"".join(pieces)


@given(st.sampled_from(APIS), st.lists(st.binary()))
def test_nothing_but_the_usage_is_ever_held_back(api: Api, pieces: list[bytes]) -> None:
    passing = Passing(api, hide_usage=True)
    assert b"".join(passing.feed(piece) for piece in pieces) + passing.end() == b"".join(pieces)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["usage", "model", "type", "message", "response", "error", "choices", "delta", "input_tokens", "output_tokens", "code"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.sampled_from(APIS), _JSON)
def test_nonsense_is_no_usage_and_no_crash(api: Api, answer: Any) -> None:
    text = json.dumps(answer)
    for said in (said_in_body(api, text.encode()), said_in_event(api, text, Said())[0]):
        for count in (said.tokens.input, said.tokens.output):
            assert count is None or (isinstance(count, int) and count >= 0)


@pytest.mark.parametrize("api", APIS)
def test_deep_nesting(api: Api) -> None:
    deep = "[" * 200_000
    assert said_in_body(api, deep.encode()) == Said(complete=True)
    assert said_in_event(api, deep, Said()) == (Said(), False)


def test_anthropic_counts_the_cache_apart() -> None:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 400, "cache_creation_input_tokens": 90, "output_tokens": 5}
    assert tokens_of("messages", usage) == Tokens(500, 5, 400, 90)
    hour = {**usage, "cache_creation": {"ephemeral_1h_input_tokens": 30, "ephemeral_5m_input_tokens": 60}}
    assert tokens_of("messages", hour).cache_written_1h == 30
    searched = {**usage, "server_tool_use": {"web_search_requests": 2}}
    assert tokens_of("messages", searched).web_searches == 2


def test_later_figures_of_a_stream_replace_earlier_ones() -> None:
    started = tokens_of("messages", {"input_tokens": 10, "cache_read_input_tokens": 400, "output_tokens": 1})
    assert tokens_of("messages", {"output_tokens": 77}, started) == Tokens(410, 77, 400)
    assert tokens_of("messages", {"input_tokens": 12, "output_tokens": 77}, started) == Tokens(412, 77, 400)


def test_embeddings_write_nothing() -> None:
    assert tokens_of("embeddings", {"prompt_tokens": 8, "total_tokens": 8}) == Tokens(8, 0)


@pytest.mark.parametrize("count", [-1, 1.5, "7", True, None, [7]])
def test_a_count_is_a_whole_number(count: object) -> None:
    assert tokens_of("chat", {"prompt_tokens": count, "completion_tokens": 1}) == Tokens(None, 1)
