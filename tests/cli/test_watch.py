"""``fdegym watch``: the runs of a results folder that are under way, from the logs that grow there."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pytest_fdegym.cli import main
from pytest_fdegym.commands.watch import lines_about
from pytest_fdegym.limits import Limits, LimitTracker
from pytest_fdegym.observer import Event
from pytest_fdegym.results.record import AgentIdentity
from pytest_fdegym.results.store import RunKey, Store
from tests.support.records import graded

KEY = RunKey(AgentIdentity(name="myagent"), "oil_npt.v1", "L3")
BEGUN = Event("start", {"task": "oil_npt.v1", "level": "L3", "run": 1, "seed": 1, "agent": "myagent"})


def lines(results: Path, minutes: float = 0) -> list[str]:
    return list(lines_about(results, datetime.now(UTC) + timedelta(minutes=minutes)))


def test_a_run_from_its_start_to_its_record(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.open_log(KEY) as log:
        assert lines(tmp_path) == [], "nothing is known of it yet"
        log.notify(BEGUN)
        log.notify(Event("message", {"entry": {"charge": 0.02}}))
        tracker = LimitTracker(Limits())
        tracker.record(turns=3, usd=1.25)
        log.notify(Event("usage", {"turns": 3, "usd": 1.25, "so_far": tracker.usage.model_dump()}))
        assert lines(tmp_path, 5) == ["oil_npt.v1 at L3, run 1, agent myagent: 5 min, 3 turns, 1 message, 0 trials, USD 1.25"]
        store.save(graded(), log, "")
        assert lines(tmp_path) == [], "it is over"


def test_a_log_that_no_longer_grows_says_since_when(tmp_path: Path) -> None:
    with Store(tmp_path).open_log(KEY) as log:
        log.notify(BEGUN)
    assert lines(tmp_path, 90) == [
        "oil_npt.v1 at L3, run 1, agent myagent: 90 min, ? turns, 0 messages, 0 trials, USD ?; nothing for 90 min"
    ]


@pytest.mark.parametrize(
    "line", ["{", "[]", "null", "7", '{"kind": "start"}', json.dumps({"kind": "start", "time": "2026-01-01T00:00:00+00:00"}), '{"time": 3}']
)
def test_a_line_that_cannot_be_read_is_passed_over(tmp_path: Path, line: str) -> None:
    with Store(tmp_path).open_log(KEY) as log:
        log.notify(BEGUN)
        with log.part.open("a") as file:
            file.write(line + "\n" + line[:1])
        assert lines(tmp_path) == ["oil_npt.v1 at L3, run 1, agent myagent: 0 min, ? turns, 0 messages, 0 trials, USD ?"]


def test_it_ends_when_nothing_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "no run is under way\n"


def test_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store(tmp_path).open_log(KEY) as log:
        log.notify(BEGUN)
        assert main(["watch", str(tmp_path), "--once"]) == 0
    assert capsys.readouterr().out == "oil_npt.v1 at L3, run 1, agent myagent: 0 min, ? turns, 0 messages, 0 trials, USD ?\n"


def test_what_it_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", str(tmp_path / "gone")]) == 2
    assert main(["watch", str(tmp_path), "--every=0"]) == 2
    assert capsys.readouterr().err == (
        f"fdegym watch: there is no folder {tmp_path / 'gone'}: the results folder of a session is expected.\n"
        "fdegym watch: --every: a number of seconds above 0 is expected, found 0.\n"
    )
