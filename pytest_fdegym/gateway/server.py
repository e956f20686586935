"""The gateway's socket: HTTP/1.1 with connections kept open, as little of it as clients of the OpenAI protocol need."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from pytest_fdegym.errors import InfrastructureFault
from pytest_fdegym.gateway.protocol import REQUEST_BYTES, Refused, completion, model_list, parse_chat, refusal
from pytest_fdegym.gateway.service import Service

SOCKET_NAME = "gateway.sock"

_LINE_BYTES = 8 << 10
_HEADERS = 100
_CONNECTIONS = 100
_SECONDS = 60.0
"""After which a connection on which nothing comes is closed; clients open another."""


class _NotHttp(Exception):
    """What came is not HTTP; nothing is answered."""


class GatewayServer:
    """Serves a gateway on ``gateway.sock`` in `directory` while the context is open; what it answers is the service's to say."""

    def __init__(self, service: Service, directory: Path) -> None:
        self.service = service
        self.socket = directory / SOCKET_NAME
        self._connections: set[socket.socket] = set()

    def __enter__(self) -> Self:
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._listener.bind(str(self.socket))
            self._listener.listen(64)
        except OSError as error:
            self._listener.close()
            raise InfrastructureFault(f"no socket could be opened at {self.socket}: {error}") from error
        self.socket.chmod(0o666)
        self._wake, self._woken = socket.socketpair()
        self._thread = threading.Thread(target=self._accept, name="gateway", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, error: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        self._wake.close()
        self._thread.join()
        self._woken.close()
        self._listener.close()
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.socket.unlink(missing_ok=True)

    def _accept(self) -> None:
        poll = select.poll()
        for each in (self._listener, self._woken):
            poll.register(each, select.POLLIN)
        while True:
            if any(handle == self._woken.fileno() for handle, _ in poll.poll()):
                return
            try:
                connection, _ = self._listener.accept()
            except OSError:
                continue  # Gone before it was taken up.
            if len(self._connections) >= _CONNECTIONS:
                connection.close()
                continue
            self._connections.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        # A client that hangs up, or sends what is not HTTP, is its own business.
        try:
            connection.settimeout(_SECONDS)
            with contextlib.suppress(OSError, _NotHttp), connection.makefile("rb") as stream:
                while self._one(connection, stream):
                    pass
        finally:
            self._connections.discard(connection)
            connection.close()

    def _one(self, connection: socket.socket, stream: BinaryIO) -> bool:
        """Answer one request; says whether the connection stays open."""
        line = stream.readline(_LINE_BYTES)
        if not line:
            return False
        words = line.decode("latin-1").split()
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            raise _NotHttp
        headers = _headers(stream)
        keep = words[2] != "HTTP/1.0" and headers.get("connection", "").lower() != "close"
        try:
            status, body = HTTPStatus.OK, self._answer(words[0], words[1], _body(stream, headers))
        except Refused as refused:
            status, body = refused.status, refusal(refused)
            # What could not be read as a request leaves the stream at an unknown place.
            keep = keep and status not in (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.LENGTH_REQUIRED)
        head = f"HTTP/1.1 {status} {status.phrase}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        close = "" if keep else "Connection: close\r\n"
        connection.sendall(f"{head}{close}\r\n".encode() + body)
        return keep

    def _answer(self, method: str, path: str, body: bytes) -> bytes:
        if (method, path) == ("POST", "/v1/chat/completions"):
            chat = parse_chat(body, self.service.spec.models)
            number, answer = self.service.chat(chat)
            return completion(number, chat, answer)
        if (method, path) == ("GET", "/v1/models"):
            return model_list(self.service.spec.models)
        raise Refused(HTTPStatus.NOT_FOUND, "the gateway serves POST /v1/chat/completions and GET /v1/models")


def _headers(stream: BinaryIO) -> dict[str, str]:
    headers: dict[str, str] = {}
    for _ in range(_HEADERS):
        line = stream.readline(_LINE_BYTES)
        if line in (b"\r\n", b"\n"):
            return headers
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon or not line.endswith(b"\n"):
            raise _NotHttp
        headers[name.strip().lower()] = value.strip()
    raise _NotHttp


def _body(stream: BinaryIO, headers: dict[str, str]) -> bytes:
    if "transfer-encoding" in headers:
        raise Refused(HTTPStatus.LENGTH_REQUIRED, "a request with a Content-Length is expected")
    length = headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit() or len(length) > 12:
        raise _NotHttp
    if int(length) > REQUEST_BYTES:
        raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request of at most {REQUEST_BYTES:,} bytes is accepted")
    body = stream.read(int(length))
    if len(body) < int(length):
        raise _NotHttp
    return body
