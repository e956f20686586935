"""What a page keeps of a run's log and patch: complete where there is room, bounded where there is not, and never a crash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.results.record import Engaged
from pytest_fdegym.results.report.details import MOST, details, share_of
from pytest_fdegym.results.report.packed import pieces, unpacked
from pytest_fdegym.results.report.timeline import moments
from tests.results.report.support import message, run_at
from tests.support.records import graded


def log(folder: Path, *lines: str | dict[str, Any]) -> Path:
    file = folder / "run.events.jsonl"
    file.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return file


def test_a_timeline_tells_contacts_with_their_charges_and_commands(tmp_path: Path) -> None:
    start = {"kind": "start", "time": "2026-05-04T10:00:00+00:00", "at": None, "agent": "a"}
    usage = {"kind": "usage", "time": "2026-05-04T10:01:00+00:00", "so_far": {"turns": 1}}
    command = {"kind": "command", "time": "2026-05-04T10:07:30+00:00", "command": "ls", "exit_code": 0, "stopped_by": None}
    wait = {"kind": "wait", "entry": {"days": 2, "charge": 0.04, "sent": "", "reply": "", "facts": []}}
    found, heard = moments(log(tmp_path, start, usage, message("How?", "So.", facts=("F_A",)), command, wait))
    assert heard
    assert found == [
        {"kind": "start", "minute": 0.0},
        {
            "kind": "message",
            "who": "okafor",
            "text": "How?",
            "reply": "So.",
            "how": "answer",
            "charge": 0.02,
            "facts": ["F_A"],
            "minute": 6.0,
            "at": "2025-03-04T14:00:00",
        },
        {"kind": "command", "text": "ls", "how": "exit code 0", "minute": 7.5},
        {"kind": "wait", "text": "2 working days", "charge": 0.04},
    ]


def test_lines_that_are_no_events_are_passed_over(tmp_path: Path) -> None:
    file = log(tmp_path, "", "{", "[]", '{"kind": 7}', '{"kind": "message", "entry": null}', '{"kind": "inbox", "new": 5}', "[" * 9000)
    assert [each["kind"] for each in moments(file)[0]] == ["message", "inbox"]


def test_a_lone_surrogate_can_be_written_to_a_page(tmp_path: Path) -> None:
    log(tmp_path, '{"kind": "command", "command": "echo \\ud800", "exit_code": 0}')
    found = details(run_at(tmp_path, graded()), MOST)
    assert found.timeline == [{"kind": "command", "text": "echo ?", "how": "exit code 0"}]
    assert json.loads(found.model_dump_json())["timeline"] == found.timeline


def test_without_log_and_patch(tmp_path: Path) -> None:
    found = details(run_at(tmp_path, graded()), MOST)
    assert (found.timeline, found.patch) == (None, None)


def test_facts_obtained_and_missed(tmp_path: Path) -> None:
    engaged = Engaged(facts=("F_B", "F_SIDE"), key_facts=("F_A", "F_B"), worth={"F_A": 0.26})
    found = details(run_at(tmp_path, graded(engaged=engaged)), MOST).facts
    assert [(fact.id, fact.key, fact.obtained, fact.worth) for fact in found] == [
        ("F_A", True, False, 0.26),
        ("F_B", True, True, None),
        ("F_SIDE", False, True, None),
    ]


def test_a_long_log_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    log(tmp_path, *(message(f"question {number} " + "x" * 5000, "y" * 5000) for number in range(500)))
    (tmp_path / "run.patch").write_text("+line\n" * 100_000)
    share = 20_000
    found = details(run_at(tmp_path, graded()), share)
    assert found.timeline is not None
    assert found.left_out + len(found.timeline) == 500
    assert found.timeline[0]["text"].startswith("question 0 ")
    assert found.timeline[-1]["text"].startswith("question 499 ")
    assert len(found.model_dump_json()) < 2 * share
    assert "characters left out" in (found.patch or "")


def test_the_more_runs_the_less_room_for_each() -> None:
    assert [share_of(runs) for runs in (1, 400, 5000, 10**6)] == [200_000, 200_000, 16_000, 6_000]


def test_pieces_hold_all_runs_in_order(tmp_path: Path) -> None:
    (tmp_path / "run.patch").write_text("+" + "x" * 60_000)
    runs = [details(run_at(tmp_path, graded(void_cause=str(number))), MOST) for number in range(7)]
    packed = list(pieces(runs))
    assert len(packed) > 1
    assert [each.first for each in packed] == [sum(before.count for before in packed[:place]) for place in range(len(packed))]
    assert [each["void_cause"] for piece in packed for each in json.loads(unpacked(piece.data))] == [str(number) for number in range(7)]


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"kind": st.sampled_from(["message", "command", "wait", "trial", "usage", "replay", "grade", "gateway", "void", "new"])},
            optional=dict.fromkeys(("time", "at", "entry", "command", "fault", "notes", "text", "values"), _JSON),
        ),
        max_size=5,
    )
)
def test_no_log_breaks_a_report(tmp_path_factory: Any, events: list[dict[str, Any]]) -> None:
    folder = tmp_path_factory.mktemp("log")
    log(folder, *events)
    json.loads(details(run_at(folder, graded()), 6000).model_dump_json())
