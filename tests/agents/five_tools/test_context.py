"""A conversation is kept within bounds: old output first, results with their calls, the same every time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from pytest_fdegym.agents.five_tools.context import SHORT, estimated_tokens, shortened

TASK = "The task. " * 300


def conversation(outputs: list[int], arguments: list[int] | None = None) -> list[ModelMessage]:
    """A turn for each length of an output; its call has an argument of the same place's length."""
    messages: list[ModelMessage] = [ModelRequest(parts=[SystemPromptPart("Work."), UserPromptPart(TASK)])]
    for number, length in enumerate(outputs):
        size = arguments[number % len(arguments)] if arguments else 10
        called = ToolCallPart("execute", {"command": "c" * size}, f"id{number}")
        messages.append(ModelResponse(parts=[TextPart("I go on."), called]))
        messages.append(ModelRequest(parts=[ToolReturnPart("execute", "o" * length, f"id{number}")]))
    return messages


def output_lengths(messages: list[ModelMessage]) -> list[int]:
    return [len(str(part.content)) for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]


def test_what_fits_is_left_as_it_is() -> None:
    messages = conversation([2000] * 5)
    assert shortened(messages, estimated_tokens(messages)) == messages


def test_the_oldest_output_goes_first() -> None:
    messages = conversation([9000] * 10)
    lengths = output_lengths(shortened(messages, estimated_tokens(messages) - 1))
    first_whole = lengths.index(9000)
    assert 0 < first_whole < 10
    assert all(length < 2 * SHORT for length in lengths[:first_whole])
    assert lengths[first_whole:] == [9000] * (10 - first_whole)


def test_shortening_leaves_room_for_further_turns() -> None:
    messages = conversation([9000] * 10)
    bound = estimated_tokens(messages) - 1
    assert estimated_tokens(shortened(messages, bound)) <= bound * 2 / 3 + 1


def test_head_and_tail_of_an_output_stay() -> None:
    messages = conversation([10])
    messages[-1] = ModelRequest(parts=[ToolReturnPart("execute", f"first{'.' * 20_000}last", "id0")])
    (part,) = shortened(messages, 4000)[-1].parts
    assert isinstance(part, ToolReturnPart)
    assert str(part.content).startswith("first...")
    assert str(part.content).endswith("...last")
    assert "\n... 19,609 characters left out ...\n" in str(part.content)


def test_arguments_stay_where_output_is_enough() -> None:
    messages = conversation([9000] * 6, arguments=[2000])
    short = shortened(messages, estimated_tokens(messages) - 1)
    assert [message for message in short if isinstance(message, ModelResponse)] == [
        message for message in messages if isinstance(message, ModelResponse)
    ]


def test_long_arguments_go_last() -> None:
    messages = conversation([9000, 9000], arguments=[60_000])
    short = shortened(messages, 5000)
    assert max(output_lengths(short)) < 2 * SHORT
    calls = [part for message in short for part in message.parts if isinstance(part, ToolCallPart)]
    assert [list(part.args_as_dict()) for part in calls] == [["command"], ["command"]]
    assert estimated_tokens(short) <= 5000


def test_arguments_that_were_no_json_do_not_stand_in_the_way() -> None:
    messages = conversation([10])
    messages[1] = ModelResponse(parts=[ToolCallPart("write", "{" + "x" * 60_000, "id0")])
    assert estimated_tokens(shortened(messages, 5000)) <= 5000


lengths = st.lists(st.integers(0, 30_000), min_size=1, max_size=12)


@given(outputs=lengths, arguments=lengths, bound=st.integers(3000, 60_000))
def test_whatever_was_said(outputs: list[int], arguments: list[int], bound: int) -> None:
    messages = conversation(outputs, arguments)
    before = [list(message.parts) for message in messages]
    short = shortened(messages, bound)
    # Within the bound, unless nothing is left to shorten.
    everything_short = shortened(messages, 1)
    assert estimated_tokens(short) <= max(bound, estimated_tokens(everything_short))
    # Every result stays with its call, in order, and the task stays whole.
    shape = [[(type(part), getattr(part, "tool_call_id", None)) for part in message.parts] for message in messages]
    assert [[(type(part), getattr(part, "tool_call_id", None)) for part in message.parts] for message in short] == shape
    assert short[0] == messages[0]
    # The same every time, and what was given is not changed.
    assert shortened(messages, bound) == short
    assert [list(message.parts) for message in messages] == before
    # What was shortened once is not shortened again.
    assert shortened(everything_short, 1) == everything_short
