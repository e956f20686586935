"""The proxy's servers and what they do with a request: who pays for it, on to the upstream, and back as it comes."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import json
import socket
import socketserver
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, TypeVar

from pytest_fdegym.agents.metering.account import Account, Call, RunOver
from pytest_fdegym.agents.metering.endpoints import ACCEPTED, Endpoint, endpoint
from pytest_fdegym.agents.metering.exchange import Exchange
from pytest_fdegym.agents.metering.faults import refusal
from pytest_fdegym.agents.metering.http_messages import CREDENTIALS, LONGEST_BODY, Body, Refused, Room, sent_on
from pytest_fdegym.agents.metering.upstream import PUBLIC, Provider, Upstream
from pytest_fdegym.errors import LimitReached

CONNECTIONS: Final = 128
"""Clients' connections at one time; more are closed at once."""
IDLE_SECONDS: Final = 600.0
"""After which a client's connection on which nothing moves is closed."""
READ_OUT_SECONDS: Final = 2.0
KEPT_SECONDS: Final = 4.0
"""For how long a connection to an upstream is used again; servers close theirs after five seconds and more."""

Server = TypeVar("Server", bound=socketserver.BaseServer)


class Desk(ABC):
    """What the servers ask: the meter."""

    def __init__(self) -> None:
        self.room = Room()
        self.without_stream_options: set[str] = set()
        """Addresses that refuse to be asked for the usage of a streamed chat."""

    @abstractmethod
    def upstream(self, provider: Provider) -> Upstream | None:
        """Where `provider`'s API is."""

    @abstractmethod
    def whose(self, credentials: Sequence[str], fixed: Account | None) -> tuple[Account | None, bool]:
        """The account that a request with these credentials belongs to (None outside runs), and whether it is to get the user's key.

        Raises RunOver for a token that is not, or no longer, valid.
        """

    @abstractmethod
    def broke(self, error: Exception) -> None:
        """Hear of an exception that nothing foresaw."""


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Serve in a thread of its own; at the end connections are closed, too."""
    # A short poll interval, for it is also how long closing takes.
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, name="fde-meter", daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class _Threads(socketserver.ThreadingMixIn):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    allow_reuse_address = False

    def __init__(self, desk: Desk, account: Account | None, *args: Any) -> None:
        self.desk = desk
        self.account = account
        self._places = threading.Semaphore(CONNECTIONS)
        self._open: set[socket.socket] = set()
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)  # type: ignore[attr-defined]  # of the server class that this is mixed into
            return
        self._open.add(request)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._open.discard(request)
            self._places.release()

    def server_close(self) -> None:
        super().server_close()
        for each in list(self._open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def handle_error(self, *_: Any) -> None:
        """A client that hung up, or sent what is not HTTP, is its own business; anything else is the proxy's."""
        error = sys.exc_info()[1]
        if isinstance(error, Exception) and not isinstance(error, OSError):
            self.desk.broke(error)


class TcpServer(_Threads, socketserver.TCPServer):
    """On 127.0.0.1, at a port of the system's choice."""

    def __init__(self, desk: Desk, account: Account | None) -> None:
        super().__init__(desk, account, ("127.0.0.1", 0), _TcpHandler)


class UnixServer(_Threads, socketserver.UnixStreamServer):
    """On a Unix socket, for one account."""

    def __init__(self, desk: Desk, account: Account, path: Path) -> None:
        super().__init__(desk, account, str(path), _Handler)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    server: TcpServer | UnixServer
    _provider: Provider = "openai"

    def setup(self) -> None:
        super().setup()
        self._kept: dict[Provider, tuple[http.client.HTTPConnection, float]] = {}

    def finish(self) -> None:
        for connection, _ in self._kept.values():
            connection.close()
        with contextlib.suppress(OSError):
            super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing goes to standard error; the event log has every call."""

    def _serve(self) -> None:
        body = Body(self.server.desk.room)
        try:
            try:
                self._answer(body)
            except Refused as refused:
                self._refuse(refused)
        except OSError:
            # The client hung up, or what is half sent cannot be finished.
            self.close_connection = True
        finally:
            body.close()

    do_GET = do_POST = do_DELETE = do_HEAD = do_PUT = do_PATCH = do_OPTIONS = _serve

    def _answer(self, body: Body) -> None:
        path, _, query = self.path.partition("?")
        provider, rest = _route(path)
        self._provider = provider or "openai"
        if "upgrade" in self.headers.get("connection", "").lower() or self.headers.get("upgrade"):
            # With this status clients that prefer a websocket fall back to requests.
            raise Refused(HTTPStatus.UPGRADE_REQUIRED, "the metering proxy takes plain HTTP requests, no websocket", closes=True)
        body.read(self.rfile, self.headers)  # type: ignore[arg-type]  # the stub is wider than what it is
        upstream = None if provider is None else self.server.desk.upstream(provider)
        if provider is None or upstream is None:
            raise Refused(HTTPStatus.NOT_FOUND, f"the metering proxy serves {' and '.join(f'/{name}' for name in PUBLIC)}")
        found = endpoint(provider, self.command, rest)
        if found is None:
            raise Refused(
                HTTPStatus.NOT_FOUND, f"{self.command} {rest} is not metered, and so not passed on; accepted: {ACCEPTED[provider]}"
            )
        account, with_key = self._payer()
        request = self._request(found, body.content)
        with self._let_through(account, found) as call:
            call.own_key = not with_key
            exchange = Exchange(
                call=call,
                upstream=upstream,
                method=self.command,
                target=upstream.target(rest + (f"?{query}" if query else "")),
                headers=self._headers(upstream, with_key=with_key),
                content=body.content,
                request=request,
                without_stream_options=self.server.desk.without_stream_options,
            )
            self._exchange(exchange)

    def _payer(self) -> tuple[Account | None, bool]:
        given = [value.removeprefix("Bearer ").strip() for name in CREDENTIALS for value in self.headers.get_all(name, [])]
        try:
            return self.server.desk.whose(given, self.server.account)
        except RunOver:
            raise Refused(HTTPStatus.UNAUTHORIZED, "this token of the metering proxy is not valid, or no longer: its run is over") from None

    def _request(self, found: Endpoint, content: bytes) -> dict[str, Any]:
        """The request's JSON, as far as it is any: what the upstream makes of anything else is its own matter."""
        if found.api is None:
            return {}
        if self.headers.get("content-encoding", "identity").lower() != "identity":
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a request without content encoding is accepted, so that it can be metered")
        try:
            request = json.loads(content)
        except (ValueError, RecursionError):
            return {}
        if not isinstance(request, dict):
            return {}
        if found.api == "responses" and request.get("background"):
            raise Refused(HTTPStatus.BAD_REQUEST, "background responses cannot be metered: ask without background")
        return request

    def _let_through(self, account: Account | None, found: Endpoint) -> Call:
        if account is None:
            return Call(None, found)
        try:
            return account.let_through(found)
        except LimitReached as reached:
            raise Refused(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"the run's limit of {reached.reason} is used up",
                headers={"x-should-retry": "false"},
            ) from None
        except RunOver:
            raise Refused(HTTPStatus.UNAUTHORIZED, "the run that this token belongs to is over") from None

    def _headers(self, upstream: Upstream, *, with_key: bool) -> list[tuple[str, str]]:
        headers = list(sent_on(self.headers))
        if with_key:
            headers = [(name, value) for name, value in headers if name.lower() not in CREDENTIALS]
            headers += upstream.credentials.items()
        if upstream.proxy is not None and upstream.base_url.startswith("http:"):
            headers += upstream.proxy_credentials.items()
        return headers

    # --- to the upstream and back ---

    def _exchange(self, exchange: Exchange) -> None:
        kept = self._kept.pop(exchange.upstream.api, None)
        connection = None
        if kept is not None:
            if time.monotonic() - kept[1] < KEPT_SECONDS:
                connection = kept[0]
            else:
                kept[0].close()
        exchange.run(self, connection)
        if exchange.reusable is not None:
            self._kept[exchange.upstream.api] = exchange.reusable, time.monotonic()

    def begin(self, status: int, reason: str, headers: Sequence[tuple[str, str]], length: int | None) -> None:
        """Send the head of an answer; without a length it comes in chunks."""
        self.send_response_only(status, reason)
        for name, value in headers:
            self.send_header(name, value)
        self._in_chunks = length is None and self.request_version != "HTTP/1.0"
        if length is not None:
            self.send_header("content-length", str(length))
        elif self._in_chunks:
            self.send_header("transfer-encoding", "chunked")
        else:
            self.close_connection = True
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()

    def send(self, piece: bytes) -> None:
        """Pass a piece of the answer on at once."""
        if piece:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if self._in_chunks else piece)

    def end(self) -> None:
        """The answer is whole."""
        if self._in_chunks:
            self.wfile.write(b"0\r\n\r\n")

    def _refuse(self, refused: Refused) -> None:
        self.close_connection = self.close_connection or refused.closes
        body = refusal(self._provider, refused.status, f"pytest-fdegym: {refused.text}")
        headers = [("content-type", "application/json"), *refused.headers.items()]
        if refused.status == HTTPStatus.UPGRADE_REQUIRED:
            headers.append(("upgrade", "HTTP/1.1"))
        self.begin(refused.status, HTTPStatus(refused.status).phrase, headers, len(body))
        if self.command != "HEAD":
            self.send(body)
        if refused.closes:
            self._read_out()

    def _read_out(self) -> None:
        """A client that still sends would find its connection reset, and never read the answer."""
        self.connection.shutdown(socket.SHUT_WR)
        self.connection.settimeout(READ_OUT_SECONDS)
        left = LONGEST_BODY
        while left > 0 and (piece := self.connection.recv(1 << 16)):
            left -= len(piece)


class _TcpHandler(_Handler):
    disable_nagle_algorithm = True


def _route(path: str) -> tuple[Provider | None, str]:
    """``/openai/v1/chat/completions`` -> openai, ``/chat/completions``; ``/anthropic/v1/messages`` -> anthropic, ``/v1/messages``."""
    if path.startswith("/openai/v1/"):
        return "openai", path.removeprefix("/openai/v1")
    if path.startswith("/anthropic/"):
        return "anthropic", path.removeprefix("/anthropic")
    return None, path
