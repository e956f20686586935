"""The user as whom confined code runs: when the harness is root, one without rights that nobody else has; otherwise the harness's own."""

from __future__ import annotations

import os
import pwd
import socket
import stat
import sys
import weakref
from dataclasses import dataclass
from pathlib import Path

from pytest_fdegym.errors import SandboxFault

_FIRST, _COUNT = 61184, 256
"""The range from which systemd takes ids for services that need a user for the time of their running."""
_NOBODY = 65534


@dataclass(frozen=True)
class Account:
    """A user and group id of the same number, without other groups; held as long as this object lives."""

    uid: int


def unprivileged() -> Account | None:
    """Return the account to drop to, or None where the harness has no rights to drop (or, in a user namespace, no other user to become).

    A number of its own for each harness process keeps apart what runs side by side: signals, process counts, files.
    """
    if os.geteuid() != 0:
        return None
    if sys.platform != "linux":
        return Account(pwd.getpwnam("nobody").pw_uid)
    for uid in range(_FIRST, _FIRST + _COUNT):
        if not _mapped(uid) or _known(uid):
            continue
        # An abstract socket is a lock that the kernel lifts when its holder ends, and that no file on the disk stands for.
        hold = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            hold.bind(f"\0fdegym-account-{uid}")
        except OSError:
            hold.close()
            continue
        account = Account(uid)
        weakref.finalize(account, os.close, hold.detach())
        return account
    return Account(_NOBODY) if _mapped(_NOBODY) else None


def give(path: Path, account: Account | None) -> None:
    """Make the tree at `path` the account's (None: keep the owner), with read and write rights for its owner. Links are never followed.

    Raises InfrastructureFault if the tree cannot be changed, or if a file in it has other names outside
    of it (changing it would change those too).
    """
    linked: dict[tuple[int, int], list[Path]] = {}
    try:
        _give_entry(path, os.lstat(path), account, linked)
        for folder, folders, files in os.walk(path):
            for name in (*folders, *files):
                entry = Path(folder, name)
                _give_entry(entry, os.lstat(entry), account, linked)
        for names in linked.values():
            status = os.lstat(names[0])
            if status.st_nlink > len(names):
                raise SandboxFault(f"cannot give {names[0]} to the sandbox: the file has another name outside of {path}")
            _own(names[0], status, account)
    except (OSError, RecursionError) as error:
        raise SandboxFault(f"cannot give {path} to the sandbox: {error}") from error


def _give_entry(entry: Path, status: os.stat_result, account: Account | None, linked: dict[tuple[int, int], list[Path]]) -> None:
    ours = account is None or status.st_uid == account.uid
    if stat.S_ISREG(status.st_mode) and status.st_nlink > 1 and not ours:
        linked.setdefault((status.st_dev, status.st_ino), []).append(entry)
    else:
        _own(entry, status, account)


def _own(entry: Path, status: os.stat_result, account: Account | None) -> None:
    if account is not None and status.st_uid != account.uid:
        os.chown(entry, account.uid, account.uid, follow_symlinks=False)
    if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
        return
    wanted = stat.S_IMODE(status.st_mode) | stat.S_IRUSR | stat.S_IWUSR | (stat.S_IXUSR if stat.S_ISDIR(status.st_mode) else 0)
    if wanted != stat.S_IMODE(status.st_mode) and (account is not None or status.st_uid == os.geteuid()):
        os.chmod(entry, wanted)


def closed_ancestor(path: Path, account: Account | None) -> Path | None:
    """Return the first folder above `path` that the account may not pass through, or None."""
    if account is None:
        return None
    return next((folder for folder in reversed(path.parents) if not may_pass(folder, account)), None)


def may_pass(folder: Path, account: Account | None) -> bool:
    """Whether the account may pass through a folder, by its permissions; of the harness's own user, nothing is asked."""
    return account is None or _may(os.stat(folder), account.uid, execute=True)


def require_open(path: Path, account: Account | None, *, write: bool = False, sockets: bool = False) -> None:
    """Raise InfrastructureFault if the account may not use `path` itself (with `sockets`: and those directly in it).

    A folder of the account's own is opened for it again: confined code that ran there before may have closed it, and what it
    does must never look like a fault of the harness.
    """
    status = os.lstat(path)
    if stat.S_ISDIR(status.st_mode) and status.st_uid == (os.geteuid() if account is None else account.uid):
        os.chmod(path, stat.S_IMODE(status.st_mode) | stat.S_IRWXU)
    if account is None:
        return
    status = os.stat(path)
    entries = [(path, status, write)]
    if sockets and stat.S_ISDIR(status.st_mode):
        entries += [(Path(entry.path), entry.stat(), True) for entry in os.scandir(path) if _is_socket(entry)]
    for entry_path, entry_status, entry_write in entries:
        is_folder = stat.S_ISDIR(entry_status.st_mode)
        if not _may(entry_status, account.uid, execute=is_folder, read=True, write=entry_write):
            raise SandboxFault(
                f"{entry_path} is closed to the user that confined code runs as (id {account.uid},"
                f" mode {stat.S_IMODE(entry_status.st_mode):04o}, owner {entry_status.st_uid}); it must be given with Sandbox.give first"
            )


def _is_socket(entry: os.DirEntry[str]) -> bool:
    return stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode)


def _may(status: os.stat_result, uid: int, *, execute: bool = False, write: bool = False, read: bool = False) -> bool:
    shift = 6 if status.st_uid == uid else 3 if status.st_gid == uid else 0
    wanted = (1 if execute else 0) | (2 if write else 0) | (4 if read else 0)
    return (status.st_mode >> shift) & wanted == wanted


def _known(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _mapped(uid: int) -> bool:
    """Whether the number exists in this user namespace, as a user and as a group."""
    return all(_in_map(Path(f"/proc/self/{kind}_map"), uid) for kind in ("uid", "gid"))


def _in_map(table: Path, number: int) -> bool:
    try:
        rows = [[int(word) for word in line.split()] for line in table.read_text().splitlines()]
    except OSError:
        return True
    return any(first <= number < first + count for first, _, count in rows)
