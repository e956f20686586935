"""The sandbox without helper program or namespaces: Landlock rules on files, the system-call filter, and the supervisor as subreaper.

For containers and systems in which bubblewrap may not make namespaces. SECURITY.md says what it leaves open that bubblewrap closes.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pytest_fdegym.errors import SandboxFault
from pytest_fdegym.sandbox import account, machine, process, seccomp
from pytest_fdegym.sandbox.bare_python import BarePython, temporary_folder
from pytest_fdegym.sandbox.base import Bounds, CommandResult, Layout, WayOut
from pytest_fdegym.scratch import remove_tree

_CREATE_RULESET, _VERSION = 444, 1
_LEAST_ABI = 3
"""Linux 6.2: before it, a file that must not be written could still be truncated."""

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = (1 << bit for bit in range(6))
_MAKE_CHAR, _MAKE_DIR, _MAKE_REG, _MAKE_SOCK, _MAKE_FIFO, _MAKE_BLOCK, _MAKE_SYM = (1 << bit for bit in range(6, 13))
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_WRITE = _READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SOCK | _MAKE_FIFO | _MAKE_SYM | _REFER | _TRUNCATE
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_ALL_NETWORK = 0b11
"""Binding and connecting TCP, which the system-call filter prevents as well."""
_ALL_SCOPES = 0b11
"""Abstract sockets and signals of processes outside."""
_DEVICES = tuple(Path("/dev", name) for name in ("null", "zero", "full", "random", "urandom"))


class Landlock:
    """Sandbox of a Linux kernel with Landlock, version 3 of its interface or later (6 for signals and abstract sockets: Linux 6.12)."""

    name = "landlock"
    way_out: WayOut = "nowhere"

    def __init__(self, dropped: account.Account | None) -> None:
        """`dropped` is whom confined code runs as, None for the harness's own user. Raises InfrastructureFault without a kernel for it."""
        self._abi = kernel_abi()
        if self._abi < _LEAST_ABI:
            found = f"version {self._abi}" if self._abi else "none"
            raise SandboxFault(f"the kernel offers Landlock {found}; version {_LEAST_ABI} (Linux 6.2) is needed")
        try:
            self._filter = seccomp.program()
        except LookupError as error:
            raise SandboxFault(str(error)) from error
        self._account = dropped
        self._python = BarePython(dropped)
        self._system = self._system_rules()

    def run(
        self, command: Sequence[str], layout: Layout, bounds: Bounds, *, stdin: bytes = b"", end: threading.Event | None = None
    ) -> CommandResult:
        """See base.Sandbox."""
        return process.run(self._job(command, layout, bounds), stdin=stdin, end=end)

    def start(self, command: Sequence[str], layout: Layout, bounds: Bounds) -> process.ConfinedProcess:
        """See base.Sandbox."""
        return process.start(self._job(command, layout, bounds))

    def give(self, path: Path) -> None:
        """See base.Sandbox."""
        account.give(path, self._account)

    def _job(self, command: Sequence[str], layout: Layout, bounds: Bounds) -> process.Job:
        if layout.system == "host":
            raise SandboxFault("the landlock sandbox can only show what it names, and so has no view of the machine that hides anything")
        granted = machine.grants(layout)
        for grant in granted:
            account.require_open(grant.path, self._account, write=grant.writable, sockets=grant.path == layout.sockets)
            barred = account.closed_ancestor(grant.path, self._account)
            if barred is not None:
                raise SandboxFault(
                    f"{barred} is closed to the user that confined code runs as (id {self._account.uid if self._account else None}),"
                    f" and the landlock sandbox cannot lead it to {grant.path}; keep workspaces in a folder"
                    " that everybody may pass through, such as /tmp, or install bubblewrap, or run pytest as an ordinary user"
                )
        temporary = temporary_folder("fdegym-tmp-", self._account)
        account.give(temporary, self._account)
        rules = [*self._system, *self._rules(temporary, _WRITE)]
        for grant in granted:
            rules += self._rules(grant.path, _WRITE if grant.writable else _READ)
        return process.Job(
            argv=command,
            environment=machine.environment(layout, self._python.programs, str(temporary), self._python.environment),
            bounds=bounds,
            cwd=str(layout.workdir),
            uid=self._account.uid if self._account else None,
            count_beside=self._account is None,
            landlock={"attributes": self._attributes(), "rules": rules},
            seccomp=self._filter,
            cleanup=partial(remove_tree, temporary),
        )

    def _attributes(self) -> bytes:
        """``struct landlock_ruleset_attr``, as long as this kernel knows it."""
        fields = [self._handled()]
        fields += [_ALL_NETWORK] if self._abi >= 4 else []
        fields += [_ALL_SCOPES] if self._abi >= 6 else []
        return struct.pack(f"={len(fields)}Q", *fields)

    def _handled(self) -> int:
        return _WRITE | _MAKE_CHAR | _MAKE_BLOCK | (_IOCTL_DEV if self._abi >= 5 else 0)

    def _rules(self, path: Path, access: int) -> list[tuple[str, int]]:
        return [(str(path), access if path.is_dir() else access & _ON_FILES)]

    def _system_rules(self) -> list[tuple[str, int]]:
        roots = [*(folder for folder in machine.SYSTEM if folder.is_dir() and not folder.is_symlink()), *self._python.folders]
        hidden = set(machine.package_folders(roots))
        rules = [rule for path in (*roots, *machine.SETTINGS) if path.exists() for rule in self._read_except(path, hidden)]
        return rules + [(str(device), _READ_FILE | _WRITE_FILE | _TRUNCATE) for device in _DEVICES]

    def _read_except(self, path: Path, hidden: set[Path]) -> list[tuple[str, int]]:
        """Rules only ever add: what is hidden is left out by granting everything around it."""
        if path in hidden or path.is_symlink():
            return []
        if not any(path in folder.parents for folder in hidden):
            return self._rules(path, _READ)
        rules = [rule for child in sorted(path.iterdir()) for rule in self._read_except(child, hidden)]
        if any(folder.parent == path for folder in hidden):
            rules.append(
                (str(path), _READ_DIR)
            )  # Python lists the folder of its standard library; names of packages can so be seen, no more
        return rules


def kernel_abi() -> int:
    """The version of Landlock's interface that this kernel offers, 0 for none."""
    if sys.platform != "linux":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)))
