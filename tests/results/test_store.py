"""Records on disk: whole or not at all, found again, and not taken for source by git."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path

import pytest

from pytest_fdegym._version import __version__
from pytest_fdegym.errors import UsageError
from pytest_fdegym.observer import Event
from pytest_fdegym.results.files import write_whole
from pytest_fdegym.results.record import AgentIdentity, Record
from pytest_fdegym.results.store import Store, StoredRun, read_record
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


def test_records_are_for_their_user_and_what_is_shared_for_whom_the_umask_lets(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        record = save(Store(tmp_path), graded()).record
        write_whole(tmp_path / "main.json", "{}", shared=True)
        write_whole(tmp_path / "main.json", "{}", shared=True)
    finally:
        os.umask(before)
    assert record.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "main.json").stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == [".gitignore", "main.json", "myagent"]


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


def test_a_newer_run_without_a_handover_does_not_keep_the_older_ones(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.open_log(graded()) as log:
        paths = store.save(graded(), log, "", b"packed")
    assert paths.handover.read_bytes() == b"packed"
    assert not save(store, graded()).handover.exists()


def test_what_a_disk_does_not_take_leaves_the_old_run_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    paths = save(store, graded(uplift=0.1), patch="old")

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space left"):
            save(store, graded(uplift=0.2), patch="new")
    assert (store.records(), paths.patch.read_text()) == ([graded(uplift=0.1)], "old")


@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_a_session_that_ends_while_it_stores_mixes_no_two_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    store = Store(tmp_path)
    with store.open_log(graded()) as log:
        paths = store.save(graded(uplift=0.1), log, "old", b"old")
    renamed, steps = os.replace, iter(range(1, 5))

    def interrupted(old: Path, new: Path) -> None:
        if next(steps) == step:
            raise KeyboardInterrupt
        renamed(old, new)

    with monkeypatch.context() as patched, store.open_log(graded()) as log:
        patched.setattr("os.replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.save(graded(uplift=0.2), log, "new", b"new")
    assert not paths.record.exists(), "what does not belong together does not count"
    assert not [path for path in tmp_path.rglob(".*") if path.name != ".gitignore"]


def test_tidy_takes_away_what_a_killed_session_left_and_nothing_else(tmp_path: Path) -> None:
    store = Store(tmp_path)
    paths = save(store, graded())
    kept = {*tmp_path.rglob("*")}
    for left in (paths.growing, *(path.with_name(f".{path.name}.abcd_123") for path in (paths.record, paths.patch, paths.handover))):
        left.write_text("half")
    store.tidy(graded())
    assert {*tmp_path.rglob("*")} == kept


def test_a_record_of_another_schema_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**json.loads(graded().model_dump_json()), "schema_version": 2, "harness_version": "9.1"}))
    with pytest.raises(UsageError) as refused:
        read_record(path)
    assert str(refused.value) == (
        f"{path} has schema version 2; this release reads 1. Use the release that wrote it (pytest-fdegym 9.1), or another results folder."
    )


def test_a_record_of_an_older_release_is_read(tmp_path: Path) -> None:
    old = json.loads(graded().model_dump_json())
    for name in ("limits", "metered", "regraded", "audit", "gateway", "world_digest", "scoring_version", "fault"):
        del old[name]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(old))
    record = read_record(path)
    assert (record.limits, record.metered, record.regraded, record.world_digest) == (None, None, None, None)


def test_a_record_with_fields_of_a_newer_release_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**json.loads(graded().model_dump_json()), "mood": "good", "harness_version": "9.1"}))
    with pytest.raises(UsageError) as refused:
        read_record(path)
    assert str(refused.value) == (
        f"{path} is not the record of a run: mood: Extra inputs are not permitted (pytest-fdegym 9.1); this is {__version__}"
    )


@pytest.mark.parametrize("text", ["", '{"schema_version": 1', "[]", "\x00"])
def test_half_a_record_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"a\.json is not the record of a run: "):
        read_record(path)
