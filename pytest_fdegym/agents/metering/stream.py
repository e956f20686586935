"""Server-sent events on their way through: read as they pass, and held back where the client did not ask for one."""

from __future__ import annotations

import re
from typing import Final

from pytest_fdegym.agents.metering.endpoints import Api
from pytest_fdegym.agents.metering.usage import Said, said_in_event

LONGEST_EVENT: Final = 64 << 20
"""Bytes of an event that are looked into; a longer one passes unread."""
_END: Final = re.compile(rb"\r\n\r\n|\n\n|\r\r")


class Passing:
    """A stream of `api`. With `hide_usage` the event that holds a chat's usage and nothing else is left out."""

    def __init__(self, api: Api, *, hide_usage: bool) -> None:
        self.said = Said()
        self._api = api
        self._hide = hide_usage
        self._rest = b""
        self._unread = False

    def feed(self, piece: bytes) -> bytes:
        """What may be passed on now that `piece` has come; `said` is up to date with it before it is."""
        if self._unread:
            return piece
        searched = max(len(self._rest) - 3, 0)
        self._rest += piece
        passed = []
        start = 0
        while match := _END.search(self._rest, max(searched, start)):
            event = self._rest[start : match.end()]
            start = match.end()
            if not (self._read(event) and self._hide):
                passed.append(event)
        self._rest = self._rest[start:]
        if len(self._rest) > LONGEST_EVENT:
            self._unread = True
            passed.append(self._rest)
            self._rest = b""
        return b"".join(passed) if self._hide else piece

    def end(self) -> bytes:
        """What is left to pass on at the end of the stream."""
        rest, self._rest = self._rest, b""
        usage_only = self._read(rest)
        return rest if self._hide and not usage_only else b""

    def _read(self, event: bytes) -> bool:
        lines = re.split(r"\r\n|\n|\r", event.decode("utf-8", "replace"))
        data = [line[5:].removeprefix(" ") for line in lines if line.startswith("data:")]
        if not data:
            return False
        self.said, usage_only = said_in_event(self._api, "\n".join(data), self.said)
        return usage_only
