"""Nothing of a process tree outlives its command, however it tries; and a process with pipes lives until it is closed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_fdegym.errors import InfrastructureFault
from pytest_fdegym.sandbox import Bounds, Layout, Sandbox
from pytest_fdegym.sandbox.process import ConfinedProcess

BOUNDS = Bounds(wall_seconds=60)
DAEMON = """
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        nothing = os.open("/dev/null", os.O_RDWR)
        for number in range(3):
            os.dup2(nothing, number)
        os.execvp("sleep", ["sleep", sys.argv[1]])
    os._exit(0)
os.wait()
"""


def running(mark: str) -> list[str]:
    """The command lines of all processes that are ``sleep MARK``."""
    if sys.platform == "linux":
        lines = []
        for entry in os.scandir("/proc"):
            with contextlib.suppress(OSError):
                lines.append(Path(entry.path, "cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace"))
    else:
        lines = subprocess.run(["ps", "-axww", "-o", "args="], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line for line in lines if line == f"sleep {mark}"]


@pytest.fixture
def mark() -> str:
    """An argument for sleep by which a process is found again."""
    return f"600.{uuid.uuid4().int % 10**12}"


def test_a_daemon_is_gone_when_its_command_has_ended(sandbox: Sandbox, layout: Layout, mark: str) -> None:
    result = sandbox.run(["python3", "-c", DAEMON, mark], layout, BOUNDS)
    assert (result.exit_code, running(mark)) == (0, [])


def test_a_daemon_that_holds_the_output_open_does_not_hold_the_result_up(sandbox: Sandbox, layout: Layout, mark: str) -> None:
    result = sandbox.run(["sh", "-c", f"sleep {mark} & echo done"], layout, BOUNDS)
    assert (result.stdout, result.stopped_by, running(mark)) == ("done\n", None, [])


@pytest.mark.parametrize("bound", ["wall", "output"])
def test_a_daemon_is_gone_when_a_bound_ended_its_command(sandbox: Sandbox, layout: Layout, mark: str, bound: str) -> None:
    bounds = Bounds(wall_seconds=2 if bound == "wall" else 60, output_bytes=1000)
    script = DAEMON + ("import time; time.sleep(600)" if bound == "wall" else "print('x' * 10_000)")
    result = sandbox.run(["python3", "-c", script, mark], layout, bounds)
    assert (result.stopped_by, running(mark)) == (bound, [])


def test_processes_that_ignore_signals_are_gone(sandbox: Sandbox, layout: Layout, mark: str) -> None:
    result = sandbox.run(["sh", "-c", f"trap '' TERM HUP INT; sleep {mark} & sleep {mark}"], layout, Bounds(wall_seconds=1))
    assert (result.stopped_by, running(mark)) == ("wall", [])


def test_a_stopped_process_is_gone(sandbox: Sandbox, layout: Layout, mark: str) -> None:
    result = sandbox.run(["sh", "-c", f"sleep {mark} & kill -STOP $!; echo done"], layout, BOUNDS)
    assert (result.stdout, running(mark)) == ("done\n", [])


def test_pipes(sandbox: Sandbox, layout: Layout) -> None:
    script = "import sys\nfor line in sys.stdin: print(line.strip().upper(), flush=True)\nprint('bye', file=sys.stderr)"
    process = sandbox.start(["python3", "-u", "-c", script], layout, BOUNDS)
    for word in (b"one\n", b"two\n"):
        process.stdin.write(word)
        process.stdin.flush()
        assert process.stdout.readline() == word.upper()
    assert process.poll() is None
    process.stdin.close()
    assert process.stderr.read() == b"bye\n"
    assert (process.close(), process.close(), process.poll()) == (0, 0, 0)


def test_close_leaves_nothing(sandbox: Sandbox, layout: Layout, mark: str) -> None:
    script = DAEMON + "print('ready', flush=True); import time; time.sleep(600)"
    process = sandbox.start(["python3", "-c", script, mark], layout, BOUNDS)
    assert process.stdout.readline() == b"ready\n"
    assert process.close() == 137
    assert running(mark) == []


def test_a_process_outlives_the_thread_that_started_it(sandbox: Sandbox, layout: Layout) -> None:
    started: list[object] = []
    thread = threading.Thread(target=lambda: started.append(sandbox.start(["cat"], layout, BOUNDS)))
    thread.start()
    thread.join()
    (process,) = started
    assert isinstance(process, ConfinedProcess)
    process.stdin.write(b"still here\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"still here\n"
    assert process.close() == 137


def test_the_tree_ends_with_a_harness_that_is_killed(sandbox: Sandbox, layout: Layout, mark: str) -> None:
    harness = f"""
import sys, time
from pathlib import Path
from pytest_fdegym.sandbox import Bounds, Layout, choose
folder = Path({str(layout.workdir)!r})
sandbox = choose({sandbox.name!r})
sandbox.give(folder)
script = {DAEMON!r} + "print('ready', flush=True); import time; time.sleep(600)"
process = sandbox.start(["python3", "-c", script, {mark!r}], Layout(folder, (folder,)), Bounds())
print(process._supervisor.pid, process.stdout.readline(), flush=True)
time.sleep(600)
"""
    started = subprocess.Popen(
        [sys.executable, "-c", harness],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.getcwd(), "TMPDIR": str(layout.workdir.parent)},
    )
    assert started.stdout is not None
    supervisor, ready = started.stdout.readline().split()
    assert ready == r"b'ready\n'"
    watched = os.pidfd_open(int(supervisor)) if sys.platform == "linux" else None
    started.kill()
    started.wait()
    started.stdout.close()
    if watched is not None:
        _until_readable(watched)
    assert running(mark) == []


def test_a_supervisor_that_is_killed_is_a_fault_and_not_a_result(confining: Sandbox, workdir: Path, mark: str) -> None:
    confining.give(workdir)
    process = confining.start(["sh", "-c", f"echo ready; exec sleep {mark}"], Layout(workdir), BOUNDS)
    assert process.stdout.readline() == b"ready\n"
    assert isinstance(process, ConfinedProcess)
    os.kill(process._supervisor.pid, signal.SIGKILL)
    process._supervisor.wait()
    expected = "the sandbox's supervisor failed: it ended on its own (exit code -9)"
    output = process.stdout.read()  # ends with the command, which dies with its supervisor
    with pytest.raises(InfrastructureFault) as caught:
        process.close()
    assert (output, str(caught.value), running(mark)) == (b"", expected, [])


def test_many_at_once(sandbox: Sandbox, layout: Layout) -> None:
    results: dict[int, str] = {}

    def command(number: int) -> Callable[[], None]:
        return lambda: results.update({number: sandbox.run(["sh", "-c", f"echo {number}"], layout, BOUNDS).stdout})

    threads = [threading.Thread(target=command(number)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: f"{number}\n" for number in range(8)}


def _until_readable(descriptor: int) -> None:
    import select  # noqa: PLC0415 - Linux only

    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    assert poll.poll(30_000), "it is still there"
    with contextlib.suppress(OSError):
        os.close(descriptor)
