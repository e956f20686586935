"""Agents that are shell commands, and the programs in bin/ that they talk to people with."""

from __future__ import annotations

import dataclasses

import pytest

from pytest_fdegym.agents.command import CommandAgent
from pytest_fdegym.limits import Limits
from pytest_fdegym.results.record import AgentIdentity, Record
from pytest_fdegym.runner import Case, Settings, run


def command(case: Case, settings: Settings, text: str) -> Record:
    return run(case, CommandAgent(AgentIdentity(name="cmd"), text), settings)


def answers(case: Case, settings: Settings, text: str) -> tuple[list[str], Record]:
    """The lines that a command printed, read back from the delivery, and the record."""
    record = command(case, settings, f"({text}) > system/answer.txt 2>&1; echo exit $? >> system/answer.txt")
    assert settings.store is not None
    patch = settings.store.paths(record).patch.read_text()
    return [line[1:] for line in patch.splitlines() if line.startswith("+") and not line.startswith("+++")], record


def test_a_command_asks_and_delivers(case: Case, settings: Settings) -> None:
    script = """
    bin/ask pike "How heavy may a letter be before it has to be a parcel?"
    n=$(python3 -c 'import sqlite3; print(sqlite3.connect("data/orders.db").execute(
        "SELECT count(*) FROM orders WHERE grams > 100 AND grams <= 500").fetchone()[0])')
    echo "$n orders went as parcels for nothing. Do you approve a new shipping rule?" | bin/ask moss
    sed -i 's/LETTER_LIMIT_GRAMS = 100/LETTER_LIMIT_GRAMS = 500/' system/shipping.py
    """
    record = command(case, settings, script)
    assert record.scores is not None
    assert (record.scores.score, record.scores.resolved, record.end_reason) == (0.95, True, "handover"), record.agent_error


def test_the_task_is_on_standard_input(case: Case, settings: Settings) -> None:
    lines, _ = answers(case, settings, "cmp - TASK.md")
    assert lines == ["exit 0"]


def test_who_lists_the_people_and_nothing_they_cost(case: Case, settings: Settings) -> None:
    lines, record = answers(case, settings, "bin/ask --who")
    assert lines == [
        "moss         Ada Moss, Owner. Owns the shop; approves changes to shipping.",
        "pike         Jonas Pike, Post room. Weighs and franks what leaves the shop.",
        "exit 0",
    ]
    assert record.engaged.messages == 0


def test_an_answer_and_the_log_of_the_conversation(case: Case, settings: Settings) -> None:
    lines, _ = answers(case, settings, 'bin/ask pike "How heavy may a letter be?"; bin/ask --log')
    assert lines == [
        "[Tue 04 Mar 2025 10:00] pike: Up to 500 g goes as a letter these days.",
        "[Tue 04 Mar 2025 08:00] to pike: How heavy may a letter be?",
        "[Tue 04 Mar 2025 10:00] pike: Up to 500 g goes as a letter these days.",
        "",
        "exit 0",
    ]


def test_waiting_and_mail(case: Case, settings: Settings) -> None:
    lines, _ = answers(case, settings, 'bin/inbox; bin/wait 1; bin/inbox; bin/wait until "2025-03-07 08:00"')
    assert lines == [
        "no mail",
        "it is now Wed 05 Mar 2025 08:00; new mail: 1",
        "[Tue 04 Mar 2025 09:00] from Ada Moss: Welcome",
        "Jonas in the post room knows the tariffs. Ask him about our heaviest order, 990 g!",
        "",
        "it is now Fri 07 Mar 2025 08:00",
        "exit 0",
    ]


UNKNOWN = "nobody here is called 'pika'. Did you mean 'pike'? People: moss, pike"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bin/ask pika hello", None),
        ("bin/ask pike < /dev/null", 'there is no message; say: ask PERSON "MESSAGE"'),
        ("bin/ask pike '  '", 'there is no message; say: ask PERSON "MESSAGE"'),
        (
            "head -c 1000000 /dev/zero | tr '\\0' x | bin/ask pike",
            "the message is too long: at most 16,000 characters are read; nothing was sent",
        ),
        ("printf '\\377\\376' | bin/ask pike", "the message is not text (UTF-8 is expected); nothing was sent"),
        ("bin/ask pike \"$(printf '\\377')\"", "the message is not text (UTF-8 is expected); nothing was sent"),
        ("bin/wait soon", "usage: wait DAYS                 let working days pass (1 to 60)"),
        ("bin/wait 0", None),
        ("bin/wait until yesterday", "usage: wait DAYS                 let working days pass (1 to 60)"),
        ("bin/ask", "usage: ask --who                 the people, and what they do"),
        ("bin/inbox all", "usage: inbox                     the mail that has arrived"),
    ],
)
def test_a_bad_request_gets_a_clear_line_and_exit_code_2_and_is_free(case: Case, settings: Settings, text: str, said: str | None) -> None:
    lines, record = answers(case, settings, text)
    assert lines[-1] == "exit 2"
    assert said is None or lines[0] == said
    assert not any("Traceback" in line for line in lines)
    assert record.scores is not None
    assert record.scores.contact_cost == 0.0


def test_a_failing_command_is_graded_with_its_last_output(case: Case, settings: Settings) -> None:
    record = command(case, settings, "echo no idea >&2; exit 7")
    assert (record.end_reason, record.agent_error) == ("agent_exit", "the agent's command ended with exit code 7\nno idea")
    assert record.scores is not None
    assert record.scores.score == 0.0


def test_the_minutes_end_a_command_and_the_delivery_is_graded_as_it_stands(case: Case, settings: Settings) -> None:
    limited = dataclasses.replace(settings, limits=Limits(turns=None, minutes=0.02, usd=None))
    record = command(case, limited, "echo 'LINE = 1' > system/labels.py; exec tail -f /dev/null")
    assert (record.end_reason, record.status) == ("limit_minutes", "graded")


def test_a_daemon_does_not_outlive_the_handover(case: Case, settings: Settings) -> None:
    late = "(setsid sh -c 'while :; do echo \"LETTER_LIMIT_GRAMS = 500\" >> system/late.py; done' >/dev/null 2>&1 &) ; exit 0"
    record = command(case, settings, late)
    again = command(case, settings, "true")
    assert record.status == again.status == "graded"
    assert record.scores is not None
    assert record.scores.score == 0.0


def test_truth_and_other_runs_are_out_of_reach(case: Case, settings: Settings) -> None:
    places = [str(case.scenario.folder), str(settings.store.directory) if settings.store else "", "/root", "/home"]
    lines, _ = answers(case, settings, "; ".join(f"ls {place} 2>/dev/null" for place in places) + "; env | grep -c PYTEST")
    assert lines == ["0", "exit 1"]
