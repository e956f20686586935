"""What an agent does to its own workspace, commands and channel is graded: it is no fault of the harness, and crashes nothing."""

from __future__ import annotations

import dataclasses
import shutil
import threading

import pytest

from pytest_fdegym.agents.engagement import Engagement
from pytest_fdegym.channel.client import EngagementOver
from pytest_fdegym.errors import SandboxUnavailable
from pytest_fdegym.limits import Limits
from pytest_fdegym.results.record import Record
from pytest_fdegym.runner import Case, Settings, run
from pytest_fdegym.sandbox.base import Sandbox
from pytest_fdegym.sandbox.choose import choose
from tests.support.settings import python_agent


def available(name: str) -> Sandbox:
    """The sandbox of that name, or a skip where this machine has none."""
    try:
        return choose(name)
    except SandboxUnavailable as error:
        pytest.skip(str(error))


SOCKET = "import os, socket; s = socket.socket(socket.AF_UNIX); s.bind('sk'); os.chmod('sk', 0)"


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(["chmod", "000", "."], id="closes its own folder"),
        pytest.param(["python3", "-c", SOCKET], id="leaves a closed socket"),
        pytest.param(["sh", "-c", "rm -rf bin system docs data TASK.md"], id="removes everything"),
        pytest.param(["sh", "-c", "rm -rf bin && ln -s /etc bin && ln -s / up"], id="leaves links"),
        pytest.param(["mkfifo", "system/pipe"], id="leaves a pipe"),
    ],
)
def test_the_next_command_runs_and_the_run_is_graded(case: Case, settings: Settings, before: list[str]) -> None:
    seen: list[str] = []

    def agent(engagement: Engagement) -> None:
        engagement.run(before)
        seen.append(engagement.run("echo still here").stdout)

    record = run(case, python_agent(agent), settings)
    assert (record.status, record.agent_error) == ("graded", None), record.void_cause
    assert seen == ["still here\n"]


def test_a_folder_closed_at_handover_is_looked_into(case: Case, settings: Settings) -> None:
    def agent(engagement: Engagement) -> None:
        engagement.run(["chmod", "000", "."])

    record = run(case, python_agent(agent), settings)
    assert record.scores is not None
    assert record.scores.kpi == 60.0, "the system as found is still there"


@pytest.mark.parametrize("instead", [None, "a link", "a file"])
def test_a_workspace_that_is_gone_is_graded_as_an_empty_delivery(case: Case, settings: Settings, instead: str | None) -> None:
    def agent(engagement: Engagement) -> None:
        shutil.rmtree(engagement.workspace)
        if instead == "a link":
            engagement.workspace.symlink_to("/etc")
        elif instead == "a file":
            engagement.workspace.write_text("x")

    record = run(case, python_agent(agent), settings)
    assert record.scores is not None, record.void_cause
    assert record.scores.kpi == 50.0
    assert "system/ is missing." in record.notes


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["echo", "x" * 200_000], "the command is too long (200,004 bytes; at most 120,000 are taken); write it to a file first"),
        ("echo \0", "the command holds a NUL character"),
        ("echo \ud800", "the command holds characters that are no text (lone surrogates)"),
        ([], "there is no command"),
    ],
)
def test_a_command_that_no_system_could_run_ends_as_in_a_shell(case: Case, settings: Settings, command: str | list[str], said: str) -> None:
    seen: list[tuple[int, str]] = []

    def agent(engagement: Engagement) -> None:
        result = engagement.run(command)
        seen.append((result.exit_code, result.stderr))

    assert run(case, python_agent(agent), settings).status == "graded"
    assert seen == [(126, said)]


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_time_that_is_no_time_is_refused(case: Case, settings: Settings, seconds: float) -> None:
    record = run(case, python_agent(lambda engagement: engagement.run("true", seconds=seconds)), settings)
    assert record.agent_error is not None
    assert record.agent_error.splitlines()[-1] == f"ValueError: seconds is {seconds!r}; a number above 0 is expected"


def test_text_that_is_not_unicode_is_recorded(case: Case, settings: Settings) -> None:
    def agent(engagement: Engagement) -> None:
        engagement.run("echo \udc80")
        raise RuntimeError("cannot read caf\udce9.txt")

    record = run(case, python_agent(agent), settings)
    assert settings.store is not None
    paths = settings.store.paths(record)
    stored = Record.model_validate_json(paths.record.read_text())
    assert stored.agent_error is not None
    assert stored.agent_error.endswith(r"RuntimeError: cannot read caf\udce9.txt")
    assert len(paths.events.read_text().splitlines()) == 6


def test_an_endless_error_is_cut(case: Case, settings: Settings) -> None:
    def agent(engagement: Engagement) -> None:
        raise RuntimeError("a" * 1_000_000)

    record = run(case, python_agent(agent), settings)
    assert record.agent_error is not None
    assert len(record.agent_error) < 21_000
    assert "characters left out" in record.agent_error


def test_a_pipe_is_not_waited_for(case: Case, settings: Settings) -> None:
    def agent(engagement: Engagement) -> None:
        engagement.run(["mkfifo", "notes.txt"])
        for use in (engagement.read_text, lambda path: engagement.write_text(path, "x")):
            with pytest.raises(OSError, match=r"notes\.txt"):
                use("notes.txt")

    assert run(case, python_agent(agent), settings).agent_error is None


def test_the_minutes_bound_a_command_of_a_python_agent(case: Case, settings: Settings) -> None:
    def agent(engagement: Engagement) -> None:
        assert engagement.run("exec tail -f /dev/null", seconds=3600).stopped_by == "wall"

    limited = dataclasses.replace(settings, limits=Limits(turns=None, minutes=0.02, usd=None))
    record = run(case, python_agent(agent), limited)
    assert (record.end_reason, record.agent_error) == ("limit_minutes", None)


def test_an_agent_that_swallows_the_limit_is_recorded_with_it(case: Case, settings: Settings) -> None:
    def agent(engagement: Engagement) -> None:
        engagement.record_usage(turns=5)

    limited = dataclasses.replace(settings, limits=Limits(turns=5, minutes=None, usd=None))
    assert run(case, python_agent(agent), limited).end_reason == "limit_turns"


def test_a_command_of_another_thread_ends_at_handover(case: Case, settings: Settings) -> None:
    started, over = threading.Event(), threading.Event()
    results: list[str | None] = []

    def late(engagement: Engagement) -> None:
        started.set()
        try:
            results.append(engagement.run("exec tail -f /dev/null", seconds=3600).stopped_by)
        except EngagementOver:
            results.append("refused")
        finally:
            over.set()

    kept: list[Engagement] = []

    def agent(engagement: Engagement) -> None:
        kept.append(engagement)
        threading.Thread(target=late, args=(engagement,), daemon=True).start()
        started.wait()
        while engagement.run("true").exit_code:
            pass

    record = run(case, python_agent(agent), settings)
    assert record.status == "graded"
    assert over.wait(60)
    assert results in (["end"], ["refused"]), "it was ended, or handover came first"
    with pytest.raises(EngagementOver):
        kept[0].write_text("system/late.py", "x")


def test_what_nobody_can_read_is_not_taken(case: Case, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_fdegym.channel.server.MAX_REQUESTS", 3)
    answers: list[str] = []

    def agent(engagement: Engagement) -> None:
        for _ in range(5):
            try:
                engagement.people()
            except Exception as error:
                answers.append(str(error))

    assert run(case, python_agent(agent), settings).status == "graded"
    assert answers == ["that is more than anybody here can read; nothing further is taken"] * 2


VANDAL = """
import os, socket

done = []


def ship(order, *, db):
    if not done:
        done.append(1)
        folder = os.path.dirname(db.execute("PRAGMA database_list").fetchone()[2])
        db.execute("UPDATE orders SET grams = 1")
        db.commit()
        hook = socket.socket(socket.AF_UNIX)
        hook.bind(os.path.join(folder, "s"))
        os.chmod(os.path.join(folder, "s"), 0)
        os.chmod(folder, 0)
    return "letter"
"""


@pytest.mark.parametrize("name", ["bubblewrap", "landlock"])
def test_a_delivery_cannot_void_its_own_run_by_what_it_leaves_beside_the_database(case: Case, settings: Settings, name: str) -> None:
    def agent(engagement: Engagement) -> None:
        engagement.write_text("system/shipping.py", VANDAL)

    record = run(case, python_agent(agent), dataclasses.replace(settings, sandbox=available(name)))
    assert record.status == "graded", record.void_cause
    assert "orders_changed" in {incident.id for incident in record.incidents}
