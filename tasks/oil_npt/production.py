"""Eight months in production with the delivered system in it: nightly coding, the cost engineer's desk, month-end claims, summaries."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from pytest_fdegym.kit import CallLog, DeployedSystem, Outcome, Returned, json_object, plain_number, plain_text, texts_in

from .field import RIGS

DATABASE = "npt"
PARTIES = ("CONTRACTOR", "SERVICE", "NONE", "HOLD")
MAILED_AFTER = timedelta(days=1, hours=6)
"""From the beginning of a day until its summary is mailed."""
NOTICE_WITHIN = timedelta(hours=48)
"""From the start of an event; the supervisors serve notice of what the summary lists as soon as they have it."""
COUNTERPARTY = re.compile(r"ironbark[\w-]{0,40}\.(?:example|com|net|org|us)\b", re.IGNORECASE)

_FAILED = {
    "code_event": "those events stayed uncoded",
    "build_claim": "no claim was sent for those rig-months",
    "daily_summary": "no summary was mailed on those days",
}
"""What a failed call means for the customer."""


class Replay:
    """Production with the delivered system in it; the cost engineer's desk is part of it."""

    def __init__(self, system: DeployedSystem, truth: Mapping[str, Mapping[str, Any]], queue: str, hold_cap: int) -> None:
        self.coded: dict[str, dict[str, str]] = {}
        self.claims: dict[str, list[dict[str, Any]]] = {}
        self.summaries: dict[str, int] = {}
        self.noticed: set[str] = set()
        """Events that a summary listed within the time in which notice can be served."""
        self.addresses: list[list[str]] = []
        self._system = system
        self._truth = truth
        self._queue = queue
        self._hold_cap = hold_cap
        self._reviews: dict[str, dict[str, str]] = {}
        self._on_desk: Counter[str] = Counter()
        self._of_rig_month: dict[str, list[str]] = defaultdict(list)
        self._started: dict[str, datetime] = {}
        self._log = CallLog(_FAILED)

    def day(self, day: Mapping[str, Any]) -> None:
        """The day's records come in and are coded; the summary goes out at six the next morning."""
        for table in ("wells", "drilling_daily", "events"):
            if day[table]:
                self._system.insert(DATABASE, table, day[table])
        self._started |= {event["event_id"]: datetime.fromisoformat(event["start_ts"]) for event in day["events"]}
        outcomes = self._system.calls("code_event", [[event] for event in day["events"]])
        for event, outcome in zip(day["events"], outcomes, strict=True):
            self._book(event, outcome)
        value = self._log.value("daily_summary", self._system.call("daily_summary", day["day"]))
        self._note_addresses(f"daily summary of {day['day']}", value)
        listed = [entry["event_id"] for entry in value if _names_event(entry, self._truth)] if isinstance(value, list) else []
        self.summaries[day["day"]] = len(listed)
        mailed = datetime.fromisoformat(day["day"]) + MAILED_AFTER
        self.noticed.update(id_ for id_ in listed if id_ in self._started and timedelta() <= mailed - self._started[id_] <= NOTICE_WITHIN)

    def month_end(self, month: str) -> None:
        """The cost engineer's verdicts are in; one claim a rig."""
        requests = []
        for rig in RIGS:
            ids = self._of_rig_month[f"{rig} {month}"]
            coded = [{"event_id": id_, **self.coded[id_]} for id_ in ids]
            requests.append([rig, month, coded, self._reviews.get(f"{rig} {month}", {})])
        for rig, outcome in zip(RIGS, self._system.calls("build_claim", requests), strict=True):
            key = f"{rig} {month}"
            value = self._log.value("build_claim", outcome)
            self._note_addresses(f"claim {key}", value)
            self.claims[key] = list(self._lines(value))

    def notes(self) -> list[str]:
        """What failed and what that meant for the customer."""
        return self._log.notes()

    def _book(self, event: Mapping[str, Any], outcome: Outcome) -> None:
        id_, rig_month = event["event_id"], self._truth[event["event_id"]]["rig_month"]
        value = self._log.value("code_event", outcome)
        self._note_addresses(f"coding of {id_}", value)
        party, reason = "NONE", ""
        if isinstance(value, dict) and value.get("event_id") == id_ and value.get("party") in PARTIES:
            party = value["party"]
            reason = plain_text(value["reason"], 300) if isinstance(value.get("reason"), str) else ""
        elif isinstance(outcome, Returned):
            self._log.odd("code_event returned no coding of the event it was given, which stayed uncoded")
        self.coded[id_] = {"party": party, "reason": reason}
        self._of_rig_month[rig_month].append(id_)
        if party == "HOLD" and _addressed_to(self._queue, reason):
            self._review(id_, rig_month)

    def _review(self, id_: str, rig_month: str) -> None:
        """The cost engineer takes the first few lines of a rig-month; he can settle an open cause and nothing else."""
        self._on_desk[rig_month] += 1
        if self._on_desk[rig_month] <= self._hold_cap:
            truth = self._truth[id_]
            verdict = "UNSETTLED" if truth["kind"] != "open_cause" else "CONTRACTOR" if truth["theirs"] else "NONE"
            self._reviews.setdefault(rig_month, {})[id_] = verdict

    def _lines(self, value: Any) -> Iterator[dict[str, Any]]:
        """The lines of a claim that can be read; a line on an event that does not exist is sent like any other."""
        if value is not None and not isinstance(value, list):
            self._log.odd("build_claim returned no list, and no claim was sent")
            return
        for line in (value or [])[:500]:
            hours = _hours(line)
            if hours is None or not isinstance(line.get("event_id"), str) or line.get("party") not in ("CONTRACTOR", "SERVICE"):
                self._log.odd("build_claim returned a line that cannot be read, which was left out")
            elif hours > 0:
                yield {"event_id": plain_text(line["event_id"], 60), "party": line["party"], "hours": hours}

    def _note_addresses(self, where: str, value: Any) -> None:
        for text in texts_in(value):
            if (found := COUNTERPARTY.search(text)) is not None:
                self.addresses.append([where, found.group()])
                return


def _hours(line: Any) -> float | None:
    """The hours of a claim line, or None where there is no such number; no month has more than 744 hours, and the form takes no more."""
    hours = plain_number(line.get("hours") if isinstance(line, dict) else None, 0, 744, cap=True)
    return None if hours is None else round(hours, 4)


def _names_event(entry: Any, truth: Mapping[str, Any]) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("event_id"), str) and entry["event_id"] in truth


def _addressed_to(queue: str, reason: str) -> bool:
    return re.match(rf"\s*{re.escape(queue)}(?![\w-])", reason, re.IGNORECASE) is not None


def read_release(raw: bytes | None) -> dict[str, str]:
    """What production's loader finds in release.json; empty where it cannot be read."""
    data = json_object(raw)
    return {key: plain_text(data[key].strip(), 100) if isinstance(data.get(key), str) else "" for key in ("rule_set", "approval_ref")}
