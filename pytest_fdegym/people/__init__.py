"""The customer's people: script, router, gates, calendar and ledger. Pure: no I/O, no wall clock, no randomness.

The exception is a router that asks a model (``router/llm.py``) or reads what one decided (``router/replay.py``).
"""

from pytest_fdegym.people.bad_request import MAX_MESSAGE, MAX_WAIT_DAYS, BadRequest
from pytest_fdegym.people.conversation import Conversation, PersonCard, Reply, WaitResult
from pytest_fdegym.people.inbox import Mail
from pytest_fdegym.people.ledger import Entry, Ledger

__all__ = [
    "MAX_MESSAGE",
    "MAX_WAIT_DAYS",
    "BadRequest",
    "Conversation",
    "Entry",
    "Ledger",
    "Mail",
    "PersonCard",
    "Reply",
    "WaitResult",
]
