"""The relay, as a process of its own between a TCP client and a Unix socket."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_fdegym.agents import relay

SECONDS = 30.0


@pytest.fixture
def path() -> Iterator[Path]:
    """A short one: that of a socket may not exceed 104 bytes."""
    with tempfile.TemporaryDirectory(prefix="fde") as folder:
        yield Path(folder) / "s"


@contextlib.contextmanager
def serving(path: Path, handle: Callable[[socket.socket], None]) -> Iterator[None]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    connection.settimeout(SECONDS)
                    threading.Thread(target=served, args=(connection,), daemon=True).start()

        def served(connection: socket.socket) -> None:
            with connection, contextlib.suppress(OSError):
                handle(connection)

        threading.Thread(target=accept, daemon=True).start()
        yield
        listener.shutdown(socket.SHUT_RDWR)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextlib.contextmanager
def relaying(path: Path) -> Iterator[Callable[[], socket.socket]]:
    """Gives connections to a relay that runs as long as this is open."""
    port = free_port()
    command = [sys.executable, "-I", relay.__file__, str(port), str(path), "--", "sh", "-c", "echo up; cat; exit 7"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    try:
        yield lambda: socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
    finally:
        process.stdin.close()
        process.stdout.close()
        assert process.wait() == 7


def everything(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(1 << 16), b""))


def sent(connection: socket.socket, data: bytes) -> None:
    connection.sendall(data)
    connection.shutdown(socket.SHUT_WR)


def test_an_end_in_one_direction_passes_on_while_the_other_goes_on(path: Path) -> None:
    def reverse(connection: socket.socket) -> None:
        connection.sendall(everything(connection)[::-1])

    with serving(path, reverse), relaying(path) as connect, connect() as client:
        client.sendall(b"abc")
        client.shutdown(socket.SHUT_WR)
        assert everything(client) == b"cba"


def test_bytes_pass_as_they_come(path: Path) -> None:
    heard = threading.Event()

    def stream(connection: socket.socket) -> None:
        connection.sendall(b"first")
        assert heard.wait(SECONDS)
        connection.sendall(b"second")

    with serving(path, stream), relaying(path) as connect, connect() as client:
        assert client.recv(100) == b"first"
        heard.set()
        assert everything(client) == b"second"


def test_many_megabytes_pass_both_ways_at_once(path: Path) -> None:
    def echo(connection: socket.socket) -> None:
        while data := connection.recv(1 << 16):
            connection.sendall(data)

    data = bytes(range(256)) * (32 << 10)
    with serving(path, echo), relaying(path) as connect, connect() as client:
        sender = threading.Thread(target=sent, args=(client, data))
        sender.start()
        assert everything(client) == data
        sender.join()


def test_connections_at_once_are_apart(path: Path) -> None:
    def once(connection: socket.socket) -> None:
        connection.sendall(b"<" + connection.recv(100) + b">")

    with serving(path, once), relaying(path) as connect, contextlib.ExitStack() as clients:
        opened = [clients.enter_context(connect()) for _ in range(relay.MOST)]
        for number, client in reversed(list(enumerate(opened))):
            client.sendall(str(number).encode())
        assert [everything(client) for client in opened] == [b"<%d>" % number for number in range(relay.MOST)]
        with connect() as another:  # there is a place again, though no client has closed
            another.sendall(b"x")
            assert everything(another) == b"<x>"


def test_a_server_that_is_gone_closes_the_connection(path: Path) -> None:
    with relaying(path) as connect, connect() as client:
        assert client.recv(100) == b""


def test_death_by_signal_and_a_port_that_is_taken(path: Path) -> None:
    run = [sys.executable, "-I", relay.__file__, str(free_port()), str(path), "--", "sh", "-c", "kill -TERM $$"]
    assert subprocess.run(run, check=False).returncode == 128 + 15
    with socket.create_server(("127.0.0.1", 0)) as taken:
        run[3] = str(taken.getsockname()[1])
        done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == relay.NO_PORT
    assert done.stderr.startswith(f"the way to the model is closed: port {run[3]}: [Errno 98] Address already in use")
