"""Keeps a conversation with a model within bounds: old tool output is shortened, everything else stays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart

from pytest_fdegym.text import kept

CHARACTERS_PER_TOKEN = 3
"""Fewer than English prose has: code and figures have more tokens, and a window that is exceeded ends the run."""
SHORT = 400
"""Characters that stay of a shortened text."""
_PART = 40
"""Characters that a part costs beside its text."""


def estimated_tokens(messages: Sequence[ModelMessage]) -> int:
    """About how many tokens `messages` are, without asking a model."""
    return sum(map(_size, messages)) // CHARACTERS_PER_TOKEN


def shortened(messages: Sequence[ModelMessage], most_tokens: int) -> list[ModelMessage]:
    """`messages`, within `most_tokens` as far as shortening goes.

    What fits is returned as it is. Otherwise texts are shortened, one at a time, until two thirds of the bound are reached, so that
    a provider's prompt cache is not lost at every call: first output of tools, the oldest first and that of the last answer at
    the end, then long arguments in calls of tools. No message and no part goes away, so every result stays with its call.
    """
    if estimated_tokens(messages) <= most_tokens:
        return list(messages)
    kept_messages = list(messages)
    too_many = sum(map(_size, messages)) - most_tokens * CHARACTERS_PER_TOKEN * 2 // 3
    for number, place in [*_places(messages, ToolReturnPart), *_places(messages, ToolCallPart)]:
        if too_many <= 0:
            break
        before = kept_messages[number]
        after = _with_short_part(before, place)
        too_many -= _size(before) - _size(after)
        kept_messages[number] = after
    return kept_messages


def _places(messages: Sequence[ModelMessage], kind: type) -> Iterator[tuple[int, int]]:
    for number, message in enumerate(messages):
        for place, part in enumerate(message.parts):
            if isinstance(part, kind):
                yield number, place


def _with_short_part(message: ModelMessage, place: int) -> ModelMessage:
    parts: list[Any] = list(message.parts)
    part = parts[place]
    if isinstance(part, ToolReturnPart):
        parts[place] = replace(part, content=_short(part.content))
    elif isinstance(part, ToolCallPart) and len(part.args_as_json_str()) > 2 * SHORT:
        try:
            parts[place] = replace(part, args={name: _short(value) for name, value in part.args_as_dict().items()})
        except ValueError:  # arguments that are no JSON were refused when they came
            parts[place] = replace(part, args={})
    if isinstance(message, ModelRequest):
        return replace(message, parts=parts)
    assert isinstance(message, ModelResponse)
    return replace(message, parts=parts)


def _short(value: Any) -> Any:
    return kept(value, SHORT) if isinstance(value, str) and len(value) > 2 * SHORT else value


def _size(message: ModelMessage) -> int:
    return sum(_PART + len(_text(part)) for part in message.parts)


def _text(part: object) -> str:
    if isinstance(part, ToolCallPart):
        return part.args_as_json_str()
    content = getattr(part, "content", "")
    return content if isinstance(content, str) else str(content)
