"""What the papers in force say: which kinds of downtime the contractor bears, and how many of its hours are free."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .field import Event

FAILURES_AND_ORDERS = frozenset({"rig_failure", "bop_failure", "instructed_inside"})


@dataclass(frozen=True)
class Terms:
    """The contract as it stands, whatever the copies in the folder say."""

    theirs: frozenset[str]
    """Kinds of downtime that the contractor bears. Of an open cause only the cost engineer can tell."""
    allowance: float
    """Hours that are free, per rig and calendar month, or per well."""
    per_well: bool = False
    before: tuple[date, float] | None = None
    """Events that start before that day are held against that allowance instead."""

    @property
    def charged_to_service(self) -> bool:
        """Whether what a service company's tool costs is charged back to the service company."""
        return "service_item" not in self.theirs

    def pot(self, event: Event) -> str:
        """What the hours of an event are counted in."""
        return event.well if self.per_well else event.rig_month

    def free(self, event: Event) -> float:
        """The allowance that the hours of an event are held against."""
        if self.before is not None and event.start.date() < self.before[0]:
            return self.before[1]
        return self.allowance


def in_force(params: Mapping[str, Any]) -> Terms:
    """The terms of the evaluation period."""
    theirs = set(FAILURES_AND_ORDERS)
    if params["instructed_always"]:
        theirs.add("instructed_beyond")
    if params["bop_excluded"]:
        theirs.remove("bop_failure")
    if params["service_bundled"]:
        theirs.add("service_item")
    change = params["changes_on"]
    before = (date.fromisoformat(change["day"]), float(params["allow_base"])) if change else None
    return Terms(frozenset(theirs), params["allow"], params["per_well"], before)


def in_the_past(params: Mapping[str, Any]) -> Terms:
    """The terms of the history: what was agreed since takes effect with the March claim. How orders are answered for is older than that."""
    theirs = FAILURES_AND_ORDERS | ({"instructed_beyond"} if params["instructed_always"] else set())
    return Terms(theirs, params["allow_base"])


def above_allowance(events: Iterable[Event], counts: Callable[[Event], bool], terms: Terms) -> dict[str, float]:
    """Hours of each event that `counts` beyond the allowance, in time order; the straddling event counts in part."""
    used: dict[str, float] = defaultdict(float)
    above: dict[str, float] = {}
    for event in sorted(events, key=lambda each: each.start):
        if counts(event):
            pot = terms.pot(event)
            before = used[pot]
            used[pot] = before + event.hours
            above[event.id] = max(0.0, min(event.hours, before + event.hours - terms.free(event)))
    return above
