"""The check `canaries`: a scenario (or a harness) that gives away a piece of truth is caught, one test for each way to do so."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

import pytest

from pytest_fdegym.admission.canaries import Canaries
from pytest_fdegym.admission.contents import Contents
from pytest_fdegym.admission.verdict import Verdict
from pytest_fdegym.admission.withheld import Unanswered, rows_in, rows_of
from pytest_fdegym.people import inbox
from pytest_fdegym.people.topics import Part
from pytest_fdegym.runner import Settings
from pytest_fdegym.sandbox import process
from pytest_fdegym.sandbox.base import Bounds, Layout
from pytest_fdegym.sandbox.unconfined import Unconfined
from pytest_fdegym.scenario.loader import load
from tests.support.settings import session
from tests.support.tiny_gateway import write_tiny_gateway
from tests.support.tiny_scenario import edit, write_tiny_scenario

BUILD = '(site / "data").mkdir()\n'
OWN = "Path(__file__).parent"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with session(tmp_path_factory.mktemp("unused"), store=None) as settings:
        yield settings


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_tiny_scenario(tmp_path / "tiny_post")


@pytest.fixture
def gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_tiny_gateway(tmp_path / "tiny_post")


def found(folder: Path, settings: Settings, variant: str = "v1") -> Verdict:
    return Canaries(load(folder), variant).run(settings, [1])


def careless(folder: Path, *lines: str) -> None:
    """Let the scenario's build do `lines`, too."""
    edit(folder, "world.py", "import sqlite3\n", "import sqlite3\nfrom pathlib import Path\n\nimport yaml\n")
    edit(folder, "world.py", BUILD, BUILD + "".join(f"    {line}\n" for line in lines))


@pytest.mark.parametrize("variant", ["v1", "v2"])
def test_nothing_is_found_in_a_good_scenario(tiny: Path, settings: Settings, variant: str) -> None:
    before = dict(os.environ)
    assert found(tiny, settings, variant) == Verdict("canaries", True, (), (), ())
    assert dict(os.environ) == before


def test_nothing_is_found_with_trial_runs_and_a_gateway(gateway: Path, settings: Settings) -> None:
    assert found(gateway, settings) == Verdict("canaries", True, (), (), ())


# --- what a scenario can do wrong ---


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("solutions/reference/system/shipping.py.j2", f'({OWN} / "solutions/reference/system/shipping.py.j2").read_text()'),
        ("world.py", "Path(__file__).read_text()"),
        ("README.md", f'({OWN} / "README.md").read_text()'),
        ("briefs/L0.md", f'({OWN} / "briefs/L0.md").read_text()'),
        ("scenario.yaml", f'({OWN} / "scenario.yaml").read_text()'),
    ],
)
def test_a_file_that_is_not_the_agents(tiny: Path, settings: Settings, file: str, line: str) -> None:
    careless(tiny, f'(site / "docs/notes.md").write_text({line})')
    problems = found(tiny, settings).problems
    assert f"docs/notes.md (workspace): holds {file}" in problems


def test_a_folder_that_is_not_the_agents_behind_a_link(tiny: Path, settings: Settings) -> None:
    careless(tiny, f'(site / "docs/old").symlink_to({OWN} / "solutions/literal", target_is_directory=True)')
    assert found(tiny, settings).problems == (
        "docs/old/manifest.yaml (workspace): holds solutions/literal/manifest.yaml",
        "docs/old/system/labels.py (workspace): holds solutions/literal/system/labels.py",
    )


def test_a_file_that_can_hold_no_remark(tiny: Path, settings: Settings) -> None:
    (tiny / "solutions/reference/system/tariff.json").write_text('{"letter": {"limit_in_grams": 500}}\n')
    careless(tiny, f'(site / "docs/new.json").write_bytes(({OWN} / "solutions/reference/system/tariff.json").read_bytes())')
    assert found(tiny, settings).problems == ("docs/new.json (workspace): is a copy of solutions/reference/system/tariff.json",)


def test_what_world_py_reads_and_what_a_solution_shares_with_the_site(tiny: Path, settings: Settings) -> None:
    (tiny / "names.json").write_text('["Ada Moss", "Jonas Pike"]')
    for place in ("site/system", "solutions/literal/system"):
        (tiny / place / "tariff.json").write_text('{"letter": {"limit_in_grams": 100}}\n')
    careless(tiny, f'(site / "docs/names.md").write_text(str(yaml.safe_load(({OWN} / "names.json").read_text())))')
    assert found(tiny, settings).problems == ()


def test_a_fact_in_a_document(tiny: Path, settings: Settings) -> None:
    careless(
        tiny,
        f'facts = yaml.safe_load(({OWN} / "scenario.yaml").read_text())["facts"]',
        '(site / "docs/rules.md").write_text(facts["F_LIMIT"]["text"])',
    )
    assert found(tiny, settings).problems == ("docs/rules.md (workspace): holds facts.F_LIMIT.text of scenario.yaml",)


def test_an_answer_in_a_database(tiny: Path, settings: Settings) -> None:
    """One too long for a page, which SQLite cuts in two."""
    careless(
        tiny,
        f'answer = yaml.safe_load(({OWN} / "people.yaml").read_text())["people"]["pike"]["topics"]["limit"]["answer"]',
        'with sqlite3.connect(site / "data" / "mail.db") as db:',
        '    db.execute("CREATE TABLE mail (text TEXT)")',
        '    db.execute("INSERT INTO mail VALUES (?)", ("x" * 9000 + answer + "x" * 9000,))',
        "db.close()",
    )
    assert found(tiny, settings).problems == ("data/mail.db (workspace): holds the answer of pike to limit",)


def test_a_number_of_another_variant_in_a_database(tiny: Path, settings: Settings) -> None:
    careless(
        tiny,
        f'other = yaml.safe_load(({OWN} / "scenario.yaml").read_text())["variants"]["v2"]["parameters"]',
        'with sqlite3.connect(site / "data" / "tariffs.db") as db:',
        '    db.execute("CREATE TABLE tariffs (grams INTEGER)")',
        '    db.execute("INSERT INTO tariffs VALUES (?)", (other["limit"],))',
        "db.close()",
    )
    assert found(tiny, settings).problems == ("data/tariffs.db (workspace): holds variants.v2.parameters.limit of scenario.yaml",)


def test_the_originals_value_in_another_variant(tiny: Path, settings: Settings) -> None:
    careless(
        tiny,
        f'value = yaml.safe_load(({OWN} / "scenario.yaml").read_text())["parameters"]["limit"]["value"]',
        '(site / "docs/tariff.csv").write_text(f"grams\\n{value}\\n")',
    )
    assert found(tiny, settings).problems == ()
    assert found(tiny, settings, "v2").problems == ("docs/tariff.csv (workspace): holds parameters.limit.value of scenario.yaml",)


def test_a_text_of_another_variant(tiny: Path, settings: Settings) -> None:
    edit(tiny, "scenario.yaml", "parameters:\n  limit:", "parameters:\n  carrier: {value: An Post}\n  limit:")
    edit(tiny, "scenario.yaml", "parameters: {limit: 700}", "parameters: {limit: 700, carrier: Fast Freight}")
    careless(
        tiny,
        f'other = yaml.safe_load(({OWN} / "scenario.yaml").read_text())["variants"]["v2"]["parameters"]',
        '(site / "docs/carrier.md").write_text(other["carrier"])',
    )
    assert found(tiny, settings).problems == ("docs/carrier.md (workspace): holds variants.v2.parameters.carrier of scenario.yaml",)


def test_traffic_of_the_evaluation_in_the_history(tiny: Path, settings: Settings) -> None:
    edit(tiny, "world.py", "    weights = list(range(5, 1001, 5))\n    rng.shuffle(weights)\n", "    weights = list(range(5, 1001, 5))\n")
    edit(tiny, "world.py", "        rng.shuffle(rows)\n", '        rows.append(("N17", 90))\n')
    assert found(tiny, settings).problems == ("data/orders.db (workspace): holds a row that production inserts into orders.orders, 'N17'",)


def test_traffic_of_the_evaluation_in_a_trial_run(gateway: Path, settings: Settings) -> None:
    edit(
        gateway,
        "world.py",
        'orders = [{"id": f"S{n}{number}", "grams": rng.randrange(5, 1000)} for number in range(3)]',
        "orders = heldout(world, __import__('pytest_fdegym.scenario.streams').scenario.streams.stream('tiny_post', 1, 'heldout'))"
        ".traffic[:3]",
    )
    (problem,) = found(gateway, settings).problems
    assert problem.startswith("trial: the shadow traffic holds a row that production inserts into orders.orders in the evaluation, 'N")


def test_a_refusal_that_tells(tiny: Path, settings: Settings) -> None:
    line = edit(
        tiny, "people.yaml", "miss: Talk to Jonas in the post room first.", 'miss: "A letter may weigh up to {{ limit }} g, says Jonas."'
    )
    assert found(tiny, settings).problems == (
        f"tiny_post/people.yaml:{line}: people.moss.topics.approval.requires.miss: states '500', as the key fact F_LIMIT does, "
        "before anything was shown or asked",
    )


def test_a_trial_report_that_tells(gateway: Path, settings: Settings) -> None:
    edit(gateway, "world.py", "import re\n", "import re\nfrom pathlib import Path\n\nimport yaml\n")
    text = (gateway / "world.py").read_text()
    assert 'f"{letters} of 3 went as letters."' in text
    facts = f'str(yaml.safe_load(({OWN} / "scenario.yaml").read_text())["facts"])'
    (gateway / "world.py").write_text(text.replace('f"{letters} of 3 went as letters."', facts))
    assert found(gateway, settings).problems == ("the report of a trial run: holds facts.F_LIMIT.text of scenario.yaml",)


def test_a_model_behind_the_gateway_that_tells(gateway: Path, settings: Settings) -> None:
    edit(gateway, "world.py", "import re\n", "import re\nfrom pathlib import Path\n")
    edit(
        gateway,
        "world.py",
        '    if "boom" in request.text:',
        f'    if request.stage == "work":\n        return ({OWN} / "README.md").read_text()\n    if "boom" in request.text:',
    )
    assert found(gateway, settings).problems == ("the gateway's model at work: holds README.md",)


# --- what the harness could do wrong ---


def test_an_answer_before_its_conditions(tiny: Path, settings: Settings) -> None:
    """With people who answer whatever the conditions are."""

    def speak(name: str, topic: object, *_: object) -> Part:
        return Part(name, topic, "answer", topic.answer)  # type: ignore[arg-type, attr-defined]  # stands in for the people's own

    with mock.patch("pytest_fdegym.people.conversation.speak", speak):
        problems = found(tiny, settings).problems
    assert problems == ("moss, asked as in the examples of approval: holds the answer of moss to approval",)


def test_mail_before_its_time(tiny: Path, settings: Settings) -> None:
    def all_mail(messages: dict[str, object], start: object, ledger: object, now: object) -> list[tuple[str, object]]:
        return [(name, now) for name in messages]

    with mock.patch("pytest_fdegym.people.conversation.arrived", all_mail):
        problems = found(tiny, settings).problems
    assert inbox.arrived is not all_mail
    assert problems == ("the mail 'Welcome': holds the mail welcome, which has not arrived yet",)


class Leaky(Unconfined):
    """A sandbox that confines nothing, and hands its environment on."""

    name = "leaky"

    def _job(self, command: Sequence[str], layout: Layout, bounds: Bounds) -> process.Job:
        job = super()._job(command, layout, bounds)
        return dataclasses.replace(job, environment={**job.environment, "FDEGYM_CANARY": os.environ["FDEGYM_CANARY"]})


def test_a_sandbox_that_leaks(tiny: Path, settings: Settings) -> None:
    problems = found(tiny, dataclasses.replace(settings, sandbox=Leaky())).problems
    for who in ("a command of the agent's", "an agent that is a command", "a delivered system"):
        assert f"{who}: sees the harness's FDEGYM_CANARY in its environment" in problems
        assert any(each.startswith(f"{who}: sees solutions/reference/manifest.yaml in /") for each in problems)


def test_a_key_in_the_environment_of_an_agent(tiny: Path, settings: Settings) -> None:
    with mock.patch("pytest_fdegym.agents.command_environment.INHERITED", ("FDEGYM_CANARY",)):
        problems = found(tiny, settings).problems
    assert problems == ("an agent that is a command: sees the harness's FDEGYM_CANARY in its environment",)


def test_without_a_sandbox_nothing_is_said_of_processes(tiny: Path, settings: Settings) -> None:
    verdict = found(tiny, dataclasses.replace(settings, sandbox=Unconfined()))
    assert verdict.passed
    assert verdict.warnings == ("no sandbox: what commands and deliveries see was not looked at",)


# --- rows in files that are no database ---


def test_rows_in_text_files() -> None:
    system = Unanswered()
    system.insert("desk", "tickets", [{"id": f"T-{number}", "site": "Harbour", "text": f"pump {number} is loud"} for number in range(9)])
    system.calls("answer", [[{"id": f"T-{number}"}] for number in range(9)])
    rows = rows_of(system)
    assert len(rows) == 9  # a number alone is no row
    leaked = Contents("export.csv", b"T-1,Kiln,all is well\nT-3,Harbour,pump 3 is loud\n")
    assert list(rows_in(rows, [leaked])) == ["export.csv (workspace): holds a row that production inserts into desk.tickets, 'T-3'"]
