"""The part of the OpenAI protocol that the gateway speaks: hostile bytes in, a checked request out, and the answers' JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from pytest_fdegym.errors import FdeGymError, nearest

REQUEST_BYTES = 256 << 10
"""Of a request's body."""
ANSWER_CHARACTERS = 256 << 10
MOST_MESSAGES = 200
ROLES = ("system", "developer", "user", "assistant")
_CHARACTERS_PER_TOKEN = 4


class Refused(FdeGymError):
    """The gateway gives no answer; the message is for whoever called, `status` is HTTP's."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Chat:
    """A request for one completion."""

    model: str
    messages: tuple[Mapping[str, str], ...]


def parse_chat(body: bytes, models: Sequence[str]) -> Chat:
    """The request in `body`. Without a model the first of `models` is meant. Raises Refused.

    What only says how a model should sample (temperature, max_tokens, ...) is accepted and has no effect.
    """
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        raise _bad("the request is not JSON") from None
    if not isinstance(request, dict):
        raise _bad("the request is not a JSON object")
    model = request.get("model", models[0])
    if not isinstance(model, str) or model not in models:
        hint = nearest(model, models) if isinstance(model, str) and len(model) < 100 else ""
        raise Refused(HTTPStatus.NOT_FOUND, f"there is no such model.{hint} This gateway serves: {', '.join(models)}")
    if request.get("stream"):
        raise _bad("this gateway does not stream; leave 'stream' out")
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages or len(messages) > MOST_MESSAGES:
        raise _bad(f"'messages' has to be a list of 1 to {MOST_MESSAGES} messages")
    return Chat(model, tuple(_message(number, message) for number, message in enumerate(messages, 1)))


def _message(number: int, message: Any) -> Mapping[str, str]:
    role, content = (message.get("role"), message.get("content")) if isinstance(message, dict) else (None, None)
    if role not in ROLES:
        raise _bad(f"message {number}: 'role' has to be one of {', '.join(ROLES)}")
    if not isinstance(content, str):
        raise _bad(f"message {number}: 'content' has to be a text")
    try:
        content.encode()
    except UnicodeEncodeError:
        raise _bad(f"message {number}: 'content' holds half a surrogate pair") from None
    return {"role": role, "content": content}


def _bad(message: str) -> Refused:
    return Refused(HTTPStatus.BAD_REQUEST, message)


def completion(number: int, chat: Chat, answer: str) -> bytes:
    """The JSON of the `number`-th answer. Nothing in it depends on the time or on where it is asked for."""
    prompt = sum(len(message["content"]) for message in chat.messages) // _CHARACTERS_PER_TOKEN + 1
    said = len(answer) // _CHARACTERS_PER_TOKEN + 1
    return json.dumps(
        {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 0,
            "model": chat.model,
            "choices": [{"index": 0, "message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": prompt, "completion_tokens": said, "total_tokens": prompt + said},
        }
    ).encode()


def model_list(models: Sequence[str]) -> bytes:
    """The JSON of GET /v1/models."""
    return json.dumps(
        {"object": "list", "data": [{"id": name, "object": "model", "created": 0, "owned_by": "company"} for name in models]}
    ).encode()


def refusal(refused: Refused) -> bytes:
    """The JSON of a request that gets no answer."""
    return json.dumps({"error": {"message": str(refused), "type": "invalid_request_error", "code": int(refused.status)}}).encode()
