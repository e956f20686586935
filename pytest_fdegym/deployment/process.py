"""One host process behind its pipes: a request out, a reply or a failure back, within bounds and whatever the other side does."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from pytest_fdegym.sandbox.base import SandboxedProcess

_READ = 1 << 16
_TICK = 0.1
"""Seconds between two looks at whether the process still lives and what it has written to disk."""
_STARTING_SECONDS = 30.0


@dataclass(frozen=True)
class Reply:
    """A line that carries the nonce of the request: its kind (``R`` or ``E``) and its JSON."""

    kind: bytes
    text: bytes


@dataclass(frozen=True)
class Late:
    """No reply within the time; the process is gone now."""


@dataclass(frozen=True)
class Gone:
    """The process ended or was ended, and why."""

    reason: str


class HostProcess:
    """Speaks the protocol of ``host_main.py``. One request at a time, so that a delivery never sees a call before its turn."""

    def __init__(
        self,
        process: SandboxedProcess,
        *,
        reply_bytes: int,
        output_bytes: int,
        excess: Callable[[], str | None],
        waited: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """`excess` is asked now and then while a reply is awaited and says what the process uses too much of, if anything.

        `waited` says for how many seconds in all the process has been kept waiting by us; they do not count against its time.
        """
        self._waited = waited
        self._process = process
        self._reply_bytes = reply_bytes + 100
        self._output_bytes = output_bytes
        self._excess = excess
        self._in, self._out, self._err = process.stdin.fileno(), process.stdout.fileno(), process.stderr.fileno()
        for handle in (self._in, self._out, self._err):
            os.set_blocking(handle, False)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)
        self._buffer = bytearray()
        self._printed = 0
        self._tail = b""
        self.gone: Gone | None = None

    def ready(self) -> Gone | None:
        """Wait until the process is up (nothing of the delivery has run by then); what went wrong otherwise."""
        line = self._exchange(b"", _STARTING_SECONDS)
        if line == b"ready\n":
            return None
        if isinstance(line, Gone):
            said = self._tail.decode("utf-8", "replace").strip()
            return Gone(f"{line.reason}{': ' if said else ''}{said[-500:]}")
        return self._end("it did not start in time" if isinstance(line, Late) else "it did not start properly")

    def request(self, body: bytes, seconds: float) -> Reply | Late | Gone:
        """Send `body` (what follows the nonce in the request's JSON list) and wait for the reply."""
        if self.gone is not None:
            return self.gone
        nonce = os.urandom(8).hex().encode()
        line = self._exchange(b'["%b",%b]\n' % (nonce, body), seconds)
        if not isinstance(line, bytes):
            return line
        kind = line[17:18]
        if line[:16] != nonce or line[16:17] != b" " or line[18:19] != b" " or kind not in b"RE":
            return self.forged()
        return Reply(kind, line[19:-1])

    def forged(self) -> Gone:
        """End the process because what it wrote is no reply."""
        return self._end("the process wrote something that is no reply into the reply channel")

    def close(self) -> None:
        """Kill the whole process tree. May be called twice; raises InfrastructureFault if the sandbox cannot do it."""
        if self.gone is None:
            self._end("the replay is over")

    def _end(self, reason: str | None) -> Gone:
        self.gone = Gone(reason or "the process ended")
        self._drain()  # Its last words may have come after its last reply.
        code = self._process.close()
        if reason is None:
            self.gone = Gone(_ending(code))
        return self.gone

    def _exchange(self, line: bytes, seconds: float) -> bytes | Late | Gone:
        unsent = memoryview(line)
        try:
            unsent = unsent[os.write(self._in, unsent) :] if unsent else unsent
        except BlockingIOError:
            pass
        except OSError:
            return self._end(None)
        if unsent:
            self._poll.register(self._in, select.POLLOUT)
        deadline = time.monotonic() + seconds - self._waited()
        look = time.monotonic() + _TICK
        while True:
            now = time.monotonic()
            events = self._poll.poll(1000 * max(0.0, min(deadline + self._waited(), look) - now))
            for handle, _ in events:
                if handle == self._in:
                    unsent = self._send(unsent)
                elif handle == self._err:
                    self._drain()
                elif (answer := self._receive()) is not None:
                    return self.forged() if unsent and isinstance(answer, bytes) else answer
            if self._printed > self._output_bytes:
                return self._end(f"the process wrote more than {self._output_bytes:,} bytes of output past Python's own streams")
            if now >= look:
                # A child of the process may hold the pipes open after its death, so their end alone does not tell.
                if not events and self._process.poll() is not None:
                    return self._end(None)
                if (excess := self._excess()) is not None:
                    return self._end(excess)
                look = now + _TICK
            if now >= deadline + self._waited():  # And nothing had come by then, as the poll after that moment showed.
                self._end("it did not answer in time")
                return Late()

    def _send(self, unsent: memoryview) -> memoryview:
        try:
            unsent = unsent[os.write(self._in, unsent) :]
        except BlockingIOError:
            return unsent
        except OSError:
            unsent = unsent[:0]  # Nobody reads any more; the end of the reply channel will say so.
        if not unsent:
            self._poll.unregister(self._in)
        return unsent

    def _receive(self) -> bytes | Gone | None:
        try:
            chunk = os.read(self._out, _READ)
        except BlockingIOError:
            return None
        except OSError:
            chunk = b""
        if not chunk:
            return self._end(None)
        end = chunk.find(b"\n")
        self._buffer += chunk
        if len(self._buffer) > self._reply_bytes:
            return self._end("the process wrote a reply that is too long")
        if end < 0:
            return None
        line = bytes(self._buffer)
        self._buffer.clear()
        return line if end == len(chunk) - 1 else self.forged()

    def _drain(self) -> None:
        try:
            chunk = os.read(self._err, _READ)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk and self.gone is None:
            self._poll.unregister(self._err)
        self._printed += len(chunk)
        self._tail = (self._tail + chunk)[-2000:]


def _ending(code: int) -> str:
    number = -code if code < 0 else code - 128
    try:
        return f"the process was ended by {signal.Signals(number).name}"
    except ValueError:
        return f"the process ended with exit code {code}"
