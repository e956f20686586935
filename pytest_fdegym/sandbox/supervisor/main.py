"""The supervisor's course: take a job, launch the command, watch it, and leave nothing of its process tree behind.

Protocol on the file descriptor named in argv: the harness sends a length and a marshalled job; lines come back: ``started``,
then ``exit CODE BOUND`` when the tree is gone, or ``fault TEXT`` when the sandbox itself failed. Anything that the harness
sends afterwards, or its end, ends the tree.
"""

from __future__ import annotations

import marshal
import os
import select
import sys

from .launch import become_subreaper, launch
from .tree import Tree

TYPE_CHECKING = False  # importing it would import typing
if TYPE_CHECKING:
    from typing import Any

_POLL_SECONDS = 0.1
_LINUX = sys.platform == "linux"


def main() -> None:
    control = int(sys.argv[1])
    os.set_inheritable(control, False)
    job = marshal.loads(_receive(control))
    try:
        become_subreaper()
        child, told = launch(job)
    except OSError as error:
        os.write(control, f"fault {error}\n".encode())
        return
    nothing = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):  # else the harness would not see that the command closed its own
        os.dup2(nothing, descriptor)
    tree = Tree(child)
    try:
        fault = _await_start(control, told, job, tree)
        if fault is None:
            os.write(control, b"started\n")
            bound = _watch(control, tree, job["tree_bytes"])
        tree.end()
        if fault is None:
            os.write(control, f"exit {_exit_code(tree.status)} {bound}\n".encode())
        else:
            os.write(control, f"fault {fault}\n".encode())
    except (BrokenPipeError, ConnectionResetError):  # the harness is gone
        tree.end()


def _receive(control: int) -> bytes:
    size = int.from_bytes(_exactly(control, 4), "big")
    return _exactly(control, size)


def _exactly(control: int, size: int) -> bytes:
    got = b""
    while len(got) < size:
        more = os.read(control, size - len(got))
        if not more:
            sys.exit(0)
        got += more
    return got


def _await_start(control: int, told: int, job: dict[str, Any], tree: Tree) -> str | None:
    """None once the command runs, else what kept the sandbox from starting it (what a tool printed is on its standard error)."""
    poll = select.poll()
    poll.register(told, select.POLLIN)
    poll.register(control, select.POLLIN)
    got = b""
    while True:
        ready = [descriptor for descriptor, _ in poll.poll()]
        if control in ready:
            return "ended before it had started"
        more = os.read(told, 4096)
        got += more
        if got == b"ok" or not more:
            break
    os.close(told)
    if got.startswith(b"!"):
        return got[1:].decode("utf-8", "replace").replace("\n", " ")
    if job["told_by_command"] and got != b"ok":
        tree.wait_for_first()
        return f"the sandbox ended with exit code {_exit_code(tree.status)} before the command ran"
    return None


def _watch(control: int, tree: Tree, tree_bytes: int) -> str:
    """Return when the command has ended, the harness asks, or memory is used up; says ``memory`` or ``-``."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    if _LINUX:
        poll.register(os.pidfd_open(tree.first), select.POLLIN)
    pause = _POLL_SECONDS if _LINUX else 0.02
    while True:
        ready = [descriptor for descriptor, _ in poll.poll(pause * 1000)]
        tree.reap()
        if tree.status is not None or control in ready:
            return "-"
        started = os.times().elapsed
        if tree.resident_bytes() > tree_bytes and tree.resident_bytes(shared_once=True) > tree_bytes:
            return "memory"
        pause = max(_POLL_SECONDS, 20 * (os.times().elapsed - started))  # a long process list must not eat the machine


def _exit_code(status: int | None) -> int:
    """As a shell would say it: 128 + the signal's number for a death by signal."""
    if status is None:
        return 137  # killed
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code
