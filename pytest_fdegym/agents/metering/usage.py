"""What an answer says of itself: model, tokens, errors; read from a whole body or from a stream while it passes. Pure, no I/O."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pytest_fdegym.agents.metering.endpoints import Api
from pytest_fdegym.agents.metering.faults import error_in


@dataclass(frozen=True)
class Tokens:
    """`input` is all that was read, the parts from and into a cache included. None is unknown."""

    input: int | None = None
    output: int | None = None
    cached: int = 0
    cache_written: int = 0
    cache_written_1h: int = 0
    """The part of `cache_written` that is kept for an hour."""
    web_searches: int = 0

    @property
    def known(self) -> bool:
        """Whether both sums are."""
        return self.input is not None and self.output is not None


def tokens_of(api: Api, usage: object, before: Tokens = Tokens()) -> Tokens:
    """The tokens that a ``usage`` object tells; what it leaves out is as it was `before`. Anything that is no such object tells nothing."""
    if not isinstance(usage, Mapping):
        return before
    if api == "messages":
        return _messages(usage, before)
    reads, writes = ("prompt_tokens", "completion_tokens") if api in ("chat", "embeddings") else ("input_tokens", "output_tokens")
    details = usage.get(f"{reads}_details")
    details = details if isinstance(details, Mapping) else {}
    output = _count(usage.get(writes))
    return Tokens(
        input=_count(usage.get(reads)),
        output=0 if output is None and api == "embeddings" else output,
        cached=_count(details.get("cached_tokens")) or 0,
        cache_written=_count(details.get("cache_write_tokens")) or 0,
    )


def _messages(usage: Mapping[str, Any], before: Tokens) -> Tokens:
    """Anthropic counts what comes from and goes into the cache apart; in a stream later figures replace earlier ones."""
    cached = _or(_count(usage.get("cache_read_input_tokens")), before.cached)
    written = _or(_count(usage.get("cache_creation_input_tokens")), before.cache_written)
    fresh = _count(usage.get("input_tokens"))
    if fresh is None and before.input is not None:
        fresh = before.input - before.cached - before.cache_written
    creation, tools = usage.get("cache_creation"), usage.get("server_tool_use")
    hour = _count(creation.get("ephemeral_1h_input_tokens")) if isinstance(creation, Mapping) else None
    searches = _count(tools.get("web_search_requests")) if isinstance(tools, Mapping) else None
    return Tokens(
        input=None if fresh is None else fresh + cached + written,
        output=_count(usage.get("output_tokens")) if "output_tokens" in usage else before.output,
        cached=cached,
        cache_written=written,
        cache_written_1h=_or(hour, before.cache_written_1h),
        web_searches=_or(searches, before.web_searches),
    )


def _or(count: int | None, otherwise: int) -> int:
    return otherwise if count is None else count


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


@dataclass(frozen=True)
class Said:
    """What is known of an answer so far. `error` is the text and the code of one that the answer itself tells."""

    model: str | None = None
    tokens: Tokens = Tokens()
    error: tuple[str, str] | None = None
    finishing: bool = False
    """The model has written all that it will; only figures are to come."""
    complete: bool = False
    """Nothing more will come that counts."""


def said_in_body(api: Api, body: bytes) -> Said:
    """Read a whole answer. One that is not JSON says nothing."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return Said(complete=True)
    if not isinstance(answer, dict):
        return Said(complete=True)
    tokens = tokens_of(api, answer.get("usage"))
    return Said(_text(answer.get("model")), tokens, error_in(answer), finishing=True, complete=True)


def said_in_event(api: Api, data: str, so_far: Said) -> tuple[Said, bool]:
    """Fold the data of one event of a stream into what is known; says, too, whether the event holds a chat's usage and nothing else."""
    if data.strip() == "[DONE]":
        return replace(so_far, finishing=True, complete=True), False
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        return so_far, False
    if not isinstance(event, dict):
        return so_far, False
    kind = _text(event.get("type")) if api != "chat" else None
    holder: Any = event
    if kind is not None:
        nested = event.get("message" if api == "messages" else "response")
        holder = nested if isinstance(nested, dict) else event
    said = replace(
        so_far,
        model=_text(holder.get("model")) or so_far.model,
        tokens=tokens_of(api, holder.get("usage"), so_far.tokens),
        error=error_in(event) or so_far.error,
    )
    if api == "chat":
        choices = event.get("choices")
        usage_only = choices == [] and isinstance(event.get("usage"), dict)
        finished = isinstance(choices, list) and any(isinstance(one, dict) and one.get("finish_reason") for one in choices)
        return replace(said, finishing=said.finishing or finished or usage_only, complete=said.complete or usage_only), usage_only
    delta = event.get("delta")
    finishing = kind == "message_delta" and isinstance(delta, dict) and bool(delta.get("stop_reason"))
    complete = kind in _LAST_EVENTS
    return replace(said, finishing=said.finishing or finishing or complete, complete=said.complete or complete), False


_LAST_EVENTS = frozenset({"message_stop", "error", "response.completed", "response.incomplete", "response.failed"})


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
