"""An upstream's answer, read as it comes; http.client's own bookkeeping of `read1` differs between Python versions."""

from __future__ import annotations

import http.client
from http import HTTPStatus
from typing import Final

from pytest_fdegym.agents.metering.faults import FaultKind

LONGEST_ANSWER: Final = 64 << 20
"""Bytes of an answer that are held to be read; a longer one passes unread, and its usage is unknown."""
_PIECE: Final = 64 << 10


class UpstreamFailed(Exception):
    """What the provider did instead of answering."""

    def __init__(self, kind: FaultKind, error: BaseException) -> None:
        super().__init__(str(error) or type(error).__name__)
        self.kind = kind


class Answer:
    """An answer whose head has been read."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self._response = response
        self._left = response.length
        self._ended = False
        self.status = response.status
        self.reason = response.reason
        self.headers = response.getheaders()

    @property
    def success(self) -> bool:
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES

    @property
    def streams(self) -> bool:
        """Whether it is a stream of events."""
        return "text/event-stream" in (self._response.getheader("content-type") or "").lower()

    @property
    def encoded(self) -> bool:
        """Whether it is compressed, although that was not asked for."""
        return (self._response.getheader("content-encoding") or "identity").lower() != "identity"

    @property
    def reusable(self) -> bool:
        """Whether the connection can carry another request."""
        return self._ended and not self._response.will_close

    def piece(self) -> bytes:
        """What has come, as soon as something has; empty at the end. Raises UpstreamFailed."""
        if self._left == 0:
            return self._end()
        try:
            piece = self._response.read1(_PIECE if self._left is None else min(_PIECE, self._left))
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise UpstreamFailed("reset", error) from error
        if self._left is not None:
            self._left -= len(piece)
            if not piece:
                raise UpstreamFailed("reset", ConnectionError("the connection was closed in the middle of an answer"))
        return piece or self._end()

    def whole(self) -> bytes:
        """The body, or its beginning of more than LONGEST_ANSWER bytes."""
        pieces, size = [], 0
        while size <= LONGEST_ANSWER and (piece := self.piece()):
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces)

    def _end(self) -> bytes:
        self._ended = True
        self._response.close()
        return b""
