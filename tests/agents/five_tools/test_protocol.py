"""How the five-tool agent works: it begins with the task, goes on while the model calls tools, and ends when it does not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic_ai.messages import ModelResponse, SystemPromptPart, TextPart, ToolCallPart
from pydantic_ai.usage import RequestUsage

from pytest_fdegym.agents.five_tools.agent import CUT_OFF, NUDGE, SYSTEM
from pytest_fdegym.agents.five_tools.context import estimated_tokens
from pytest_fdegym.results.record import Record
from tests.agents.five_tools.models import Script, call, results

Deliver = Callable[..., Record]


def test_the_task_comes_first(deliver: Deliver) -> None:
    script = Script([call("execute", command="cat TASK.md"), "Done."])
    deliver(script)
    (first,) = script.seen[0]
    assert [type(part).__name__ for part in first.parts] == ["SystemPromptPart", "UserPromptPart"]
    assert isinstance(first.parts[0], SystemPromptPart)
    assert first.parts[0].content == SYSTEM
    assert script.told(2) == [f"{first.parts[1].content}[exit code 0]"]  # type: ignore[union-attr]  # the task is text


def test_an_answer_without_a_tool_call_hands_over(deliver: Deliver, patch_of: Callable[[Record], str]) -> None:
    script = Script(
        [
            call("edit", path="system/shipping.py", old="LETTER_LIMIT_GRAMS = 100", new="LETTER_LIMIT_GRAMS = 250"),
            "Done.",
            "never asked for",
        ]
    )
    record = deliver(script)
    assert (record.end_reason, record.agent_error, len(script.seen)) == ("handover", None, 2)
    assert "+LETTER_LIMIT_GRAMS = 250\n" in patch_of(record)


def test_people_are_reached_by_commands(deliver: Deliver) -> None:
    script = Script([call("execute", command="bin/ask --who"), call("execute", command="bin/ask moss 'How are you?'"), "Done."])
    record = deliver(script)
    assert record.engaged.messages == 1
    assert "Ada Moss, Owner." in script.told(2)[0]
    assert "moss: " in script.told(3)[0]


@pytest.mark.parametrize("idle", [[], [call("read", path="TASK.md"), call("list")]])
def test_one_nudge_if_it_stops_without_having_worked(deliver: Deliver, idle: list[ToolCallPart]) -> None:
    script = Script([*idle, "I would ask Ada.", "I would still ask her."])
    record = deliver(script)
    assert script.told(len(idle) + 2) == [NUDGE]
    assert (record.end_reason, record.agent_error, len(script.seen)) == ("handover", None, len(idle) + 2)


@pytest.mark.parametrize(
    "work",
    [call("execute", command="true"), call("write", path="notes.txt", content="x"), call("edit", path="TASK.md", old="\n\nYou", new="you")],
)
def test_no_nudge_after_work(deliver: Deliver, work: ToolCallPart) -> None:
    script = Script([work, "Done.", "never asked for"])
    deliver(script)
    assert len(script.seen) == 2


def test_an_edit_that_changed_nothing_is_no_work(deliver: Deliver) -> None:
    script = Script([call("edit", path="TASK.md", old="not there", new=""), "Done."])
    deliver(script)
    assert script.told(3) == [NUDGE]


def test_an_empty_answer_is_an_answer_and_is_not_sent_back(deliver: Deliver) -> None:
    script = Script([ModelResponse(parts=[])])
    record = deliver(script)
    assert (record.end_reason, script.told(2)) == ("handover", [NUDGE])
    assert all(message.parts for message in script.seen[1])


def test_several_calls_of_one_answer_are_made_in_order(deliver: Deliver) -> None:
    calls = [
        ToolCallPart("write", {"path": "n.txt", "content": "1"}, "a"),
        ToolCallPart("edit", {"path": "n.txt", "old": "1", "new": "2"}, "b"),
        ToolCallPart("read", {"path": "n.txt"}, "c"),
    ]
    script = Script([calls, "Done."])
    deliver(script)
    assert [(part.tool_call_id, part.content) for part in results(script.seen[1])] == [
        ("a", "[n.txt written]"),
        ("b", "[n.txt changed]"),
        ("c", "2"),
    ]


# --- calls that cannot be made ---

UNKNOWN = call("exceute", command="true")
UNKNOWN_ANSWER = "There is no tool 'exceute'. Did you mean 'execute'? The tools are: execute, read, write, edit, list."


def test_a_bad_call_is_answered_and_the_model_goes_on(deliver: Deliver) -> None:
    script = Script(
        [UNKNOWN, call("write", path="a"), ToolCallPart("read", "{not json"), call("execute", command="true"), UNKNOWN, "Done."]
    )
    record = deliver(script)
    assert script.told(2) == [UNKNOWN_ANSWER]
    assert script.told(3) == ["The arguments of write are wrong: content: Field required."]
    assert script.told(4)[0].startswith("The arguments of read are wrong: Invalid JSON: ")
    assert {part.outcome for part in results(script.seen[3])} == {"failed"}
    assert (record.end_reason, record.agent_error) == ("handover", None)


def test_bad_calls_without_end_end_the_run_which_is_graded(deliver: Deliver) -> None:
    script = Script([call("execute", command="true"), UNKNOWN])
    record = deliver(script)
    assert len(script.seen) == 5
    assert (record.status, record.end_reason, record.fault) == ("graded", "agent_error", "bad_tool_call")
    assert record.agent_error is not None
    assert record.agent_error.splitlines()[-1].endswith(
        f"UnexpectedModelBehavior: the model called tools wrongly 4 times in a row, the last time so: {UNKNOWN_ANSWER}"
    )


def test_a_good_call_beside_a_bad_one_counts(deliver: Deliver) -> None:
    script = Script([*[[UNKNOWN, call("list")]] * 8, "Done."])
    assert deliver(script).agent_error is None


def test_an_answer_that_was_cut_off_is_no_handover(deliver: Deliver) -> None:
    cut = ModelResponse(parts=[TextPart("First I will")], finish_reason="length")
    script = Script([cut, call("execute", command="true"), "Done."])
    record = deliver(script)
    assert script.told(2) == [CUT_OFF]
    assert (record.end_reason, len(script.seen)) == ("handover", 3)


def test_answers_cut_off_without_end_hand_over(deliver: Deliver) -> None:
    script = Script([call("execute", command="true"), ModelResponse(parts=[TextPart("...")], finish_reason="length")])
    record = deliver(script)
    assert (record.end_reason, len(script.seen)) == ("handover", 5)


# --- usage ---


def used(tokens_in: int, tokens_out: int) -> ModelResponse:
    return ModelResponse(parts=[call("execute", command="true")], usage=RequestUsage(input_tokens=tokens_in, output_tokens=tokens_out))


def test_what_it_used_is_reported_with_its_price(deliver: Deliver) -> None:
    done = ModelResponse(parts=[TextPart("Done.")], usage=RequestUsage(input_tokens=2000, output_tokens=10))
    record = deliver(Script([used(1000, 100), done], name="gpt-4o"))
    usage = record.usage
    assert (usage.turns, usage.input_tokens, usage.output_tokens) == (2, 3000, 110)
    assert usage.usd == pytest.approx((3000 * 2.5 + 110 * 10) / 1e6)  # gpt-4o: USD 2.50 and 10 per million tokens


def test_a_model_without_a_price_costs_an_unknown_amount(deliver: Deliver) -> None:
    record = deliver(Script([used(1000, 100), "Done."], name="house-model-7"))
    assert (record.usage.turns, record.usage.usd) == (2, None)


# --- options ---


def test_settings_and_tools_reach_the_model(deliver: Deliver) -> None:
    script = Script([call("execute", command="true"), "Done."])
    deliver(script, temperature=0.5, max_output_tokens=700)
    for info in script.asked_with:
        assert info.model_settings is not None
        assert (info.model_settings["temperature"], info.model_settings["max_tokens"]) == (0.5, 700)
        assert [tool.name for tool in info.function_tools] == ["execute", "read", "write", "edit", "list"]
    assert script.asked_with[0].function_tools[3].parameters_json_schema == {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "old": {
                "type": "string",
                "minLength": 1,
                "description": "The text as it stands in the file, with enough around it to be unique.",
            },
            "new": {"type": "string"},
        },
        "required": ["path", "old", "new"],
        "additionalProperties": False,
    }


def test_what_the_model_chooses_is_left_to_it(deliver: Deliver) -> None:
    script = Script([call("execute", command="true"), "Done."])
    deliver(script)
    assert script.asked_with[0].model_settings is not None
    assert not {"temperature", "max_tokens"} & set(script.asked_with[0].model_settings)


def test_old_output_is_shortened_in_a_run(deliver: Deliver) -> None:
    script = Script([*[call("execute", command="seq 4000")] * 6, "Done."])
    deliver(script, context_tokens=12_000)
    assert estimated_tokens(script.seen[-1]) <= 12_000
    first, *_, last = results(script.seen[-1])
    assert "characters left out" in str(first.content)
    assert str(last.content).startswith("1\n2\n3\n")
    assert len(str(last.content)) > 15_000
    assert [part.tool_call_id for part in results(script.seen[-1])] == [
        part.tool_call_id for message in script.seen[-1] for part in message.parts if isinstance(part, ToolCallPart)
    ]
