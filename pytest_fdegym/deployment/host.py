"""Puts a frozen delivery into production: its calls, production's inserts, and what it did to the databases."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import stat
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any, Self

from pytest_fdegym.deployment import host_main
from pytest_fdegym.deployment.bounds import ReplayBounds
from pytest_fdegym.deployment.databases import ProductionDatabases
from pytest_fdegym.deployment.disk import DiskWatch
from pytest_fdegym.deployment.interpreter import COMMAND, ENVIRONMENT
from pytest_fdegym.deployment.moments import Moments
from pytest_fdegym.deployment.notes import Failures
from pytest_fdegym.deployment.process import Gone, HostProcess, Late, Reply
from pytest_fdegym.deployment.replies import NotAReply, parse, parse_error, weight
from pytest_fdegym.errors import InfrastructureFault, ScenarioError, nearest
from pytest_fdegym.gateway import client as gateway_client
from pytest_fdegym.gateway.server import GatewayServer
from pytest_fdegym.gateway.service import Service
from pytest_fdegym.sandbox.base import Bounds, Layout, Sandbox
from pytest_fdegym.scenario.model import GATEWAY, EntryPoint, ScenarioFile
from pytest_fdegym.scenario.world import Died, Json, Outcome, Raised, Returned, TableChange, TimedOut
from pytest_fdegym.scratch import new_scratch, remove_tree

__all__ = ["Deployment", "ReplayBounds"]

_LOADS_TRIED = 2
_ENCODE = json.JSONEncoder(allow_nan=False).encode


class Deployment:
    """A delivery in production; a context manager that implements :class:`~pytest_fdegym.scenario.world.DeployedSystem`.

    The delivered code runs in one process inside the sandbox, started with the first call, on a copy of the delivery; production's
    inserts run in another that never sees it, so that a system that is down does not keep production from writing. Calls are made one at
    a time: a delivery cannot look at a call before its turn. A call is a transaction on the connections that are injected into it
    (committed when it returns, rolled back when it raises).
    """

    def __init__(
        self,
        frozen: Path,
        scenario: ScenarioFile,
        databases: Mapping[str, Path],
        sandbox: Sandbox,
        *,
        bounds: ReplayBounds = ReplayBounds(),  # noqa: B008  frozen
        gateway: Service | None = None,
        moments: Moments | None = None,
    ) -> None:
        """`frozen` is a :class:`Frozen` delivery's root, `databases` the SQLite files as built, by name.

        `gateway` serves the delivered code while a call of production's is in progress. `moments` says when the databases are compared
        with their mirrors beside the comparison at the end. Raises ScenarioError when an entry point injects what scenario.yaml does not
        define.
        """
        known = {*scenario.databases, *([GATEWAY] if gateway is not None else [])}
        for name, entry in scenario.entry_points.items():
            for keyword, database in entry.inject.items():
                if database not in known:
                    raise ScenarioError(
                        f"scenario.yaml: entry_points.{name}.inject.{keyword}: there is no database {database!r}.{nearest(database, known)}"
                    )
        self._gateway, self._moments = gateway, moments
        self._frozen, self._scenario, self._built, self._sandbox, self._bounds = frozen, scenario, databases, sandbox, bounds
        self._failures = Failures()
        self._changes: Mapping[str, tuple[TableChange, ...]] | None = None
        self._root: Path | None = None

    # --- life ---

    def __enter__(self) -> Self:
        self._root = root = new_scratch("fde")
        self._servers = contextlib.ExitStack()
        try:
            self._work, self._program, self._scratch = root / "work", root / "host", root / "tmp"
            shutil.copytree(self._frozen, self._work, copy_function=shutil.copyfile)
            for spec in self._scenario.databases.values():
                with contextlib.suppress(OSError):
                    (self._work / spec.file).unlink()  # Production has its own; a delivery never brings one.
            self._program.mkdir(mode=0o755)
            self._scratch.mkdir()
            shutil.copyfile(host_main.__file__, self._program / "host_main.py")
            self._databases = ProductionDatabases(self._scenario.databases, self._built, root)
            self._server = self._serve_gateway()
            self._configure("system", [str(self._work), *self._folders()], self._scenario.entry_points)
            self._configure("production", [], {})
            folders = (self._work, self._scratch, self._databases.folder)
            for folder in folders:
                self._sandbox.give(folder)
            sizes = [path.stat().st_size for path in self._databases.files.values()]
            self._file_bytes = max([self._bounds.file_bytes, *(4 * size for size in sizes)])
            disk_bytes = self._bounds.disk_bytes + 4 * sum(sizes)
            self._disk = DiskWatch(folders, disk_bytes, self._bounds.files)
        except BaseException:
            self._servers.close()
            remove_tree(root)
            raise
        self._system: HostProcess | None = None
        self._production: HostProcess | None = None
        self._system_starts = self._production_starts = 0
        self._loaded: dict[str, tuple[Raised, str] | None] = {}
        self._load_failures: dict[str, list[Outcome]] = {}
        self._refusing: str | None = None
        self._seconds = 0.0
        self._calls = 0
        self._weight = 0
        return self

    def __exit__(self, error: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        self.close(look=error is None)

    def close(self, *, look: bool = True) -> None:
        """End every process, find out (`look`) what the delivery changed in the databases, remove the replay's folder."""
        if self._root is None:
            return
        root, self._root = self._root, None
        try:
            try:
                if self._system is not None:
                    self._system.close()
                if self._production is not None:
                    self._production.request(b'"settle"', self._bounds.insert_seconds)
            finally:
                if self._production is not None:
                    self._production.close()
            if look:
                self._changes = self._databases.changes(self._sandbox)
        finally:
            self._servers.close()
            self._databases.close()
            remove_tree(root)

    # --- what operate sees ---

    def call(self, entry_point: str, *args: Json) -> Outcome:
        """Call an entry point. Raises ScenarioError for the author's mistakes, never for what the delivery does."""
        entry = self._scenario.entry_points.get(entry_point)
        if entry is None:
            known = self._scenario.entry_points
            raise ScenarioError(f"operate: call({entry_point!r}, ...): scenario.yaml has no such entry point.{nearest(entry_point, known)}")
        try:
            body = f'"call","{entry_point}",{_ENCODE(args)}'.encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise ScenarioError(f"operate: call({entry_point!r}, ...): the arguments are not JSON: {error}") from None
        with self._gateway.open(self._calls) if self._gateway is not None else contextlib.nullcontext():
            outcome, where = self._outcome(entry_point, entry, body)
        self._calls += 1
        self._failures.count(entry_point, outcome, where)
        if self._moments is not None and self._moments.after_call():
            self._databases.look(f"after call {self._calls:,}", self._sandbox)
        return outcome

    def calls(self, entry_point: str, many: Iterable[Sequence[Json]]) -> list[Outcome]:
        """The same for many argument lists, in order; what comes after a call that broke the process goes to the next process."""
        return [self.call(entry_point, *args) for args in many]

    def insert(self, database: str, table: str, rows: Sequence[Mapping[str, Json]]) -> None:
        """Let production insert rows; all of them or none. A refusal that the delivery caused is noted, not raised."""
        if self._moments is not None and self._calls and self._moments.before_insert():
            self._databases.look(f"after call {self._calls:,}", self._sandbox)
        for insert in self._databases.insert(database, table, rows):
            body = f'"insert",{json.dumps([database, insert.statement])[1:-1]},{insert.rows}'.encode()
            reason = self._insert(body)
            if reason is not None:
                self._failures.count_insert(database, table, insert.count, reason)

    def read(self, path: str, max_bytes: int = 1_000_000) -> bytes | None:
        """The bytes of a file as it was delivered, whatever the running system made of its copy."""
        pure = PurePosixPath(path)
        inside = any(PurePosixPath(folder) in pure.parents for folder in self._scenario.deployed)
        if not inside or ".." in pure.parts or pure.is_absolute() or "\0" in path:
            return None
        try:
            handle = os.open(self._frozen / pure, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError):
            return None
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > max_bytes:
            os.close(handle)
            return None
        with open(handle, "rb") as file:
            return file.read()

    # --- afterwards ---

    def table_changes(self) -> Mapping[str, tuple[TableChange, ...]]:
        """Per database, what the delivery changed beyond production's inserts, and be it for a while. To be asked after closing."""
        if self._changes is None:
            raise RuntimeError("table_changes() is known once the deployment was closed")
        return self._changes

    @property
    def notes(self) -> list[str]:
        """Plain sentences about what failed, each kind of failure once."""
        return self._failures.sentences()

    # --- calls ---

    def _outcome(self, name: str, entry: EntryPoint, body: bytes) -> tuple[Outcome, str]:
        given_up = self._load_failures.get(name, [])
        if len(given_up) >= _LOADS_TRIED:
            return given_up[-1], ""
        process = self._running()
        if isinstance(process, Died):
            return process, ""
        if name not in self._loaded:
            loaded = self._request(process, f'"load","{name}"'.encode(), self._bounds.load_seconds)
            if isinstance(loaded, Outcome):
                self._load_failures.setdefault(name, []).append(loaded)
                return loaded, ""
            outcome, where = self._understood(process, loaded)
            if isinstance(outcome, Died):
                return outcome, ""
            self._loaded[name] = None
            if isinstance(outcome, Raised):
                message = f"{outcome.message} ({where})" if where else outcome.message
                self._loaded[name] = Raised(outcome.error, message, outcome.traceback), ""
        broken = self._loaded[name]
        if broken is not None:
            return broken
        reply = self._request(process, body, entry.seconds)
        return (reply, "") if isinstance(reply, Outcome) else self._understood(process, reply)

    def _running(self) -> HostProcess | Died:
        if self._refusing is not None:
            return Died(self._refusing)
        if self._system is not None:
            return self._system
        if self._system_starts > self._bounds.restarts:
            self._refusing = f"the system had been restarted {self._bounds.restarts} times and was not started again"
            return Died(self._refusing)
        first = self._system_starts == 0
        self._system_starts += 1
        self._loaded = {}
        started = self._start("system", self._work, (self._work, self._scratch, self._databases.folder), first)
        if isinstance(started, Gone):
            return Died(f"the system could not be started again: {started.reason}")
        self._system = started
        return started

    def _request(self, process: HostProcess, body: bytes, seconds: float) -> Reply | Outcome:
        left = self._bounds.total_seconds - self._seconds
        begun = time.monotonic() - self._waited()
        answer = process.request(body, min(seconds, left))
        self._seconds += time.monotonic() - self._waited() - begun
        if isinstance(answer, Reply):
            return answer
        process.close()
        self._system = None
        if self._seconds >= self._bounds.total_seconds:
            self._refusing = f"the {self._bounds.total_seconds:g} s that the system had for all calls are used up"
        if isinstance(answer, Late):
            return TimedOut(seconds) if left >= seconds or self._refusing is None else Died(self._refusing)
        return Died(answer.reason)

    def _understood(self, process: HostProcess, reply: Reply) -> tuple[Outcome, str]:
        try:
            if reply.kind == b"E":
                return parse_error(reply.text)
            self._weight += weight(reply.text)
            if self._weight > self._bounds.replies_bytes:
                return Raised("NotJSON", f"all answers together take more than {self._bounds.replies_bytes:,} bytes of memory"), ""
            return Returned(parse(reply.text)), ""
        except NotAReply:
            reason = process.forged().reason
            self._system = None
            return Died(reason), ""

    # --- production's inserts ---

    def _insert(self, body: bytes) -> str | None:
        """Why production could not insert, or None."""
        if self._production is None:
            if self._production_starts > self._bounds.restarts:
                return "production's connection broke down too often"
            self._production_starts += 1
            # Nothing of the delivery's can keep this process from starting as long as none of it has run.
            started = self._start("production", self._program, (self._databases.folder,), self._system_starts == 0)
            if isinstance(started, Gone):
                return started.reason
            self._production = started
        reply = self._production.request(body, self._bounds.insert_seconds)
        if isinstance(reply, Reply):
            try:
                return None if reply.kind == b"R" else parse_error(reply.text)[0].message
            except NotAReply:
                pass
        self._production.close()
        self._production = None
        return f"no answer within {self._bounds.insert_seconds:g} s" if isinstance(reply, Late) else "production's connection broke down"

    # --- the company's gateway ---

    def _serve_gateway(self) -> GatewayServer | None:
        if self._gateway is None or self._root is None:
            return None
        sockets = self._root / "socket"
        sockets.mkdir(mode=0o755)
        shutil.copyfile(gateway_client.__file__, self._program / "gateway_client.py")
        return self._servers.enter_context(GatewayServer(self._gateway, sockets))

    def _waited(self) -> float:
        """Seconds for which the gateway kept the system waiting, as far as they are not the system's own."""
        return 0.0 if self._gateway is None else min(self._gateway.seconds, self._bounds.gateway_seconds)

    def _client_names(self) -> list[str]:
        """Under which names the delivery imports the gateway's client, if it left the file as it was."""
        assert self._gateway is not None
        file = PurePosixPath(self._gateway.spec.client)
        if self.read(str(file)) != Path(gateway_client.__file__).read_bytes():
            return []
        folders = [PurePosixPath(), *(PurePosixPath(entry.file).parent for entry in self._scenario.entry_points.values())]
        return sorted({".".join(file.relative_to(folder).with_suffix("").parts) for folder in folders if file.is_relative_to(folder)})

    # --- processes ---

    def _folders(self) -> list[str]:
        """The folders of the entry points' files, for imports of what lies beside them."""
        folders = [str(self._work / PurePosixPath(entry.file).parent) for entry in self._scenario.entry_points.values()]
        return [folder for folder in dict.fromkeys(folders) if folder != str(self._work)]

    def _configure(self, name: str, paths: Sequence[str], entry_points: Mapping[str, EntryPoint]) -> None:
        config: dict[str, Any] = {
            "root": str(self._work),
            "paths": paths,
            "entry_points": {key: entry.model_dump(include={"file", "function", "inject"}) for key, entry in entry_points.items()},
            "databases": {key: str(path) for key, path in self._databases.files.items()},
            "gateway": {"file": str(self._program / "gateway_client.py"), "names": self._client_names()}
            if entry_points and self._server is not None
            else None,
            "reply_bytes": self._bounds.reply_bytes,
            "output_bytes": self._bounds.output_bytes,
        }
        (self._program / f"{name}.json").write_text(json.dumps(config), encoding="utf-8")

    def _start(self, config: str, workdir: Path, writable: Sequence[Path], clean: bool) -> HostProcess | Gone:
        """Start a host process. `clean` says that nothing of the delivery has run yet: then a failure is an InfrastructureFault."""
        for folder in writable:
            folder.chmod(0o700)  # The delivery may have locked production out.
        environment = {**ENVIRONMENT, "TMPDIR": str(self._scratch), "HOME": str(self._scratch)}
        sockets = None
        if self._server is not None and config == "system":
            sockets = self._server.socket.parent
            environment[gateway_client.VARIABLE] = str(self._server.socket)
        layout = Layout(workdir=workdir, writable=tuple(writable), readable=(self._program,), sockets=sockets, environment=environment)
        bounds = Bounds(
            wall_seconds=3600,
            cpu_seconds=math.ceil(2 * self._bounds.total_seconds) + 60,
            memory_bytes=self._bounds.memory_bytes,
            processes=self._bounds.processes,
            file_bytes=self._file_bytes,
            output_bytes=self._bounds.output_bytes,
        )
        command = [*COMMAND, str(self._program / "host_main.py"), str(self._program / f"{config}.json")]
        try:
            process = HostProcess(
                self._sandbox.start(command, layout, bounds),
                reply_bytes=self._bounds.reply_bytes,
                output_bytes=self._bounds.output_bytes,
                excess=self._disk.excess,
                waited=self._waited,
            )
        except InfrastructureFault as fault:
            if clean:
                raise
            return Gone(str(fault))
        failed = process.ready()
        if failed is None:
            return process
        process.close()
        if clean:
            raise InfrastructureFault(f"the process that holds the delivered system could not be started: {failed.reason}")
        return failed
