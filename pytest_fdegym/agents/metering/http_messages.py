"""HTTP as a proxy has to treat it: request bodies of both framings within bounds, and headers that are not for the next hop."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator
from email.message import Message
from http import HTTPStatus
from typing import BinaryIO, Final

LONGEST_BODY: Final = 64 << 20
"""Bytes of a request."""
ALL_BODIES: Final = 256 << 20
"""Bytes of all requests that are under way together: an agent cannot fill the harness's memory."""
_PIECE: Final = 64 << 10
_LINE: Final = 8 << 10

_HOP_BY_HOP: Final = frozenset(
    (
        "connection",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "proxy-authenticate",
        "proxy-authorization",
    )
)
CREDENTIALS: Final = frozenset(("authorization", "x-api-key", "api-key"))
_NOT_SENT_ON: Final = _HOP_BY_HOP | {"host", "content-length", "accept-encoding", "expect", "cookie", "forwarded"}
_NOT_SENT_BACK: Final = _HOP_BY_HOP | {"content-length", "set-cookie", "alt-svc", "strict-transport-security"}


class Refused(Exception):
    """The proxy answers itself, with this status and text. `closes` says that the connection cannot be read on."""

    def __init__(self, status: int, text: str, *, closes: bool = False, headers: dict[str, str] | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.closes = closes
        self.headers = headers or {}


class Room:
    """What is left of ALL_BODIES."""

    def __init__(self, size: int = ALL_BODIES) -> None:
        self._left = size
        self._lock = threading.Lock()

    def take(self, size: int) -> None:
        """Raises Refused when there is not so much left."""
        with self._lock:
            if size > self._left:
                raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "too many large requests are under way at the metering proxy", closes=True)
            self._left -= size

    def give_back(self, size: int) -> None:
        """Room for others."""
        with self._lock:
            self._left += size


class Body:
    """A request's content, read piece by piece; `room` is taken up until `close`."""

    def __init__(self, room: Room) -> None:
        self.content = b""
        self._room = room
        self._taken = 0

    def read(self, stream: BinaryIO, headers: Message) -> None:
        """Raises Refused for what is too long or no body at all, and ConnectionError for one that breaks off."""
        pieces = []
        for piece in _chunked(stream) if _is_chunked(headers) else _measured(stream, _length(headers)):
            if self._taken + len(piece) > LONGEST_BODY:
                raise _too_long()
            self._room.take(len(piece))
            self._taken += len(piece)
            pieces.append(piece)
        self.content = b"".join(pieces)

    def close(self) -> None:
        self._room.give_back(self._taken)
        self._taken = 0


def sent_on(headers: Message) -> Iterator[tuple[str, str]]:
    """The client's headers that go to the upstream, each on one line; credentials are among them."""
    return ((name, re.sub(r"[\r\n]+[ \t]*", " ", value)) for name, value in _through(headers.items(), _NOT_SENT_ON))


def sent_back(headers: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The upstream's headers that go to the client."""
    return _through(headers, _NOT_SENT_BACK)


def _through(headers: Iterable[tuple[str, str]], but: frozenset[str]) -> Iterator[tuple[str, str]]:
    headers = list(headers)
    named = {word.strip().lower() for name, value in headers if name.lower() == "connection" for word in value.split(",")}
    return ((name, value) for name, value in headers if name.lower() not in but and name.lower() not in named)


def _is_chunked(headers: Message) -> bool:
    codings = ", ".join(headers.get_all("transfer-encoding", [])).strip().lower()
    if not codings:
        return False
    if codings != "chunked":
        raise Refused(HTTPStatus.NOT_IMPLEMENTED, "the transfer encoding 'chunked' is accepted, and no other", closes=True)
    if headers.get_all("content-length"):
        raise Refused(HTTPStatus.BAD_REQUEST, "a request has either a content length or a transfer encoding", closes=True)
    return True


def _length(headers: Message) -> int:
    given = set(headers.get_all("content-length", ["0"]))
    text = given.pop() if len(given) == 1 else ""
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise Refused(HTTPStatus.BAD_REQUEST, "one content length, a whole number, is expected", closes=True)
    if int(text) > LONGEST_BODY:
        raise _too_long()
    return int(text)


def _measured(stream: BinaryIO, length: int) -> Iterator[bytes]:
    while length:
        piece = stream.read(min(length, _PIECE))
        if not piece:
            raise ConnectionError("the request broke off")
        length -= len(piece)
        yield piece


def _chunked(stream: BinaryIO) -> Iterator[bytes]:
    while size := _chunk_size(stream):
        yield from _measured(stream, size)
        if stream.readline(_LINE) not in (b"\r\n", b"\n"):
            raise _no_chunk()
    for _ in range(100):
        if stream.readline(_LINE) in (b"\r\n", b"\n"):
            return
    raise _no_chunk()


def _chunk_size(stream: BinaryIO) -> int:
    text = stream.readline(_LINE).partition(b";")[0].strip()
    if not re.fullmatch(rb"[0-9A-Fa-f]{1,15}", text):
        raise _no_chunk()
    size = int(text, 16)
    if size > LONGEST_BODY:
        raise _too_long()
    return size


def _no_chunk() -> Refused:
    return Refused(HTTPStatus.BAD_REQUEST, "the body is not in chunks, as its transfer encoding says", closes=True)


def _too_long() -> Refused:
    return Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request of at most {LONGEST_BODY:,} bytes is accepted", closes=True)
