"""Models that follow a script, for the five-tool agent: nothing is asked of any network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

Answer = str | ToolCallPart | Sequence[ToolCallPart] | ModelResponse


def call(name: str, **arguments: object) -> ToolCallPart:
    """A call of a tool."""
    return ToolCallPart(name, arguments)


def response(answer: Answer) -> ModelResponse:
    """An answer as a model gives it."""
    if isinstance(answer, ModelResponse):
        return answer
    if isinstance(answer, str):
        return ModelResponse(parts=[TextPart(answer)])
    return ModelResponse(parts=[answer] if isinstance(answer, ToolCallPart) else list(answer))


@dataclass
class Script:
    """Answers from the front of `answers`; the last one is given for ever."""

    answers: Sequence[Answer]
    seen: list[list[ModelMessage]] = field(default_factory=list)
    """What was sent, call by call."""
    asked_with: list[AgentInfo] = field(default_factory=list)
    """Tools and settings, call by call."""
    name: str | None = None
    """A name that has a price, or None."""

    @property
    def model(self) -> FunctionModel:
        async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            self.seen.append(list(messages))
            self.asked_with.append(info)
            given = response(self.answers[min(len(self.seen), len(self.answers)) - 1])
            return ModelResponse(parts=given.parts, usage=given.usage, finish_reason=given.finish_reason)

        return FunctionModel(answer, model_name=self.name)

    def told(self, turn: int) -> list[str]:
        """What was new in the request of that turn (from 1): the user's texts and the tools' results."""
        last = self.seen[turn - 1][-1]
        assert isinstance(last, ModelRequest)
        return [str(part.content) for part in last.parts if isinstance(part, UserPromptPart | ToolReturnPart)]


def results(messages: Sequence[ModelMessage]) -> list[ToolReturnPart]:
    """All results of tools in a conversation."""
    return [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
