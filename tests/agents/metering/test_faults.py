"""How a provider fails, what the client sees of it, and what the run remembers."""

from __future__ import annotations

import errno

import pytest

from pytest_fdegym.agents.metering import Meter, ProviderFault, upstreams
from pytest_fdegym.agents.metering.faults import fault_of_answer
from pytest_fdegym.errors import InfrastructureFault
from pytest_fdegym.limits import Limits, LimitTracker
from tests.agents.metering.support import APIS, HELLO, PATHS, USED, Bare, ask, question, run
from tests.support.providers import Api, Fault, FaultKind, Provider, Raw, Reply

ANSWERED: list[tuple[FaultKind, str, int, int, str, str]] = [
    # what the provider does, the fault, its status with OpenAI and Anthropic, their texts
    (
        "rate_limit",
        "rate_limit",
        429,
        429,
        "Rate limit reached for requests per minute.",
        "This request would exceed your organization's rate limit.",
    ),
    ("authentication", "authentication", 401, 401, "Incorrect API key provided.", "invalid x-api-key"),
    ("server_error", "provider_error", 500, 500, "The server had an error while processing your request.", "Internal server error"),
    (
        "overflow",
        "context_overflow",
        400,
        400,
        "This model's maximum context length is 8192 tokens.",
        "prompt is too long: 209000 tokens > 200000 maximum",
    ),
    (
        "bad_request",
        "bad_request",
        400,
        400,
        "Invalid 'tools[0].function.name': string does not match pattern.",
        "tools.0.name: String should match the pattern '^[a-zA-Z0-9_-]{1,128}$'",
    ),
]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("served", "kind", "openai", "anthropic", "openai_says", "anthropic_says"), ANSWERED, ids=lambda value: str(value)[:9]
)
def test_an_error_of_the_providers_passes_as_it_is(
    api: Api, served: FaultKind, kind: str, openai: int, anthropic: int, openai_says: str, anthropic_says: str
) -> None:
    status, text = (anthropic, anthropic_says) if api == "messages" else (openai, openai_says)
    with run([Fault(served, {"retry-after": "7"}), HELLO]) as metered:
        answer = ask(metered.account.environment, api, stream=True)
        assert (answer.status, answer.message, answer.headers["retry-after"]) == (status, text, "7")
        assert "x-should-retry" not in answer.headers
        assert metered.account.last_fault == ProviderFault(kind, status, text)  # type: ignore[arg-type]  # a word of the table
        assert metered.tracker.usage.turns is None, "an answer that is an error is no turn"
        (event,) = metered.events.data
        assert (event["status"], event["turns"], event["usd"]) == (status, 0, None)
        assert event["fault"] == {"kind": kind, "text": text}
        assert ask(metered.account.environment, api).status == 200
        assert metered.account.last_fault is None, "it is over when a call succeeds"
        assert metered.tracker.usage.usd is not None, "an error costs nothing"
        assert metered.account.calls == 2


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("served", ["reset", "hang_up"])
def test_a_provider_that_drops_the_connection(api: Api, served: FaultKind) -> None:
    with run([Fault(served)]) as metered:
        answer = ask(metered.account.environment, api)
        url = metered.provider.anthropic if api == "messages" else metered.provider.openai
        assert answer.status == 502
        assert answer.message.startswith(f"pytest-fdegym: {url} broke off: ")
        assert answer.json["error"]["type"] == ("api_error" if api == "messages" else "server_error")
        fault = metered.account.last_fault
        assert fault is not None
        assert (fault.kind, fault.status) == ("reset", None)
        assert len(metered.provider.calls) == 1, "trying again is the client's business"


@pytest.mark.parametrize("api", APIS)
def test_a_provider_that_is_not_there(api: Api) -> None:
    with run() as metered:
        metered.provider.refuse()
        answer = ask(metered.account.environment, api)
        url = metered.provider.anthropic if api == "messages" else metered.provider.openai
        assert answer.status == 502
        assert answer.message == f"pytest-fdegym: {url} cannot be reached: [Errno {errno.ECONNREFUSED}] Connection refused"
        assert metered.account.last_fault == ProviderFault("unreachable", None, answer.message.removeprefix("pytest-fdegym: "))
        assert metered.tracker.usage.turns is None


@pytest.mark.parametrize("api", APIS)
def test_an_answer_that_breaks_off(api: Api) -> None:
    with run([Reply("hello there", breaks="reset", usage=USED)] * 2) as metered:
        assert ask(metered.account.environment, api).status == 502, "nothing of it was passed on"
        with Bare(metered.account.environment) as bare:
            response = bare.send("POST", PATHS[api], question(api, stream=True))
            with pytest.raises(Exception, match="IncompleteRead"):
                response.read()
        fault = metered.account.last_fault
        assert fault is not None
        assert (fault.kind, fault.status) == ("reset", None)
    usage = metered.tracker.usage
    assert (usage.turns, usage.output_tokens, usage.usd) == (0, None, None), "what it cost is not known"


@pytest.mark.parametrize("api", APIS)
def test_an_error_in_the_middle_of_a_stream(api: Api) -> None:
    with run([Reply("hello there", breaks="error", usage=USED)]) as metered:
        assert ask(metered.account.environment, api, stream=True).status == 200
        text = "Overloaded" if api == "messages" else "It failed."
        assert metered.account.last_fault == ProviderFault("provider_error", 200, text)
        assert metered.tracker.usage.turns in (None, 0)
        assert metered.events.data[0]["fault"] == {"kind": "provider_error", "text": text}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (402, b'{"error": {"message": "Insufficient credits", "code": 402}}', "rate_limit"),
        (403, b'{"error": {"message": "Country, region, or territory not supported"}}', "authentication"),
        (404, b'{"error": {"message": "The model does not exist", "code": "model_not_found"}}', "bad_request"),
        (408, b"", "provider_error"),
        (413, b"<html>too large</html>", "context_overflow"),
        (422, b'{"detail": "extra field"}', "bad_request"),
        (529, b'{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}', "provider_error"),
        (503, b"[" * 100_000, "provider_error"),
        (307, b"", "provider_error"),
    ],
)
def test_what_an_answer_means(status: int, body: bytes, kind: str) -> None:
    fault = fault_of_answer(status, body)
    assert fault.kind == kind
    assert fault.text
    assert len(fault.text) < 400


def test_a_long_error_is_cut_for_the_record_and_passes_whole() -> None:
    body = b'{"error": {"message": "' + b"no " * 1000 + b'"}}'
    with run([Raw(body, 500)]) as metered:
        assert ask(metered.account.environment, "chat").body == body
        assert metered.account.last_fault is not None
        assert metered.account.last_fault.text == ("no " * 100) + "..."


def test_an_observer_that_fails_makes_the_run_void_and_not_the_answer_go_away() -> None:
    class Failing:
        def notify(self, event: object) -> None:
            raise KeyError("of the listener's own")

    with Provider([HELLO]) as provider, Meter(upstreams(provider.environment)) as meter:
        attributed = meter.attributed(LimitTracker(Limits()), Failing())
        account = attributed.__enter__()
        assert ask(account.environment, "chat").status == 200
        with pytest.raises(InfrastructureFault) as void:
            attributed.__exit__(None, None, None)
        assert str(void.value) == 'an observer of model calls failed: KeyError: "of the listener\'s own"'
