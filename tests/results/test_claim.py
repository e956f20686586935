"""The lock on one run: real processes, one of which is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_fdegym.results.claim import Claimed, claim

HOLDER = """
import os, sys
from pathlib import Path
from pytest_fdegym.results.claim import claim
with claim(Path(sys.argv[1]), wait=False):
    if sys.argv[2] == "fork" and os.fork() == 0:  # as an agent may
        os.close(0), os.close(1), os.close(2)
        import signal; signal.pause()
    print("held", flush=True)
    sys.stdin.readline()
"""
WAITER = """
import sys
from pathlib import Path
from pytest_fdegym.results.claim import claim
print("waiting", flush=True)
with claim(Path(sys.argv[1]), wait=True):
    print("held", flush=True)
"""


TELLS_EACH_TRY = """
import fcntl
lockf = fcntl.lockf
def told(*arguments):
    print("tries", flush=True)
    lockf(*arguments)
fcntl.lockf = told
""" + WAITER.replace('print("waiting", flush=True)', "")


def started(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_another_process_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    lock = tmp_path / "store/agent/.run.lock"
    with started(HOLDER, lock, "") as holder:
        assert line(holder) == "held"
        with pytest.raises(Claimed, match=f"^process {holder.pid} on ."), claim(lock, wait=False):
            pass
        holder.communicate("\n")
    with claim(lock, wait=False):
        pass
    assert not lock.exists(), "nothing is left of it"


def test_one_that_is_killed_lets_go(tmp_path: Path) -> None:
    lock = tmp_path / ".run.lock"
    with started(HOLDER, lock, "") as holder:
        assert line(holder) == "held"
        with started(WAITER, lock) as waiter:
            assert line(waiter) == "waiting"
            holder.kill()
            assert line(waiter) == "held"
    assert not lock.exists()


def test_what_it_forked_holds_nothing(tmp_path: Path) -> None:
    lock = tmp_path / ".run.lock"
    with started(HOLDER, lock, "fork") as holder:
        try:
            assert line(holder) == "held"
            holder.kill()
            holder.wait()
            with claim(lock, wait=False):
                pass
        finally:
            os.killpg(holder.pid, signal.SIGKILL)


def test_a_waiter_does_not_take_a_lock_that_was_removed_meanwhile(tmp_path: Path) -> None:
    lock = tmp_path / ".run.lock"
    with started(HOLDER, lock, "") as first:
        assert line(first) == "held"
        waiter = started(TELLS_EACH_TRY, lock)
        assert line(waiter) == "tries"
        lock.unlink()
        with started(HOLDER, lock, "") as second:
            assert line(second) == "held"
            first.kill()
            assert line(waiter) == "tries", "once more, with the lock that is in its place now"
            second.communicate("\n")
        assert waiter.communicate()[0].endswith("held\n")


def test_waiters_take_turns(tmp_path: Path) -> None:
    lock = tmp_path / ".run.lock"
    with started(HOLDER, lock, "") as holder:
        assert line(holder) == "held"
        waiters = [started(WAITER, lock) for _ in range(4)]
        assert [line(each) for each in waiters] == ["waiting"] * 4
        holder.communicate("\n")
        assert [each.communicate()[0] for each in waiters] == ["held\n"] * 4
    assert not lock.exists()


def test_a_folder_that_cannot_be_written_excludes_nobody(tmp_path: Path) -> None:
    (tmp_path / "store").touch()
    with claim(tmp_path / "store/agent/.run.lock", wait=False):
        pass
