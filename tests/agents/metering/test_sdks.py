"""Clients that people use, through the proxy: what the run is charged is what the provider served."""

from __future__ import annotations

from collections.abc import Mapping

import anthropic
import openai
import pytest

from pytest_fdegym.limits import Limits
from tests.agents.metering.support import MODELS, USED, run
from tests.support.providers import Api, Call, Reply, ToolCall

# The SDK warns of old models; theirs are the prices that do not change.
pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")

PRICES: Mapping[Api, float] = {
    # USD per million tokens of fresh input, cached input and output: 2.50, 1.25, 10.00; Claude 3 Haiku 0.25, 0.03, 1.25.
    "chat": (600 * 2.50 + 400 * 1.25 + 50 * 10.00) / 1e6,
    "responses": (600 * 2.50 + 400 * 1.25 + 50 * 10.00) / 1e6,
    "messages": (600 * 0.25 + 400 * 0.03 + 50 * 1.25) / 1e6,
}


def answer(call: Call) -> Reply:
    return Reply("Let me look.", [ToolCall("run", {"command": "ls -l"})], USED)


def ask_openai(environment: Mapping[str, str], api: Api, *, streaming: bool) -> tuple[str, str]:
    with openai.OpenAI(base_url=environment["OPENAI_BASE_URL"], api_key=environment["OPENAI_API_KEY"]) as client:
        if api == "chat":
            messages: list[openai.types.chat.ChatCompletionMessageParam] = [{"role": "user", "content": "hello"}]
            if streaming:
                with client.chat.completions.stream(model=MODELS[api], messages=messages) as chat:
                    message = chat.get_final_completion().choices[0].message
            else:
                message = client.chat.completions.create(model=MODELS[api], messages=messages).choices[0].message  # type: ignore[assignment]  # its parent class
            assert message.tool_calls is not None
            (tool,) = message.tool_calls
            assert tool.type == "function"
            return message.content or "", tool.function.arguments
        if streaming:
            with client.responses.stream(model=MODELS[api], input="hello") as stream:
                response: openai.types.responses.Response = stream.get_final_response()
        else:
            response = client.responses.create(model=MODELS[api], input="hello")
        return response.output_text, next(item.arguments for item in response.output if item.type == "function_call")


def ask_anthropic(environment: Mapping[str, str], *, streaming: bool) -> tuple[str, str]:
    with anthropic.Anthropic(base_url=environment["ANTHROPIC_BASE_URL"], api_key=environment["ANTHROPIC_API_KEY"]) as client:
        messages: list[anthropic.types.MessageParam] = [{"role": "user", "content": "hello"}]
        if streaming:
            with client.messages.stream(model=MODELS["messages"], max_tokens=9, messages=messages) as stream:
                message: anthropic.types.Message = stream.get_final_message()
        else:
            message = client.messages.create(model=MODELS["messages"], max_tokens=9, messages=messages)
    text, tool = message.content
    assert text.type == "text"
    assert tool.type == "tool_use"
    return text.text, str(tool.input)


@pytest.mark.parametrize("streaming", [False, True], ids=["plain", "streaming"])
@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
def test_the_run_is_charged_what_was_served(api: Api, streaming: bool) -> None:
    with run(answer) as metered:
        environment = metered.account.environment
        for _ in range(3):
            if api == "messages":
                said = ask_anthropic(environment, streaming=streaming)
                assert said == ("Let me look.", "{'command': 'ls -l'}")
            else:
                assert ask_openai(environment, api, streaming=streaming) == ("Let me look.", '{"command": "ls -l"}')
        usage, served = metered.tracker.usage, metered.provider.served
        assert (usage.turns, usage.input_tokens, usage.output_tokens) == (served.turns, served.input, served.output) == (3, 3000, 150)
        assert usage.usd == pytest.approx(3 * PRICES[api], rel=1e-12)
        assert metered.account.calls == 3
        assert [call.api for call in metered.provider.model_calls] == [api] * 3


def test_what_the_event_log_is_told() -> None:
    with run(answer) as metered:
        ask_anthropic(metered.account.environment, streaming=True)
        (event,) = metered.events.all
        assert event.kind == "usage"
        assert event.data == {
            "api": "messages",
            "model": "claude-3-haiku-20240307",
            "status": 200,
            "turns": 1,
            "input_tokens": 1000,
            "cached_tokens": 400,
            "output_tokens": 50,
            "usd": pytest.approx(PRICES["messages"]),
            "so_far": metered.tracker.usage.model_dump(),
        }


def test_a_client_made_before_the_run_is_charged_to_it() -> None:
    with run(answer) as metered:
        ask_openai(metered.meter.environment, "chat", streaming=False)
        assert metered.tracker.usage.turns == 1


def test_what_is_no_turn() -> None:
    with run(answer) as metered:
        environment = metered.account.environment
        with anthropic.Anthropic(base_url=environment["ANTHROPIC_BASE_URL"], api_key=environment["ANTHROPIC_API_KEY"]) as client:
            counted = client.messages.count_tokens(model=MODELS["messages"], messages=[{"role": "user", "content": "hello"}])
            assert counted.input_tokens == 42
            assert [model.id for model in client.models.list().data] == ["small-1"]
        with openai.OpenAI(base_url=environment["OPENAI_BASE_URL"], api_key=environment["OPENAI_API_KEY"]) as other:
            assert [one.id for one in other.models.list().data] == ["small-1"]
        assert len(metered.provider.calls) == 3
        assert metered.account.calls == 0
        assert metered.tracker.usage.turns is None
        assert metered.events.all == []


def test_a_client_that_meets_the_limit_does_not_try_again() -> None:
    with run(answer, Limits(turns=1)) as metered:
        environment = metered.account.environment
        ask_openai(environment, "chat", streaming=False)
        with pytest.raises(openai.RateLimitError, match="pytest-fdegym: the run's limit of turns is used up"):
            ask_openai(environment, "chat", streaming=True)
        with pytest.raises(anthropic.RateLimitError, match="pytest-fdegym: the run's limit of turns is used up"):
            ask_anthropic(environment, streaming=False)
        assert len(metered.provider.calls) == 1
