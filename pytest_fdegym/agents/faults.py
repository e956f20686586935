"""Whose fault it was that an agent ended: its own, or its model provider's. Reads exceptions by name, and imports no client."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pytest_fdegym.agents.metering.faults import OVERFLOW_WORDS, ProviderFault, shown

MODEL_CLIENTS: Final = (
    *("openai", "anthropic", "litellm", "mistralai", "cohere", "groq", "together", "ollama", "google.genai", "google.generativeai"),
    *("vertexai", "pydantic_ai", "langchain_core", "langchain_openai", "langchain_anthropic", "agents.exceptions"),
)
"""Modules (and what is in them) whose exceptions speak of a model provider. What else an agent may use a network for is not among them."""
_BEDROCK: Final = ("bedrock", "the converse", "the invokemodel")
"""What an exception of botocore says when it is about a model, in lower case."""
_TRANSPORTS: Final = frozenset({"httpx", "httpcore", "requests", "urllib3", "aiohttp", "http", "urllib", "socket", "ssl"})
"""Packages of the exceptions below a model client."""
_RESET: Final = ("ConnectionResetError", "BrokenPipeError", "RemoteProtocolError", "ReadError", "ServerDisconnectedError", "IncompleteRead")
_UNREACHED: Final = (
    "APIConnectionError",
    "APITimeoutError",
    "Timeout",
    "ConnectError",
    "EndpointConnectionError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "ConnectionClosedError",
    "ServiceUnavailableError",
)
_TOOLS: Final = ("UnexpectedModelBehavior", "ModelBehaviorError", "ToolRetryError", "OutputParserException")
_OVERFLOW: Final = ("context_length_exceeded", *OVERFLOW_WORDS)
_QUOTA: Final = ("insufficient_quota", "exceeded your current quota", "credit balance is too low", "billing", "payment required")
_TOOL_WORDS: Final = ("tool_call", "tool_use", "tool_result", "role 'tool'")
_AWS: Final = {
    "ThrottlingException": 429,
    "TooManyRequestsException": 429,
    "ServiceQuotaExceededException": 402,
    "AccessDeniedException": 403,
    "UnrecognizedClientException": 401,
    "ExpiredTokenException": 401,
}
_STATUS_NAMES: Final = ("status_code", "code", "http_status", "status")


@dataclass(frozen=True)
class Fault:
    """`row` is one of `pytest_fdegym.outcomes`; `text` is a line for people."""

    row: str
    text: str


def fault_of(error: BaseException) -> Fault | None:
    """What the exception that ended an agent says of its model; None when it is the agent's own.

    Conservative, for an agent's own bug must not pass for an outage: only exceptions of model clients count, or exceptions of HTTP
    libraries that passed through one. Of what an exception was raised *from*, all counts; of what it was raised *during*, only what it
    quotes, for a long time may have passed since.
    """
    chain = list(_chain(error))
    for each in chain:
        if _speaks_of_a_model(each):
            row = _row(list(_chain(each)))
            if row is not None:
                return Fault(row, f"{type(each).__name__}: {shown(str(each))}".rstrip(": "))
    return None


def fault_seen(fault: ProviderFault) -> Fault:
    """The same for what the metering proxy saw."""
    quota = fault.status == 402 or (fault.kind in ("rate_limit", "bad_request", "authentication") and _any(_QUOTA, fault.text))
    return Fault("quota" if quota else fault.kind, fault.text)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception, the members of a group, and what they were raised from."""
    waiting, seen = [error], set()
    while waiting:
        each = waiting.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        if isinstance(each, BaseExceptionGroup):
            waiting += each.exceptions
        if each.__cause__ is not None:
            waiting.append(each.__cause__)
        elif each.__context__ is not None and not each.__suppress_context__ and (_quotes(each, each.__context__) or _is_transport(each)):
            waiting.append(each.__context__)


def _quotes(error: BaseException, other: BaseException) -> bool:
    said = str(other).strip()
    return bool(said) and said in str(error)


def _is_transport(error: BaseException) -> bool:
    return type(error).__module__.partition(".")[0] in _TRANSPORTS


def _is_clients(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in MODEL_CLIENTS)


def _speaks_of_a_model(error: BaseException) -> bool:
    module = type(error).__module__
    if module.startswith("botocore."):
        return _any(_BEDROCK, str(error))
    if _is_clients(module):
        return True
    return (_is_transport(error) or isinstance(error, ConnectionError | TimeoutError)) and _through_a_client(error)


def _through_a_client(error: BaseException) -> bool:
    trace = error.__traceback__
    while trace is not None:
        if _is_clients(trace.tb_frame.f_globals.get("__name__", "")):
            return True
        trace = trace.tb_next
    return False


def _row(chain: list[BaseException]) -> str | None:
    names = [name for each in chain for name in (kind.__name__ for kind in type(each).__mro__)]
    text = " ".join(str(each) for each in chain)
    if "ContextWindowExceededError" in names:
        return "context_overflow"
    status = next((found for each in chain if (found := _status(each)) is not None), None)
    if status is not None:
        return _row_of_status(status, text)
    if _any_name(_TOOLS, names):
        return "bad_tool_call"
    if _any(_OVERFLOW, text):
        return "context_overflow"
    if _any_name(_RESET, names):
        return "reset"
    if _any_name(_UNREACHED, names) or any(isinstance(each, ConnectionError | TimeoutError) or _is_transport(each) for each in chain):
        return "unreachable"
    if _any_name(("APIError",), names) and _any(("overloaded", "server_error", "internal server error"), text):
        return "provider_error"
    return None


def _row_of_status(status: int, text: str) -> str | None:
    if status == 402 or (status in (400, 403, 429) and _any(_QUOTA, text)):
        return "quota"
    if status in (401, 403):
        return "authentication"
    if status == 429:
        return "rate_limit"
    if status in (408, 425) or status >= 500:
        return "provider_error"
    if status == 413 or _any(_OVERFLOW, text):
        return "context_overflow"
    if 400 <= status < 500:
        return "bad_tool_call" if _any(_TOOL_WORDS, text) else "bad_request"
    return None


def _status(error: BaseException) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        for name in _STATUS_NAMES:
            value = getattr(holder, name, None)
            if isinstance(value, int) and 400 <= value < 600:
                return int(value)
    answer: Any = getattr(error, "response", None)  # of botocore: a dict
    if isinstance(answer, dict):
        told = _AWS.get(str(answer.get("Error", {}).get("Code")))
        status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode")
        return told if told is not None else status if isinstance(status, int) and status >= 400 else None
    return None


def _any(words: tuple[str, ...], text: str) -> bool:
    return any(word in text.lower() for word in words)


def _any_name(wanted: tuple[str, ...], names: list[str]) -> bool:
    return any(name in wanted for name in names)
