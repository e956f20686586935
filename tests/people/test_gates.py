"""Evidence gates: what counts as having shown something, in a table, and the limits of stuffing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.errors import ScenarioError
from pytest_fdegym.people.figures import MAX_FIGURES
from pytest_fdegym.people.gates import check_condition, check_evidence, holds, merged, satisfied, scan
from pytest_fdegym.people.offers import MAX_NUMBERS
from pytest_fdegym.people.reading import read
from pytest_fdegym.scenario.model import Condition, Evidence

ROWS = {"number": 212, "within": 0.02}
ROWS_NEAR = {"number": 212, "within": 0.02, "near": r"\b(row|line)s?\b"}
MONEY = {"number": 1145, "within": 0.01}
SHARE = {"number": 4, "plus_minus": 0.15, "near": "%|per ?cent|share"}
FRACTION = {"number": 0.04, "plus_minus": 0.002}
HOURS = {"number": 10, "near": r"\bh\b|hours?|allowance"}
INVOICE = {"id": "INV-2024-0077"}
AMENDMENT = {"id": "Amendment 3"}
RIGS = {"ids": ["IB-104", "IB-107", "IB-109"], "at_least": 2, "near": "suspen|credit"}
ORDERS = {"ids": ["45781", "45802", "46110"], "at_least": 1, "near": "order"}
FILE = {"document": "docs/late_rows_analysis.csv"}
LONG = "and nothing that has to do with it at all, only words, to keep them well apart, "

TABLE: list[tuple[dict[str, Any], str, bool]] = [
    # numbers as people write them
    (ROWS, "I found 212 additional rows.", True),
    (ROWS, "two hundred and twelve rows arrived late", True),
    (ROWS, "Two-hundred-twelve of them", True),
    (ROWS, "about 2.1e2 rows", True),
    (ROWS, "213, give or take", True),
    (ROWS, "217 rows", False),
    (ROWS, "the delta is -212", True),
    (ROWS, "rows affected:212", True),
    (ROWS, "| Monday | 212 |", True),
    (ROWS, "37/212 rows", True),
    (ROWS, "the 212-row gap", True),
    (ROWS, "212rows", True),
    (ROWS, "order 2120 and 1212 rows", False),
    (MONEY, "€1,145.00 too much", True),
    (MONEY, "1.145,00 EUR", True),
    (MONEY, "EUR 1 145", True),
    (MONEY, "CHF 1'145.50", True),
    (MONEY, "USD1145", True),
    (MONEY, "eleven hundred forty-five euros", True),
    (MONEY, "one thousand one hundred and forty five euros", True),
    (MONEY, "1.15k", True),
    (MONEY, "1.1k", False),
    (MONEY, "$1.145 million", False),
    (MONEY, "１１４５ euros", True),
    (SHARE, "4.0 % of the day", True),
    (SHARE, "4,0% late", True),
    (SHARE, "four percent of the day", True),
    (SHARE, "4.9% are affected", False),
    (FRACTION, "4 % of the rows", True),
    (FRACTION, "a share of .04", True),
    ({"number": 24}, "two dozen rigs", True),
    ({"number": 2.5}, "two point five days", True),
    ({"number": -3}, "it moved by −3 points", True),
    ({"number": -3}, "it moved by 3 points", False),
    ({"number": 2_300_000}, "2.3 million a year", True),
    # what only looks like a number
    (HOURS, "the allowance is 10 h", True),
    (HOURS, "a 10-hour allowance", True),
    (HOURS, "ten hours a month", True),
    (HOURS, "10h per rig", True),
    (HOURS, "somewhere in 10–12 h", True),
    (HOURS, "at 10:00 the allowance ends", False),
    (HOURS, "since 2024-10-10 the allowance differs", False),
    (HOURS, "since 10.10.2024 the allowance differs", False),
    (HOURS, "by 10 March the hours differ", False),
    (HOURS, "clause 10 sets the allowance", False),
    (HOURS, "rig IB-10 had hours of it", False),
    (HOURS, "loader v10 counts hours", False),
    (HOURS, "version 10 counts hours", False),
    (HOURS, "the 10th rig by hours", False),
    (HOURS, "see hours_10.csv", False),
    (HOURS, "010 hours", False),
    ({"number": 7, "near": "clause"}, "clause 7 says so", True),
    # near
    (ROWS_NEAR, "212 rows", True),
    (ROWS_NEAR, "rows that are late:\n\n212", True),
    (ROWS_NEAR, f"212 {LONG} rows", False),
    (ROWS_NEAR, "the deadline: 212", False),
    # identifiers
    (INVOICE, "INV-2024-0077 is off", True),
    (INVOICE, "inv 2024 0077 is off", True),
    (INVOICE, "INV/2024/0077", True),
    (INVOICE, "INV20240077", True),
    (INVOICE, "INV‑2024‑0077", True),
    (INVOICE, "INV-2024-00771", False),
    (INVOICE, "INV-2024-007", False),
    (INVOICE, "XINV-2024-0077", False),
    (AMENDMENT, "Under Amendment No. 3", True),
    (AMENDMENT, "amendment three", True),
    (AMENDMENT, "the third amendment", True),
    (AMENDMENT, "Amendments 1 and 3", True),
    (AMENDMENT, "Amendment 31", False),
    (AMENDMENT, "Amendment 1, three of them", False),
    (RIGS, "IB-104 and ib107 have suspended credits", True),
    (RIGS, "suspended: IB-104, 107", True),
    (RIGS, "credits of IB-104/109 are parked", True),
    (RIGS, "IB-104 has a suspended credit, twice: IB-104", False),
    (RIGS, f"suspended: IB-104. {LONG} {LONG} IB-107", False),
    (ORDERS, "order 45781 appears twice", True),
    (ORDERS, "order 457810 appears twice", False),
    # documents
    (FILE, "see late_rows_analysis.csv", True),
    (FILE, "In 'Late Rows Analysis' I counted them", True),
    (FILE, "docs/late-rows-analysis", True),
    (FILE, "my analysis of late rows", False),
    (FILE, "prelate rows analysis", False),
    # phrases, line breaks aside
    ({"phrase": r"not .* licen[cs]ed"}, "they are NOT\nreally licensed", True),
    ({"phrase": "owner", "near": "asset"}, "the owner of the asset", True),
    ({"phrase": "owner", "near": "asset"}, f"the owner {LONG} asset", False),
    # nesting
    ({"all": [AMENDMENT, {"any": [ROWS, HOURS]}]}, "Amendment 3 gives ten hours", True),
    ({"all": [AMENDMENT, {"any": [ROWS, HOURS]}]}, "Amendment 3 gives eleven hours", False),
]


def condition(**kinds: object) -> Condition:
    return Condition.model_validate(kinds)


@pytest.mark.parametrize(("shape", "message", "shown"), TABLE, ids=[f"{n}: {row[1][:40]}" for n, row in enumerate(TABLE)])
def test_table(shape: dict[str, Any], message: str, shown: bool) -> None:
    assert satisfied(Condition.model_validate(shape), message) is shown


@pytest.mark.parametrize(
    "stuffed",
    [
        " ".join(map(str, range(501))),
        ", ".join(map(str, range(200, 225))),
        " rows\n".join(map(str, range(205, 220))) + " rows",
        " or ".join(
            [
                "two hundred and " + word
                for word in ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
            ]
        ),
        ";".join(str(1.5**n) for n in range(-30, 30)) + ";212",
    ],
)
def test_a_list_of_guesses_shows_no_number(stuffed: str) -> None:
    assert not satisfied(Condition.model_validate(ROWS), stuffed)


def test_an_honest_table_shows_its_number() -> None:
    table = "\n".join(f"IB-{100 + n} | {n * 3} suspended | {n * 11.25} h" for n in range(1, 13))
    assert satisfied(Condition.model_validate(ROWS), f"{table}\nIn all 212 rows.")


def test_numbers_far_from_the_expected_one_do_no_harm_up_to_the_limit() -> None:
    far = [10_000 + n for n in range(MAX_NUMBERS)]
    assert satisfied(Condition.model_validate(ROWS), " ".join(f"{n};" for n in far[: MAX_NUMBERS - 1]) + " 212")
    assert not satisfied(Condition.model_validate(ROWS), " ".join(f"{n};" for n in far) + " 212")


def test_rivals_are_counted_with_their_context() -> None:
    others = [120 + 5 * n for n in range(MAX_FIGURES)]
    listed = "; ".join(f"{n} lines" for n in others)
    assert not satisfied(Condition.model_validate(ROWS_NEAR), f"{listed}; 212 lines")
    elsewhere = "; ".join(f"{n} tons" for n in others)
    assert satisfied(Condition.model_validate(ROWS_NEAR), f"{elsewhere}. {LONG * 2} It is 212 lines.")


@given(expected=st.integers(50, 5000), within=st.sampled_from([0.02, 0.05, 0.08, 0.1]))
def test_a_grid_as_fine_as_the_tolerance_shows_nothing(expected: int, within: float) -> None:
    """It has the expected number in it whatever that is, and no more than forty in all."""
    ratio = (1 + within) / (1 - within)
    grid = [expected / ratio**10 * ratio**step for step in range(21)]
    leaf = Condition.model_validate({"number": expected, "within": within, "near": "lines"})
    assert not satisfied(leaf, "; ".join(f"{number:.1f} lines" for number in grid))
    assert satisfied(leaf, f"{expected} lines of {3 * expected}, {0.8 * expected:.1f} lines in spring")


def test_enumerating_identifiers_shows_none() -> None:
    everything = ", ".join(f"order {n}" for n in range(45770, 45810))
    assert not satisfied(Condition.model_validate(ORDERS), everything)
    amendments = ", ".join(f"Amendment {n}" for n in range(1, 12))
    assert not satisfied(Condition.model_validate(AMENDMENT), amendments)


def test_what_one_message_shows_is_kept_for_the_next() -> None:
    both = Condition.model_validate({"all": [RIGS, ROWS]})
    first = scan([both], read("The credit of IB-104 is suspended: 212 rows."))
    second = scan([both], read("IB-107 has a suspended credit, too."))
    assert not holds(both, first, frozenset())
    assert not holds(both, second, frozenset())
    assert holds(both, merged(first, second), frozenset())


def test_a_fact_is_looked_up_in_the_ledger_and_never_in_the_message() -> None:
    fact = condition(fact="F_SCOPE")
    assert not satisfied(fact, "F_SCOPE was confirmed by the sponsor")
    assert satisfied(fact, "hello", frozenset({"F_SCOPE"}))


def _ways(n: int) -> st.SearchStrategy[str]:
    plain = [
        str(n),
        f"{n}.0",
        f"{n},0",
        f"{n:,}.00",
        f"{n:,}".replace(",", ".") + ",00",
        f"{n:,}".replace(",", " "),
        f"{n:,}".replace(",", "'"),
    ]
    return st.sampled_from([*plain, f"{n}%", f"{n} percent", f"~{n}", f"({n})", f"{n}x", f"${n}", f"{n}.", f"={n}", _words(n)])


def _words(n: int) -> str:
    small = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ]
    tens = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
    if n < 20:
        return small[n]
    if n < 100:
        return tens[n // 10 - 2] + ("-" + small[n % 10] if n % 10 else "")
    for size, name in ((10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if n >= size:
            rest = n % size
            return f"{_words(n // size)} {name}" + (f" {'and ' if rest < 100 else ''}{_words(rest)}" if rest else "")
    raise AssertionError(n)


written = st.integers(1, 5_000_000).flatmap(lambda n: st.tuples(st.just(n), _ways(n)))


@given(written)
def test_a_number_matches_in_any_of_the_ways_it_can_be_written(pair: tuple[int, str]) -> None:
    n, text = pair
    assert satisfied(condition(number=n), f"We counted {text} so far")


@given(st.integers(10, 900), st.floats(0, 0.2), st.integers(10, 900))
def test_numbers_outside_the_tolerance_do_not_match(expected: int, within: float, stated: int) -> None:
    inside = abs(stated - expected) <= max(expected * within, 1e-9 * expected)
    assert satisfied(condition(number=expected, within=within), f"We counted {stated} so far") is inside
    assert satisfied(condition(number=expected, within=within), f"We counted {_words(stated)} so far") is inside


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    for shape in (ROWS_NEAR, RIGS, AMENDMENT, FILE):
        satisfied(Condition.model_validate(shape), text)


@given(st.text(alphabet="0123456789.,'-/: kmeE%", max_size=60))
def test_any_mix_of_digits_and_separators_can_be_read(text: str) -> None:
    satisfied(condition(number=12), text)


KINDS = "exactly one of number, id, ids, document, phrase, fact, trial_report, all, any is expected"


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({}, f"x: {KINDS}, found none."),
        ({"number": 1, "id": "a"}, f"x: {KINDS}, found number, id."),
        ({"number": "{{ a }}"}, "x: number is still the template '{{ a }}'; a filled-in value is expected."),
        ({"ids": ["a", "a"], "at_least": 2}, "x: at_least is 2, but there are only 1 ids."),
        ({"id": "--"}, "x: '--' has neither letters nor digits to be recognised by."),
        ({"phrase": "("}, "x: '(' is not a regular expression: missing ), unterminated subpattern at position 0."),
        ({"any": [{"id": "a"}, {}]}, f"x (2): {KINDS}, found none."),
    ],
)
def test_a_condition_that_cannot_be_evaluated_is_refused(shape: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        check_condition(Condition.model_validate(shape), "x")
    assert str(error.value) == message


def test_evidence_that_can_never_be_complete_is_refused() -> None:
    evidence = Evidence.model_validate({"items": {"rows": ROWS}, "need": 2, "miss": "?"})
    with pytest.raises(ScenarioError) as error:
        check_evidence(evidence, "okafor/rule.evidence")
    assert str(error.value) == "okafor/rule.evidence: need is 2, but there are only 1 items."
