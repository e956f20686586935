"""Trial runs: the workspace's system as it stands, on shadow traffic; limited, charged, and told without what they cost."""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from textwrap import dedent

import pytest

from pytest_fdegym.admission.actors import Expert
from pytest_fdegym.agents.command import CommandAgent
from pytest_fdegym.agents.engagement import Engagement
from pytest_fdegym.channel.client import RequestRefused
from pytest_fdegym.channel.protocol import TrialCard
from pytest_fdegym.errors import InfrastructureFault, ScenarioError
from pytest_fdegym.results.record import AgentIdentity, Record
from pytest_fdegym.runner import Case, Settings, run
from pytest_fdegym.sandbox.base import Bounds, CommandResult, Layout, SandboxedProcess, WayOut
from pytest_fdegym.scenario.loader import load
from tests.support.settings import python_agent
from tests.support.tiny_gateway import write_tiny_gateway
from tests.support.tiny_scenario import edit


@pytest.fixture(scope="module")
def with_trial(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(load(write_tiny_gateway(tmp_path_factory.mktemp("tasks") / "tiny_post")), "v1", "L3")


ALL_LETTERS = 'def ship(order, *, db, gateway):\n    return "letter"\n'
KNOWS = """
    def ship(order, *, db, gateway):
        known = gateway.chat([{"role": "user", "content": "N1"}]) != "unknown"
        return "letter" if known else "parcel"
"""
"""Finds out whether the model knows production's orders."""


def tried(case: Case, settings: Settings, *systems: str) -> tuple[list[TrialCard | str], Record]:
    """What a trial run of each of `systems` gave, or how it was refused, and the record."""
    results: list[TrialCard | str] = []

    def agent(engagement: Engagement) -> None:
        for code in systems:
            engagement.write_text("system/shipping.py", dedent(code))
            try:
                results.append(engagement.trial())
            except RequestRefused as refused:
                results.append(str(refused))

    record = run(case, python_agent(agent), settings)
    assert record.agent_error is None, record.agent_error
    return results, record


def events(record: Record, settings: Settings, kind: str) -> list[dict[str, object]]:
    assert settings.store is not None
    lines = [json.loads(line) for line in settings.store.paths(record).events.read_text().splitlines()]
    return [line for line in lines if line["kind"] == kind]


def test_a_trial_runs_the_system_as_it_stands_and_moves_the_clock(with_trial: Case, settings: Settings) -> None:
    results, record = tried(with_trial, settings, ALL_LETTERS, 'def ship(order, *, db, gateway):\n    return "parcel"\n')
    assert results == [
        TrialCard(id="TR-1", feedback="3 of 3 went as letters.", notes=(), finished_at=datetime(2025, 3, 4, 9)),
        TrialCard(id="TR-2", feedback="0 of 3 went as letters.", notes=(), finished_at=datetime(2025, 3, 4, 10)),
    ]
    assert record.engaged.trials == 2
    assert record.scores is not None
    assert record.scores.contact_cost == 0.04, "0.01 for the first, 0.03 for the second"


def test_no_more_than_allowed_and_a_refusal_costs_nothing(with_trial: Case, settings: Settings) -> None:
    results, record = tried(with_trial, settings, *[ALL_LETTERS] * 4)
    assert results[2:] == ["no further trial run can be arranged"] * 2
    assert record.scores is not None
    assert (record.engaged.trials, record.scores.contact_cost) == (2, 0.04)


def test_the_last_charge_repeats(tmp_path: Path, settings: Settings) -> None:
    folder = write_tiny_gateway(tmp_path / "tiny_post")
    edit(folder, "scenario.yaml", "{runs: 2, charges: [0.01, 0.03], minutes: 60}", "{runs: 4, charges: [0.01, 0.03]}")
    results, record = tried(Case(load(folder), "v1", "L3"), settings, *[ALL_LETTERS] * 4)
    assert record.scores is not None
    assert record.scores.contact_cost == 0.1
    assert isinstance(results[-1], TrialCard)
    assert results[-1].finished_at == datetime(2025, 3, 4, 8), "where the scenario says nothing, a trial run takes no time"


def test_values_are_for_the_log_only_and_each_run_has_traffic_of_its_own(with_trial: Case, settings: Settings) -> None:
    first, record = tried(with_trial, settings, ALL_LETTERS, ALL_LETTERS)
    values = [event["values"] for event in events(record, settings, "trial")]
    again, other = tried(with_trial, settings, ALL_LETTERS, ALL_LETTERS)
    assert first == again
    assert values == [event["values"] for event in events(other, settings, "trial")], "the same under the same seed"
    assert values[0] != values[1]
    assert all("grams" not in card.model_dump_json() for card in first if isinstance(card, TrialCard))


@pytest.mark.parametrize(
    ("code", "note"),
    [
        (
            "def ship(order, *, db, gateway):\n    raise KeyError('grams')\n",
            "ship raised KeyError: 'grams' in system/shipping.py line 2 on 3 of 3 calls",
        ),
        ("import nowhere\n", "ship raised ModuleNotFoundError: No module named 'nowhere' (system/shipping.py line 1) on 3 of 3 calls"),
    ],
)
def test_a_system_that_fails_is_told_as_in_production(with_trial: Case, settings: Settings, code: str, note: str) -> None:
    (card,), record = tried(with_trial, settings, code)
    assert isinstance(card, TrialCard)
    assert (card.feedback, card.notes) == ("0 of 3 went as letters.", (note,))
    assert note.replace("3 of 3", "200 of 200") in record.notes


def test_the_gateway_answers_in_a_trial_without_the_truth_of_production(with_trial: Case, settings: Settings) -> None:
    (card,), record = tried(with_trial, settings, KNOWS)
    assert isinstance(card, TrialCard)
    assert card.feedback == "0 of 3 went as letters."
    assert record.scores is not None
    assert record.scores.kpi == 50.0 - 50.0, "where it knows them: all as letters, for 50 USD"
    (event,) = events(record, settings, "trial")
    assert event["gateway_calls"] == 3
    assert events(record, settings, "gateway") == [], "which are the engineer's own"
    assert record.details["usd"] == 50.0, "production's calls alone"


def test_what_the_trial_did_to_the_database_is_gone_afterwards(with_trial: Case, settings: Settings) -> None:
    hostile = """
        def ship(order, *, db, gateway):
            db.execute("DELETE FROM orders")
            return "letter"
    """
    found: list[str] = []

    def agent(engagement: Engagement) -> None:
        original = engagement.read_text("system/shipping.py")
        engagement.write_text("system/shipping.py", dedent(hostile))
        engagement.trial()
        engagement.write_text("system/shipping.py", original)
        count = "import sqlite3; print(sqlite3.connect('data/orders.db').execute('SELECT count(*) FROM orders').fetchone()[0])"
        found.append(engagement.run(["python3", "-c", count]).stdout)

    record = run(with_trial, python_agent(agent), settings)
    assert (found, record.incidents) == (["60\n"], ())


def test_the_program_in_the_workspace(with_trial: Case, settings: Settings) -> None:
    results: list[CommandResult] = []

    def agent(engagement: Engagement) -> None:
        engagement.write_text("system/shipping.py", "def ship(order, *, db, gateway):\n    return 1 / 0\n")
        results.extend(engagement.run(command) for command in ["bin/trial now", "bin/trial", "bin/trial", "bin/trial", "bin/trial"])

    run(with_trial, python_agent(agent), settings)
    usage, first, _, third, _ = results
    assert (usage.exit_code, usage.stderr) == (
        2,
        "usage: trial                     let the system as it stands run beside the real one, and read what people noticed\n",
    )
    assert (first.exit_code, first.stdout) == (
        0,
        "[Tue 04 Mar 2025 09:00] TR-1: 0 of 3 went as letters.\n"
        "- ship raised ZeroDivisionError: division by zero in system/shipping.py line 2 on 3 of 3 calls\n",
    )
    assert (third.exit_code, third.stdout, third.stderr) == (2, "", "no further trial run can be arranged\n")


def test_the_task_tells_of_it_without_charge_or_number(with_trial: Case, settings: Settings) -> None:
    briefs: list[str] = []
    run(with_trial, python_agent(lambda engagement: briefs.append(engagement.brief)), settings)
    (line,) = [part for part in briefs[0].split("- **") if part.startswith("Trial runs")]
    assert " ".join(line.split()) == (
        "Trial runs.** `bin/trial` lets `system/`, as it stands at that moment, run beside the real system on live work. Nothing it "
        "decides is acted on. You get a report with what people noticed."
    )


def test_where_there_is_none_there_is_no_program_and_no_word_of_it(case: Case, settings: Settings) -> None:
    seen: list[str] = []

    def agent(engagement: Engagement) -> None:
        seen.append(engagement.brief.lower())
        seen.extend(engagement.list_files("bin"))
        with pytest.raises(RequestRefused) as refused:
            engagement.trial()
        seen.append(str(refused.value))

    record = run(case, python_agent(agent), settings)
    assert record.agent_error is None, record.agent_error
    assert "trial" not in seen[0]
    assert "gateway" not in seen[0]
    assert seen[1:] == ["bin/.socket", "bin/ask", "bin/inbox", "bin/mcp", "bin/wait", "trial runs are not possible here"]


def test_a_variant_may_have_none(tmp_path: Path, settings: Settings) -> None:
    folder = write_tiny_gateway(tmp_path / "tiny_post")
    edit(folder, "scenario.yaml", "trial: {runs: 2,", "trial: {not_in: [v2], runs: 2,")
    edit(folder, "people.yaml", "            tried: {trial_report: true}\n", "")
    edit(folder, "people.yaml", "- {trial: true}", "- {trial: true, not_in: [v2]}")
    scenario = load(folder)
    assert isinstance(tried(Case(scenario, "v1", "L3"), settings, ALL_LETTERS)[0][0], TrialCard)
    assert tried(Case(scenario, "v2", "L3"), settings, ALL_LETTERS)[0] == ["trial runs are not possible here"]
    assert run(Case(scenario, "v2", "L3"), Expert(), settings).engaged.trials == 0


def test_a_gate_asks_for_the_report_and_the_expert_has_one(with_trial: Case, settings: Settings) -> None:
    def agent(engagement: Engagement) -> None:
        engagement.ask("pike", "How heavy may a letter be?")
        overpaid = settings.prepared.get(with_trial.scenario, "v1", 1).world.public["overpaid"]
        said = f"{overpaid} orders went as parcels for nothing, see trial report TR-1. Do you approve a new shipping rule?"
        assert "Show me a number first" in engagement.ask("moss", said).text, "there is no such report yet"
        engagement.trial()
        assert "SHIP-7" in engagement.ask("moss", said).text

    record = run(with_trial, python_agent(agent), settings)
    assert record.agent_error is None, record.agent_error
    expert = run(with_trial, Expert(), settings)
    assert expert.scores is not None
    assert (expert.engaged.trials, expert.engaged.signoffs, expert.scores.contact_cost) == (1, ("S_SHIP",), 0.06)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("None", "returned None; TrialReport is expected"),
        ('TrialReport("", "fine")', "TrialReport.id is ''; a text is expected"),
        ('TrialReport("TR-1", 7)', "TrialReport.feedback is 7; a text is expected"),
        ('TrialReport("TR-1", "fine", {"letters": {1}})', "TrialReport.values['letters'] is a set, which JSON does not know"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_the_authors_mistake_in_a_trial_is_told_to_the_author(tmp_path: Path, settings: Settings, returned: str, message: str) -> None:
    folder = write_tiny_gateway(tmp_path / "tiny_post")
    edit(folder, "world.py", "def trial(system, n, world, rng):\n", f"def trial(system, n, world, rng):\n    return {returned}\n")

    def agent(engagement: Engagement) -> None:
        engagement.trial()

    with pytest.raises(ScenarioError) as raised:
        run(Case(load(folder), "v1", "L3"), python_agent(agent), settings)
    assert f": trial: {message}" in str(raised.value).splitlines()[0]


class NeverStarts:
    """A sandbox in which the delivered system cannot be started."""

    name = "broken"
    way_out: WayOut = "nowhere"

    def __init__(self, inner: Settings) -> None:
        self._inner = inner.sandbox

    def run(
        self, command: Sequence[str], layout: Layout, bounds: Bounds, *, stdin: bytes = b"", end: threading.Event | None = None
    ) -> CommandResult:
        return self._inner.run(command, layout, bounds, stdin=stdin)

    def start(self, command: Sequence[str], layout: Layout, bounds: Bounds) -> SandboxedProcess:
        raise InfrastructureFault("no more processes")

    def give(self, path: Path) -> None:
        self._inner.give(path)


def test_a_fault_of_the_sandbox_in_a_trial_is_void(with_trial: Case, settings: Settings) -> None:
    broken = dataclasses.replace(settings, sandbox=NeverStarts(settings))

    def agent(engagement: Engagement) -> None:
        engagement.trial()

    record = run(with_trial, python_agent(agent), broken)
    assert (record.status, record.void_cause) == ("void", "no more processes")


def test_a_command_may_try_and_deliver(with_trial: Case, settings: Settings) -> None:
    record = run(with_trial, CommandAgent(AgentIdentity(name="cmd"), "bin/trial && bin/trial"), settings)
    assert (record.end_reason, record.engaged.trials) == ("handover", 2)
