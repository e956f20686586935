"""At a limit nothing is forwarded any more, and at the end of the run nothing is left under way."""

from __future__ import annotations

import http.client
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_fdegym.agents.metering import Meter, upstreams
from pytest_fdegym.limits import Limits, LimitTracker
from tests.agents.metering.support import APIS, HELLO, PATHS, USED, Bare, Events, ask, question, run
from tests.support.providers import Api, Provider, Reply, Tokens


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.mark.parametrize("api", APIS)
def test_turns(api: Api) -> None:
    with run([HELLO] * 9, Limits(turns=2)) as metered:
        answers = [ask(metered.account.environment, api, stream=streaming) for streaming in (False, True, True, False)]
        assert [answer.status for answer in answers] == [200, 200, 429, 429]
        for refused in answers[2:]:
            assert refused.headers["x-should-retry"] == "false"
            assert refused.message == "pytest-fdegym: the run's limit of turns is used up"
            assert refused.json["error"]["type"] == ("rate_limit_error" if api == "messages" else "insufficient_quota")
        assert len(metered.provider.calls) == 2
        assert metered.tracker.usage.turns == 2
        assert metered.account.last_fault is None, "a limit is no fault of the provider's"


def test_usd() -> None:
    # 2.50 USD per million tokens read: 1.25 USD a call.
    with run([Reply("hello", usage=Tokens(500_000, 0))] * 9, Limits(usd=2.0)) as metered:
        assert [ask(metered.account.environment, "chat").status for _ in range(4)] == [200, 200, 429, 429]
        assert metered.tracker.usage.usd == pytest.approx(2.5)
        assert ask(metered.account.environment, "chat").message == "pytest-fdegym: the run's limit of usd is used up"


def test_an_unpriced_model_is_never_free_and_the_known_part_still_limits() -> None:
    script = [Reply("hello", model="house-model-7b"), Reply("hello", usage=Tokens(1_000_000, 0)), HELLO]
    with run(script, Limits(usd=2.0)) as metered:
        ask(metered.account.environment, "chat", model="house-model-7b")
        assert metered.tracker.usage.usd is None
        url = metered.provider.openai
        assert metered.events.data[0]["usd_unknown"] == f"genai-prices has no price for house-model-7b at {url}"
        ask(metered.account.environment, "chat")
        assert (metered.tracker.usage.usd, metered.tracker.usage.usd_at_least) == (None, 2.5)
        assert ask(metered.account.environment, "chat").status == 429


def test_minutes() -> None:
    clock = Clock()
    with run([HELLO] * 9, Limits(minutes=1), clock=clock) as metered:
        assert ask(metered.account.environment, "messages").status == 200
        clock.seconds = 61
        assert ask(metered.account.environment, "messages").message == "pytest-fdegym: the run's limit of minutes is used up"


def test_what_costs_nothing_is_refused_too() -> None:
    with run([HELLO], Limits(turns=1)) as metered, Bare(metered.account.environment) as bare:
        bare.ask("chat")
        assert bare.request("GET", "/openai/v1/models").status == 429
        assert len(metered.provider.calls) == 1


@pytest.mark.parametrize("streaming", [False, True], ids=["plain", "streaming"])
def test_asking_in_parallel_gets_no_turn_too_many(streaming: bool) -> None:
    with run(lambda call: HELLO, Limits(turns=7)) as metered:
        with ThreadPoolExecutor(24) as threads:
            answers = list(threads.map(lambda _: ask(metered.account.environment, "chat", stream=streaming), range(24)))
        assert sorted(answer.status for answer in answers) == [200] * 7 + [429] * 17
        assert len(metered.provider.calls) == 7
        assert metered.tracker.usage.turns == 7


def test_a_call_that_waits_for_the_last_turn_gets_it_when_the_other_one_fails() -> None:
    held = threading.Event()
    with run([Reply("hello", held=held, breaks="reset"), HELLO], Limits(turns=1)) as metered, ThreadPoolExecutor(2) as threads:
        first = threads.submit(ask, metered.account.environment, "chat", None, stream=False)
        second = threads.submit(ask, metered.account.environment, "messages", None, stream=False)
        held.set()
        assert sorted([first.result(30).status, second.result(30).status]) == [200, 502]


@pytest.mark.parametrize("streaming", [False, True], ids=["plain", "streaming"])
def test_when_time_is_up_calls_under_way_are_cut_off(streaming: bool) -> None:
    clock, held = Clock(), threading.Event()
    with run([Reply("hello there", held=held)], Limits(minutes=1), clock=clock) as metered, Bare(metered.account.environment) as bare:
        if streaming:
            response = bare.send("POST", PATHS["chat"], question("chat", stream=True))
            response.read1(1)
        else:
            bare.connection.request(
                "POST", PATHS["chat"], '{"model": "x"}', {"authorization": f"Bearer {metered.account.environment['OPENAI_API_KEY']}"}
            )
            while not metered.account.calls:
                threading.Event().wait(0.01)
        clock.seconds = 61
        assert metered.tracker.reached == "minutes"
        with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):  # RemoteDisconnected is one, too
            (response if streaming else bare.connection.getresponse()).read()
        held.set()
    (event,) = metered.events.data
    assert (event["status"], event["usd"]) == ("cut off", None)
    assert metered.account.last_fault is None


def test_one_run_at_a_time() -> None:
    with run() as metered, pytest.raises(RuntimeError) as refused, metered.meter.attributed(LimitTracker(Limits()), Events()):
        pass
    assert str(refused.value) == "a meter serves one run at a time, and there is one already"


def test_runs_one_after_the_other() -> None:
    with Provider([HELLO] * 9) as provider, Meter(upstreams(provider.environment)) as meter:
        trackers = [LimitTracker(Limits()), LimitTracker(Limits())]
        with meter.attributed(trackers[0], Events()) as first:
            ask(first.environment, "chat")
            ask(meter.environment, "chat")
        with meter.attributed(trackers[1], Events()) as second:
            late = ask(first.environment, "messages")
            assert late.status == 401
            assert late.json == {
                "type": "error",
                "error": {
                    "type": "authentication_error",
                    "message": "pytest-fdegym: this token of the metering proxy is not valid, or no longer: its run is over",
                },
            }
            ask(meter.environment, "chat")
        assert second.token != first.token
        assert [tracker.usage.turns for tracker in trackers] == [2, 1]
        assert ask(meter.environment, "chat").status == 200, "a fixture may ask before or after a run"
        assert [tracker.usage.turns for tracker in trackers] == [2, 1], "it is nobody's turn then"


def test_the_end_of_a_run_cuts_off_what_a_left_thread_still_asks() -> None:
    held = threading.Event()
    with run([Reply("hello there", usage=USED, held=held)]) as metered:
        bare = Bare(metered.account.environment)
        response = bare.send("POST", PATHS["messages"], question("messages", stream=True))
        response.read1(1)
    with pytest.raises(Exception, match="IncompleteRead"):
        response.read()
    bare.connection.close()
    held.set()
    usage = metered.tracker.usage
    assert (usage.turns, usage.input_tokens, usage.output_tokens, usage.usd) == (1, 1000, None, None)


def test_what_the_agent_reports_itself_is_not_counted_twice() -> None:
    with run([HELLO] * 2) as metered:
        for _ in range(2):
            ask(metered.account.environment, "chat")
            metered.tracker.record(turns=1, input_tokens=1000, output_tokens=50, usd=0.0025)
        usage = metered.tracker.usage
        assert (usage.turns, usage.input_tokens, usage.output_tokens) == (2, 2000, 100)
        assert usage.usd == pytest.approx(0.005)
