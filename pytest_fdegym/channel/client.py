"""The agent's end of the channel, for Python: one request, one answer, over the unix socket."""

from __future__ import annotations

import contextlib
import http.client
import socket
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter

from pytest_fdegym.channel.protocol import Problem
from pytest_fdegym.errors import FdeGymError, LimitReached

T = TypeVar("T")


class RequestRefused(FdeGymError):
    """The customer's side refused a request (unknown person, empty message, ...); nothing was charged."""


class EngagementOver(FdeGymError):
    """The system was handed over; nobody answers any more."""


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("customer")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(str(self._path))


class ChannelClient:
    """Talks to the customer's side at a socket path."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: set[_Connection] = set()
        self._hung_up = False

    def hang_up(self) -> None:
        """Let whoever waits for an answer wait no longer, from another thread: EngagementOver is raised there."""
        self._hung_up = True
        for connection in list(self._open):
            with contextlib.suppress(OSError, AttributeError):  # not yet connected, or no more
                connection.sock.shutdown(socket.SHUT_RDWR)

    def request(self, method: str, path: str, answer: type[T], body: BaseModel | None = None) -> T:
        """Send a request and return its answer as the given type.

        Raises RequestRefused, LimitReached (with the limit's name) or EngagementOver.
        """
        connection = _Connection(self._path)
        self._open.add(connection)
        try:
            connection.request(method, path, body.model_dump_json().encode() if body is not None else None)
            response = connection.getresponse()
            data = response.read()
        except (FileNotFoundError, ConnectionRefusedError) as error:
            raise EngagementOver("the engagement is over: the system was handed over") from error
        except (OSError, http.client.HTTPException) as error:
            if not self._hung_up:
                raise
            raise EngagementOver("the engagement is over") from error
        finally:
            self._open.discard(connection)
            connection.close()
        if response.status == 200:
            adapter: TypeAdapter[Any] = TypeAdapter(answer)
            result: T = adapter.validate_json(data)
            return result
        problem = Problem.model_validate_json(data)
        if problem.limit is not None:
            raise LimitReached(problem.limit)
        if problem.over:
            raise EngagementOver(problem.error)
        raise RequestRefused(problem.error)
