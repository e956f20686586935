"""Records on disk: whole or not at all, found again, and not taken for source by git."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from pytest_fdegym.observer import Event
from pytest_fdegym.results.files import write_whole
from pytest_fdegym.results.record import AgentIdentity, Record
from pytest_fdegym.results.store import Store, StoredRun
from tests.support.records import graded


def save(store: Store, record: Record, *events: Event, patch: str = "") -> StoredRun:
    with store.open_log(record) as log:
        for event in events:
            log.notify(event)
        return store.save(record, log, patch)


def test_a_run_is_three_files_and_the_record_reads_back(tmp_path: Path) -> None:
    record = graded(cost=0.099)
    event = Event("message", {"entry": {"person": "okafor", "charge": 0.01}}, at=datetime(2025, 3, 4, 10))
    paths = save(Store(tmp_path), record, Event("start"), event, patch="a patch\n")
    assert [path.relative_to(tmp_path).as_posix() for path in (paths.record, paths.events, paths.patch)] == [
        "myagent/oil_npt.v1.L3.run1.json",
        "myagent/oil_npt.v1.L3.run1.events.jsonl",
        "myagent/oil_npt.v1.L3.run1.patch",
    ]
    assert Store(tmp_path).records() == [record]
    start, message = (json.loads(line) for line in paths.events.read_text().splitlines())
    assert start == {"kind": "start", "time": start["time"], "at": None}
    assert message == {
        "kind": "message",
        "time": message["time"],
        "at": "2025-03-04T10:00:00",
        "entry": {"person": "okafor", "charge": 0.01},
    }
    assert paths.patch.read_text() == "a patch\n"
    assert (tmp_path / ".gitignore").read_text() == "*\n"


def test_a_newer_run_takes_the_place_of_an_older_one_and_another_seed_does_not(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for record in (graded(uplift=0.1), graded(uplift=0.2), graded(uplift=0.3, seed=7)):
        save(store, record)
    assert sorted(record.scores.uplift for record in store.records() if record.scores) == [0.2, 0.3]


def test_an_agents_name_cannot_lead_out_of_the_store(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    for name in ("../../etc", "cmd:rm -rf / #", "...", "a/b"):
        assert store.paths(graded(agent=AgentIdentity(name=name))).record.resolve().is_relative_to(tmp_path / "store")


def test_an_agent_that_is_a_whole_shell_script_has_a_short_folder_of_its_own(tmp_path: Path) -> None:
    one, two = ("cmd:set -e; " + "echo hello; " * 1000 + last for last in ("true", "false"))
    names = [
        Store(tmp_path).paths(graded(agent=AgentIdentity(name=name))).record.parent.name for name in (one, two, "myagent", "do-nothing")
    ]
    assert names[0] != names[1]
    assert [len(name) <= 50 for name in names] == [True] * 4
    assert names[2:] == ["myagent", "do-nothing"]


def test_what_cannot_be_written_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    write_whole(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "\ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
