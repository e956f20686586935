"""Random conversations: whatever an agent does, the ledger adds up, time goes forward, and no condition is passed unmet."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from pytest_fdegym.people import BadRequest, Conversation, Reply
from pytest_fdegym.people.calendar import is_working_time
from pytest_fdegym.scenario.model import Calendar

from .scripts import TUESDAY, at, person, talk, topic

FACTS = "F_A F_B F_C F_D F_E F_F"
INBOX = {
    "timed": {"sender": "ada", "subject": "t", "text": "t", "at": at(5, 9), "facts": ["F_E"]},
    "after": {"sender": "bob", "subject": "a", "text": "a", "after_fact": "F_E"},
    "count": {"sender": "bob", "subject": "c", "text": "c", "after_messages": 3},
}


def people() -> dict[str, Any]:
    count = {"items": {"count": {"number": 37, "near": "line"}, "paper": {"id": "Amendment 3"}}, "miss": "How many, under what?"}
    return {
        "ada": person(
            "Ada",
            {
                "tax": topic("Nine.", facts=["F_A"]),
                "rent": topic("Ten.", facts=["F_B"], requires={"facts": ["F_A"], "miss": "First the tax."}),
                "approval": topic("Fine.", facts=["F_C"], evidence=count, signoff={"id": "S_1", "reference": "R-1"}),
                "risk": topic("Careful.", exclusive={"shown": {"id": "Amendment 3"}}),
            },
            patience=2,
        ),
        "bob": person(
            "Bob",
            {
                "release": topic("Out.", facts=["F_D"], requires={"signoffs": ["S_1"], "miss": "Unsigned."}),
                "notes": topic("Here.", stalls={"working_days": 1, "says": "Tomorrow."}, facts=["F_F"]),
                "tax": topic("Eight.", opens_when={"left": "weems"}, misconception=True),
            },
            away={"until": at(6, 8), "reply": "Away."},
            rate=0.07,
        ),
        "weems": person("Weems", {"tax": topic("Ask Ada.")}, leaves={"after_messages": 2, "reply": "Gone."}),
        "hodge": person("Hodge", {"tax": topic("No.")}, restricted={"charge": 0.1, "reply": "Counsel."}),
    }


PIECES = [
    "tax",
    "rent",
    "approval",
    "risk",
    "release",
    "notes",
    "37 lines",
    "Amendment 3",
    "everything",
    "unclear(tax 0.5)",
    "hello",
    "F_A",
]
messages = st.lists(st.sampled_from(PIECES), max_size=5).map("; ".join)
names = st.sampled_from(["ada", "bob", "weems", "hodge", "nobody", "Ada"])


class Engagement(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.chat = talk(people(), INBOX, facts=FACTS)
        self.calendar = Calendar.model_validate({"start": TUESDAY})
        self.requests: list[Callable[[Conversation], object]] = []
        self.ends_of_waits: set[datetime] = set()
        self.last = TUESDAY
        self.said: dict[str, str] = {}

    def do(self, request: Callable[[Conversation], object]) -> Any:
        self.requests.append(request)
        before = (self.chat.now, self.chat.ledger)
        try:
            return request(self.chat)
        except BadRequest:
            assert (self.chat.now, self.chat.ledger) == before
            return None

    @rule(name=names, message=messages)
    def ask(self, name: str, message: str) -> None:
        before = self.chat.ledger
        facts, now = before.facts, self.chat.now
        reply: Reply | None = self.do(lambda chat: chat.ask(name, message))
        if reply is None:
            assert name in ("nobody", "Ada") or not message
            return
        if reply.kind != "automatic":
            self.said[name] = f"{self.said.get(name, '')}\n{message}"
        new = self.chat.ledger.facts - facts
        assert new <= set(self.chat.ledger.entries[-1].facts)
        if "F_B" in new:
            assert "F_A" in facts
        if "F_C" in new:
            assert "37 lines" in self.said["ada"]
            assert "Amendment 3" in self.said["ada"]
            assert self.chat.ledger.signed("S_1", self.chat.now)
        if "F_D" in new:
            assert before.signed("S_1", now)
        if "F_F" in new:
            first = next(e for e in before.entries if e.person == "bob" and "notes" in e.topics and e.reply_kind != "ask_back")
            assert now.date() > first.sent_at.date()
        assert "F_E" not in new
        if "Careful." in reply.text and "Amendment 3" in self.said["ada"]:
            assert reply.text == "Careful."
        if name == "bob" and now < at(6, 8):
            assert reply.kind == "automatic"
        if name == "weems":
            assert (reply.kind == "automatic") is (before.charged_replies >= 2)
        if name == "hodge":
            assert self.chat.ledger.entries[-1].charge == 0.1

    @rule(hours=st.integers(-5, 200))
    def wait(self, hours: int) -> None:
        moment = self.chat.now + timedelta(hours=hours)
        if self.do(lambda chat: chat.wait_until(moment)):
            self.ends_of_waits.add(self.chat.now)

    @rule(days=st.integers(-1, 4))
    def wait_days(self, days: int) -> None:
        self.do(lambda chat: chat.wait_days(days))

    @rule()
    def read_mail(self) -> None:
        before = self.chat.ledger
        mail = self.do(lambda chat: chat.inbox())
        assert [m.at for m in mail] == sorted(m.at for m in mail)
        assert all(m.at <= self.chat.now for m in mail)
        assert self.chat.ledger.contact_cost == before.contact_cost
        assert ("F_E" in self.chat.ledger.facts) is any(m.id == "timed" for m in mail)

    @rule(minutes=st.sampled_from([0, 0, 240]))
    def trial(self, minutes: int) -> None:
        self.do(lambda chat: chat.record_trial("T", "-", 0.03, minutes))

    @invariant()
    def time_goes_forward_in_working_time(self) -> None:
        assert self.chat.now >= self.last
        assert is_working_time(self.calendar, self.chat.now) or self.chat.now in self.ends_of_waits
        self.last = self.chat.now

    @invariant()
    def the_ledger_adds_up(self) -> None:
        ledger = self.chat.ledger
        assert [entry.number for entry in ledger.entries] == list(range(1, len(ledger.entries) + 1))
        assert all(entry.charge >= 0 for entry in ledger.entries)
        assert ledger.contact_cost == float(sum(Fraction(repr(entry.charge)) for entry in ledger.entries))
        for entry in ledger.entries:
            free = entry.reply_kind in ("automatic", "ask_back", "stall") or entry.kind == "inbox"
            assert not (free and (entry.charge or entry.charged or entry.answered_at != self._unmoved(entry)))
            assert entry.facts == () or entry.reply_kind == "answer" or entry.kind == "inbox"

    def _unmoved(self, entry: Any) -> datetime:
        moment: datetime = entry.answered_at if entry.kind == "inbox" else entry.sent_at
        return moment

    def teardown(self) -> None:
        again = talk(people(), INBOX, facts=FACTS)
        for request in self.requests:
            with contextlib.suppress(BadRequest):
                request(again)
        assert json.dumps(again.ledger.to_json()) == json.dumps(self.chat.ledger.to_json())
        assert again.now == self.chat.now


TestEngagement = Engagement.TestCase
TestEngagement.settings = settings(max_examples=60, stateful_step_count=30)
