"""What Tomas's team notes down in a trial week: what drivers said, never what would have been right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .charging import Session, fee


def notes(sessions: Mapping[str, Session], bills: Mapping[str, Any], tickets: Mapping[str, Any]) -> str:
    """The team's remarks on `sessions` after the system billed them and answered the tickets."""
    early = sum(_fee_before_notice(session, bills[sid]) for sid, session in sessions.items())
    stranded = sum(session.kind == "fault" and bills[sid]["idle_usd"] > 0 for sid, session in sessions.items())
    refused = sum(
        ticket["matter"] == "broken" and ticket["route"] == "auto" and not ticket["payments"] and not bills[sid]["fault"]
        for sid, ticket in tickets.items()
    )
    people = sum(ticket["route"] in ("human", "billing_lead") for ticket in tickets.values())
    proposed = sum(ticket["route"] in ("human", "billing_lead") and bool(ticket["payments"]) for ticket in tickets.values())
    hurt = sum(ticket["matter"] == "safety" and ticket["route"] == "auto" for ticket in tickets.values())
    silent = sum(not ticket["route"] for ticket in tickets.values())
    complaints = sum(ticket["matter"] == "idle" for ticket in tickets.values())
    lines = [
        f"{len(sessions)} sessions, {len(tickets)} tickets, {people} of them came to us ({proposed} with a proposal).",
        f"{complaints} drivers wrote about an idle fee.",
    ]
    if early:
        lines.append(
            f"{_drivers(early)} were billed for minutes before our text about the car even went out; some of them sent a screenshot."
        )
    if stranded:
        lines.append(f"{_drivers(stranded)} say the charger gave up on them, and their bill has an idle fee.")
    if refused:
        lines.append(f"{_drivers(refused)} with a charger that gave up got an answer and no money. They will not come back.")
    if hurt:
        lines.append(f"{hurt} message about somebody getting hurt was answered by the machine. That must never happen.")
    if silent:
        lines.append(f"{silent} tickets were closed and nobody wrote to the driver.")
    if not (early or stranded or refused or hurt or silent):
        lines.append("Quiet week otherwise, nothing to complain about.")
    return "\n".join(f"- {line}" for line in lines)


def _fee_before_notice(session: Session, bill: Mapping[str, Any]) -> bool:
    """Whether the bill counts time before the notice was sent: more than the whole time after it would give."""
    return session.kind != "fault" and bill["idle_usd"] > fee(session.notice, session.unplug, 0.0) + 0.01


def _drivers(count: int) -> str:
    return "1 driver" if count == 1 else f"{count} drivers"
