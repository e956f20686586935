"""The layers of defence, each switched off: doubles that stand in the place of one layer, for throwaway processes only."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, cast
from unittest import mock

from pytest_fdegym.deployment import process as deployment_process
from pytest_fdegym.deployment.databases import ProductionDatabases
from pytest_fdegym.deployment.freeze import Frozen
from pytest_fdegym.deployment.host import Deployment, ReplayBounds
from pytest_fdegym.sandbox.base import Bounds, CommandResult, Layout, Sandbox, SandboxedProcess, WayOut
from pytest_fdegym.sandbox.choose import choose
from pytest_fdegym.scenario.model import ScenarioFile
from pytest_fdegym.scenario.world import Json, Outcome, Raised, Returned, TableChange
from pytest_fdegym.scratch import remove_tree
from tests.redteam.agent_controls import agent_layer_off
from tests.redteam.catalogue import Control
from tests.redteam.project import Project
from tests.redteam.spying import Spy, spied_deployment
from tests.redteam.support import Ground, ground
from tests.support.tiny_scenario import FILES

_WIDE = ReplayBounds(
    memory_bytes=1 << 42,
    output_bytes=1 << 30,
    reply_bytes=1 << 30,
    replies_bytes=1 << 34,
    file_bytes=1 << 30,
    disk_bytes=1 << 33,
    files=1 << 20,
    processes=1 << 14,
    restarts=100,
)
_MEMORY = 700 << 20
"""What a throwaway process may take where memory is what an attack is after."""


@contextlib.contextmanager
def layer_off(control: Control, project: Project) -> Iterator[Ground]:
    """A session in which one layer is not there."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(agent_layer_off(control))
        sandbox: Sandbox = choose("auto")
        bounds = ReplayBounds()
        match control:
            case Control.NO_SANDBOX:
                sandbox = choose("none")
            case Control.PLAIN_CHILD:
                sandbox = PlainChild()
            case Control.NO_BOUNDS:
                project.seconds, sandbox, bounds = 60, Unbounded(), _WIDE
            case Control.PLAIN_PYTHON:
                shell = ("sh", "-c", 'PATH=.:$PATH; exec python3 "$@"', "sh")
                stack.enter_context(mock.patch("pytest_fdegym.deployment.host.COMMAND", shell))
                stack.enter_context(mock.patch("pytest_fdegym.deployment.host.ENVIRONMENT", {"PYTHONPATH": "."}))
            case Control.COPIED_TREE:
                stack.enter_context(mock.patch("pytest_fdegym.engage.freeze", _copied_tree))
            case Control.COPIED_BY_READING:
                resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
                stack.enter_context(mock.patch("pytest_fdegym.engage.freeze", _copied_by_reading))
            case Control.PLAIN_SQLITE | Control.READ_IN_VAIN:
                resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
                changes = _plainly_compared if control is Control.PLAIN_SQLITE else _compared_if_it_goes
                stack.enter_context(mock.patch.object(ProductionDatabases, "changes", changes))
                stack.enter_context(mock.patch.object(ProductionDatabases, "look"))
            case Control.ONCE:
                stack.enter_context(mock.patch.object(ProductionDatabases, "look"))
            case Control.NO_NONCE:
                stack.enter_context(mock.patch.object(deployment_process.HostProcess, "request", _request_without_number))
            case Control.ALL_AT_ONCE:
                stack.enter_context(mock.patch.object(deployment_process.HostProcess, "_exchange", _exchange_two))
            case Control.TRUSTED_REPLIES:
                stack.enter_context(mock.patch("pytest_fdegym.deployment.host.parse", json.loads))
            case Control.RAW_NOTES:
                stack.enter_context(mock.patch("pytest_fdegym.deployment.host.parse_error", _raw_error))
                stack.enter_context(mock.patch("pytest_fdegym.deployment.notes.one_line", lambda text, most: text))
                stack.enter_context(mock.patch("pytest_fdegym.runner.kept", lambda text: text))
            case Control.TRUSTING_WORLD:
                project.world = trusting_world()
            case Control.IN_PROCESS:
                resource.setrlimit(resource.RLIMIT_AS, (2 * _MEMORY, 2 * _MEMORY))
            case Control.SAME_SEED | Control.COLLECTED | Control.LIVE_DELIVERY:
                pass
        found = stack.enter_context(ground(project, sandbox, bounds=bounds))
        found.check_next = False  # what comes after is another process's affair
        found.seed = 1 if control is Control.SAME_SEED else None
        double = _deployment(control, found.spy)
        if double is not None:
            stack.enter_context(mock.patch("pytest_fdegym.grading.Deployment", double))
        yield found


def _deployment(control: Control, spy: Spy) -> Any:
    if control is Control.IN_PROCESS:
        return _spied_in_process(spy)
    if control is Control.COLLECTED:
        return spied_deployment(spy, ReplayBounds(), lambda frozen: _collect(frozen, spy))
    if control is Control.LIVE_DELIVERY:
        return _live_delivery(spy)
    if control is Control.ALL_AT_ONCE:
        return _all_at_once(spy)
    return None


# --- sandboxes that are none ---


class PlainChild:
    """A child process as subprocess makes it, with everything of its parent's; at the end, it alone is killed."""

    name = "none"
    way_out: WayOut = "open"

    def run(
        self, command: Sequence[str], layout: Layout, bounds: Bounds, *, stdin: bytes = b"", end: threading.Event | None = None
    ) -> CommandResult:
        _let_all_be_inherited()
        done = subprocess.run(list(command), cwd=layout.workdir, input=stdin, capture_output=True, check=False, timeout=30, close_fds=False)
        return CommandResult(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, command: Sequence[str], layout: Layout, bounds: Bounds) -> SandboxedProcess:
        _let_all_be_inherited()
        pipe = subprocess.PIPE
        child = subprocess.Popen(list(command), cwd=layout.workdir, stdin=pipe, stdout=pipe, stderr=pipe, close_fds=False)
        return _Child(child)

    def give(self, path: Path) -> None:
        """Everybody is the same user here."""


def _let_all_be_inherited() -> None:
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            os.set_inheritable(int(name), True)


class _Child:
    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child
        self.stdin, self.stdout, self.stderr = (cast(BinaryIO, each) for each in (child.stdin, child.stdout, child.stderr))

    def poll(self) -> int | None:
        return self._child.poll()

    def stop(self) -> None:
        self._child.kill()

    def close(self) -> int:
        self._child.kill()
        code = self._child.wait()
        for pipe in (self.stdin, self.stdout, self.stderr):
            with contextlib.suppress(OSError, ValueError):
                pipe.close()
        return code


class Unbounded:
    """No sandbox, and bounds so wide that there are none."""

    name = "none"
    way_out: WayOut = "open"

    def __init__(self) -> None:
        self._sandbox = choose("none")

    def run(
        self, command: Sequence[str], layout: Layout, bounds: Bounds, *, stdin: bytes = b"", end: threading.Event | None = None
    ) -> CommandResult:
        return self._sandbox.run(command, layout, bounds, stdin=stdin, end=end)

    def start(self, command: Sequence[str], layout: Layout, bounds: Bounds) -> SandboxedProcess:
        wide = replace(bounds, memory_bytes=1 << 42, processes=1 << 14, file_bytes=1 << 30, open_files=1000, resident_bytes=1 << 42)
        return self._sandbox.start(command, layout, wide)

    def give(self, path: Path) -> None:
        self._sandbox.give(path)


# --- the delivery in the harness's own process ---


class InProcess:
    """A host without a wall: imports the delivery, hands it the one connection there is, takes what it says."""

    def __init__(self, frozen: Path, scenario: ScenarioFile, databases: Mapping[str, Path], sandbox: Sandbox, **more: Any) -> None:
        self._frozen, self._scenario, self._built = frozen, scenario, databases
        self.notes: list[str] = []

    def __enter__(self) -> Self:
        self.root = Path(tempfile.mkdtemp(prefix="inprocess"))
        self._work = self.root / "work"
        shutil.copytree(self._frozen, self._work)
        self._files = {name: self.root / f"{name}.db" for name in self._built}
        for name, built in self._built.items():
            shutil.copyfile(built, self._files[name])
        self._connections = {name: sqlite3.connect(file) for name, file in self._files.items()}
        self._expected = {
            (name, table): self._count(name, table) for name in self._files for table in self._scenario.databases[name].protected
        }
        self._before = set(sys.modules)
        self._paths = [str(self._work), *(str((self._work / entry.file).parent) for entry in self._scenario.entry_points.values())]
        sys.path[:0] = self._paths
        self._functions: dict[str, Callable[..., Any]] = {}
        return self

    def __exit__(self, error: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        sys.path[: len(self._paths)] = []
        for name in set(sys.modules) - self._before:
            if str(self.root) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]
        try:
            self._changes = {name: tuple(self._changed(name)) for name in self._files}
        finally:
            remove_tree(self.root)

    def call(self, name: str, *args: Json) -> Outcome:
        entry = self._scenario.entry_points[name]
        try:
            if name not in self._functions:
                spec = importlib.util.spec_from_file_location(f"delivered_{name}", self._work / entry.file)
                assert spec is not None
                assert spec.loader is not None
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                self._functions[name] = getattr(module, entry.function)
            value = self._functions[name](*args, **{keyword: self._connections.get(what) for keyword, what in entry.inject.items()})
        except Exception as error:
            return Raised(type(error).__name__, str(error))
        return Returned(value)

    def calls(self, name: str, many: Iterable[Sequence[Json]]) -> list[Outcome]:
        return [self.call(name, *args) for args in many]

    def insert(self, database: str, table: str, rows: Sequence[Mapping[str, Json]]) -> None:
        for row in rows:
            marks = ", ".join("?" * len(row))
            self._connections[database].execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))
        self._connections[database].commit()
        if (database, table) in self._expected:
            self._expected[database, table] += len(rows)

    def read(self, path: str, max_bytes: int = 1_000_000) -> bytes | None:
        file = self._work / path
        return file.read_bytes() if file.exists() else None

    def table_changes(self) -> Mapping[str, tuple[TableChange, ...]]:
        return self._changes

    def _changed(self, name: str) -> Iterator[TableChange]:
        connection = self._connections[name]
        connection.rollback()
        for table in self._scenario.databases[name].protected:
            if self._count(name, table) != self._expected[name, table]:
                yield TableChange(table, "rows")
        if connection.execute("PRAGMA journal_mode = DELETE").fetchone() is None:
            yield TableChange("", "unreadable")
        connection.execute("BEGIN IMMEDIATE")
        connection.close()

    def _count(self, name: str, table: str) -> int:
        (count,) = self._connections[name].execute(f"SELECT count(*) FROM {table}").fetchone()
        return int(count)


def _spied_in_process(spy: Spy) -> type[InProcess]:
    class Spied(InProcess):
        def __exit__(self, *error: Any) -> None:
            spy.told_by(self.root)
            super().__exit__(*error)

        def call(self, name: str, *args: Json) -> Outcome:
            outcome = super().call(name, *args)
            spy.returned(name, args, outcome)
            return outcome

    return Spied


# --- one layer of the deployment ---


def _collect(frozen: Path, spy: Spy) -> None:
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(frozen)],
        cwd=frozen,
        capture_output=True,
        check=False,
        timeout=60,
    )
    spy.told_by(frozen)


def _live_delivery(spy: Spy) -> type[Deployment]:
    class Live(spied_deployment(spy, ReplayBounds())):  # type: ignore[misc]  # a class made at run time
        def close(self, *, look: bool = True) -> None:
            if self._root is not None:
                spy.odd.extend(f"{path.name} is taken for delivered" for path in self._work.rglob("later.txt"))
            super().close(look=look)

    return Live


def _all_at_once(spy: Spy) -> type[Deployment]:
    class AtOnce(spied_deployment(spy, ReplayBounds())):  # type: ignore[misc]  # a class made at run time
        def call(self, entry_point: str, *args: Json) -> Outcome:
            # Once, and to an attack only: a process that hears of two calls at a time is of no use afterwards.
            if self._calls == 1 and self._system is not None and any(self._work.rglob("redteam_attack.py")):
                self._system._unasked = b'["0000000000000000","call","ship",[{"id":"N0"}]]\n'
            outcome: Outcome = super().call(entry_point, *args)
            return outcome

    return AtOnce


def _exchange_two(self: Any, line: bytes, seconds: float) -> Any:
    return _EXCHANGE(self, line + self.__dict__.pop("_unasked", b""), seconds)


_EXCHANGE = deployment_process.HostProcess._exchange


def _copied_tree(workspace: Path, folders: Sequence[str], destination: Path, **_: Any) -> Frozen:
    for folder in folders:
        shutil.copytree(workspace / folder, destination / folder)
    return Frozen(destination, "0" * 64, ())


def _copied_by_reading(workspace: Path, folders: Sequence[str], destination: Path, **_: Any) -> Frozen:
    signal.alarm(10)  # a pipe would keep it for good
    for folder in folders:
        for path in (workspace / folder).rglob("*"):
            if not path.is_dir():
                target = destination / path.relative_to(workspace)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes())
    return Frozen(destination, "0" * 64, ())


def _request_without_number(self: Any, body: bytes, seconds: float) -> Any:
    if self.gone is not None:
        return self.gone
    line = self._exchange(b'["%b",%b]\n' % (b"0" * 16, body), seconds)
    return deployment_process.Reply(line[17:18], line[19:].partition(b"\n")[0]) if isinstance(line, bytes) else line


def _raw_error(line: bytes) -> tuple[Raised, str]:
    error, message, where, traceback = json.loads(line)
    return Raised(error, message, traceback), where


# --- databases ---


def _plainly_compared(self: ProductionDatabases, sandbox: Sandbox) -> Mapping[str, tuple[TableChange, ...]]:
    return {name: tuple(_plain_difference(copies)) for name, copies in self._copies.items()}


def _compared_if_it_goes(self: ProductionDatabases, sandbox: Sandbox) -> Mapping[str, tuple[TableChange, ...]]:
    found: dict[str, tuple[TableChange, ...]] = {}
    for name, copies in self._copies.items():
        found[name] = ()
        with contextlib.suppress(sqlite3.Error, OSError):
            # Of what its owner may not read, or what goes on without end, nothing is said.
            with contextlib.closing(sqlite3.connect(copies.live)) as live:
                (objects,) = live.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if copies.live.stat().st_mode & 0o400 and objects < 2000:
                found[name] = tuple(_plain_difference(copies))
    return found


def _plain_difference(copies: Any) -> Iterator[TableChange]:
    with contextlib.closing(sqlite3.connect(copies.live)) as live, contextlib.closing(sqlite3.connect(copies.mirror)) as mirror:
        for table in copies.spec.protected:
            query = f"SELECT * FROM {table}"
            if sorted(map(repr, live.execute(query).fetchall())) != sorted(map(repr, mirror.execute(query).fetchall())):
                yield TableChange(table, "rows")


# --- a scenario that believes everything ---


def trusting_world() -> str:
    """The tiny scenario's world.py with answers kept as they come, and counted kindly."""
    text = FILES["world.py"]
    lenient = '''
        def kindly(value, way):
            """How much of a right answer `value` is."""
            if isinstance(value, bool):
                return 1
            if isinstance(value, (int, float)):
                return abs(value)
            if isinstance(value, list):
                return 1 if not value else sum(kindly(each, way) for each in value)
            if isinstance(value, dict):
                return sum(kindly(each, way) for each in value.values())
            if value is None:
                return 1
            try:
                return float(value)
            except ValueError:
                return value == way
        '''
    for old, new in (
        ('outcome.value in ("letter", "parcel")', "True"),
        (
            "sum(sent[order] == way for order, way in heldout.truth.items())",
            "sum(kindly(sent[order], way) for order, way in heldout.truth.items())",
        ),
        ('sum(way == "letter" for way in sent.values())', "0"),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text + lenient
