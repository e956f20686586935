"""The system-call filter as BPF bytes: what a confined process may not ask of the kernel, whatever else confines it."""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_EPERM = 0x00050000 | errno.EPERM
_ENOSYS = 0x00050000 | 38  # Linux's number, wherever this is computed
_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_LIST_INTERFACES = 0
"""NETLINK_ROUTE, the one protocol of netlink that C libraries and runtimes ask for interfaces and addresses."""
_FOR_HOST_VIEW = frozenset({"inotify_init", "inotify_init1"})
_NEW_NAMESPACES = 0x7E020080
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWTIME."""
_TERMINAL_INPUT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX type into a terminal that somebody else reads."""
_FIRST_UNKNOWN = 463
"""System calls from here on were added to Linux after this list was written (6.13)."""
_X32 = 0x40000000

_EVERYWHERE = MappingProxyType(
    {
        "pidfd_getfd": 438, "process_madvise": 440, "process_mrelease": 448, "io_uring_setup": 425, "io_uring_enter": 426,
        "io_uring_register": 427, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
        "mount_setattr": 442, "quotactl_fd": 443, "memfd_secret": 447, "statmount": 457, "listmount": 458, "clone3": 435,
    }
)  # fmt: skip
_X86_64 = MappingProxyType(
    {
        "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "unshare": 272, "setns": 308, "mount": 165,
        "umount2": 166, "pivot_root": 155, "chroot": 161, "bpf": 321, "perf_event_open": 298, "keyctl": 250, "add_key": 248,
        "request_key": 249, "userfaultfd": 323, "kexec_load": 246, "kexec_file_load": 320, "init_module": 175, "finit_module": 313,
        "delete_module": 176, "open_by_handle_at": 304, "name_to_handle_at": 303, "shmget": 29, "shmat": 30, "shmctl": 31, "msgget": 68,
        "semget": 64, "mq_open": 240, "memfd_create": 319, "quotactl": 179, "reboot": 169, "swapon": 167, "swapoff": 168, "acct": 163,
        "syslog": 103, "vhangup": 153, "inotify_init": 253, "inotify_init1": 294, "fanotify_init": 300, "iopl": 172, "ioperm": 173,
        "modify_ldt": 154, "move_pages": 279, "migrate_pages": 256, "lookup_dcookie": 212, "settimeofday": 164, "clock_settime": 227,
        "sethostname": 170, "setdomainname": 171,
    }
)  # fmt: skip
_AARCH64 = MappingProxyType(
    {
        "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "unshare": 97, "setns": 268, "mount": 40,
        "umount2": 39, "pivot_root": 41, "chroot": 51, "bpf": 280, "perf_event_open": 241, "keyctl": 219, "add_key": 217,
        "request_key": 218, "userfaultfd": 282, "kexec_load": 104, "kexec_file_load": 294, "init_module": 105, "finit_module": 273,
        "delete_module": 106, "open_by_handle_at": 265, "name_to_handle_at": 264, "shmget": 194, "shmat": 196, "shmctl": 195,
        "msgget": 186, "semget": 190, "mq_open": 180, "memfd_create": 279, "quotactl": 60, "reboot": 142, "swapon": 224, "swapoff": 225,
        "acct": 89, "syslog": 116, "vhangup": 58, "inotify_init1": 26, "fanotify_init": 262, "move_pages": 239, "migrate_pages": 238,
        "lookup_dcookie": 18, "settimeofday": 170, "clock_settime": 112, "sethostname": 161, "setdomainname": 162,
    }
)  # fmt: skip
_AS_IF_UNKNOWN = frozenset({"clone3", "io_uring_setup", "memfd_create", "memfd_secret"})
"""Answered with ENOSYS, on which callers fall back: C libraries from clone3 to clone, whose flags can be seen from here."""


@dataclass(frozen=True)
class _Machine:
    audit: int
    clone: int
    socket: int
    socketpair: int
    ioctl: int
    on_oneself: Mapping[str, tuple[int, int]]
    """Calls on a process, as (number, index of the argument that names it): zero, the caller itself, is the only one accepted."""
    denied: Mapping[str, int]


_MACHINES: Mapping[str, _Machine] = MappingProxyType(
    {
        "x86_64": _Machine(
            0xC000003E,
            clone=56,
            socket=41,
            socketpair=53,
            ioctl=16,
            on_oneself={
                "prlimit64": (302, 0), "setpriority": (141, 1), "ioprio_set": (251, 1), "sched_setaffinity": (203, 0),
                "sched_setscheduler": (144, 0), "sched_setparam": (142, 0), "sched_setattr": (314, 0),
            },
            denied={**_X86_64, **_EVERYWHERE},
        ),
        "aarch64": _Machine(
            0xC00000B7,
            clone=220,
            socket=198,
            socketpair=199,
            ioctl=29,
            on_oneself={
                "prlimit64": (261, 0), "setpriority": (140, 1), "ioprio_set": (30, 1), "sched_setaffinity": (122, 0),
                "sched_setscheduler": (119, 0), "sched_setparam": (118, 0), "sched_setattr": (274, 0),
            },
            denied={**_AARCH64, **_EVERYWHERE},
        ),
    }
)  # fmt: skip


def machines() -> tuple[str, ...]:
    """The machines (``platform.machine()``) for which there is a filter."""
    return tuple(_MACHINES)


def program(machine: str | None = None, *, host_view: bool = False) -> bytes:
    """Return the filter for `machine` (default: this one) as an array of ``struct sock_filter``.

    With `host_view`, for programs of the user's own: internet sockets, asking for the network's interfaces and watching files are not
    refused here; what they reach is the namespaces' affair. Raises LookupError for a machine without a filter.
    """
    name = machine or platform.machine()
    if name not in _MACHINES:
        raise LookupError(f"no system-call filter for {name!r}; there is one for {', '.join(_MACHINES)}")
    this = _MACHINES[name]
    code = [_step(_LOAD, _ARCHITECTURE), _step(_EQUAL, this.audit, 1, 0), _step(_RETURN, _KILL_PROCESS), _step(_LOAD, _NUMBER)]
    if name == "x86_64":
        code += [_step(_AT_LEAST, _X32, 0, 1), _step(_RETURN, _KILL_PROCESS)]
    code += [_step(_AT_LEAST, _FIRST_UNKNOWN, 0, 1), _step(_RETURN, _ENOSYS)]
    for call, number in this.denied.items():
        if host_view and call in _FOR_HOST_VIEW:
            continue
        code += [_step(_EQUAL, number, 0, 1), _step(_RETURN, _ENOSYS if call in _AS_IF_UNKNOWN else _EPERM)]
    code += [
        _step(_EQUAL, this.clone, 0, 4),
        _argument(0),
        _step(_ANY_BIT, _NEW_NAMESPACES, 0, 1),
        _step(_RETURN, _EPERM),
        _step(_RETURN, _ALLOW),
    ]
    for number in (this.socketpair,) if host_view else (this.socket, this.socketpair):
        code += [_step(_EQUAL, number, 0, 4), _argument(0), _step(_EQUAL, _AF_UNIX, 1, 0), _step(_RETURN, _EPERM), _step(_RETURN, _ALLOW)]
    if host_view:
        families = ((_AF_UNIX, 6), (_AF_INET, 5), (_AF_INET6, 4))
        code += [_step(_EQUAL, this.socket, 0, 9), _argument(0), *(_step(_EQUAL, family, allow, 0) for family, allow in families)]
        code += [_step(_EQUAL, _AF_NETLINK, 0, 2), _argument(2), _step(_EQUAL, _LIST_INTERFACES, 1, 0)]
        code += [_step(_RETURN, _EPERM), _step(_RETURN, _ALLOW)]
    for number, index in this.on_oneself.values():
        code += [_step(_EQUAL, number, 0, 4), _argument(index), _step(_EQUAL, 0, 1, 0), _step(_RETURN, _EPERM), _step(_RETURN, _ALLOW)]
    first, second = _TERMINAL_INPUT
    code += [_step(_EQUAL, this.ioctl, 0, 4), _argument(1), _step(_EQUAL, first, 1, 0), _step(_EQUAL, second, 0, 1), _step(_RETURN, _EPERM)]
    code += [_step(_RETURN, _ALLOW)]
    return b"".join(code)


def _step(operation: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", operation, if_true, if_false, value)


def _argument(index: int) -> bytes:
    """Load the low half of an argument; both machines are little-endian."""
    return _step(_LOAD, _ARGUMENTS + 8 * index)
