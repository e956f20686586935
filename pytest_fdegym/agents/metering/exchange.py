"""One request and its answer: sent to the upstream, passed back at once as it comes, and counted before its last byte is."""

from __future__ import annotations

import contextlib
import http.client
import json
import select
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, Protocol

from pytest_fdegym.agents.metering.account import Call, Outcome
from pytest_fdegym.agents.metering.answer import LONGEST_ANSWER, Answer, UpstreamFailed
from pytest_fdegym.agents.metering.faults import ProviderFault, fault_in_stream, fault_of_answer, shown
from pytest_fdegym.agents.metering.http_messages import Refused, sent_back
from pytest_fdegym.agents.metering.prices import price
from pytest_fdegym.agents.metering.stream import Passing
from pytest_fdegym.agents.metering.upstream import ANSWER_SECONDS, Upstream
from pytest_fdegym.agents.metering.usage import Said, Tokens, said_in_body


class Client(Protocol):
    """Who asked."""

    connection: socket.socket

    def begin(self, status: int, reason: str, headers: Sequence[tuple[str, str]], length: int | None) -> None: ...
    def send(self, piece: bytes) -> None: ...
    def end(self) -> None: ...


class _ClientGone(ConnectionError):
    """The client hung up."""


@dataclass
class Exchange:
    """`request` is the content's JSON, empty where it is none. After `run`, `reusable` is the connection if it can be used again."""

    call: Call
    upstream: Upstream
    method: str
    target: str
    headers: Sequence[tuple[str, str]]
    content: bytes
    request: dict[str, Any]
    without_stream_options: set[str]
    reusable: http.client.HTTPConnection | None = None
    _connection: http.client.HTTPConnection | None = field(default=None, init=False)
    _began: bool = field(default=False, init=False)
    _said: Said = field(default=Said(), init=False)

    def run(self, client: Client, kept: http.client.HTTPConnection | None) -> None:
        """Raises OSError when the client cannot be given a whole answer, and Refused where the proxy answers in the provider's place."""
        try:
            self._connection = self._connected(kept)
            self._talk(client)
        except _ClientGone:
            self._settle("cut off" if self.call.cut_off else "hung up", turns=int(self._began and self._turn))
            raise
        except UpstreamFailed as failed:
            if self.call.cut_off:
                self._settle("cut off", turns=int(self._began and self._turn))
                raise ConnectionAbortedError("the run is over") from None
            text = f"{self.upstream.base_url} {'cannot be reached' if failed.kind == 'unreachable' else 'broke off'}: {failed}"
            used = self._used if self._began else None
            self.call.settle(self._outcome(failed.kind, 0, used, ProviderFault(failed.kind, None, shown(self._masked_text(text)))))
            if self._began:
                raise ConnectionAbortedError(text) from failed
            raise Refused(HTTPStatus.BAD_GATEWAY, self._masked_text(text)) from failed
        finally:
            if self._connection is not None and self._connection is not self.reusable:
                self._connection.close()

    @property
    def _turn(self) -> bool:
        return self.call.endpoint.turn

    # --- asking ---

    def _connected(self, kept: http.client.HTTPConnection | None) -> http.client.HTTPConnection:
        if kept is not None:
            if kept.sock is not None and not _readable(kept.sock):
                return kept
            kept.close()  # The upstream closed it meanwhile.
        try:
            return self.upstream.connect()
        except OSError as error:
            raise UpstreamFailed("unreachable", error) from error

    def _talk(self, client: Client) -> None:
        forced = self._with_usage()
        answer = self._asked(client, self.content if forced is None else forced)
        body: bytes | None = None
        if forced is not None and answer.status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY):
            body = answer.whole()
            if b"stream_options" in body:
                # Not a retry: the provider refused what the proxy added.
                self.without_stream_options.add(self.upstream.base_url)
                forced, body = None, None
                self._connection = self._connected(self._connection if answer.reusable else None)
                answer = self._asked(client, self.content)
        if body is None and answer.streams and answer.success:
            self._pass_stream(client, answer, hide_usage=forced is not None)
        else:
            self._pass_whole(client, answer, body)
        if answer.reusable:
            self.reusable = self._connection

    def _with_usage(self) -> bytes | None:
        """The content that asks for the usage of a streamed chat, where the client does not; None where nothing is changed."""
        if self.call.endpoint.api != "chat" or not self.request.get("stream") or self.upstream.base_url in self.without_stream_options:
            return None
        options = self.request.get("stream_options")
        options = options if isinstance(options, dict) else {}
        if options.get("include_usage"):
            return None
        return json.dumps({**self.request, "stream_options": {**options, "include_usage": True}}).encode()

    def _asked(self, client: Client, content: bytes) -> Answer:
        connection = self._connection
        assert connection is not None
        try:
            self.call.carried_by(client.connection, connection.sock)
            connection.putrequest(self.method, self.target, skip_accept_encoding=True)
            for name, value in self.headers:
                connection.putheader(name, value)
            connection.putheader("accept-encoding", "identity")
            if content or self.method == "POST":
                connection.putheader("content-length", str(len(content)))
        except OSError as error:
            raise UpstreamFailed("reset", error) from error
        except (ValueError, http.client.HTTPException) as error:
            raise Refused(HTTPStatus.BAD_REQUEST, f"the request cannot be sent on: {error}") from None
        try:
            # A break is no fault yet: it may have answered before it had read everything.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.endheaders(content or None)
            if _answers(connection.sock, client.connection):
                return Answer(connection.getresponse())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise UpstreamFailed("reset", error) from error
        raise _ClientGone("the client hung up")

    # --- answering ---

    def _pass_whole(self, client: Client, answer: Answer, body: bytes | None) -> None:
        body = answer.whole() if body is None else body
        unread = len(body) > LONGEST_ANSWER
        api = self.call.endpoint.api
        if api is not None and answer.success:
            self._said = Said() if unread or answer.encoded else said_in_body(api, body)
            self._settle(answer.status, turns=int(self._turn))
        elif api is not None:
            fault = fault_of_answer(answer.status, self._masked(body))
            self.call.settle(self._outcome(answer.status, 0, None, fault))
        self._begin(client, answer, None if unread else len(body))
        self._send(client, self._masked(body))
        while unread and (piece := answer.piece()):
            self._send(client, self._masked(piece))
        self._end(client)

    def _pass_stream(self, client: Client, answer: Answer, *, hide_usage: bool) -> None:
        passing = Passing(self.call.endpoint.api or "chat", hide_usage=hide_usage)
        self._begin(client, answer, None)
        try:
            while piece := answer.piece():
                ready = passing.feed(piece)
                self._said = passing.said
                if passing.said.complete:
                    self._settle(answer.status, turns=int(self._turn))
                self._send(client, self._masked(ready))
        except _ClientGone:
            if passing.said.finishing:
                self._figures_only(answer, passing)
            raise
        except UpstreamFailed:
            if not passing.said.complete:
                raise
        rest = passing.end()
        self._said = passing.said
        self._settle(answer.status, turns=int(self._turn))
        self._send(client, self._masked(rest))
        self._end(client)

    def _figures_only(self, answer: Answer, passing: Passing) -> None:
        """The client left when it had the whole answer; what is still to come says what it cost."""
        try:
            while not passing.said.complete and (piece := answer.piece()):
                passing.feed(piece)
        except UpstreamFailed:
            return
        finally:
            passing.end()
            self._said = passing.said
        self._settle(answer.status, turns=int(self._turn))

    def _begin(self, client: Client, answer: Answer, length: int | None) -> None:
        self._began = True
        headers = [(name, self._masked_text(value)) for name, value in sent_back(answer.headers)]
        try:
            client.begin(answer.status, answer.reason, headers, length)
        except OSError as error:
            raise _ClientGone(str(error)) from error

    def _send(self, client: Client, piece: bytes) -> None:
        try:
            client.send(piece)
        except OSError as error:
            raise _ClientGone(str(error)) from error

    def _end(self, client: Client) -> None:
        try:
            client.end()
        except OSError as error:
            raise _ClientGone(str(error)) from error

    # --- counting ---

    def _settle(self, status: int | str, turns: int) -> None:
        """What is known of a call that was answered, in part at least, or that may have cost something."""
        said = self._said
        fault = None
        if said.error is not None:
            turns, fault = 0, fault_in_stream(status if isinstance(status, int) else HTTPStatus.OK, *map(self._masked_text, said.error))
        used = None if fault is not None and said.tokens == Tokens() else self._used
        self.call.settle(self._outcome(status, turns, used, fault))

    @property
    def _used(self) -> Tokens:
        """What an answer that stopped in the middle says of its output by then is not what it cost."""
        return self._said.tokens if self._said.finishing else replace(self._said.tokens, output=None)

    def _outcome(self, status: int | str, turns: int, used: Tokens | None, fault: ProviderFault | None) -> Outcome:
        asked = self.request.get("model")
        asked = asked if isinstance(asked, str) else None
        cost = price(self.upstream.api, self.upstream.base_url, (self._said.model, asked), Tokens() if used is None else used)
        return Outcome(status, turns, self._said.model or asked, used, cost, fault)

    # --- the key ---

    def _masked(self, data: bytes) -> bytes:
        """The same bytes, and as many, without the user's key: an upstream may quote what it was sent."""
        key = self.upstream.key
        return data if key is None else data.replace(key.encode(), b"*" * len(key))

    def _masked_text(self, text: str) -> str:
        key = self.upstream.key
        return text if key is None else text.replace(key, "*" * len(key))


def _readable(one: socket.socket) -> bool:
    poll = select.poll()
    poll.register(one, select.POLLIN)
    return bool(poll.poll(0))


def _answers(upstream: socket.socket, client: socket.socket) -> bool:
    """Wait until the upstream answers; False when the client hangs up before."""
    poll = select.poll()
    poll.register(upstream, select.POLLIN)
    poll.register(client, select.POLLIN)
    while ready := dict(poll.poll(1000 * ANSWER_SECONDS)):
        if upstream.fileno() in ready:
            return True
        try:
            gone = not client.recv(1, socket.MSG_PEEK)
        except OSError:
            gone = True
        if gone:
            return False
        # It sends its next request already.
        poll.unregister(client)
    raise TimeoutError("no answer")
