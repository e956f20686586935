"""What went wrong with a model call, told apart by who has to act; and the proxy's own refusals, in the API's error shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Literal

from pytest_fdegym.agents.metering.upstream import Provider

FaultKind = Literal["unreachable", "reset", "rate_limit", "authentication", "context_overflow", "bad_request", "provider_error"]

SHOWN: Final = 300
"""Characters kept of what a provider said."""
_OVERFLOW_CODES: Final = frozenset({"context_length_exceeded", "request_too_large", "string_above_max_length"})
OVERFLOW_WORDS: Final = (
    "maximum context length",
    "context window",
    "context length",
    "prompt is too long",
    "input is too long",
    "exceed context limit",
    "input token count",
)
"""How providers say that a request does not fit into the model's context."""
_OPENAI_TYPES: Final[Mapping[int, tuple[str, str]]] = {
    HTTPStatus.UNAUTHORIZED: ("invalid_request_error", "invalid_api_key"),
    # Clients know this one as an error that no retry helps against.
    HTTPStatus.TOO_MANY_REQUESTS: ("insufficient_quota", "insufficient_quota"),
    HTTPStatus.BAD_GATEWAY: ("server_error", "bad_gateway"),
    HTTPStatus.SERVICE_UNAVAILABLE: ("server_error", "busy"),
}
_ANTHROPIC_TYPES: Final[Mapping[int, str]] = {
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.NOT_FOUND: "not_found_error",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "request_too_large",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
    HTTPStatus.BAD_GATEWAY: "api_error",
    HTTPStatus.SERVICE_UNAVAILABLE: "overloaded_error",
}


@dataclass(frozen=True)
class ProviderFault:
    """How a model call failed. `status` is the HTTP status, None where there was no answer; `text` holds no key."""

    kind: FaultKind
    status: int | None
    text: str


def fault_of_answer(status: int, body: bytes) -> ProviderFault:
    """What an answer other than 2xx says."""
    try:
        error = error_in(json.loads(body))
    except (ValueError, RecursionError):
        error = None
    text, code = error or (body.decode("utf-8", "replace"), "")
    return ProviderFault(_kind(status, text, code), status, shown(text) or HTTPStatus(status).phrase if _known(status) else shown(text))


def fault_in_stream(status: int, text: str, code: str) -> ProviderFault:
    """What an error in the middle of an answer says: its code stands for the status that it has no more."""
    kinds: dict[str, FaultKind] = {
        "rate_limit_error": "rate_limit",
        "rate_limit_exceeded": "rate_limit",
        "insufficient_quota": "rate_limit",
        "authentication_error": "authentication",
        "permission_error": "authentication",
        "invalid_request_error": "bad_request",
        "invalid_prompt": "bad_request",
    }
    kind: FaultKind = "context_overflow" if _overflows(text, code) else kinds.get(code, "provider_error")
    return ProviderFault(kind, status, shown(text))


def error_in(answer: Any) -> tuple[str, str] | None:
    """Text and code of the error that an answer, or an event of a stream, tells; None where it tells none."""
    if not isinstance(answer, dict):
        return None
    nested = answer.get("response")
    error = answer.get("error") or (nested.get("error") if isinstance(nested, dict) else None)
    if answer.get("type") == "error" and not error:
        error = answer  # The stream of responses has its error at the top.
    if not error:
        return None
    if not isinstance(error, dict):
        return str(error), ""
    code = error.get("code") or error.get("type") or ""
    return str(error.get("message") or error), str(code)


def shown(text: str) -> str:
    """One line of at most SHOWN characters."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[:SHOWN].rstrip()} ..."


def refusal(provider: Provider, status: int, text: str) -> bytes:
    """The body of the proxy's own refusal."""
    if provider == "anthropic":
        kind = _ANTHROPIC_TYPES.get(status, "invalid_request_error")
        return json.dumps({"type": "error", "error": {"type": kind, "message": text}}).encode()
    kind, code = _OPENAI_TYPES.get(status, ("invalid_request_error", "unsupported"))
    return json.dumps({"error": {"message": text, "type": kind, "param": None, "code": code}}).encode()


def _kind(status: int, text: str, code: str) -> FaultKind:
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return "authentication"
    if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.PAYMENT_REQUIRED):
        return "rate_limit"
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or (status in _CALLERS_FAULT and _overflows(text, code)):
        return "context_overflow"
    return "bad_request" if status in _CALLERS_FAULT else "provider_error"


_CALLERS_FAULT: Final = frozenset({400, 404, 405, 411, 413, 415, 422})


def _overflows(text: str, code: str) -> bool:
    return code in _OVERFLOW_CODES or any(words in text.lower() for words in OVERFLOW_WORDS)


def _known(status: int) -> bool:
    return status in HTTPStatus._value2member_map_
