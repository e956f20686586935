"""The user's key is the proxy's to hold: agents have a token, and whatever they read never holds the key."""

from __future__ import annotations

import pytest

from pytest_fdegym.agents.metering import Meter, upstreams
from pytest_fdegym.limits import Limits, LimitTracker
from tests.agents.metering.support import APIS, HELLO, Events, ask, run
from tests.support.providers import KEY, Answer, Api, Call, Provider, Raw


def credentials(call: Call) -> dict[str, str]:
    return {name: value for name, value in call.headers.items() if name in ("authorization", "x-api-key", "api-key")}


@pytest.mark.parametrize("api", APIS)
def test_a_token_becomes_the_users_key(api: Api) -> None:
    with run([HELLO] * 2) as metered:
        assert KEY not in str(metered.account.environment) + str(metered.meter.environment)
        for environment in (metered.account.environment, metered.meter.environment):
            assert ask(environment, api).status == 200
        sent = {"x-api-key": KEY} if api == "messages" else {"authorization": f"Bearer {KEY}"}
        assert [credentials(call) for call in metered.provider.calls] == [sent, sent]


@pytest.mark.parametrize("api", APIS)
def test_a_key_of_the_clients_own_passes_through_and_is_metered(api: Api) -> None:
    with run([HELLO]) as metered:
        refused = ask(metered.account.environment, api, "sk-a-key-of-my-own")
        assert refused.status == 401
        assert refused.message == ("invalid x-api-key" if api == "messages" else "Incorrect API key provided.")
        assert "sk-a-key-of-my-own" in str(credentials(metered.provider.calls[0]))
        assert ask(metered.account.environment, api, KEY).status == 200
        assert metered.tracker.usage.turns == 1


@pytest.mark.parametrize("api", APIS)
def test_a_refused_key_of_the_clients_own_is_no_fault_of_others_once_a_model_has_answered(api: Api) -> None:
    with run([HELLO] * 2) as metered:
        ask(metered.account.environment, api, "sk-a-key-of-my-own")
        assert metered.account.last_fault is not None, "it may be the user's"
        ask(metered.account.environment, api)
        ask(metered.account.environment, api, "sk-a-key-of-my-own")
        assert metered.account.last_fault is None


@pytest.mark.parametrize("api", APIS)
def test_a_made_up_token(api: Api) -> None:
    with run([HELLO]) as metered:
        refused = ask(metered.account.environment, api, "sk-fdegym-I-made-this-up")
        assert refused.status == 401
        assert refused.message == "pytest-fdegym: this token of the metering proxy is not valid, or no longer: its run is over"
        assert metered.provider.calls == []
        assert metered.account.last_fault is None, "the provider has not been asked"


@pytest.mark.parametrize("api", APIS)
def test_a_user_without_a_key_gets_the_providers_own_answer(api: Api) -> None:
    with run([HELLO], key=False) as metered:
        assert set(metered.account.environment) == {"OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"}
        answer = ask(metered.account.environment, api, metered.account.token)
        assert answer.status == 401
        assert answer.message == ("invalid x-api-key" if api == "messages" else "Incorrect API key provided.")
        assert credentials(metered.provider.calls[0]) == {}, "the token is nobody else's business"
        assert metered.account.last_fault is not None
        assert metered.account.last_fault.kind == "authentication"


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("streaming", [False, True], ids=["plain", "streaming"])
def test_a_provider_that_quotes_the_key(status: int, streaming: bool) -> None:
    def quoting(call: Call) -> Answer:
        kind = "text/event-stream" if streaming else "application/json"
        quote = f'{{"error": {{"message": "I got {call.headers["authorization"]}"}}}}'
        body = f"data: {quote}\n\n" if streaming else quote
        return Raw(body.encode(), status, {"content-type": kind, "x-you-sent": call.headers["authorization"]})

    with run(quoting) as metered:
        answer = ask(metered.account.environment, "chat", stream=streaming)
        assert answer.status == status
        assert KEY not in str(answer)
        assert f"I got Bearer {'*' * len(KEY)}" in answer.body.decode()
        fault = metered.account.last_fault
        assert fault is not None
        assert f"I got Bearer {'*' * len(KEY)}" in fault.text
        assert KEY not in str(metered.events.all)


def test_nothing_that_is_printed_holds_the_key() -> None:
    with run() as metered:
        assert KEY not in repr((metered.meter, metered.account, metered.meter._upstreams))


def test_a_bearer_token_for_anthropic() -> None:
    """Gateways that companies put before it take ANTHROPIC_AUTH_TOKEN."""
    with run([HELLO], key=False, changes={"ANTHROPIC_AUTH_TOKEN": KEY}) as metered:
        environment = metered.account.environment
        assert set(environment) == {"OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"}
        assert ask(environment, "messages", environment["ANTHROPIC_AUTH_TOKEN"]).status == 200
        assert credentials(metered.provider.calls[0]) == {"authorization": f"Bearer {KEY}"}


def test_the_environment_of_the_process_leads_to_the_proxy_while_it_is_open() -> None:
    with Provider() as provider:
        environ: dict[str, str] = {**provider.environment, "OPENAI_BASE_URL": provider.openai, "HOME": "/home/ada"}
        before = dict(environ)
        with Meter(upstreams(environ), environ) as meter:
            assert environ == {**before, **meter.environment}
            with meter.attributed(LimitTracker(Limits()), Events()) as account:
                assert environ == {**before, **account.environment}
            assert environ == {**before, **meter.environment}
        assert environ == before


def test_clients_that_use_a_proxy_do_not_ask_it_for_this_machine() -> None:
    environ = {"HTTP_PROXY": "http://proxy.example:3128", "NO_PROXY": "intranet.example"}
    with Meter(upstreams({}), environ):
        assert environ["NO_PROXY"] == environ["no_proxy"] == "intranet.example,127.0.0.1"
    assert environ == {"HTTP_PROXY": "http://proxy.example:3128", "NO_PROXY": "intranet.example"}
