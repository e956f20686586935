"""The machine as its user sees it, less what a command agent must not see: which places are shown, emptied or covered, in which order.

Nothing is done here; a back end turns the places into mounts or rules. Everything not listed is as on the machine, and read-only.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pytest_fdegym.sandbox import machine
from pytest_fdegym.sandbox.base import Layout

Kind = Literal["scratch", "empty", "made", "cover", "show", "link", "write"]
"""What is done with a place: a temporary folder of its own to write in; nothing in it; a folder made there; a file or socket that cannot
be opened; as on the machine, to read; a link as on the machine; as on the machine, to read and write."""

PROGRAM_FOLDERS = frozenset(
    {
        *(".local", ".nvm", ".npm-global", ".npm-packages", ".cargo", ".rustup", ".bun", ".deno", ".volta", ".asdf", ".mise", ".fnm"),
        *(".pyenv", ".rbenv", ".nodenv", ".sdkman", ".linuxbrew", ".nix-profile", ".yarn", ".pnpm", ".dotnet", ".opencode"),
    }
)
"""Of the names in a home that begin with a dot, those that are shown: programs live there. Any other may hold a secret or a history."""
SECRETS_AMONG_PROGRAMS = (
    *(".local/share/keyrings", ".local/share/opencode", ".local/share/containers", ".local/state", ".local/share/atuin"),
    *(".cargo/credentials", ".cargo/credentials.toml", ".local/share/fish/fish_history"),
)
SECRETS = (
    *(".ssh", ".aws", ".azure", ".gnupg", ".netrc", ".kube", ".docker", ".git-credentials", ".npmrc", ".pypirc", ".pgpass", ".my.cnf"),
    *(".boto", ".s3cfg", ".oci", ".vault-token", ".terraform.d", ".password-store", ".mozilla", ".thunderbird", ".config/gcloud"),
    *(".config/gh", ".config/glab-cli", ".config/hub", ".config/git/credentials", ".config/op", ".config/rclone", ".config/doctl"),
    *(".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".local/share/keyrings", ".cargo/credentials.toml"),
    *(".bash_history", ".zsh_history", ".python_history", ".psql_history", ".lesshst", "Library/Keychains", ".cache"),
)
"""What is kept even from an agent that has the user's own home. ``.cache``, because of what package managers keep there: this package."""
_TOO_MUCH = frozenset({Path("/"), Path("/etc"), *machine.SYSTEM})
"""Places without which nothing runs: neither a home nor anything to hide, whatever the caller says."""


@dataclass(frozen=True)
class Place:
    """A path of the machine and what is done with it."""

    path: Path
    kind: Kind


def places(
    layout: Layout,
    *,
    home: Path,
    path: Sequence[Path],
    interpreter: Sequence[Path],
    mounts: str = "",
    sockets: Iterable[Path] = (),
    closed: Callable[[Path], bool] = lambda _: False,
) -> list[Place]:
    """Return what is to be done, outermost first, so that what is done to an inner place holds against what is done around it.

    `home` is the user's own; `path` the folders of its PATH; `interpreter` what Python needs; `mounts` the text of
    /proc/self/mountinfo, by which other names of hidden places are found; `sockets` are those with a path, which could be talked to
    although they cannot be written; `closed` says of a folder whether confined code may not pass through it. Raises
    InfrastructureFault as `machine.grants` does.
    """
    grants = {grant.path: grant.writable for grant in machine.grants(layout)}
    hidden = {real for given in layout.hidden for name in (given, *_other_names(given, mounts)) if os.path.exists(real := _real(name))}
    found = _of_the_system(layout.network == "host")
    home = _real(home)
    if os.path.isdir(home) and home not in _TOO_MUCH:
        if not grants.get(home):
            found.update(_of_the_home(home, [*path, *interpreter]))
        secrets = SECRETS if grants.get(home) else SECRETS_AMONG_PROGRAMS
        hidden |= {real for name in secrets if os.path.exists(real := _real(home / name))}
    hidden -= _TOO_MUCH
    for folder in _temporary_folders():
        found[folder] = "scratch"
    needed = [*path, *map(_real, interpreter)]
    barriers = {above for folder in needed for above in folder.parents if closed(above)}
    found.update({barrier: "empty" for barrier in barriers if found.get(barrier) != "scratch"})
    for folder in (*_programs_in(found, path), *map(_real, interpreter)):
        found.setdefault(folder, "show")
    for socket in sockets:
        if layout.sockets is None or not _within(socket, (_real(layout.sockets),)):
            found.setdefault(socket, "cover")
    found = {place: kind for place, kind in found.items() if not _within(place, hidden)}
    for place in (*hidden, *(place for place, writable in grants.items() if not writable)):
        # A folder in which something is mounted can be renamed, one that is mounted itself cannot: so that names stay what they are.
        outer = [grant for grant, writable in grants.items() if writable and grant in place.parents]
        found.update({folder: "write" for folder in place.parents if any(grant in folder.parents for grant in outer)})
    found.update({place: "write" if writable else "show" for place, writable in grants.items()})
    found.update({place: "empty" if os.path.isdir(place) else "cover" for place in hidden})
    seen = [Place(place, kind) for place, kind in found.items() if not _out_of_sight(place, kind, found)]
    return sorted(seen, key=lambda each: (len(each.path.parts), each.path))


def listening_sockets(table: Path = Path("/proc/net/unix")) -> set[Path]:
    """The Unix sockets with a path of this machine, as far as its kernel tells."""
    try:
        lines = table.read_text(encoding="utf-8", errors="surrogateescape").splitlines()[1:]
    except OSError:
        return set()
    named = (line.split(maxsplit=7) for line in lines)
    return {_real(Path(words[7])) for words in named if len(words) == 8 and words[7].startswith("/") and _is_socket(words[7])}


def mount_table() -> str:
    """What is mounted where, in the kernel's words; empty where it does not tell."""
    try:
        return Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def user_home() -> Path:
    """The home of who runs the harness."""
    return Path(os.path.expanduser("~"))


def user_path(environment: Mapping[str, str]) -> list[Path]:
    """The folders of PATH that exist, in order and without links. Relative ones are left out: they would be looked for in the workspace."""
    folders = [_real(Path(word)) for word in environment.get("PATH", os.defpath).split(os.pathsep) if word.startswith("/")]
    return list(dict.fromkeys(folder for folder in folders if os.path.isdir(folder)))


def _temporary_folders() -> set[Path]:
    named = ("/tmp", "/var/tmp", tempfile.gettempdir())
    return {real for name in named if os.path.isdir(real := _real(Path(name))) and len(real.parts) > 1}


def _of_the_system(network: bool) -> dict[Path, Kind]:
    """Running services have their sockets in /run; /sys tells of the hardware and of other processes' control groups."""
    found: dict[Path, Kind] = {Path(name): "empty" for name in ("/run", "/sys") if os.path.isdir(name)}
    shown = [Path("/sys/devices/system/cpu"), Path("/run/current-system")]
    if network:
        shown.append(_real(Path("/etc/resolv.conf")))
    found.update({path: "show" for path in shown if os.path.exists(path) and any(path.is_relative_to(folder) for folder in found)})
    return found


def _of_the_home(home: Path, programs: Sequence[Path]) -> dict[Path, Kind]:
    """The home made anew of what may be seen in it, so that one that only its owner may enter can be passed through."""
    found: dict[Path, Kind] = {home: "empty"}
    used = {real.relative_to(home).parts[0] for folder in programs if (real := _real(folder)) != home and real.is_relative_to(home)}
    try:
        names = os.listdir(home)
    except OSError:
        return found
    for name in names:
        if not name.startswith(".") or name in PROGRAM_FOLDERS or name in used:
            found[home / name] = "link" if (home / name).is_symlink() else "show"
    return found


def _out_of_sight(place: Path, kind: Kind, found: Mapping[Path, Kind]) -> bool:
    """Whether a place to be emptied or covered is not there anyway: the innermost of what is done around it empties it."""
    if kind not in ("empty", "cover"):
        return False
    around = [folder for folder in place.parents if folder in found]
    return bool(around) and found[around[0]] in ("empty", "scratch")


def _programs_in(found: Mapping[Path, Kind], path: Sequence[Path]) -> list[Path]:
    """What PATH names in places that are emptied: the folder, and with a ``bin`` what belongs to it."""
    emptied = [place for place, kind in found.items() if kind in ("scratch", "empty")]
    shown = [place for place, kind in found.items() if kind == "show"]
    wanted = []
    for folder in map(_real, path):
        whole = folder.parent if folder.name in ("bin", ".bin") and folder.parent not in emptied else folder
        if _within(whole, emptied) and whole not in emptied and not _within(whole, shown):
            wanted.append(whole)
    return wanted


def _within(path: Path, folders: Iterable[Path]) -> bool:
    return any(folder == path or folder in path.parents for folder in folders)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _is_socket(name: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(name).st_mode)
    except OSError:
        return False


@dataclass(frozen=True)
class _Mount:
    device: str
    root: Path
    point: Path


def _other_names(path: Path, mounts: str) -> list[Path]:
    """Where else a place can be seen, because its file system, or a part of it, is mounted a second time."""
    table = [_Mount(words[2], Path(_unescaped(words[3])), Path(_unescaped(words[4]))) for words in map(str.split, mounts.splitlines())]
    path = _real(path)
    around = [mount for mount in table if path.is_relative_to(mount.point)]
    if not around:
        return []
    own = max(around, key=lambda mount: len(mount.point.parts))  # of several at one place the last one is seen, but all are to be found
    found = []
    for mine in (mount for mount in around if mount.point == own.point):
        inside = mine.root / path.relative_to(mine.point)
        for mount in table:
            if mount is not mine and mount.device == mine.device and inside.is_relative_to(mount.root):
                found.append(mount.point / inside.relative_to(mount.root))
    return found


def _unescaped(word: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), word)  # blanks and the backslash are written so
