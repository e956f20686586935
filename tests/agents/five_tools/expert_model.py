"""A model that works as ``example_agents/scripted.py`` does: each of its steps becomes a call of one of the five tools, and it knows of the
customer only what the tools answered. Also copied into a project of its own, as a user's model: ``model=expert_model:answer``.
"""

from __future__ import annotations

import queue
import re
import shlex
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo

from pytest_fdegym.channel.protocol import PersonCard, ReplyCard
from pytest_fdegym.sandbox.base import CommandResult

_TIME = "%a %d %b %Y %H:%M"


@dataclass
class Hands:
    """What scripted.py takes for an Engagement; whatever it does is done by tools, whose texts are all that it sees."""

    calls: queue.Queue[ToolCallPart | str] = field(default_factory=queue.Queue)
    results: queue.Queue[str] = field(default_factory=queue.Queue)

    def _tool(self, name: str, **arguments: object) -> str:
        self.calls.put(ToolCallPart(name, arguments))
        return self.results.get(timeout=60)

    def run(self, command: str) -> CommandResult:
        output, _, ended = self._tool("execute", command=command).rpartition("[exit code ")
        return CommandResult(int(ended.rstrip("]")), output, "")

    def people(self) -> list[PersonCard]:
        lines = self.run("bin/ask --who").stdout.splitlines()
        found = [re.fullmatch(r"(\S+) +([^,]+), ([^.]+)\. (.*)\.", line) for line in lines]
        return [PersonCard(id=line[1], name=line[2], role=line[3], directory=line[4]) for line in found if line]

    def ask(self, person: str, message: str) -> ReplyCard:
        text = self.run(f"bin/ask {person} {shlex.quote(message)}").stdout
        reply = re.fullmatch(r"\[(.*?)\] (\w+): (.*)\n", text, re.DOTALL)
        assert reply is not None, text
        answered = datetime.strptime(reply[1], _TIME)
        return ReplyCard(person=reply[2], text=reply[3], sent_at=answered, answered_at=answered)

    def wait(self, *, until: datetime) -> None:
        self.run(f"bin/wait until '{until:%Y-%m-%d %H:%M}'")

    def list_files(self) -> list[str]:
        return self.run("find data docs system -type f").stdout.splitlines()

    def read_text(self, path: str) -> str:
        return self._tool("read", path=path)

    def write_text(self, path: str, text: str) -> None:
        assert self._tool("write", path=path, content=text).endswith(" written]")

    def edit(self, path: str, old: str, new: str) -> None:
        if not (answer := self._tool("edit", path=path, old=old, new=new)).endswith(" changed]"):
            raise ValueError(answer)


def model(work: Callable[[Any], None]) -> Callable[[Sequence[ModelMessage], AgentInfo], ModelResponse]:
    """The function of a model that does `work`, once for each conversation."""
    hands = Hands()

    def work_and_say_so(hands: Hands) -> None:
        try:
            work(hands)
            hands.calls.put("Done.")
        except BaseException as error:
            hands.calls.put(f"I failed: {error!r}")

    def answer(messages: Sequence[ModelMessage], info: AgentInfo) -> ModelResponse:
        nonlocal hands
        if len(messages) == 1:
            hands = Hands()
            threading.Thread(target=work_and_say_so, args=(hands,), daemon=True).start()
        else:
            (result,) = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
            hands.results.put(str(result.content))
        step = hands.calls.get(timeout=60)
        return ModelResponse(parts=[TextPart(step) if isinstance(step, str) else step])

    return answer


def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """The model, for a project that holds scripted.py too."""
    return _of_the_project(messages, info)


def _scripted(hands: Any) -> None:
    import scripted  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415  (lies beside the copy of this file)

    scripted.agent(hands)


_of_the_project = model(_scripted)
