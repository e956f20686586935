"""The system-call filter, run by a small interpreter of its instructions, for machines other than this one as well."""

from __future__ import annotations

import struct

import pytest

from pytest_fdegym.sandbox import seccomp

ALLOW, EPERM, ENOSYS, KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def verdict(machine: str, number: int, *arguments: int, audit: int | None = None) -> int:
    """What the filter answers to a system call."""
    values = [argument & 0xFFFFFFFFFFFFFFFF for argument in (*arguments, 0, 0, 0, 0, 0, 0)][:6]
    data = struct.pack("=IIQ6Q", number, AUDIT[machine] if audit is None else audit, 0, *values)
    program = seccomp.program(machine)
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
