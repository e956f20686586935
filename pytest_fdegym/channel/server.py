"""The customer's side of the channel: an HTTP server on a unix socket, in the harness process.

It holds the conversation, so that everything that decides (clock, ledger, conditions) stays out of the agent's reach.
"""

from __future__ import annotations

import http.server
import socket
import socketserver
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from pytest_fdegym.channel.protocol import (
    MAX_BODY,
    SOCKET_NAME,
    AskRequest,
    LogCard,
    MailCard,
    PersonCard,
    Problem,
    ReplyCard,
    StatusCard,
    TrialCard,
    TrialRequest,
    UsageReport,
    WaitCard,
    WaitRequest,
)
from pytest_fdegym.errors import FdeGymError, InfrastructureFault, LimitReached, ScenarioError
from pytest_fdegym.limits import LimitTracker
from pytest_fdegym.observer import Event, EventKind, Observer
from pytest_fdegym.people.bad_request import UnknownPerson
from pytest_fdegym.people.conversation import BadRequest, Conversation
from pytest_fdegym.text import kept

MAX_REQUESTS = 50_000
"""Requests of one engagement; an honest one makes some hundred."""
MAX_BYTES = 32 << 20
"""Bytes of all requests of one engagement; what was said is kept for the record."""
MAX_REFUSALS = 200
"""Refused requests of one engagement that the observer hears of."""
MAX_CONNECTIONS = 32
"""Connections at a time; one beyond is closed at once."""
TryOut = Callable[[], tuple[TrialCard, Mapping[str, Any]]]
"""Makes a trial run: what the agent is shown of it, and what only the event log gets."""


class Customer:
    """Answers requests one at a time and tells the observer; the only way from an agent to the conversation."""

    def __init__(self, conversation: Conversation, tracker: LimitTracker, observer: Observer, try_out: TryOut) -> None:
        """`try_out` makes the next trial run, as BadRequest where there is none."""
        self._conversation = conversation
        self._try_out = try_out
        self._tracker = tracker
        self._observer = observer
        self._lock = threading.Lock()
        self._closing = threading.Lock()
        self._over: Problem | None = None
        self._requests = 0
        self._bytes = 0
        self._refusals = 0
        self.limit: str | None = None
        """The limit that closed the channel."""
        self.fault: FdeGymError | None = None
        """What broke while answering: a ScenarioError, or an InfrastructureFault that the runner turns into a void run."""
        self.on_fault: Callable[[], None] = lambda: None
        """Called when `fault` is known; must not wait."""

    def end(self, reason: str, limit: str | None = None) -> None:
        """Close the channel for good, without waiting for a request that is being answered; later ones are told `reason`.

        The first reason stays. `limit` is the limit that was used up, if one was.
        """
        with self._closing:
            first, self._over = self._over is None, self._over or Problem(error=reason, over=True, limit=limit)
        if first and limit is not None:
            self.limit = limit
            self._observer.notify(Event("limit", {"limit": limit}))

    def end_at_limit(self, limit: str) -> None:
        """Close the channel because a limit is used up."""
        self.end(f"the engagement is over: its limit of {limit} is used up", limit)

    def settled(self, seconds: float) -> bool:
        """Whether no request is being answered any more, after waiting for that for at most `seconds`."""
        if not self._lock.acquire(timeout=seconds):
            return False
        self._lock.release()
        return True

    def people(self) -> list[PersonCard]:
        return [PersonCard(id=card.id, name=card.name, role=card.role, directory=card.directory) for card in self._conversation.directory()]

    def log(self) -> list[LogCard]:
        return [
            LogCard(person=entry.person or "", message=entry.sent, reply=entry.reply, sent_at=entry.sent_at, answered_at=entry.answered_at)
            for entry in self._conversation.ledger.entries
            if entry.kind == "message"
        ]

    def status(self) -> StatusCard:
        tracker = self._tracker
        return StatusCard(
            now=self._conversation.now, turns_left=tracker.turns_left, minutes_left=tracker.minutes_left, usd_left=tracker.usd_left
        )

    def ask(self, request: AskRequest) -> ReplyCard:
        reply = self._conversation.ask(request.person, request.message)
        self._tell("message")
        return ReplyCard(person=reply.person, text=reply.text, sent_at=reply.sent_at, answered_at=reply.answered_at)

    def inbox(self) -> list[MailCard]:
        mails = [
            MailCard(sender=mail.sender, subject=mail.subject, text=mail.text, arrived_at=mail.at, new=mail.new)
            for mail in self._conversation.inbox()
        ]
        new = [mail.subject for mail in mails if mail.new]
        self._observer.notify(Event("inbox", {"messages": len(mails), "new": new}, at=self._conversation.now))
        return mails

    def wait(self, request: WaitRequest) -> WaitCard:
        if (request.days is None) == (request.until is None):
            raise BadRequest("say how long to wait: a number of working days, or a moment to wait until")
        if request.days is not None:
            result = self._conversation.wait_days(request.days)
        else:
            assert request.until is not None
            result = self._conversation.wait_until(request.until)
        self._tell("wait")
        return WaitCard(now=result.now, new_mail=result.new_mail)

    def trial(self, _: TrialRequest) -> TrialCard:
        card, more = self._try_out()
        self._tell("trial", **more)
        return card

    def usage(self, report: UsageReport) -> StatusCard:
        self._tracker.record(**report.model_dump())
        self._observer.notify(Event("usage", {**report.model_dump(), "so_far": self._tracker.usage.model_dump()}))
        return self.status()

    def _tell(self, kind: EventKind, **more: Any) -> None:
        entry = self._conversation.ledger.entries[-1].to_json()
        self._observer.notify(Event(kind, {"entry": entry, **more}, at=self._conversation.now))

    def _refused(self, what: str, text: str) -> None:
        """Tell of a request that was refused; `what` is a kind of the audit's."""
        self._refusals += 1
        if self._refusals <= MAX_REFUSALS:
            self._observer.notify(Event("refused", {"what": what, "text": kept(text, 300)}, at=self._conversation.now))

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, Any]:
        """Handle one request; returns an HTTP status and a pydantic model (or a list of them)."""
        reads: dict[str, Callable[[], Any]] = {"/people": self.people, "/log": self.log, "/inbox": self.inbox, "/status": self.status}
        writes: dict[str, tuple[type[BaseModel], Callable[[Any], Any]]] = {
            "/ask": (AskRequest, self.ask),
            "/wait": (WaitRequest, self.wait),
            "/trial": (TrialRequest, self.trial),
            "/usage": (UsageReport, self.usage),
        }
        with self._lock:
            if self._over is not None:
                return HTTPStatus.CONFLICT, self._over
            self._requests += 1
            self._bytes += len(body)
            if self._requests > MAX_REQUESTS or self._bytes > MAX_BYTES:
                self._refused("flood", f"{self._requests:,} requests, {self._bytes:,} bytes")
                return HTTPStatus.TOO_MANY_REQUESTS, Problem(error="that is more than anybody here can read; nothing further is taken")
            try:
                if path != "/usage":
                    self._tracker.check()
                if method == "GET" and path in reads:
                    return HTTPStatus.OK, reads[path]()
                if method == "POST" and path in writes:
                    model, handle = writes[path]
                    return HTTPStatus.OK, handle(model.model_validate_json(body))
            except LimitReached as error:
                self.end_at_limit(error.reason)
                return HTTPStatus.CONFLICT, self._over
            except ValidationError as error:
                first = error.errors()[0]
                where = ".".join(str(part) for part in first["loc"])
                text = f"{where or 'request'}: {first['msg']}"
                self._refused("refused", f"{method} {path}: {text}")
                return HTTPStatus.BAD_REQUEST, Problem(error=text)
            except UnknownPerson as error:
                self._refused("unknown_person", str(error))
                return HTTPStatus.BAD_REQUEST, Problem(error=str(error))
            except BadRequest as error:
                self._refused("refused", f"{method} {path}: {error}")
                return HTTPStatus.BAD_REQUEST, Problem(error=str(error))
            except OverflowError:
                return HTTPStatus.BAD_REQUEST, Problem(error="the customer's calendar does not go that far")
            except Exception as error:
                if self._over is not None:
                    # It was given up for the engagement's end: a trial run whose processes were ended.
                    return HTTPStatus.CONFLICT, self._over
                # A fault of the people engine, the router or a trial run says nothing about the agent.
                self.fault = _fault(error)
                self.end("the customer's side failed; this run will not count")
                self.on_fault()
                return HTTPStatus.INTERNAL_SERVER_ERROR, self._over
            return HTTPStatus.NOT_FOUND, Problem(error=f"there is no {method} {path}")


def _fault(error: Exception) -> FdeGymError:
    if isinstance(error, ScenarioError | InfrastructureFault):
        return error
    fault = InfrastructureFault(f"the customer's side failed: {type(error).__name__}: {error}")
    fault.__cause__ = error
    return fault


def _json(answer: Any) -> bytes:
    if isinstance(answer, BaseModel):
        return answer.model_dump_json().encode()
    return b"[" + b",".join(item.model_dump_json().encode() for item in answer) + b"]"


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing goes to standard error; the event log has it."""

    def do_GET(self) -> None:
        self._send(*self.server.customer.answer("GET", self.path, b""))

    def do_POST(self) -> None:
        length = self.headers.get("content-length", "")
        if not length.isascii() or not length.isdigit() or int(length) > MAX_BODY:
            self.close_connection = True
            self._send(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, Problem(error=f"a request of at most {MAX_BODY:,} bytes is accepted"))
            return
        self._send(*self.server.customer.answer("POST", self.path, self.rfile.read(int(length))))

    def _send(self, status: int, answer: Any) -> None:
        body = _json(answer)
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(body)


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, path: str, customer: Customer) -> None:
        self.customer = customer
        self._places = threading.Semaphore(MAX_CONNECTIONS)
        super().__init__(path, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, _ = super().get_request()
        return connection, ("customer", 0)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up, or sent what is not HTTP, is its own business."""


class Channel:
    """Serves a customer on ``customer.sock`` in `directory` while the context is open."""

    def __init__(self, customer: Customer, directory: Path) -> None:
        self.customer = customer
        self.socket = directory / SOCKET_NAME

    def __enter__(self) -> Channel:
        try:
            self._server = _Server(str(self.socket), self.customer)
        except OSError as error:
            raise InfrastructureFault(f"no socket could be opened at {self.socket}: {error}") from error
        self.socket.chmod(0o666)
        # A short poll interval, for it is also how long closing takes.
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.customer.end("the engagement is over: the system was handed over")
        self._server.shutdown()
        self._server.server_close()
        self.socket.unlink(missing_ok=True)
