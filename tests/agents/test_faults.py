"""Whose fault an exception is: told by names and status codes, whatever client it comes from, and in doubt the agent's own.

What the clients of OpenAI and Anthropic really raise is in tests/runner/test_outcome_rows.py.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_fdegym.agents.faults import Fault, fault_of, fault_seen
from pytest_fdegym.agents.metering.faults import ProviderFault
from pytest_fdegym.outcomes import outcome


def made(name: str, text: str = "", base: type[BaseException] = Exception, **values: Any) -> BaseException:
    """An exception ``package.module.Name`` as a client would raise it, with attributes."""
    module, _, kind = name.rpartition(".")
    error: BaseException = type(kind, (base,), {"__module__": module})(text)
    for key, value in values.items():
        setattr(error, key, value)
    return error


def caused(outer: BaseException, inner: BaseException) -> BaseException:
    outer.__cause__ = inner
    return outer


def botocore(code: str, status: int) -> BaseException:
    answer = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    text = f"An error occurred ({code}) when calling the Converse operation: no"
    return made("botocore.exceptions.ClientError", text, response=answer)


@pytest.mark.parametrize(
    ("error", "row"),
    [
        (made("litellm.exceptions.RateLimitError", "slow down", status_code=429), "rate_limit"),
        (made("litellm.exceptions.ContextWindowExceededError", "too long", status_code=400), "context_overflow"),
        (made("litellm.exceptions.ServiceUnavailableError", "down", status_code=503), "provider_error"),
        (made("mistralai.models.sdkerror.SDKError", "no", status_code=401), "authentication"),
        (made("pydantic_ai.exceptions.ModelHTTPError", "overloaded", status_code=529), "provider_error"),
        (made("pydantic_ai.exceptions.UnexpectedModelBehavior", "Tool exceeded max retries count of 1"), "bad_tool_call"),
        (made("agents.exceptions.ModelBehaviorError", "Tool x not found"), "bad_tool_call"),
        (made("google.genai.errors.ClientError", "RESOURCE_EXHAUSTED", code=429), "rate_limit"),
        (made("google.genai.errors.ServerError", "UNAVAILABLE", code=503), "provider_error"),
        (botocore("ThrottlingException", 400), "rate_limit"),
        (botocore("ValidationException", 400), "bad_request"),
        (botocore("ExpiredTokenException", 400), "authentication"),
        (made("botocore.exceptions.EndpointConnectionError", "Could not connect to https://bedrock-runtime.eu"), "unreachable"),
        (made("openai.RateLimitError", "You exceeded your current quota, please check your plan", status_code=429), "quota"),
        (made("openai.APIStatusError", "Payment required", response=SimpleNamespace(status_code=402)), "quota"),
        (made("openai.PermissionDeniedError", "no access to model", status_code=403), "authentication"),
        (made("openai.NotFoundError", "The model `gpt-9` does not exist", status_code=404), "bad_request"),
        (made("openai.APITimeoutError", "Request timed out."), "unreachable"),
        (made("anthropic.BadRequestError", "Your credit balance is too low", status_code=400), "quota"),
        (made("anthropic.BadRequestError", "prompt is too long: 210000 tokens", status_code=400), "context_overflow"),
        (made("anthropic.BadRequestError", "`tool_use` ids were found without `tool_result`", status_code=400), "bad_tool_call"),
        (made("anthropic.APIStatusError", "Overloaded", status_code=529), "provider_error"),
        (caused(made("openai.APIConnectionError", "Connection error."), made("httpx.ConnectError", "refused")), "unreachable"),
        (caused(made("openai.APIConnectionError", "Connection error."), made("httpx.RemoteProtocolError", "closed")), "reset"),
        (caused(made("openai.APIConnectionError", "Connection error."), ConnectionResetError(104, "reset")), "reset"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{type(value).__module__}.{type(value).__name__}",
)
def test_what_clients_raise(error: BaseException, row: str) -> None:
    found = fault_of(error)
    assert found is not None
    assert found.row == row
    assert outcome(found.row)


@pytest.mark.parametrize(
    "error",
    [
        KeyError("choices"),
        ConnectionResetError("of a site that the agent looked at"),
        TimeoutError("of its own"),
        made("httpx.ConnectError", "a page of documentation is not there"),
        made("requests.exceptions.ConnectionError", "nor is this one", OSError),
        made("aiohttp.client_exceptions.ClientResponseError", "503", status=503),
        made("myagent.errors.RateLimitError", "its own idea of one", status_code=429),
        made("pydantic_ai.exceptions.UserError", "an agent that was put together wrongly"),
        made("botocore.exceptions.NoRegionError", "You must specify a region."),
        made("botocore.exceptions.ClientError", "An error occurred (SlowDown) when calling the GetObject operation", status_code=503),
        made("google.api_core.exceptions.ServiceUnavailable", "503 of a table that it looked into", code=503),
        made("agents.planner.PlannerError", "of a package of the user's that is called so", status_code=500),
    ],
    ids=lambda error: f"{type(error).__module__}.{type(error).__name__}",
)
def test_in_doubt_it_is_the_agents_own(error: BaseException) -> None:
    assert fault_of(error) is None


RATE = made("openai.RateLimitError", "Rate limit reached for requests", status_code=429)


def test_what_it_was_raised_from_counts() -> None:
    assert fault_of(caused(RuntimeError("the planner failed"), RATE)) == Fault(
        "rate_limit", "RateLimitError: Rate limit reached for requests"
    )


def test_what_it_quotes_counts_though_it_was_not_raised_from_it() -> None:
    error = RuntimeError(f"LLM call failed: {RATE}")
    error.__context__ = RATE
    assert fault_of(error) == Fault("rate_limit", "RateLimitError: Rate limit reached for requests")


def test_an_own_bug_while_an_outage_is_handled_is_the_agents() -> None:
    error = KeyError("plan")
    error.__context__ = RATE
    assert fault_of(error) is None


def test_the_members_of_a_group_count() -> None:
    found = fault_of(BaseExceptionGroup("unhandled errors in a TaskGroup", [RATE]))
    assert found is not None
    assert found.row == "rate_limit"


def test_a_circle_of_causes_ends() -> None:
    first, second = RuntimeError("first"), RuntimeError("second")
    first.__cause__, second.__cause__ = second, first
    assert fault_of(first) is None


def test_an_http_error_that_passed_through_a_client_counts() -> None:
    source = "def call(error):\n    raise error\n"
    namespace: dict[str, Any] = {"__name__": "mistralai.client"}
    exec(compile(source, "client.py", "exec"), namespace)
    error = made("httpx.ReadError", "")
    with pytest.raises(type(error)) as raised:
        namespace["call"](error)
    found = fault_of(raised.value)
    assert found == Fault("reset", "ReadError")


@pytest.mark.parametrize(
    ("seen", "row"),
    [
        (ProviderFault("rate_limit", 429, "Rate limit reached"), "rate_limit"),
        (ProviderFault("rate_limit", 429, "You exceeded your current quota"), "quota"),
        (ProviderFault("bad_request", 400, "Your credit balance is too low to access the API"), "quota"),
        (ProviderFault("bad_request", 402, "no"), "quota"),
        (ProviderFault("unreachable", None, "cannot be reached"), "unreachable"),
    ],
)
def test_what_the_metering_proxy_saw(seen: ProviderFault, row: str) -> None:
    assert fault_seen(seen) == Fault(row, seen.text)


def test_a_file_that_a_client_does_not_find_is_the_agents() -> None:
    namespace: dict[str, Any] = {"__name__": "openai.files"}
    exec(compile("def upload(path):\n    return open(path)\n", "files.py", "exec"), namespace)
    with pytest.raises(FileNotFoundError) as raised:
        namespace["upload"]("/no/such/file")
    assert fault_of(raised.value) is None
