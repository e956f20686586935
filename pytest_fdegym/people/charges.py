"""What contacts cost, in uplift units. Exact decimals inside: 0.015 x 3 is 0.045."""

from __future__ import annotations

from pytest_fdegym.people.ledger import exact
from pytest_fdegym.scenario.model import Person


def reply_charge(person: Person, charged_before: int) -> float:
    """Charge of a reply by somebody who has given `charged_before` charged replies: the rate, times `impatience_factor` from then on
    when these are as many as `patience`."""
    rate = exact(person.rate)
    return float(rate * exact(person.impatience_factor) if charged_before >= person.patience else rate)


def wait_charge(days: int, charge: float) -> float:
    """Charge of a wait that skips `days` working days."""
    return float(days * exact(charge))
