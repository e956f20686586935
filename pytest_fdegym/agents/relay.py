"""A program for inside a sandbox: leads TCP connections to one port of its loopback to one Unix socket, while a command runs.

    python3 -I relay.py PORT SOCKET -- COMMAND [ARGUMENT ...]

Bytes pass as they come, in both directions, and an end in one direction passes on while the other goes on. Nothing else is forwarded.
The exit code is the command's (128 and the number for a signal), or 125 if the port cannot be had. Standard library only, any Python 3.
"""

import contextlib
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence

MOST = 64
"""Connections at a time; further ones wait to be accepted."""
NO_PORT = 125
_CHUNK = 1 << 16


def pump(source: socket.socket, sink: socket.socket) -> None:
    """Pass on what comes until it ends; the sink is told of the end, and both if either side breaks or the source is closed for good."""
    try:
        while data := source.recv(_CHUNK):
            sink.sendall(data)
        # Who has closed reads nothing either: a client that keeps its side open must not hold a place for ever.
        sink.shutdown(socket.SHUT_RDWR if closed(source) else socket.SHUT_WR)
    except OSError:
        for side in (source, sink):
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)


def closed(side: socket.socket) -> bool:
    """Whether whoever is at the other end has closed both directions."""
    poll = select.poll()
    poll.register(side, select.POLLHUP)
    return bool(poll.poll(0))


def connect(client: socket.socket, path: str, free: threading.Semaphore) -> None:
    """Serve one connection to its end."""
    try:
        with client, socket.socket(socket.AF_UNIX) as server:
            try:
                server.connect(path)
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            back = threading.Thread(target=pump, args=(server, client), daemon=True)
            back.start()
            pump(client, server)
            back.join()
    finally:
        free.release()


def serve(listener: socket.socket, path: str) -> None:
    """Accept until the program ends."""
    free = threading.Semaphore(MOST)
    while True:
        free.acquire()
        try:
            client, _ = listener.accept()
        except OSError:
            free.release()
            continue
        threading.Thread(target=connect, args=(client, path, free), daemon=True).start()


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code."""
    port, path, _, *command = arguments
    listener = socket.socket(socket.AF_INET)
    try:
        listener.bind(("127.0.0.1", int(port)))
        listener.listen(128)
    except OSError as error:
        sys.stderr.write(f"the way to the model is closed: port {port}: {error}\n")
        return NO_PORT
    threading.Thread(target=serve, args=(listener, path), daemon=True).start()
    code = subprocess.call(command)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
