"""The event log: followed while the run lasts, whole when it is over, and never the reason why a run is lost."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from textwrap import dedent

import pytest

from pytest_fdegym.observer import Event
from pytest_fdegym.results.events import EventLog
from pytest_fdegym.results.record import AgentIdentity
from pytest_fdegym.results.store import RunKey, Store
from tests.support.records import graded

KEY = RunKey(AgentIdentity(name="myagent"), "oil_npt.v1", "L3")
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def kinds(path: Path) -> list[str]:
    text = path.read_text()
    assert text == "" or text.endswith("\n"), "whole lines"
    return [json.loads(line)["kind"] for line in text.splitlines()]


def test_each_event_is_there_as_soon_as_it_happened(tmp_path: Path) -> None:
    with EventLog(tmp_path / "run.events.jsonl", lambda: NOON) as log:
        log.notify(Event("start", {"task": "oil_npt.v1"}))
        assert log.part.read_text() == '{"kind": "start", "time": "2026-01-01T12:00:00+00:00", "at": null, "task": "oil_npt.v1"}\n'
        log.notify(Event("inbox", {"messages": 1}, at=datetime(2025, 3, 4, 9)))
        assert log.part.read_text().splitlines()[1] == (
            '{"kind": "inbox", "time": "2026-01-01T12:00:00+00:00", "at": "2025-03-04T09:00:00", "messages": 1}'
        )
        assert not log.path.exists()


def test_whoever_follows_it_reads_on_to_the_end(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.open_log(KEY) as log, log.part.open() as reader:
        log.notify(Event("start"))
        first = reader.read()
        log.notify(Event("grade"))
        paths = store.save(graded(), log, "")
        assert (first + reader.read()).splitlines() == paths.events.read_text().splitlines()
    assert sorted(path.name for path in paths.events.parent.iterdir()) == [
        "oil_npt.v1.L3.run1.events.jsonl",
        "oil_npt.v1.L3.run1.json",
        "oil_npt.v1.L3.run1.patch",
    ]


def test_git_is_told_before_the_run_begins(tmp_path: Path) -> None:
    with Store(tmp_path).open_log(KEY):
        assert (tmp_path / ".gitignore").read_text() == "*\n"


KILLED = """
    import os, sys
    from pathlib import Path
    from pytest_fdegym.observer import Event
    from pytest_fdegym.results.record import AgentIdentity
    from pytest_fdegym.results.store import RunKey, Store
    with Store(Path(sys.argv[1])).open_log(RunKey(AgentIdentity(name="myagent"), "oil_npt.v1", "L3")) as log:
        for _ in range(3):
            log.notify(Event("message", {"text": "x" * 100_000}))
        os.kill(os.getpid(), 9)
"""


def test_a_killed_session_leaves_the_unfinished_log_and_the_next_run_replaces_it(tmp_path: Path) -> None:
    code = subprocess.run([sys.executable, "-c", dedent(KILLED), str(tmp_path)], check=False).returncode
    assert code == -signal.SIGKILL
    store = Store(tmp_path)
    paths = store.paths(KEY)
    (part,) = paths.record.parent.iterdir()
    assert part.name == "oil_npt.v1.L3.run1.events.jsonl.part"
    assert kinds(part) == ["message"] * 3
    assert store.records() == []
    with store.open_log(KEY) as log:
        log.notify(Event("start"))
        assert kinds(part) == ["start"]
        store.save(graded(), log, "")
    assert kinds(paths.events) == ["start"]
    assert not part.exists()


def test_a_run_that_ends_by_an_exception_leaves_what_happened_until_then(tmp_path: Path) -> None:
    log = Store(tmp_path).open_log(KEY)

    def interrupted() -> None:
        with log:
            log.notify(Event("start"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert kinds(log.part) == ["start"]


def test_what_a_thread_says_when_the_run_is_over_is_dropped(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.open_log(KEY) as log:
        log.notify(Event("start"))
        store.save(graded(), log, "")
        log.notify(Event("command"))
    log.notify(Event("command"))
    assert kinds(log.path) == ["start"]


def test_events_of_many_threads_are_whole_lines(tmp_path: Path) -> None:
    def twenty() -> None:
        for _ in range(20):
            log.notify(Event("usage", {"text": "y" * 9000}))

    with EventLog(tmp_path / "log") as log:
        threads = [threading.Thread(target=twenty) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert kinds(log.part) == ["usage"] * 160


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file may grow beyond 4,000 bytes, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    signal.signal(signal.SIGXFSZ, handler)


def test_a_disk_that_fills_up_costs_the_following_and_no_event(tmp_path: Path, small_files: None) -> None:
    with EventLog(tmp_path / "log") as log:
        for _ in range(5):
            log.notify(Event("message", {"text": "z" * 1000}))
        assert kinds(log.part) == ["message"] * 3, "whole lines, as many as fit"
        with pytest.raises(OSError, match="File too large"):
            log.finish()
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        log.finish()
    assert kinds(log.path) == ["message"] * 5
    assert not log.part.exists()


def test_a_folder_that_cannot_be_made_costs_the_following_only(tmp_path: Path) -> None:
    (tmp_path / "myagent").write_text("a file where a folder is to be")
    store = Store(tmp_path)
    with store.open_log(KEY) as log:
        log.notify(Event("start"))
        with pytest.raises(OSError, match=r"exists|Not a directory"):
            store.save(graded(), log, "")
        os.unlink(tmp_path / "myagent")
        assert kinds(store.save(graded(), log, "").events) == ["start"]


def test_two_sessions_on_the_same_run_do_not_mix_their_logs(tmp_path: Path) -> None:
    one, two = Store(tmp_path), Store(tmp_path)
    with one.open_log(KEY) as first, two.open_log(KEY) as second:
        first.notify(Event("void"))
        second.notify(Event("start"))
        assert kinds(one.save(graded(), first, "").events) == ["void"]
        assert kinds(second.part) == ["start"], "the other session's is left alone"
        second.notify(Event("grade"))
        assert kinds(two.save(graded(), second, "").events) == ["start", "grade"]
    assert not second.part.exists()
