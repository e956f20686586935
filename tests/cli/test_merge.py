"""fdegym merge: the results folders of a matrix become one."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pytest_fdegym.results.record import AgentIdentity, Record, Regraded
from pytest_fdegym.results.store import Store
from tests.cli.conftest import Fdegym
from tests.support.records import graded, void

WITH_OPTIONS = AgentIdentity(name="myagent", options={"b": "1", "a": "2"})
LATER = datetime(2026, 2, 1, tzinfo=UTC)


def store(folder: Path, *records: Record, handover: bytes | None = b"packed") -> Path:
    for record in records:
        with Store(folder).open_log(record) as log:
            Store(folder).save(record, log, f"the patch of {folder.name}\n", handover)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_shards_become_one_folder_with_all_their_files(project: Path, fdegym: Fdegym) -> None:
    one = store(project / "one", graded("oil_npt.v1"), graded("oil_npt.v2"))
    two = store(project / "two", void("oil_npt.v3"), graded("oil_npt.v1", agent=AgentIdentity(name="other")), handover=None)
    assert fdegym("merge", "out", "one", "two") == (0, "out: 4 runs of 3 tasks by 2 agents, 1 void\n", "")
    assert files(project / "out") == {**files(one), **files(two)}


def test_what_is_there_stays_and_merging_again_changes_nothing(project: Path, fdegym: Fdegym) -> None:
    store(project / "out", graded("oil_npt.v1"))
    store(project / "two", graded("oil_npt.v2"))
    for _ in range(2):
        assert fdegym("merge", "out", "two", "out")[1] == "out: 2 runs of 2 tasks by 1 agent, 0 void\n"


def test_one_agents_folder(project: Path, fdegym: Fdegym) -> None:
    store(project / "one", graded(), graded(agent=AgentIdentity(name="other")))
    assert fdegym("merge", "out", "one/other")[1] == "out: 1 run of 1 task by 1 agent, 0 void\n"
    assert [record.agent.name for record in Store(project / "out").records()] == ["other"]


def test_two_records_of_one_run(project: Path, fdegym: Fdegym) -> None:
    store(project / "one", graded(uplift=0.2, started_at=LATER))
    store(project / "two", graded(uplift=0.1), handover=None)
    assert fdegym("merge", "out", "one", "two") == (
        2,
        "",
        "fdegym merge: one/myagent/oil_npt.v1.L3.run1.json and two/myagent/oil_npt.v1.L3.run1.json are two records of one run (oil_npt.v1 "
        "at L3, run 1, by myagent); --newest takes the one that was begun later.\n",
    )
    assert not (project / "out").exists()
    for order in (("one", "two"), ("two", "one")):
        out = f"out_{order[0]}"
        assert fdegym("merge", "--newest", out, *order)[:2] == (
            0,
            f"of 1 run the newer record was taken\n{out}: 1 run of 1 task by 1 agent, 0 void\n",
        )
        assert files(project / out) == files(project / "one"), "with its own log, patch and handover"


def test_newest_replaces_what_is_there_and_its_files(project: Path, fdegym: Fdegym) -> None:
    store(project / "out", graded(uplift=0.1))
    two = store(project / "two", graded(uplift=0.2, started_at=LATER), handover=None)
    fdegym("merge", "--newest", "out", "two")
    assert files(project / "out") == files(two), "the older handover is gone"


def test_of_one_run_the_regraded_record_is_newer(project: Path, fdegym: Fdegym) -> None:
    again = Regraded(at=LATER, times=1, harness_version="0", scoring_version=1, digest="d", world_digest="e", score=0.1)
    store(project / "one", graded(uplift=0.1))
    store(project / "two", graded(uplift=0.3, regraded=again))
    fdegym("merge", "--newest", "out", "two", "one")
    assert [record.regraded for record in Store(project / "out").records()] == [again]


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"agent": AgentIdentity(name="myagent", version="2")}, "the agent is myagent in {one} and myagent 2 in {two}"),
        (
            {"agent": WITH_OPTIONS},
            "the agent is myagent in {one} and myagent a=2 b=1 in {two}",
        ),
        ({"scoring_version": 2}, "the scoring version is 1 in {one} and 2 in {two}"),
        ({"router": "llm:judge"}, "the router is embedded-1 in {one} and llm:judge in {two}"),
        ({"world_digest": "f" * 64}, "the digest of oil_npt.v1 is eeeeeeeeeeeeeeee in {one} and ffffffffffffffff in {two}"),
    ],
)
def test_what_cannot_stand_in_one_table(project: Path, fdegym: Fdegym, changes: dict[str, Any], what: str) -> None:
    store(project / "one", graded())
    store(project / "two", graded(run=2, **changes))
    text = what.format(one="one/myagent/oil_npt.v1.L3.run1.json", two="two/myagent/oil_npt.v1.L3.run2.json")
    assert fdegym("merge", "out", "one", "two") == (2, "", f"fdegym merge: not merged: {text}; such scores cannot stand in one table.\n")


def test_what_better_did_not_differ(project: Path, fdegym: Fdegym) -> None:
    store(project / "one", graded())
    two = store(project / "two", graded(run=2, isolation="landlock"))
    (two / "myagent/oil_npt.v1.L3.run3.events.jsonl.part").touch()
    assert fdegym("merge", "out", "one", "two")[1].splitlines() == [
        "caution: 2 sandboxes among these runs: bubblewrap, landlock",
        "not ended, and not merged: two/myagent/oil_npt.v1.L3.run3.events.jsonl.part",
        "out: 2 runs of 1 task by 1 agent, 0 void",
    ]


def test_folders_without_records(project: Path, fdegym: Fdegym) -> None:
    (project / "empty").mkdir()
    assert fdegym("merge", "out", "empty") == (2, "", "fdegym merge: empty: there is no record of a run.\n")
    assert fdegym("merge", "out", "nowhere") == (2, "", "fdegym merge: there is no results folder nowhere.\n")
    (project / "taken").touch()
    store(project / "one", graded())
    assert fdegym("merge", "taken", "one")[2].startswith("fdegym merge: taken cannot be written: ")


def test_a_run_that_a_session_is_making_at_the_moment(project: Path, fdegym: Fdegym) -> None:
    store(project / "one", graded())
    lock = Store(project / "out").paths(graded()).lock
    lock.parent.mkdir(parents=True)
    code = "import fcntl, sys; f = open(sys.argv[1], 'a'); fcntl.lockf(f, fcntl.LOCK_EX); print('held', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        found = fdegym("merge", "out", "one")
        holder.communicate("\n")
    assert found == (
        2,
        "",
        "fdegym merge: out/myagent/oil_npt.v1.L3.run1.json: a process is running this now; merge when it has ended.\n",
    )
