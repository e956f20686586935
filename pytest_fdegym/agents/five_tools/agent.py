"""The five-tool agent: a model is given the task and five tools, and hands over by answering without calling one."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, cast

from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from pytest_fdegym.agents.engagement import Engagement
from pytest_fdegym.agents.five_tools.context import shortened
from pytest_fdegym.agents.five_tools.options import CONTEXT_TOKENS
from pytest_fdegym.agents.five_tools.tools import TOOLS, BadCall, Toolbox
from pytest_fdegym.text import kept

SYSTEM = """\
You are an engineer at work for a customer, in a folder of theirs, with five tools. Nobody reads along: people are reached in the way
that the task says, and not by your answers. An answer in which you call no tool ends your work and hands the system over."""
NUDGE = "You have run no command, written to nobody and changed no file. An answer without a tool call hands the system over as it is."
CUT_OFF = "Your answer was cut off, for it was too long. Go on from there in shorter pieces."
RETRIES = 3
"""Answers in a row of which nothing can be used that are told to the model; one more ends the run."""
_SHOWN = 500
"""Characters of an answer or a call that are logged."""

_log = logging.getLogger("pytest_fdegym.five_tools")


class FiveToolAgent:
    """An agent: called with an Engagement, it works until the model stops.

    `model` is a name as pydantic-ai takes it, whose client is made and closed in each run, or a Model. `context_tokens` bounds what is
    sent to it, about; `temperature` and `max_output_tokens` are the model's own where they are None. Steps are logged at level INFO.

    Making one raises what pydantic-ai raises for a name that it does not know or a key that is not set.

    Raises UnexpectedModelBehavior when the model goes on calling tools wrongly, what else pydantic-ai raises for a model that fails, and
    the engagement's own exceptions.
    """

    def __init__(
        self,
        model: str | Model,
        *,
        temperature: float | None = None,
        max_output_tokens: int | None = None,
        context_tokens: int = CONTEXT_TOKENS,
    ) -> None:
        infer_model(model)  # imports the provider's package, which takes seconds on a busy machine: not within a run's minutes
        self._model = model
        self._context_tokens = context_tokens
        # Other models do not read Anthropic's; without them every turn would pay for the whole conversation again.
        settings: dict[str, Any] = dict.fromkeys(
            ("anthropic_cache_tool_definitions", "anthropic_cache_instructions", "anthropic_cache_messages"), True
        )
        settings |= {} if temperature is None else {"temperature": temperature}
        settings |= {} if max_output_tokens is None else {"max_tokens": max_output_tokens}
        self._settings = cast(ModelSettings, settings)
        definitions = [ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=tool.schema) for tool in TOOLS]
        self._parameters = ModelRequestParameters(function_tools=definitions)

    async def __call__(self, engagement: Engagement) -> None:
        async with infer_model(self._model) as model:
            await self._work(engagement, model)

    async def _work(self, engagement: Engagement, model: Model) -> None:
        toolbox = Toolbox(engagement)
        messages: list[ModelMessage] = [ModelRequest(parts=[SystemPromptPart(SYSTEM), UserPromptPart(engagement.brief)])]
        nudged, useless = False, 0
        while True:
            messages = shortened(messages, self._context_tokens)
            response = await self._answer(engagement, model, messages)
            if response.parts:  # providers refuse an empty answer that comes back in the conversation
                messages.append(response)
            calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
            if calls:
                results, wrong = _run(toolbox, calls)
                useless = useless + 1 if wrong is not None else 0
                if wrong is not None and useless > RETRIES:
                    raise UnexpectedModelBehavior(f"the model called tools wrongly {useless} times in a row, the last time so: {wrong}")
                messages.append(ModelRequest(parts=results))
            elif response.finish_reason == "length" and useless < RETRIES:
                useless += 1
                messages.append(ModelRequest(parts=[UserPromptPart(CUT_OFF)]))
            elif toolbox.worked or nudged:
                return
            else:
                nudged = True
                messages.append(ModelRequest(parts=[UserPromptPart(NUDGE)]))

    async def _answer(self, engagement: Engagement, model: Model, messages: list[ModelMessage]) -> ModelResponse:
        """Ask the model once, within the engagement's minutes, and report what it used. Raises LimitReached."""
        minutes = engagement.status().minutes_left
        try:
            # The margin makes sure that the engagement's own clock has come to the limit as well.
            async with asyncio.timeout(None if minutes is None else 60 * minutes + 0.05):
                response = await model_request(model, messages, model_settings=self._settings, model_request_parameters=self._parameters)
        except Exception:
            engagement.status()  # a limit that was reached meanwhile is the cause, whatever it made of the call
            raise
        usage = response.usage
        engagement.record_usage(turns=1, input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, usd=_price(response))
        for part in response.parts:
            _log.info("%s", kept(str(part), _SHOWN))
        engagement.status()
        return response


def _run(toolbox: Toolbox, calls: list[ToolCallPart]) -> tuple[list[ToolReturnPart], str | None]:
    """Run tools one after the other; returns a result for each, and what was wrong if all calls were."""
    results, wrong = [], []
    for call in calls:
        try:
            results.append(ToolReturnPart(call.tool_name, toolbox.call(call.tool_name, call.args), call.tool_call_id))
        except BadCall as error:
            wrong.append(str(error))
            results.append(ToolReturnPart(call.tool_name, str(error), call.tool_call_id, outcome="failed"))
    return results, wrong[-1] if len(wrong) == len(calls) else None


def _price(response: ModelResponse) -> float | None:
    """USD of a response; None where its price or its usage is unknown."""
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):  # no such model, usage left out, a model without a name
        return None
