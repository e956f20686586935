"""`fdegym talk`: messages in, replies out, with what an agent never sees."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Fdegym
from tests.support.tiny_gateway import write_tiny_gateway
from tests.support.tiny_scenario import edit

pytestmark = pytest.mark.usefixtures("demo")


def test_a_whole_conversation(fdegym: Fdegym) -> None:
    code, out, err = fdegym("talk", "demo", "fenn", stdin="How many days do people have?\nbanana?\n:to marsh\nmay I change the rule?\n")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "demo.v1, seed 1, router embedded-1. Monday, 07 April 2025, 08:00. :help lists the commands.",
        "You write to Tom Fenn, Customer service (rate 0.02, patience 3).",
        "fenn> How many days do people have?",
        "Tom Fenn: 45 days. The thirty in the leaflet are from before the leather changed.",
        "  router: topics window 1.00",
        "  answer (window answer) | obtained F_WINDOW",
        "  charge 0.02, C 0.02 | Monday, 07 April 2025, 10:00",
        "fenn> banana?",
        "Tom Fenn: I only do the letters and the refunds.",
        "  router: miss",
        "  fallback",
        "  charge 0.02, C 0.04 | Monday, 07 April 2025, 12:00",
        "fenn> :to marsh",
        "You write to Nora Marsh, Owner (rate 0.03, patience 3).",
        "marsh> may I change the rule?",
        "Nora Marsh: First ask those who handle returns what our terms are.",
        "  router: topics approval 1.00",
        "  gate of approval: fact F_WINDOW there, fact F_CLOCK missing, refused missing",
        "  miss (approval miss)",
        "  charge 0.03, C 0.07 | Monday, 07 April 2025, 14:00",
        "(end of input)",
        "messages 3, days waited 0, C 0.07; facts: F_WINDOW; sign-offs: none; key facts missing: F_CLOCK",
    ]


def test_waiting_mail_and_the_ledger(fdegym: Fdegym) -> None:
    _, out, _ = fdegym("talk", "demo", "ruiz", stdin="hello\n:wait\n:wait until 2025-04-08 09:30\n:inbox\n:ledger\n:quit\nnever read\n")
    assert out.splitlines()[2:] == [
        "ruiz> hello",
        "Lena Ruiz: Automatic reply: I am back on Tuesday, 8 April.",
        "  automatic",
        "  charge 0, C 0 | Monday, 07 April 2025, 08:00",
        "ruiz> :wait",
        "  1 working day skipped | charge 0.01 | Tuesday, 08 April 2025, 08:00 | unread mail: 1",
        "ruiz> :wait until 2025-04-08 09:30",
        "  0 working days skipped | charge 0 | Tuesday, 08 April 2025, 09:30 | unread mail: 1",
        "ruiz> :inbox",
        "  new  Mon 07 Apr 09:00  Nora Marsh: Welcome",
        "    Glad you are here. The numbers are in data/shop.db, the rest is in people's heads. Nora",
        "ruiz> :ledger",
        "    1 Mon 07 Apr 08:00  ruiz: automatic                          0",
        "    2 Mon 07 Apr 08:00  wait                                     0.01",
        "    3 Tue 08 Apr 08:00  wait                                     0",
        "    4 Mon 07 Apr 09:00  inbox                                    0",
        "ruiz> :quit",
        "messages 1, days waited 1, C 0.01; facts: none; sign-offs: none; key facts missing: F_WINDOW, F_CLOCK",
    ]


def test_a_message_of_several_lines(fdegym: Fdegym) -> None:
    _, out, _ = fdegym("talk", "demo", "fenn", stdin=":paste\nGood morning,\n\nhow many days do people have?\n.\n")
    assert "Tom Fenn: 45 days. The thirty in the leaflet are from before the leather changed." in out.splitlines()
    assert "messages 1, days waited 0, C 0.02; facts: F_WINDOW;" in out


def test_topics_that_came_close_are_told(fdegym: Fdegym) -> None:
    _, out, _ = fdegym("talk", "demo", "fenn", "--variant", "v2", stdin="the order and the parcel?\n")
    behind = out.splitlines()[4:]
    assert behind[0].startswith("  router: ")
    assert any(line.startswith("  also looked at: ") or "clock_moved" in line for line in behind)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (":wiat 2", "  there is no command ':wiat'. Did you mean 'wait'? :help lists them."),
        (":wait soon", "  'soon' is no number of working days and no 'until 2025-04-08 08:00'."),
        (":wait 400", "  refused: cannot wait 400 days; a whole number from 1 to 60 is expected."),
        (":to fen", "  there is nobody with the id 'fen'. Did you mean 'fenn'? :who lists the directory."),
        (":inbox", "  no mail"),
    ],
)
def test_slips_and_empty_answers(fdegym: Fdegym, typed: str, said: str) -> None:
    _, out, _ = fdegym("talk", "demo", "fenn", stdin=f"{typed}\n")
    assert out.splitlines()[3] == said


@pytest.fixture
def shop(project: Path) -> Path:
    """The folder ``tasks/tiny_post``: two trial runs are allowed, and Ada Moss wants to see a report before she approves."""
    return write_tiny_gateway(project / "tasks" / "tiny_post")


DELIVERY = """\
def ship(order, *, db, gateway):
    [[grams]] = db.execute("SELECT grams FROM orders WHERE id = ?", [order["id"]]).fetchall()
    return "letter" if grams <= 500 else "parcel"
"""


def test_a_trial_run_is_evidence_afterwards(fdegym: Fdegym, shop: Path, project: Path) -> None:
    (project / "mine" / "system").mkdir(parents=True)
    (project / "mine" / "system" / "shipping.py").write_text(DELIVERY)
    lines = (
        "How heavy may a letter be?",
        ":trial",
        ":trial mine",
        ":trial mine",
        ":to moss",
        "Do you approve a new shipping rule? Please see TR-3.",
        "Do you approve a new shipping rule? Please see TR-2.",
        ":ledger",
    )
    code, out, err = fdegym("talk", "tiny_post", "pike", stdin="\n".join(lines))
    assert (code, err) == (0, "")
    shown = out.splitlines()
    at = shown.index("pike> :trial")
    assert shown[at + 1] == "  0 of 3 went as letters."
    assert shown[at + 2].startswith("  counted: letters 0, grams [")
    assert shown[at + 3] == "  report TR-1 | charge 0.01, C 0.03 | Tuesday, 04 March 2025, 11:00"
    at = shown.index("pike> :trial mine")
    grams = [int(each) for each in shown[at + 2].partition("[")[2].rstrip("]").split(",")]
    assert shown[at + 1] == f"  {sum(each <= 500 for each in grams)} of 3 went as letters."
    assert shown[at + 3 : at + 6] == [
        "  report TR-2 | charge 0.03, C 0.06 | Tuesday, 04 March 2025, 12:00",
        "pike> :trial mine",
        "  refused: no further trial run can be arranged",
    ]
    assert [line.partition(": ")[2] for line in shown if line.startswith("  gate of approval: ")] == [
        "fact F_LIMIT there, overpaid missing, tried missing",
        "fact F_LIMIT there, overpaid missing, tried there",
    ]
    assert "    2 Tue 04 Mar 10:00  trial TR-1                               0.01" in shown
    assert shown[-1].startswith("messages 3, trials 2, days waited 0, C 0.12; ")


def test_a_trial_run_where_there_is_none(fdegym: Fdegym) -> None:
    _, out, _ = fdegym("talk", "demo", "fenn", stdin=":trial\n")
    assert out.splitlines()[3] == "  refused: trial runs are not possible here"


def test_a_folder_that_holds_no_delivery(fdegym: Fdegym, shop: Path) -> None:
    _, out, _ = fdegym("talk", "tiny_post", "pike", stdin=":trial elsewhere\n")
    assert out.splitlines()[3] == "  elsewhere has no system/; a folder that holds a delivery is expected."


def test_a_mistake_in_the_trial_leaves_the_conversation_alone(fdegym: Fdegym, shop: Path) -> None:
    edit(shop, "world.py", 'return TrialReport(f"TR-{n}"', 'return TrialReport(f"TR-{nn}"')
    _, out, _ = fdegym("talk", "tiny_post", "pike", stdin=":trial\nHow heavy may a letter be?\n")
    assert out.splitlines()[3].startswith("  no trial run, and no charge: ")
    assert "name 'nn' is not defined" in out
    assert "Jonas Pike: Up to 500 g goes as a letter these days." in out
    assert "C 0.02; facts: F_LIMIT" in out


def test_who_and_help(fdegym: Fdegym) -> None:
    _, out, _ = fdegym("talk", "demo", "fenn", stdin=":who\n:help\n")
    assert "  marsh        Nora Marsh, Owner. Owns the shop; approves changes to how returns are handled" in out.splitlines()
    assert "(a message of several lines, up to a line with a single full stop),\n:help, :quit." in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["demo", "fen"],
            "fdegym talk: demo.v1 has nobody with the id 'fen'. Did you mean 'fenn'? The directory has: marsh, fenn, ruiz.\n",
        ),
        (
            ["demo", "fenn", "--variant", "v3"],
            "fdegym talk: the scenario demo has no variant 'v3'. Known: v1, v2.\n",
        ),
        (
            ["demo", "fenn", "--router", "embeded"],
            "fdegym talk: there is no router 'embeded'. Did you mean 'embedded'? Known: embedded, llm:MODEL, replay:PATH\n",
        ),
    ],
)
def test_what_does_not_exist(fdegym: Fdegym, arguments: list[str], message: str) -> None:
    assert fdegym("talk", *arguments) == (2, "", message)


def test_another_seed_is_another_world(fdegym: Fdegym) -> None:
    answers = {fdegym("talk", "demo", "fenn", "--seed", str(seed), stdin="How many days?\n")[1].splitlines()[3] for seed in range(2, 7)}
    assert len(answers) > 1


def test_piped_into_a_real_process(demo: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "pytest_fdegym.cli", "talk", "tasks/demo", "marsh"],
        input="What do you want to achieve?",
        cwd=demo.parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Nora Marsh: People write that we are stubborn about returns. I want to read less of that." in result.stdout
    assert "\n(end of input)\n" in result.stdout
