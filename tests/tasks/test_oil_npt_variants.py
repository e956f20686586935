"""oil_npt: what differs from variant to variant, what does not, and that nothing memorised fits another seed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.admission.actors import SolutionActor
from pytest_fdegym.kit import Heldout, Operations, Outcome, Returned, World
from pytest_fdegym.people.conversation import Conversation
from pytest_fdegym.people.router import default_router
from pytest_fdegym.runner import Case, Settings, run
from pytest_fdegym.scenario.fill import parameters
from pytest_fdegym.scenario.loader import load
from pytest_fdegym.workspace.prepare import PreparedTask, PreparedTasks
from tasks.oil_npt import world
from tasks.oil_npt.field import Event
from tasks.oil_npt.terms import Terms, above_allowance, in_force
from tests.support.settings import session

FOLDER = Path(world.__file__).parent
SCENARIO = load(FOLDER)
VARIANTS = SCENARIO.variants
AS_V1 = tuple(variant for variant in VARIANTS if variant not in ("v1", "v7"))
"""The variants in which the same files are handed over as in the first."""


@pytest.fixture(scope="module")
def prepared() -> Iterator[PreparedTasks]:
    with PreparedTasks() as tasks:
        yield tasks


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with session(tmp_path_factory.mktemp("results")) as settings:
        yield settings


def _texts(task: PreparedTask) -> dict[str, str]:
    files = (path for path in task.site.rglob("*") if path.is_file() and path.suffix != ".db")
    return {path.relative_to(task.site).as_posix(): path.read_text(encoding="utf-8") for path in files}


@cache
def _traffic(variant: str, seed: int = 1) -> tuple[World, Heldout]:
    drawn = world.prepare(parameters(SCENARIO, variant, seed), random.Random(f"{seed} prepare"))
    return drawn, world.heldout(drawn, random.Random(f"{seed} heldout"))


# --- what the agent is handed -------------------------------------------------------


@pytest.mark.parametrize("variant", AS_V1)
def test_the_files_handed_over_do_not_tell_the_variant(prepared: PreparedTasks, variant: str) -> None:
    first, other = _texts(prepared.get(SCENARIO, "v1", 1)), _texts(prepared.get(SCENARIO, variant, 1))
    assert {name for name in first.keys() | other.keys() if first.get(name) != other.get(name)} <= {"docs/finance/credit_log.md"}


@pytest.mark.parametrize("variant", AS_V1)
def test_the_instruction_is_the_same(prepared: PreparedTasks, variant: str) -> None:
    assert prepared.get(SCENARIO, variant, 1).brief("L3") == prepared.get(SCENARIO, "v1", 1).brief("L3")


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_text_or_path_carries_the_name_of_a_variant(prepared: PreparedTasks, variant: str) -> None:
    task = prepared.get(SCENARIO, variant, 1)
    written = [*_texts(task), *_texts(task).values(), task.brief("L3")]
    assert [found[0] for text in written if (found := re.search(r"\bv[1-8]\b|variant", text, re.IGNORECASE))] == []


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", [1, 2])
def test_no_file_states_what_only_people_know(prepared: PreparedTasks, variant: str, seed: int) -> None:
    task = prepared.get(SCENARIO, variant, seed)
    params = task.params
    secret = [params["ref"], rf"{params['queue']}\b", r"amendment [2-9]", r"letter agreement", r"schedule c\b", r"six per", r"per well\b"]
    if params["rebuilt"]:
        secret.remove(rf"{params['queue']}\b")  # the coder that is right has it
    if params["allow"] != params["allow_base"]:
        secret.append(rf"\b{params['allow']} h")
    told = re.compile("|".join(secret), re.IGNORECASE)
    assert [(name, found[0]) for name, text in _texts(task).items() if (found := told.search(text))] == []


def test_where_the_coder_is_right_it_is_the_reference_s(prepared: PreparedTasks) -> None:
    found = _texts(prepared.get(SCENARIO, "v7", 1))
    reference = FOLDER / "solutions/reference/system/npt"
    for file in ("coder.py", "claims.py", "allowance.py", "remarks.py", "rules.py"):
        assert found[f"system/npt/{file}"] == (reference / file).read_text(encoding="utf-8")


# --- what is drawn anew under another seed ----------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_value_worth_memorising_is_drawn_twice(variant: str) -> None:
    written = [parameters(SCENARIO, each, 1) for each in VARIANTS]
    for seed in range(2, 30):
        drawn = parameters(SCENARIO, variant, seed)
        assert drawn["queue"] not in {each["queue"] for each in written}
        assert drawn["ref"] not in {*(each["ref"] for each in written), drawn["ref_as_found"], "MOC-D-0402"}
        assert drawn["amendment"] not in [each["amendment"] for each in written]
        if variant not in ("v4", "v7"):  # there the contract's own hours stand
            assert drawn["allow"] not in (parameters(SCENARIO, variant, 1)["allow"], drawn["allow_base"])


# --- who bears what, and how much is free -----------------------------------------------


def _kinds_claimable(heldout: Heldout) -> set[str]:
    return {truth["kind"] for truth in heldout.truth.values() if truth["claimable"] > 0}


@pytest.mark.parametrize(
    ("variant", "more", "less"),
    [
        ("v2", set(), set()),
        ("v3", set(), set()),
        ("v4", set(), {"bop_failure"}),
        ("v5", {"instructed_beyond"}, set()),
        ("v6", {"service_item"}, set()),
        ("v7", set(), set()),
        ("v8", set(), set()),
    ],
)
def test_kinds_of_downtime_that_may_be_claimed(variant: str, more: set[str], less: set[str]) -> None:
    _, heldout = _traffic(variant)
    always = {"rig_failure", "bop_failure", "instructed_inside", "open_cause"}
    assert _kinds_claimable(heldout) == (always | more) - less
    charged_back = {truth["kind"] for truth in heldout.truth.values() if truth["charge_back"] > 0}
    assert charged_back == (set() if variant == "v6" else {"service_item"})


def _event(number: int, start: datetime, hours: float, well: str = "A") -> Event:
    return Event(f"E{number}", "IB-101", well, start, hours, 8, "EQ-1", "", True, "rig_failure", True, "CONTRACTOR")


@st.composite
def _events(draw: st.DrawFn) -> list[Event]:
    drawn = draw(st.lists(st.tuples(st.integers(0, 120), st.integers(1, 80), st.sampled_from("AB")), max_size=25))
    start = datetime(2025, 3, 1)
    return [_event(n, start + timedelta(days=day, minutes=n), quarters / 4, well) for n, (day, quarters, well) in enumerate(drawn)]


@given(events=_events(), allowance=st.integers(0, 40), per_well=st.booleans())
def test_what_is_above_the_allowance_is_what_a_pot_holds_less_the_allowance(events: list[Event], allowance: int, per_well: bool) -> None:
    above = above_allowance(events, lambda _: True, Terms(frozenset(), allowance, per_well))
    pots = {event.well if per_well else event.month for event in events}
    for pot in pots:
        inside = [event for event in events if pot == (event.well if per_well else event.month)]
        assert sum(above[event.id] for event in inside) == pytest.approx(max(0.0, sum(event.hours for event in inside) - allowance))


def test_per_well_the_count_runs_on_over_the_turn_of_the_month() -> None:
    events = [_event(1, datetime(2025, 3, 30), 8), _event(2, datetime(2025, 4, 2), 8), _event(3, datetime(2025, 4, 9), 8, well="B")]
    by_well = above_allowance(events, lambda _: True, Terms(frozenset(), 12, per_well=True))
    by_month = above_allowance(events, lambda _: True, Terms(frozenset(), 12))
    assert list(by_well.values()) == [0, 4, 0]
    assert list(by_month.values()) == [0, 0, 4]


def test_the_day_an_event_starts_decides_between_two_allowances_and_the_month_is_counted_through() -> None:
    events = [_event(1, datetime(2025, 7, 2), 30), _event(2, datetime(2025, 7, 14, 23, 59), 5), _event(3, datetime(2025, 7, 15), 10)]
    terms = Terms(frozenset(), 40, before=(date(2025, 7, 15), 24))
    assert list(above_allowance(events, lambda _: True, terms).values()) == [6, 5, 5]
    assert in_force(parameters(SCENARIO, "v8")).before == (date(2025, 7, 15), 24)


# --- notice, where the coder is right -----------------------------------------------------


class Mailer:
    """Production's system, which codes nothing and mails what it is told to."""

    def __init__(self, mails: Mapping[str, Sequence[str]]) -> None:
        self.mails = mails

    def call(self, entry_point: str, *args: Any) -> Outcome:
        if entry_point == "daily_summary":
            return Returned([{"event_id": id_, "text": id_} for id_ in self.mails.get(args[0], [])])
        return Returned([])

    def calls(self, entry_point: str, many: Any) -> list[Outcome]:
        return [self.call(entry_point, *args) for args in many]

    def insert(self, database: str, table: str, rows: Any) -> None:
        pass

    def read(self, path: str, max_bytes: int = 0) -> bytes | None:
        return None


def _noticed(mails: Mapping[str, Sequence[str]], drawn: World, heldout: Heldout) -> Operations:
    return world.operate(Mailer(mails), heldout, drawn, (), None)


def test_an_event_has_notice_if_a_summary_lists_it_within_48_hours_and_not_before_it_happened() -> None:
    drawn, heldout = _traffic("v7")
    days = [str(day["day"]) for day in heldout.traffic]
    busy = next(n for n, day in enumerate(heldout.traffic) if n > 5 and len(day["events"]) > 4)
    event = heldout.traffic[busy]["events"][-1]
    in_time = datetime.fromisoformat(event["start_ts"]).hour >= 6  # then the second morning is within 48 hours as well
    for later, expected in ((-1, False), (0, True), (1, in_time), (2, False)):
        operations = _noticed({days[busy + later]: [event["event_id"], "no such event"]}, drawn, heldout)
        assert operations.outputs["noticed"] == ([event["event_id"]] if expected else []), later
        assert operations.outputs["summaries"][days[busy + later]] == 1


def test_some_events_are_noticed_by_chance_where_notice_counts_and_all_elsewhere() -> None:
    share = [truth["noticed"] for truth in _traffic("v7")[1].truth.values()]
    assert 0.3 < sum(share) / len(share) < 0.5
    assert all(truth["noticed"] for variant in ("v1", "v5") for truth in _traffic(variant)[1].truth.values())


# --- people and solutions -------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_expert_is_told_every_key_fact_and_given_the_approval(prepared: PreparedTasks, variant: str, seed: int) -> None:
    task = prepared.get(SCENARIO, variant, seed)
    conversation = Conversation(task.people, SCENARIO.file.calendar, task.facts, default_router())
    for step in task.people.expert:
        if step.wait_until is not None:
            conversation.wait_until(step.wait_until)
        elif step.ask is not None and step.say is not None:
            conversation.ask(step.ask, step.say)
    assert set(task.key_facts) <= conversation.ledger.facts
    assert [signoff.reference for signoff in conversation.ledger.signoffs] == ([] if variant == "v7" else [task.params["ref"]])
    assert conversation.ledger.contact_cost <= 0.12


def _asked(task: PreparedTask, *messages: tuple[str, str]) -> Conversation:
    conversation = Conversation(task.people, SCENARIO.file.calendar, task.facts, default_router())
    for person, message in messages:
        conversation.ask(person, message)
    return conversation


CONTRACT = ("castillo", "Which amendments to the Ironbark contract are in force, and what repair allowance do they set?")


def test_who_keeps_the_contract_may_not_know_which_paper_is_in_force(prepared: PreparedTasks) -> None:
    task = prepared.get(SCENARIO, "v4", 1)
    assert "F_ALLOW" not in _asked(task, CONTRACT).ledger.facts
    rule = ("okafor", "Under Amendment 3, does the furnishing party decide who pays?")
    assert "F_CAUSE" not in _asked(task, CONTRACT, rule).ledger.facts
    signed = ("okafor", "Is Amendment 3 signed by both sides? Which paper do you defend the claims on?")
    again = ("okafor", "On the base contract, Article 4.5, does the furnishing party decide who pays, and what about damage on our orders?")
    assert {"F_ALLOW", "F_CAUSE"} <= _asked(task, CONTRACT, signed, again).ledger.facts


def test_what_the_hours_are_counted_by_is_another_s_to_say(prepared: PreparedTasks) -> None:
    task = prepared.get(SCENARIO, "v3", 1)
    assert _asked(task, CONTRACT).ledger.facts == {"F_ALLOW"}
    assert "F_BASIS" in _asked(task, CONTRACT, ("okafor", "Is the allowance counted per month or per well?")).ledger.facts


def test_somebody_who_has_left_answers_automatically_and_for_free(prepared: PreparedTasks) -> None:
    asked = _asked(prepared.get(SCENARIO, "v5", 1), ("halvorsen", "Can you approve the new rule set for claim coding?"))
    assert asked.ledger.contact_cost == 0
    assert [card.id for card in asked.directory() if card.id in ("halvorsen", "roth")] == ["halvorsen", "roth"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_reference_claims_no_wrong_line(settings: Settings, variant: str) -> None:
    record = run(Case(SCENARIO, variant, "L3", seed=3), SolutionActor("reference"), settings)
    assert record.incidents == ()
    assert record.details["wrong_lines"] == 0
    assert record.details["rig_months_credited"] >= 60
