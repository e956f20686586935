"""Runs inside the sandbox, alone: holds the delivered system (or production's own database connections) and answers calls.

Standard library only; nothing of the package can be imported here. The delivery shares this interpreter, so nothing here is trusted by
the harness: a reply is data. One request a line: ``[nonce, verb, ...]``. One reply a line: ``NONCE K JSON`` with K = ``R`` (a value) or
``E`` (``[error, message, where, traceback]``).
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import io
import json
import math
import os
import random
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO
from urllib.parse import quote

DEEPEST = 64
INTEGERS = 1 << 63
BUSY_SECONDS = 2.0
GATEWAY = "gateway"
"""What `inject` names beside the databases."""


class NotJSON(Exception):
    """A value that JSON cannot carry."""


class Quiet(io.RawIOBase):
    """Passes on what is printed until `room` bytes are used up, then forgets it: a talkative system is not a broken one."""

    def __init__(self, handle: int, room: int) -> None:
        self.handle, self.room = handle, room

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.handle

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        size = len(view)
        if self.room > 0:
            part = view[: self.room]
            self.room -= len(part)
            while part:
                part = part[os.write(self.handle, part) :]
        return size


def plain(value: Any, depth: int = 0) -> Any:
    """A copy of `value` in JSON's own types, so that no class of the delivery's has a say in how it is written down."""
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        number = int.__int__(value)
        if not -INTEGERS <= number < INTEGERS:
            raise NotJSON("an integer of more than 64 bits")
        return number
    if isinstance(value, float):
        real = float.__float__(value)
        if not math.isfinite(real):
            raise NotJSON(f"the number {real}")
        return real
    if depth >= DEEPEST:
        raise NotJSON(f"a value nested deeper than {DEEPEST} levels")
    if isinstance(value, dict):
        copy = {}
        for key, item in dict.items(value):
            if not isinstance(key, str):
                raise NotJSON(f"a key of type {type(key).__name__}")
            copy[str.__str__(key)] = plain(item, depth + 1)
        return copy
    if isinstance(value, list):
        return [plain(item, depth + 1) for item in list.__iter__(value)]
    if isinstance(value, tuple):
        return [plain(item, depth + 1) for item in tuple.__iter__(value)]
    raise NotJSON(f"a value of type {type(value).__name__}")


class Host:
    """The entry points, their modules and the connections of one process."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.root = config["root"]
        self.entry_points = config["entry_points"]
        self.databases = config["databases"]
        self.reply_bytes = config["reply_bytes"]
        self.functions: dict[str, Callable[..., Any]] = {}
        self.connections: dict[str, sqlite3.Connection] = {}
        self.writers: dict[str, sqlite3.Connection] = {}
        self.busy_seconds = BUSY_SECONDS
        self.client: Any = None
        self.client_names: Sequence[str] = ()
        if config["gateway"] is not None:
            self.client_names = config["gateway"]["names"]
            self.client = gateway_client(**config["gateway"])

    # --- calls ---

    def load(self, name: str) -> bytes:
        """Import the file of an entry point."""
        entry = self.entry_points[name]
        for each in self.client_names:
            tie(each)
        function = getattr(self.module(entry["file"]), entry["function"])
        if not callable(function):
            raise TypeError(f"{entry['function']} is not a function")
        self.functions[name] = function
        return b"null"

    def module(self, file: str) -> Any:
        path = os.path.join(self.root, file)
        parts = file[: -len(".py")].split("/") if file.endswith(".py") else [file]
        if file.endswith(".py") and all(part.isidentifier() for part in parts):
            name = ".".join(parts)
            try:
                spec = importlib.util.find_spec(name)
            except ModuleNotFoundError as error:
                # The name of a folder may be taken by a module of the standard library (code/, site/).
                if error.name is None or not name.startswith(error.name):
                    raise
                spec = None
            if spec is not None and spec.origin == path:
                return importlib.import_module(name)
        name = "delivered_" + "".join(letter if letter.isalnum() else "_" for letter in file)
        if name in sys.modules:
            return sys.modules[name]
        if not os.path.isfile(path):
            raise FileNotFoundError(f"{file} is missing")
        loader = importlib.machinery.SourceFileLoader(name, path)
        module = importlib.util.module_from_spec(importlib.machinery.ModuleSpec(name, loader, origin=path))
        module.__file__ = path
        sys.modules[name] = module
        try:
            loader.exec_module(module)
        except BaseException:
            sys.modules.pop(name, None)
            raise
        return module

    def call(self, name: str, arguments: Sequence[Any]) -> bytes:
        """Call an entry point. A call is a transaction on each injected connection: committed on return, rolled back on an exception."""
        inject = self.entry_points[name]["inject"]
        connections = {keyword: self.connection(what) for keyword, what in inject.items() if what != GATEWAY}
        injected = {**connections, **{keyword: self.client for keyword, what in inject.items() if what == GATEWAY}}
        try:
            text = json_text(plain(self.functions[name](*arguments, **injected)))
            if len(text) > self.reply_bytes:
                raise NotJSON(f"{len(text):,} bytes of JSON, at most {self.reply_bytes:,}")
            for connection in connections.values():
                if still_in_transaction(connection):
                    connection.commit()
            return text
        except BaseException:
            for connection in connections.values():
                if still_in_transaction(connection):
                    connection.rollback()
            raise

    def connection(self, database: str) -> sqlite3.Connection:
        """The delivery's connection: opened once, and again only if the delivery closed it."""
        known = self.connections.get(database)
        if known is not None and is_open(known):
            return known
        connection = connect(self.databases[database], BUSY_SECONDS)
        connection.row_factory = sqlite3.Row
        self.connections[database] = connection
        return connection

    # --- production's inserts (in a process without the delivery) ---

    def insert(self, database: str, statement: str, rows: Sequence[Sequence[Any]]) -> bytes:
        """All rows or none."""
        if database not in self.writers:
            self.writers[database] = connect(self.databases[database], BUSY_SECONDS)
        writer = self.writers[database]
        # Who holds the lock now will hardly let go later: waiting once is fair, waiting every time would stall the replay.
        writer.execute(f"PRAGMA busy_timeout = {int(1000 * self.busy_seconds)}")
        try:
            writer.execute("BEGIN IMMEDIATE")
            writer.executemany(statement, rows)
            writer.execute("COMMIT")
        except sqlite3.Error as error:
            if "locked" in str(error):
                self.busy_seconds = 0.05
            if writer.in_transaction:
                writer.execute("ROLLBACK")
            raise
        return b"null"

    def settle(self) -> bytes:
        """Fold the write-ahead log into the file, so that the file alone holds everything."""
        for writer in self.writers.values():
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            writer.execute("PRAGMA journal_mode = DELETE")
            writer.close()
        self.writers.clear()
        return b"null"


_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False).encode
_ENCODE_ASCII = json.JSONEncoder().encode


def json_text(value: Any, encode: Callable[[Any], str] = _ENCODE) -> bytes:
    try:
        return encode(value).encode()
    except UnicodeEncodeError:
        raise NotJSON("text with half a surrogate pair") from None


def gateway_client(file: str, names: Sequence[str]) -> Any:
    """An instance of the gateway's client.

    `names` are those under which the delivery can import the same file: they get the same module, or an ``except GatewayError`` of the
    delivery's would name another class than the one that is raised.
    """
    name = "gateway_client"
    loader = importlib.machinery.SourceFileLoader(name, file)
    module = importlib.util.module_from_spec(importlib.machinery.ModuleSpec(name, loader, origin=file))
    loader.exec_module(module)
    for each in names:
        sys.modules[each] = module
    return module.Gateway()


def tie(name: str) -> None:
    """Make a module that is there already an attribute of its package, as importing it would have: ``import system.gateway``."""
    package, _, own = name.rpartition(".")
    if package:
        try:
            setattr(importlib.import_module(package), own, sys.modules[name])
        except Exception:
            return  # What is wrong with the package is told where the delivery imports it.


def connect(path: str, busy_seconds: float) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(path)}?mode=rw", uri=True, timeout=busy_seconds)
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def is_open(connection: sqlite3.Connection) -> bool:
    try:
        connection.total_changes  # noqa: B018  asks a closed connection, which raises
    except sqlite3.Error:
        return False
    return True


def still_in_transaction(connection: sqlite3.Connection) -> bool:
    return is_open(connection) and connection.in_transaction


# --- what went wrong, as text ---


class Account:
    """Puts an exception of the delivery's into words; the exception's own methods are hostile."""

    def __init__(self, root: str) -> None:
        self.prefix = root + os.sep

    def relative(self, path: str) -> str | None:
        return path[len(self.prefix) :] if path.startswith(self.prefix) else None

    def text(self, value: Any, most: int) -> str:
        try:
            return str.__str__(str(value))[:most].replace(self.prefix, "")
        except BaseException:
            return ""

    def __call__(self, error: BaseException) -> list[str]:
        try:
            name = self.text(type(error).__name__, 100)
            if isinstance(error, NotJSON) and type(error) is NotJSON:
                return [name, self.text(error, 300), "", ""]
            message = self.text(error, 500)
            frames = self.frames(error)
            where = f"{frames[-1][0]} line {frames[-1][1]}" if frames else ""
            if isinstance(error, SyntaxError) and isinstance(error.filename, str) and self.relative(error.filename):
                where = f"{self.relative(error.filename)} line {error.lineno}"
                message = self.text(error.msg, 500)
            lines = [f"  {file}, line {line}, in {function}" for file, line, function in frames[-12:]]
            return [name, message, where, "\n".join([*lines, f"{name}: {message}"])]
        except BaseException:
            return ["Exception", "an exception that could not be described", "", ""]

    def frames(self, error: BaseException) -> list[tuple[str, int, str]]:
        found: list[tuple[str, int, str]] = []
        entry = error.__traceback__
        for _ in range(5000):
            if entry is None:
                break
            code = entry.tb_frame.f_code
            file = self.relative(code.co_filename)
            if file is not None:
                found.append((file, entry.tb_lineno, code.co_name))
            entry = entry.tb_next
        return found


def serve(host: Host, requests: BinaryIO, replies: int, account: Account) -> None:
    pid, getpid, write, leave, loads = os.getpid(), os.getpid, os.write, os._exit, json.loads
    verbs: dict[str, Callable[..., bytes]] = {"call": host.call, "insert": host.insert, "settle": host.settle, "load": host.load}
    while True:
        line = requests.readline()
        if not line:
            leave(0)
        nonce, verb, *rest = loads(line)
        try:
            kind, text = b"R", verbs[verb](*rest)
        except BaseException as error:
            kind, text = b"E", _ENCODE_ASCII(account(error)).encode()
        if getpid() != pid:
            leave(0)  # A copy of this process that the delivery forked, on its way back.
        reply = memoryview(b"%b %b %b\n" % (nonce.encode(), kind, text))
        while reply:
            reply = reply[write(replies, reply) :]


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        config = json.load(file)
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    stream = io.TextIOWrapper(io.BufferedWriter(Quiet(2, config["output_bytes"] // 2)), "utf-8", "backslashreplace", line_buffering=True)
    sys.stdin = io.TextIOWrapper(io.FileIO(0, "r", closefd=False), "utf-8", "replace")
    for name in ("stdout", "stderr", "__stdout__", "__stderr__"):
        setattr(sys, name, stream)
    sys.dont_write_bytecode = True
    sys.argv = [""]
    random.seed(0)  # Luck is the traffic's, drawn beforehand: a delivery that calls random meets the same one in each replay.
    sys.path[:0] = config["paths"]
    os.write(replies, b"ready\n")
    serve(Host(config), os.fdopen(requests, "rb"), replies, Account(config["root"]))


if __name__ == "__main__":
    main()
