"""Ways out through the kernel: the probes of tests/sandbox, made from where delivered code runs."""

from __future__ import annotations

from pathlib import Path

from tests.redteam.acting import by_command
from tests.redteam.catalogue import Control, Family

KERNEL = Family("kernel")
_PROBES = Path(__file__).parents[1] / "sandbox" / "probes.py"


_ROOTS = (
    *(
        "mount_tmpfs",
        "change_root",
        "become_root",
        "hold_capabilities",
        "load_bpf",
        "make_device",
        "write_kernel_settings",
        "trace_harness",
    ),
    *("trace_parent", "enter_namespace_of_parent", "open_performance_counter", "handle_page_faults", "take_descriptor_of_harness"),
    *("new_user_namespace", "clone3_into_namespace"),
)
"""What most systems refuse an ordinary user even outside of a sandbox."""


def _probe(name: str, mechanism: str, asset: str, tries: str, setup: str = "") -> None:
    """Lets the probe of that name do it; what it needs to know is in `known`."""
    KERNEL.add(
        name,
        mechanism,
        asset,
        tries=tries,
        must="the system refuses it",
        control=Control.NO_SANDBOX,
        needs_root=name in _ROOTS,
        files={"{here}/redteam_probes.py": _PROBES.read_text(encoding="utf-8")},
        code=f"""
            import os
            import redteam_probes
            known = dict(harness=GIVEN["harness"], workdir=os.getcwd(), processes=64, memory_bytes=1 << 30)
            {setup}
            outcome = redteam_probes.PROBES["{name}"](known)
            if outcome is not False:
                got(f"{name}: {{outcome}}")
            """,
    )


_probe("trace_harness", "ptrace", "the harness's process", "attaches to the harness as a debugger would")
_probe("trace_parent", "ptrace", "its parent", "attaches to whoever started it")
_probe("signal_harness", "kill", "the harness's process", "reaches the harness with signals")
_probe("signal_through_pidfd", "pidfd_send_signal", "the harness's process", "reaches it with signals by descriptor")
_probe("take_descriptor_of_harness", "pidfd_getfd", "files that the harness has open", "takes a descriptor out of the harness")
_probe("limit_harness", "prlimit", "the harness's limits", "has the harness run out of descriptors")
_probe("slow_harness_down", "setpriority", "the harness's share of the processor", "makes the harness slow")
_probe("bind_harness_to_one_processor", "sched_setaffinity", "the harness's processors", "makes the harness slow")
_probe("new_user_namespace", "unshare", "a user namespace", "becomes root of a world of its own")
_probe("clone3_into_namespace", "clone3", "a user namespace", "becomes root of a world of its own")
_probe("enter_namespace_of_parent", "setns", "the parent's mounts", "goes where its parent is")
_probe("mount_tmpfs", "mount", "the mount table", "covers what it should see")
_probe("change_root", "chroot", "the root folder", "makes itself another root")
_probe("become_root", "setuid", "root's rights", "becomes root again")
_probe("hold_capabilities", "capget", "root's capabilities", "has rights left over")
_probe("gain_rights_by_setuid_program", "setuid program", "root's rights", "starts su, sudo and the like")
_probe("load_bpf", "bpf", "the kernel", "has the kernel run a program of its own")
_probe("use_io_uring", "io_uring_setup", "the kernel", "makes system calls past the filter")
_probe("open_performance_counter", "perf_event_open", "the kernel", "watches what others compute")
_probe("handle_page_faults", "userfaultfd", "the kernel", "holds the kernel up in the middle of a call")
_probe("use_keyring", "keyctl", "keys of the user", "reads the user's keyring")
_probe("hide_memory_in_files", "memfd_create", "the bound on memory", "keeps memory where it is not counted")
_probe("open_netlink", "netlink", "the network's settings", "asks the kernel for the machine's network")
_probe("write_kernel_settings", "write to /proc/sys", "the machine's name", "changes the machine's settings")
_probe("make_device", "mknod", "a disk", "makes a device of its own")
KERNEL.add(
    "read_memory_of_harness",
    "/proc/PID/mem",
    "the harness's memory",
    tries="reads the truth where the harness keeps it",
    must="the system refuses it",
    control=Control.NO_SANDBOX,
    needs_root=True,
    code="""
        with open(f"/proc/{GIVEN['harness']}/maps") as maps:
            begin = next(int(line.split("-")[0], 16) for line in maps if "[heap]" in line)
        with open(f"/proc/{GIVEN['harness']}/mem", "rb", buffering=0) as memory:
            memory.seek(begin)
            got(memory.read(64))
        """,
)
_CLOCK = """
import ctypes, os, platform
libc = ctypes.CDLL(None, use_errno=True)
{asks}
if answer < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
got("the clock may be changed")
"""
"""Asks for a change that changes nothing: who may have it may have any."""
_SET = _CLOCK.format(asks="answer = libc.syscall({'x86_64': 164, 'aarch64': 170}[platform.machine()], None, None)")
_PACE = _CLOCK.format(
    asks="""number, pace = {'x86_64': 159, 'aarch64': 171}[platform.machine()], (ctypes.c_long * 64)()
libc.syscall(number, pace)
pace[0] = 2  # the frequency, to what it is
answer = libc.syscall(number, pace)"""
)
for _name, _mechanism, _asset, _code in (
    ("set_clock", "settimeofday", "the machine's clock", _SET),
    ("change_pace_of_clock", "adjtimex", "the pace of the machine's clock", _PACE),
):
    _told = {"tries": "turns the clock by which it is bounded", "must": "the system refuses it", "control": Control.NO_SANDBOX}
    KERNEL.add(_name, _mechanism, _asset, needs_root=True, code=_code, **_told)
    KERNEL.add(
        f"{_name}_of_command",
        f"{_mechanism}, of a command",
        _asset,
        kind="agent",
        needs_root=True,
        deliverer=by_command(_code),
        **_told,
    )
