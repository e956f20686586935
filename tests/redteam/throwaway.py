"""Lets attacks loose where a layer of defence is off, each in a forked process of its own, and prints one JSON object for each.

``python -m tests.redteam.throwaway NAME ...``. The process that forks takes in what an attack leaves behind, and ends it.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import signal
import sys
import time
import traceback
from dataclasses import asdict, replace
from pathlib import Path

from pydantic import TypeAdapter

from pytest_fdegym.people.router import default_router
from pytest_fdegym.sandbox.choose import choose
from tests.redteam.catalogue import Attack, Control, Seen
from tests.redteam.controls import layer_off
from tests.redteam.families import attacks
from tests.redteam.intact import is_whole_root, left_on_machine
from tests.redteam.project import place, planted, token_of

SECONDS = 60
_SUBREAPER = 36
_NEW_MOUNTS, _NEW_NAME, _NEW_IPC = 0x00020000, 0x04000000, 0x08000000
_DETACH = 2
_PRIVATE = 0x4000 | (1 << 18)


def outcome(attack: Attack, control: Control) -> Seen:
    """What came of the attack on the tiny scenario with a layer off."""
    reading, writing = os.pipe()
    with place() as root:
        child = os.fork()
        if child == 0:
            os.close(reading)
            _in_child(root, attack, control, writing)
        os.close(writing)
        told = _read(reading, child)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        _end_what_is_left()
        for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
            if str(root) in line:
                ctypes.CDLL(None).umount2(line.split()[4].encode(), _DETACH)
        for left in left_on_machine(token_of(root)):
            os.unlink(left)
    if not told:
        return Seen(fell_over=f"the harness's process ended with {status}")
    return TypeAdapter(Seen).validate_json(told)


def _in_child(root: Path, attack: Attack, control: Control, writing: int) -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    dump, write, end = json.dumps, os.write, os._exit  # as they are before the attack has had its way
    seen = Seen(fell_over="it never came so far")
    try:
        os.environ["PYTEST_CURRENT_TEST"] = "tests/test_redteam.py"
        os.dup2(nothing, 1)
        with planted(root) as project, layer_off(control, project) as ground:
            try:
                seen = ground.play(attack, attack.where)
            except BaseException as error:
                seen = Seen(fell_over=f"{type(error).__name__}: {str(error)[:200]}", loot=ground.spy.texts("got"))
            write(writing, dump(asdict(seen), default=str).encode())
            end(0)  # nothing that was patched has to work any more; the parent takes the project away
    except BaseException:
        traceback.print_exc()
    finally:
        end(1)


def _read(reading: int, child: int) -> bytes:
    """What the child says before it ends, or before it has taken too long; the child is gone afterwards."""
    told, deadline = b"", time.monotonic() + SECONDS
    os.set_blocking(reading, False)
    while True:
        over = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        with contextlib.suppress(BlockingIOError):
            told += os.read(reading, 1 << 20)
        if over:
            break
        if time.monotonic() > deadline:
            told = json.dumps(asdict(Seen(fell_over="the harness did not come back"))).encode()
            break
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    os.close(reading)
    return told


def _end_what_is_left() -> None:
    while children := _children():
        for child in children:
            os.kill(child, signal.SIGKILL)
        for child in children:
            os.waitpid(child, 0)


def _children() -> list[int]:
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def _apart() -> None:
    """Give this process mounts and a host name of its own, and take in what its descendants leave behind."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    if is_whole_root():
        # Its attacks would change the machine.
        if libc.unshare(_NEW_MOUNTS | _NEW_NAME | _NEW_IPC) != 0:
            raise SystemExit("as root, attacks are let loose in namespaces of their own only, which cannot be made here")
        libc.mount(b"none", b"/", None, _PRIVATE, None)


def main() -> None:
    _apart()
    importlib.import_module("pytest")  # as in every session
    default_router()
    choose("auto")
    choose("none")
    known = attacks()
    for name in sys.argv[1:]:
        attack, _, control = name.partition("@")
        chosen = known[attack] if attack in known else Attack("idle", "nothing", "nothing", "", "", Control.NO_SANDBOX, code="pass")
        seen = outcome(replace(chosen, seed=1) if attack not in known else chosen, Control[control] if control else chosen.control)
        print(json.dumps([name, asdict(seen)]), flush=True)


if __name__ == "__main__":
    main()
