"""A small made-up company for the tests of the router: a warehouse manager with two topics, and a buyer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pytest_fdegym.people.router import RoutablePerson
from pytest_fdegym.scenario.model import Topic


def topic(about: str, *, call_it: str, examples: Iterable[str], **more: Any) -> Topic:
    """Return a topic whose answer does not matter."""
    return Topic.model_validate({"about": about, "call_it": call_it, "examples": list(examples), "answer": "So it is.", **more})


COUNT = topic(
    "the yearly stock count: when it happens, who counts, what is done about differences",
    call_it="the stock count",
    examples=["When is the stock count?", "Who counts the shelves?", "What happens to a difference we find?"],
    triggers=[r"\bstock ?(?:count|taking)\b", r"\bcount(?:ing)?\b.{0,40}\bshel(?:f|ves)\b", r"\binventory\b"],
    never=[r"\bcount on\b"],
    facts=["F_COUNT"],
)
RETURNS = topic(
    "goods that customers send back: who accepts them, how long they may take, where they are stored",
    call_it="returned goods",
    examples=["Who accepts returned goods?", "How long may a customer take to send something back?", "Where are returns stored?"],
    triggers=[
        r"\breturn(?:s|ed)?\b.{0,40}\b(?:goods|items|parcels?|stored|accept\w*)\b",
        r"\bsen[dt] (?:it |them |something )?back\b",
        r"\breturns\b",
    ],
)
PRICES = topic(
    "purchase prices: discounts, who negotiates them, when they change",
    call_it="purchase prices",
    examples=["Which discounts do we get?", "Who negotiates the purchase prices?", "When do prices change?"],
    triggers=[r"\bdiscounts?\b", r"\b(?:purchase|supplier'?s?) prices?\b"],
    facts=["F_PRICE"],
)

MANAGER = RoutablePerson("manager", {"count": COUNT, "returns": RETURNS}, {"buyer/prices": PRICES})
BUYER = RoutablePerson("buyer", {"prices": PRICES}, {"manager/count": COUNT, "manager/returns": RETURNS})
