"""A limit ends a run whatever the agent is doing: what can be interrupted is, what cannot is left behind, and nothing of it runs on."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_fdegym.agents.command import CommandAgent
from pytest_fdegym.agents.engagement import Engagement
from pytest_fdegym.agents.interrupt import Interrupted
from pytest_fdegym.agents.python import STUCK
from pytest_fdegym.agents.session import Deliverer
from pytest_fdegym.channel.client import EngagementOver
from pytest_fdegym.engage import UNANSWERED
from pytest_fdegym.errors import LimitReached
from pytest_fdegym.gateway.protocol import Refused, parse_chat
from pytest_fdegym.limits import Limits
from pytest_fdegym.people.router import RoutablePerson, RouterContext, Routing
from pytest_fdegym.results.record import AgentIdentity, Record
from pytest_fdegym.runner import Case, Settings, run
from pytest_fdegym.scenario.loader import load
from tests.support.settings import python_agent
from tests.support.tiny_gateway import write_tiny_gateway

# An interruption comes between any two steps, so that a socket may be left to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

NONE = Limits(turns=None, minutes=None, usd=None)
LIMITS = {
    "limit_turns": dataclasses.replace(NONE, turns=3),
    "limit_minutes": dataclasses.replace(NONE, minutes=0.005),
    "limit_usd": dataclasses.replace(NONE, usd=0.5),
}
SLEEPS = [sys.executable, "-c", "import time; time.sleep(3600)"]


def loops(engagement: Engagement) -> None:
    while True:
        pass


def catches_exceptions(engagement: Engagement) -> None:
    while True:
        with contextlib.suppress(Exception):
            loops(engagement)


def swallows_three_times(engagement: Engagement) -> None:
    for _ in range(3):
        with contextlib.suppress(BaseException):
            loops(engagement)
    loops(engagement)


def waits_for_a_process(engagement: Engagement) -> None:
    subprocess.run(SLEEPS, check=False)
    loops(engagement)


def asks_forever(engagement: Engagement) -> None:
    while True:
        with contextlib.suppress(LimitReached, EngagementOver):
            engagement.people()


def runs_a_command(engagement: Engagement) -> None:
    engagement.run("exec tail -f /dev/null", seconds=3600)
    loops(engagement)


async def awaits(engagement: Engagement) -> None:
    await asyncio.sleep(3600)


async def awaits_and_swallows(engagement: Engagement) -> None:
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(3600)


async def blocks_its_loop(engagement: Engagement) -> None:
    loops(engagement)


INTERRUPTED = [
    loops,
    catches_exceptions,
    swallows_three_times,
    waits_for_a_process,
    asks_forever,
    runs_a_command,
    awaits,
    awaits_and_swallows,
    blocks_its_loop,
]


def sleeps(engagement: Engagement) -> None:
    time.sleep(3600)


def reads_a_socket(engagement: Engagement) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.recv(1)


def waits_for_a_lock(engagement: Engagement) -> None:
    threading.Lock().acquire() and threading.Event().wait()


LEFT_BEHIND = [sleeps, reads_a_socket, waits_for_a_lock]


def spending(agent: Callable[[Engagement], Any], reason: str) -> Callable[[Engagement], Any]:
    """The agent, of whose model a thread of its own reports what uses up the limit."""

    def spends(engagement: Engagement) -> None:
        # The engagement may be over before the answer is there.
        with contextlib.suppress(EngagementOver):
            engagement.record_usage(turns=0 if reason == "limit_minutes" else 3, usd=0.5 if reason == "limit_usd" else 0.0)

    def started(engagement: Engagement) -> Any:
        engagement.write_text("system/labels.py", "LINE = 'half done'\n")
        threading.Thread(target=spends, args=(engagement,)).start()
        return agent(engagement)

    return started


def limited(case: Case, settings: Settings, agent: Callable[[Engagement], Any], reason: str) -> Record:
    return run(case, python_agent(spending(agent, reason)), dataclasses.replace(settings, limits=LIMITS[reason]))


def agents_threads() -> set[threading.Thread]:
    """The threads in which agents still are."""
    return {thread for thread in threading.enumerate() if thread.name == "fde-agent"}


def patch_of(settings: Settings, record: Record) -> str:
    assert settings.store is not None
    return settings.store.paths(record).patch.read_text()


@pytest.mark.parametrize("reason", list(LIMITS))
@pytest.mark.parametrize("agent", INTERRUPTED)
def test_what_runs_python_is_interrupted_and_graded_as_it_stands(
    case: Case, settings: Settings, agent: Callable[[Engagement], Any], reason: str
) -> None:
    before = agents_threads()
    record = limited(case, settings, agent, reason)
    assert (record.end_reason, record.fault, record.status, record.notes) == (reason, reason, "graded", ()), record.void_cause
    assert "+LINE = 'half done'" in patch_of(settings, record)
    assert agents_threads() <= before


@pytest.mark.parametrize("reason", list(LIMITS))
@pytest.mark.parametrize("agent", LEFT_BEHIND)
def test_what_waits_in_c_code_is_reported_and_left_behind(
    case: Case, settings: Settings, agent: Callable[[Engagement], Any], reason: str
) -> None:
    record = limited(case, settings, agent, reason)
    assert (record.end_reason, record.status) == (reason, "graded"), record.void_cause
    assert record.notes == (
        f"{STUCK}its thread did not react to being interrupted and was left behind (it waits in C code, or swallows every exception). "
        "It can no longer reach the customer.",
    )
    assert run(case, python_agent(lambda engagement: None), settings).end_reason == "handover", "a later run works"


def test_what_was_left_behind_finds_the_engagement_over(case: Case, settings: Settings) -> None:
    go, said = threading.Event(), threading.Event()
    refusals: list[type[BaseException]] = []

    def agent(engagement: Engagement) -> None:
        def tried(use: Callable[[], object]) -> None:
            while True:
                try:
                    use()
                except Interrupted:
                    continue
                except BaseException as error:
                    refusals.append(type(error))
                return

        while not go.is_set():
            with contextlib.suppress(Interrupted):
                go.wait()
        tried(lambda: engagement.ask("pike", "How heavy may a letter be?"))
        tried(lambda: engagement.run("true"))
        tried(lambda: engagement.write_text("system/late.py", "x"))
        said.set()

    record = limited(case, settings, agent, "limit_minutes")
    go.set()
    assert said.wait(60)
    assert refusals == [EngagementOver, EngagementOver, LimitReached]
    assert record.engaged.messages == 0


# --- processes ---


def pid_in(path: Path) -> int:
    return int(path.read_text())


def is_there(pid: int) -> bool:
    """Whether it runs; what is dead and not yet taken note of (whoever adopted it may be slow) does not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout.strip()
    return bool(state) and not state.startswith("Z")


@pytest.mark.parametrize("how", ["a child", "a grandchild", "detached"])
def test_the_agents_processes_are_gone(case: Case, settings: Settings, tmp_path: Path, how: str) -> None:
    pid = tmp_path / "pid"
    tells = [
        sys.executable,
        "-c",
        f"import os, time; open({str(pid) + '.part'!r}, 'w').write(str(os.getpid())); "
        f"os.rename({str(pid) + '.part'!r}, {str(pid)!r}); time.sleep(3600)",
    ]
    starts = f"import os, subprocess, time; subprocess.Popen({tells!r}, start_new_session={how == 'detached'})"
    if how == "a grandchild":
        starts += "; time.sleep(3600)"

    kept: list[subprocess.Popen[bytes]] = []

    def agent(engagement: Engagement) -> None:
        kept.append(subprocess.Popen(tells if how == "a child" else [sys.executable, "-c", starts]))
        while not pid.exists():
            pass
        engagement.record_usage(turns=3)
        loops(engagement)

    record = run(case, python_agent(agent), dataclasses.replace(settings, limits=LIMITS["limit_turns"]))
    assert record.end_reason == "limit_turns"
    assert not is_there(pid_in(pid))
    kept[0].wait()


def test_what_ran_before_the_agent_began_goes_on(case: Case, settings: Settings) -> None:
    with subprocess.Popen(SLEEPS) as server:
        assert limited(case, settings, loops, "limit_turns").end_reason == "limit_turns"
        assert server.poll() is None
        server.kill()


def test_what_an_agent_that_hands_over_started_goes_on(case: Case, settings: Settings) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def agent(engagement: Engagement) -> None:
        started.append(subprocess.Popen(SLEEPS))

    assert run(case, python_agent(agent), settings).end_reason == "handover"
    assert started[0].poll() is None, "a session's agent may keep a server from its first run to its last"
    started[0].kill()
    started[0].wait()


def test_a_command_and_what_it_detached_are_gone(case: Case, settings: Settings) -> None:
    def agent(engagement: Engagement) -> None:
        engagement.run("setsid tail -f /dev/null & exec tail -f /dev/null", seconds=3600)

    before = set(_commands_named("tail"))
    assert limited(case, settings, agent, "limit_minutes").end_reason == "limit_minutes"
    assert set(_commands_named("tail")) <= before


@pytest.mark.parametrize("text", ["exec tail -f /dev/null", "trap '' TERM INT HUP; while :; do :; done"])
def test_a_command_that_is_the_agent_is_gone(case: Case, settings: Settings, text: str) -> None:
    before = set(_commands_named("tail")) | set(_commands_named("sh"))
    record = run(case, CommandAgent(AgentIdentity(name="cmd"), text), dataclasses.replace(settings, limits=LIMITS["limit_minutes"]))
    assert (record.end_reason, record.status) == ("limit_minutes", "graded")
    assert set(_commands_named("tail")) <= before


def _commands_named(name: str) -> list[str]:
    """Ids of the processes whose program is called so, that descend from this one."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,comm="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    mine = {str(os.getpid())}
    while more := {pid for pid, parent, _ in rows if parent in mine} - mine:
        mine |= more
    return [pid for pid, _, command in rows if pid in mine and command == name]


# --- Ctrl-C and the main thread ---


@pytest.fixture
def heeded() -> Iterator[None]:
    """Ctrl-C means something here, also where these tests were started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded")
def test_ctrl_c_ends_an_agent_and_its_processes(case: Case, settings: Settings) -> None:
    started: list[subprocess.Popen[bytes]] = []
    ended = threading.Event()

    def agent(engagement: Engagement) -> None:
        started.append(subprocess.Popen(SLEEPS))
        try:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            loops(engagement)
        finally:
            ended.set()

    with pytest.raises(KeyboardInterrupt):
        run(case, python_agent(agent), settings)
    assert ended.is_set()
    started[0].wait()
    assert not is_there(started[0].pid)


class InTheMainThread:
    """An agent that asks for the main thread."""

    fde_main_thread = True

    def __init__(self, agent: Callable[[Engagement], Any]) -> None:
        self.agent = agent
        self.thread: threading.Thread | None = None

    def __call__(self, engagement: Engagement) -> Any:
        self.thread = threading.current_thread()
        return self.agent(engagement)


@pytest.mark.parametrize("reason", ["limit_turns"])
@pytest.mark.parametrize("agent", [*INTERRUPTED, *LEFT_BEHIND])
def test_in_the_main_thread_even_c_code_that_waits_is_interrupted(
    case: Case, settings: Settings, agent: Callable[[Engagement], Any], reason: str
) -> None:
    asks = InTheMainThread(spending(agent, reason))
    before = signal.getsignal(signal.SIGUSR2)
    record = run(case, python_agent(asks), dataclasses.replace(settings, limits=LIMITS[reason]))
    assert (record.end_reason, record.status, record.notes) == (reason, "graded", ()), record.void_cause
    assert asks.thread is threading.main_thread()
    assert signal.getsignal(signal.SIGUSR2) == before


def test_an_agent_that_does_not_ask_has_a_thread_of_its_own_with_the_callers_context(case: Case, settings: Settings) -> None:
    seen: list[threading.Thread] = []
    assert run(case, python_agent(lambda engagement: seen.append(threading.current_thread())), settings).end_reason == "handover"
    assert seen[0] is not threading.main_thread()


# --- what the customer is doing at that moment ---


NEVER_SHIPS_IN_A_TRIAL = """
def ship(order, *, db, gateway):
    while order["id"].startswith("S"):
        pass
    return "parcel"
"""


def tries_in_python(engagement: Engagement) -> None:
    engagement.write_text("system/shipping.py", NEVER_SHIPS_IN_A_TRIAL)
    engagement.trial()


TRIES_IN_A_SHELL = f"cat > system/shipping.py <<'END'\n{NEVER_SHIPS_IN_A_TRIAL}END\nbin/trial"


@pytest.mark.parametrize("agent", [python_agent(tries_in_python), CommandAgent(AgentIdentity(name="cmd"), TRIES_IN_A_SHELL)])
def test_a_trial_run_under_way_is_ended_and_does_not_count(settings: Settings, tmp_path: Path, agent: Deliverer) -> None:
    case = Case(load(write_tiny_gateway(tmp_path / "tiny_post")), "v1", "L3")
    before = set(_commands_named("python3"))
    record = run(case, agent, dataclasses.replace(settings, limits=Limits(turns=None, minutes=0.03, usd=None)))
    assert (record.end_reason, record.status, record.engaged.trials) == ("limit_minutes", "graded", 0), record.void_cause
    assert "startswith" in patch_of(settings, record), "it had come as far as the trial run"
    assert UNANSWERED not in record.notes
    assert set(_commands_named("python3")) <= before


def test_a_message_under_way_is_not_waited_for_and_does_not_count(case: Case, settings: Settings) -> None:
    asked, answer = threading.Event(), threading.Event()

    class Slow:
        id = "slow"

        def route(self, person: RoutablePerson, message: str, context: RouterContext) -> Routing:
            asked.set()
            answer.wait()
            return Routing("miss")

    slow = dataclasses.replace(settings, router=Slow(), limits=LIMITS["limit_minutes"])
    record = run(case, python_agent(lambda engagement: engagement.ask("pike", "How heavy may a letter be?")), slow)
    answer.set()
    assert asked.is_set()
    assert (record.end_reason, record.status, record.engaged.messages) == ("limit_minutes", "graded", 0)
    assert record.notes == (UNANSWERED,), "the agent does not hang on it"


def test_the_companys_gateway_closes(settings: Settings, tmp_path: Path) -> None:
    case = Case(load(write_tiny_gateway(tmp_path / "tiny_post")), "v1", "L3")
    service = settings.prepared.get(case.scenario, "v1", 1).gateway("work", None)
    assert service is not None
    chat = parse_chat(
        b'{"model": "%s", "messages": [{"role": "user", "content": "N1"}]}' % service.spec.models[0].encode(), service.spec.models
    )
    with service.open():
        service.chat(chat)
        service.close()
        with pytest.raises(Refused) as refused:
            service.chat(chat)
    assert str(refused.value) == "the engagement is over"
