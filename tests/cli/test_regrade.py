"""fdegym regrade: stored deliveries graded again, as the scenario is now."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fdegym import Engagement
from pytest_fdegym.admission.actors import actor
from pytest_fdegym.agents.session import Deliverer
from pytest_fdegym.commands.regrade import CAUTION
from pytest_fdegym.regrading import GRADED_AGAIN
from pytest_fdegym.results.record import Record
from pytest_fdegym.results.store import Store, write_record
from pytest_fdegym.runner import Case, run
from pytest_fdegym.scenario.loader import load
from tests.cli.conftest import Fdegym
from tests.support.settings import python_agent, session
from tests.support.tiny_scenario import edit, write_tiny_scenario

GUESS = "solution:ablations/F_LIMIT/guess_250"


@pytest.fixture
def tiny(project: Path) -> Path:
    return write_tiny_scenario(project / "tasks/tiny_post")


def made(tiny: Path, deliverer: Deliverer) -> Record:
    """A run on v1, stored in ``results``."""
    with session(tiny.parents[1] / "results") as settings:
        return run(Case(load(tiny), "v1", "L3"), deliverer, settings)


def stored(tiny: Path) -> Record:
    (record,) = Store(tiny.parents[1] / "results").records()
    return record


def harder(tiny: Path) -> None:
    """The customer now counts the square of the share: as found 36, reference 100, the guess of 250 g 56.25."""
    edit(tiny, "world.py", "Measurement(100 * right / len(heldout.truth)", "Measurement(100 * (right / len(heldout.truth)) ** 2")


def test_a_changed_measure(tiny: Path, fdegym: Fdegym) -> None:
    before = made(tiny, actor(GUESS))
    assert before.scores is not None
    assert before.scores.score == 0.375
    harder(tiny)
    code, out, err = fdegym("regrade", "results")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"tiny_post.v1 at L3, run 1, agent {GUESS}: score 0.316, was 0.375",
        "caution: 1 was made in the scenario as it was before: if world.py writes something else into the site now, run the agent again "
        "(without --fde-resume)",
        "graded again 1, nothing changed 0, not possible 0",
    ]
    after = stored(tiny)
    assert after.scores is not None
    assert (after.scores.kpi_baseline, after.scores.kpi, after.scores.kpi_reference) == (36, 56.25, 100)
    assert after.regraded is not None
    assert (after.regraded.score, after.regraded.digest, after.regraded.times) == (0.375, before.digest, 1)
    assert after.notes[-1] == GRADED_AGAIN
    assert (after.started_at, after.agent, after.delivery_digest) == (before.started_at, before.agent, before.delivery_digest)


def test_approvals_facts_and_what_contacts_cost_stay(tiny: Path, fdegym: Fdegym) -> None:
    before = made(tiny, actor("expert"))
    edit(tiny, "people.yaml", "rate: 0.03", "rate: 0.3")
    edit(tiny, "people.yaml", "reference: SHIP-7", "reference: SHIP-8")
    harder(tiny)
    assert fdegym("regrade", "results", "--anyway")[0] == 0
    after = stored(tiny)
    assert after.scores is not None
    assert (after.scores.score, after.scores.contact_cost, after.incidents) == (0.95, 0.05, ())
    assert after.engaged == before.engaged


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("people.yaml", "rate: 0.03", "rate: 0.3"),
        ("briefs/L3.md", None, "Do better.\n"),
        ("site/system/limit.json", None, "99\n"),
        ("scenario.yaml", "limit: {value: 500,", "limit: {value: 400,"),
    ],
)
def test_what_an_agent_would_meet_otherwise_now_is_left_to_it(tiny: Path, fdegym: Fdegym, name: str, old: str | None, new: str) -> None:
    before = made(tiny, actor("literal"))
    if old is None:
        (tiny / name).write_text(new)
    else:
        edit(tiny, name, old, new)
    code, out, _ = fdegym("regrade", "results")
    assert (code, out.splitlines()) == (
        1,
        [
            "not graded again: tiny_post.v1 at L3, run 1, agent literal: its brief, people.yaml, the site or a parameter was "
            "changed, so that an agent meets something else now: --fde-resume runs it again, --anyway grades what was delivered then",
            "graded again 0, nothing changed 0, not possible 1",
        ],
    )
    assert stored(tiny) == before
    assert fdegym("regrade", "results", "--anyway")[0] == 0
    assert fdegym("regrade", "results")[1] == "graded again 0, nothing changed 1, not possible 0\n"


def test_what_other_variants_and_levels_have_is_no_matter(tiny: Path, fdegym: Fdegym) -> None:
    made(tiny, actor("literal"))
    edit(tiny, "scenario.yaml", "parameters: {limit: 700}", "parameters: {limit: 800}")
    (tiny / "briefs/L0.md").write_text("More.\n")
    assert fdegym("regrade", "results")[0] == 0


def test_a_binary_file_of_the_delivery(tiny: Path, fdegym: Fdegym) -> None:
    def agent(engagement: Engagement) -> None:
        (engagement.workspace / "system/limit.bin").write_bytes(b"\0\xff\x01\xf4")
        (engagement.workspace / "system/shipping.py").write_text(
            "from pathlib import Path\n"
            'LIMIT = int.from_bytes((Path(__file__).parent / "limit.bin").read_bytes()[2:], "big")\n'
            "def ship(order, *, db):\n"
            '    grams = db.execute("SELECT grams FROM orders WHERE id = ?", (order["id"],)).fetchone()[0]\n'
            '    return "letter" if grams <= LIMIT else "parcel"\n'
        )

    before = made(tiny, python_agent(agent))
    assert before.scores is not None
    assert before.scores.kpi == 100
    edit(tiny, "README.md", "A scenario for tests.", "A scenario.")
    assert fdegym("regrade", "results", "--all")[0] == 0
    after = stored(tiny)
    assert after.scores == before.scores
    assert [(each.id, each.count) for each in after.incidents] == [("unapproved_change", 80)]


def test_what_nothing_was_changed_of_is_left_alone(tiny: Path, fdegym: Fdegym) -> None:
    before = made(tiny, actor("literal"))
    assert fdegym("regrade", "results")[:2] == (0, "graded again 0, nothing changed 1, not possible 0\n")
    assert stored(tiny) == before
    fdegym("regrade", "results", "--all")
    fdegym("regrade", "results", "--all")
    after = stored(tiny)
    assert after.regraded is not None
    assert after.regraded.times == 2
    assert GRADED_AGAIN not in after.notes


def test_a_dry_run_changes_nothing(tiny: Path, fdegym: Fdegym) -> None:
    before = made(tiny, actor("literal"))
    harder(tiny)
    code, out, _ = fdegym("regrade", "results", "--dry-run")
    assert (code, out.splitlines()) == (
        0,
        [
            "tiny_post.v1 at L3, run 1, agent literal: would be graded again",
            CAUTION.format(count=1, were="was"),
            "would be graded again 1, nothing changed 0, not possible 0",
        ],
    )
    assert stored(tiny) == before


def test_the_scenario_is_found_where_tasks_says(tiny: Path, project: Path, fdegym: Fdegym) -> None:
    made(tiny, actor("literal"))
    other = write_tiny_scenario(project / "elsewhere/tiny_post")
    harder(other)
    assert fdegym("regrade", "results", "--tasks", "elsewhere")[1].splitlines()[-1] == "graded again 1, nothing changed 0, not possible 0"
    assert fdegym("regrade", "results", "--tasks", "nowhere")[2] == "fdegym regrade: --tasks: there is no folder nowhere\n"


def test_what_is_not_possible_is_named_and_the_rest_is_done(tiny: Path, project: Path, fdegym: Fdegym) -> None:
    record = made(tiny, actor("literal"))
    store = Store(project / "results")
    for changes in (
        {"run": 2},
        {"run": 3, "status": "void", "scores": None},
        {"run": 4, "gateway": "large-9"},
        {"run": 5, "variant": "v7"},
    ):
        other = record.model_copy(update=changes)
        write_record(store.paths(other).record, other)
    harder(tiny)
    code, out, _ = fdegym("regrade", "results")
    assert code == 1
    named = "tiny_post.v1 at L3, run {}, agent literal"
    missing = store.paths(record.model_copy(update={"run": 2})).handover.relative_to(project)
    assert out.splitlines() == [
        f"{named.format(1)}: score 0.000, was 0.000",
        f"not graded again: {named.format(2)}: {missing} is missing: the delivery was not kept",
        f"not graded again: {named.format(3)}: void: there is nothing to grade, --fde-resume runs it again",
        f"not graded again: {named.format(4)}: large-9 answered at the customer's gateway, and would have to answer again",
        f"not graded again: {named.format(5)}: the scenario has no v7 any more",
        CAUTION.format(count=1, were="was"),
        "graded again 1, nothing changed 0, not possible 4",
    ]
    assert [each.regraded is not None for each in store.records()] == [True, False, False, False, False]


def test_a_folder_without_records(project: Path, fdegym: Fdegym) -> None:
    (project / "empty").mkdir()
    assert fdegym("regrade", "empty") == (2, "", "fdegym regrade: empty: there is no record of a run.\n")
