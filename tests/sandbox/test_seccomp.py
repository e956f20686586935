"""The system-call filter, run by a small interpreter of its instructions, for machines other than this one as well."""

from __future__ import annotations

import struct

import pytest

from pytest_fdegym.sandbox import seccomp

ALLOW, EPERM, ENOSYS, KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def verdict(machine: str, number: int, *arguments: int, audit: int | None = None, host_view: bool = False) -> int:
    """What the filter answers to a system call."""
    values = [argument & 0xFFFFFFFFFFFFFFFF for argument in (*arguments, 0, 0, 0, 0, 0, 0)][:6]
    data = struct.pack("=IIQ6Q", number, AUDIT[machine] if audit is None else audit, 0, *values)
    program = seccomp.program(machine, host_view=host_view)
    steps = [struct.unpack_from("=HBBI", program, offset) for offset in range(0, len(program), 8)]
    accumulator, position = 0, 0
    while True:
        operation, if_true, if_false, value = steps[position]
        position += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, value)
        elif operation == 0x06:
            return int(value)
        else:
            holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: accumulator & value != 0}[operation]
            position += if_true if holds else if_false


@pytest.mark.parametrize(
    ("machine", "number", "arguments", "expected"),
    [
        ("x86_64", 0, (), ALLOW),  # read
        ("x86_64", 41, (1, 1), ALLOW),  # socket AF_UNIX
        ("x86_64", 41, (2, 1), EPERM),  # socket AF_INET
        ("x86_64", 41, (16, 3), EPERM),  # socket AF_NETLINK
        ("x86_64", 53, (1, 1), ALLOW),  # socketpair AF_UNIX
        ("x86_64", 56, (0x11,), ALLOW),  # clone as fork does
        ("x86_64", 56, (0x3D0F00,), ALLOW),  # clone as threads do
        ("x86_64", 56, (0x10000011,), EPERM),  # clone NEWUSER
        ("x86_64", 56, (0x91,), EPERM),  # clone NEWTIME
        ("x86_64", 435, (), ENOSYS),  # clone3
        ("x86_64", 101, (16,), EPERM),  # ptrace
        ("x86_64", 302, (0, 7), ALLOW),  # prlimit64 of oneself
        ("x86_64", 302, (99, 7), EPERM),  # prlimit64 of another
        ("x86_64", 16, (0, 0x5401), ALLOW),  # ioctl TCGETS
        ("x86_64", 16, (0, 0x5412), EPERM),  # ioctl TIOCSTI
        ("x86_64", 16, (0, 0x541C), EPERM),  # ioctl TIOCLINUX
        ("x86_64", 999, (), ENOSYS),  # not known yet
        ("x86_64", 0x40000000 | 101, (), KILL),  # the x32 way to call
        ("aarch64", 63, (), ALLOW),  # read
        ("aarch64", 198, (1, 1), ALLOW),  # socket AF_UNIX
        ("aarch64", 198, (10, 1), EPERM),  # socket AF_INET6
        ("aarch64", 220, (0x11,), ALLOW),  # clone
        ("aarch64", 220, (0x10000011,), EPERM),  # clone NEWUSER
        ("aarch64", 117, (16,), EPERM),  # ptrace
        ("aarch64", 261, (99, 7), EPERM),  # prlimit64 of another
        ("aarch64", 425, (), ENOSYS),  # io_uring_setup
    ],
)
def test_verdict(machine: str, number: int, arguments: tuple[int, ...], expected: int) -> None:
    assert verdict(machine, number, *arguments) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((1, 1, 0), ALLOW),  # AF_UNIX
        ((2, 1, 6), ALLOW),  # AF_INET
        ((10, 2, 0), ALLOW),  # AF_INET6
        ((16, 3, 0), ALLOW),  # AF_NETLINK, NETLINK_ROUTE
        ((16, 3, 12), EPERM),  # AF_NETLINK, NETLINK_NETFILTER
        ((17, 3, 0), EPERM),  # AF_PACKET
        ((38, 5, 0), EPERM),  # AF_ALG
        ((40, 1, 0), EPERM),  # AF_VSOCK
    ],
)
@pytest.mark.parametrize(("machine", "socket", "socketpair"), [("x86_64", 41, 53), ("aarch64", 198, 199)])
def test_sockets_with_the_hosts_view(machine: str, socket: int, socketpair: int, arguments: tuple[int, ...], expected: int) -> None:
    assert verdict(machine, socket, *arguments, host_view=True) == expected
    assert verdict(machine, socketpair, *arguments, host_view=True) == (ALLOW if arguments[0] == 1 else EPERM)


@pytest.mark.parametrize("machine", seccomp.machines())
def test_with_the_hosts_view_files_can_be_watched_and_all_else_is_as_without(machine: str) -> None:
    socket, inotify = {"x86_64": (41, {253, 294}), "aarch64": (198, {26})}[machine]
    others = [number for number in range(600) if number != socket]
    differ = {number for number in others if verdict(machine, number, 3, 7) != verdict(machine, number, 3, 7, host_view=True)}
    assert differ == inotify


def test_a_flag_hidden_in_the_upper_half_changes_nothing() -> None:
    """The kernel looks at the lower half only, and so does the filter."""
    assert verdict("x86_64", 41, (5 << 32) | 2) == EPERM


@pytest.mark.parametrize("machine", seccomp.machines())
def test_calls_of_another_architecture_kill(machine: str) -> None:
    assert verdict(machine, 0, audit=0x40000003) == KILL


def test_a_machine_without_a_filter() -> None:
    with pytest.raises(LookupError) as caught:
        seccomp.program("riscv64")
    assert str(caught.value.args[0]) == "no system-call filter for 'riscv64'; there is one for x86_64, aarch64"
