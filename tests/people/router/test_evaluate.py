"""The figures by which a router is judged, worked by hand on six messages."""

from __future__ import annotations

import pytest

from pytest_fdegym.people.router import Candidate, RoutablePerson, RouterContext, Routing
from pytest_fdegym.people.router.evaluate import Labelled, figures, judge, table
from tests.people.router.companies import MANAGER

COUNT, RETURNS = Candidate("count", 0.9), Candidate("returns", 0.8)


class Scripted:
    """Answers by the first word of the message."""

    id = "scripted"

    def route(self, person: RoutablePerson, message: str, context: RouterContext) -> Routing:
        assert context == RouterContext()
        verdicts = {
            "count": Routing("topics", (COUNT,)),
            "both": Routing("topics", (COUNT, RETURNS)),
            "returns": Routing("topics", (RETURNS,)),
            "hm": Routing("unsure", (RETURNS,)),
            "no": Routing("miss"),
            "fish": Routing("fishing"),
        }
        return verdicts[message]


ENTRIES = [
    Labelled(to="manager", kind="terse", topics=("count",), text="count"),
    Labelled(to="manager", kind="terse", topics=("returns",), text="both"),  # releases F_COUNT, which was not asked for
    Labelled(to="manager", kind="plain", topics=("returns", "count"), text="returns"),  # half of it
    Labelled(to="manager", kind="plain", topics=("returns",), text="hm"),
    Labelled(to="manager", kind="plain", topics=("returns",), text="no"),  # charged and not answered
    Labelled(to="manager", kind="offtopic", topics=(), text="returns"),  # no facts in it, yet a wrong answer
    Labelled(to="manager", kind="fishing", topics=(), text="fish"),
    Labelled(to="manager", kind="other", topics=(), text="hm"),
]


def test_figures() -> None:
    found = figures(judge(Scripted(), {"manager": MANAGER}, ENTRIES))
    assert (found.messages, found.proper) == (8, 5)
    assert found.released_not_asked == pytest.approx(1 / 8)
    assert found.charged_not_answered == pytest.approx(1 / 5)
    assert found.asked_back == pytest.approx(1 / 5)
    assert found.asked_back_of_all == pytest.approx(2 / 8)
    assert found.precision == pytest.approx(3 / 5)
    assert found.recall == pytest.approx(3 / 6)
    assert found.f1 == pytest.approx(6 / 11)
    assert found.exact == pytest.approx(3 / 8)
    assert found.answered_wrongly == pytest.approx(1 / 3)


def test_figures_of_nothing_are_zero() -> None:
    assert figures([]).f1 == 0
    assert figures([]).charged_not_answered == 0


def test_the_table_has_a_row_for_each_kind_and_one_for_all() -> None:
    assert table(judge(Scripted(), {"manager": MANAGER}, ENTRIES)) == (
        "kind          n  released  unanswered  asked back     F1  exact  answered wrongly\n"
        "terse         2     50.0%        0.0%        0.0%   0.80  50.0%                 -\n"
        "plain         3      0.0%       33.3%       33.3%   0.40   0.0%                 -\n"
        "offtopic      1      0.0%           -        0.0%      -   0.0%            100.0%\n"
        "fishing       1      0.0%           -        0.0%      - 100.0%              0.0%\n"
        "other         1      0.0%           -      100.0%      - 100.0%              0.0%\n"
        "all           8     12.5%       20.0%       20.0%   0.55  37.5%             33.3%"
    )
