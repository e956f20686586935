"""Random conversations with the people of every bundled task: the ledger adds up, and no fact is released while a condition is unmet."""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import tempfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from pytest_fdegym.people import BadRequest, Conversation
from pytest_fdegym.people.gates import complete, merged, scan
from pytest_fdegym.people.ledger import Entry, Ledger
from pytest_fdegym.people.reading import read
from pytest_fdegym.people.router import default_router
from pytest_fdegym.scenario.loader import load, peek
from pytest_fdegym.scenario.model import Person, Topic
from pytest_fdegym.scoring.uplift import contact_cost
from pytest_fdegym.scratch import remove_tree
from pytest_fdegym.workspace.prepare import PreparedTask, prepare_task

TASKS = Path(__file__).parent.parent.parent / "tasks"
OUTLINES = [peek(folder) for folder in sorted(TASKS.glob("*/scenario.yaml"))]
ALL = [(outline.id, variant.id) for outline in OUTLINES for variant in outline.variants]
NOISE = (
    "hello",
    "Anything else I should know?",
    "Where can I park?",
    "yes, the first one",
    "And what about the others?",
    "x" * 16_001,
    " ",
)


@functools.cache
def prepared(scenario: str, variant: str) -> PreparedTask:
    """The task under seed 1, built once a session."""
    directory = Path(tempfile.mkdtemp(prefix="fdetalk"))
    atexit.register(remove_tree, directory)
    return prepare_task(load(TASKS / scenario), variant, 1, directory)


def conversation(task: PreparedTask) -> Conversation:
    return Conversation(task.people, task.scenario.file.calendar, task.facts, default_router())


def messages(task: PreparedTask) -> list[str]:
    """What could be said: every example, what the expert says, pieces of it, and noise."""
    examples = [example for person in task.people.people.values() for topic in person.topics.values() for example in topic.examples]
    expert = [step.say for step in task.people.expert if step.say]
    return [*examples, *expert, *NOISE]


def machine(scenario: str, variant: str) -> type[RuleBasedStateMachine]:
    task = prepared(scenario, variant)
    people = st.sampled_from([*task.people.people, "nobody"])
    known = messages(task)

    def of(numbers: list[int]) -> str:
        return "\n".join(known[number] for number in numbers)

    # By number: hypothesis writes down what it draws from, and there are more than a thousand.
    texts = st.lists(st.integers(0, len(known) - 1), min_size=1, max_size=3).map(of)

    class Talk(RuleBasedStateMachine):
        @initialize()
        def begin(self) -> None:
            self.chat = conversation(task)
            self.last = self.chat.now
            self.requests: list[Callable[[Conversation], object]] = []
            self.read_by: dict[str, list[tuple[str, tuple[str, ...]]]] = {}

        def do(self, request: Callable[[Conversation], Any]) -> Any:
            self.requests.append(request)
            before = (self.chat.now, self.chat.ledger)
            try:
                return request(self.chat)
            except BadRequest:
                assert (self.chat.now, self.chat.ledger) == before, "a refused request changes nothing"
                return None

        @rule(person=people, text=texts)
        def ask(self, person: str, text: str) -> None:
            before, sent = self.chat.ledger, self.chat.now
            reply = self.do(lambda chat: chat.ask(person, text))
            if reply is None:
                return
            entry = self.chat.ledger.entries[-1]
            who = task.people.people[person]
            if reply.kind == "automatic":
                assert (entry.charge, entry.facts, self.chat.now) == (0.0, (), sent)
                return
            self.read_by.setdefault(person, []).append((text, reports(before)))
            unmet = [
                name for name in entry.topics if entry.reply_kind == "answer" and self.unmet(who, who.topics[name], person, before, sent)
            ]
            granted = {fact for name in entry.topics if name not in unmet for fact in who.topics[name].facts}
            assert set(entry.facts) <= granted, (entry.facts, unmet, text)
            if who.restricted is not None:
                assert entry.charge == who.restricted.charge

        def unmet(self, who: Person, topic: Topic, person: str, before: Ledger, sent: datetime) -> bool:
            """Whether a condition of the topic was not met when the message was sent; worked out from what was said, not from the state."""
            requires, evidence, stalls = topic.requires, topic.evidence, topic.stalls
            if topic.available_at is not None and sent < topic.available_at:
                return True
            if requires and not (before.facts >= set(requires.facts) and all(before.signed(one, sent) for one in requires.signoffs)):
                return True
            if topic.opens_when and topic.opens_when.fact and topic.opens_when.fact not in before.facts:
                return True
            if who.away is not None and sent < who.away.until:
                return True
            if evidence is not None:
                shown: dict[Any, frozenset[str]] = {}
                for text, known in self.read_by[person]:
                    shown = merged(shown, scan(evidence.items.values(), read(text), known))
                if not complete(evidence, shown, before.facts):
                    return True
            return stalls is not None and not any(asked(entry, person) and entry.sent_at.date() < sent.date() for entry in before.entries)

        @rule(days=st.integers(1, 4))
        def wait(self, days: int) -> None:
            self.do(lambda chat: chat.wait_days(days))

        @rule()
        def read_mail(self) -> None:
            cost = self.chat.ledger.contact_cost
            self.do(lambda chat: chat.inbox())
            assert self.chat.ledger.contact_cost == cost

        @rule()
        def trial(self) -> None:
            if task.scenario.file.trial is not None:
                number = self.chat.ledger.trials + 1
                self.do(lambda chat: chat.record_trial(f"TR-{number}", "noted", 0.01))

        @invariant()
        def the_ledger_adds_up_and_time_goes_forward(self) -> None:
            ledger = self.chat.ledger
            assert self.chat.now >= self.last
            self.last = self.chat.now
            assert all(entry.charge >= 0 for entry in ledger.entries)
            assert ledger.contact_cost == contact_cost(entry.charge for entry in ledger.entries)

        def teardown(self) -> None:
            if not hasattr(self, "chat"):
                return
            again = conversation(task)
            for request in self.requests:
                with contextlib.suppress(BadRequest):
                    request(again)
            assert json.dumps(again.ledger.to_json()) == json.dumps(self.chat.ledger.to_json())

    return Talk


def reports(ledger: Ledger) -> tuple[str, ...]:
    """The ids of the trial reports that there were."""
    return tuple(entry.sent for entry in ledger.entries if entry.kind == "trial")


def asked(entry: Entry, person: str) -> bool:
    """Whether the entry is a message that the person read."""
    return entry.kind == "message" and entry.person == person and entry.reply_kind != "automatic"


def talk(scenario: str, variant: str, examples: int) -> None:
    found = settings(max_examples=examples, stateful_step_count=12, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(machine(scenario, variant), settings=found)


@pytest.mark.parametrize("scenario", sorted({scenario for scenario, _ in ALL}))
def test_conversations_with_the_people_of_v1(scenario: str) -> None:
    talk(scenario, "v1", 8)


@pytest.mark.slow
@pytest.mark.parametrize(("scenario", "variant"), ALL)
def test_conversations_with_the_people_of_every_task(scenario: str, variant: str) -> None:
    talk(scenario, variant, 40)
