"""Runs an agent so that it can be stopped: in a thread of its own, or in the main thread where it has to be."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import ctypes
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any, Protocol

from pytest_fdegym.errors import UsageError

LOOKS_UP_SECONDS = 0.05
"""How often it is looked whether the engagement is over; also what keeps Ctrl-C working on every system."""
GRACE_SECONDS = 1.0
"""How long an agent is interrupted before it is given up: with what comes before and after, under two seconds."""
CANCEL_SECONDS = 0.3
"""How long a coroutine has that was cancelled, before it is interrupted like other code."""
AGAIN_SECONDS = 0.15
"""Between two interruptions: time to clean up after one."""
PURSUED_SECONDS = 1.0
"""Between two interruptions of a thread that was given up."""


class Interrupted(BaseException):
    """Raised in an agent whose engagement is over. No Exception, so that an agent that catches those does not go on."""


@dataclass(frozen=True)
class Stopped:
    """How the work ended: with `error` or None when it returned, or not at all (`stuck`)."""

    error: BaseException | None = None
    in_time: bool = True
    """Whether it ended of its own, not because it was stopped."""
    stuck: bool = False


class Coroutine:
    """Runs what an agent gave to be awaited; can be cancelled from another thread."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None

    def run(self, awaited: Awaitable[Any]) -> None:
        asyncio.run(self._finish(awaited))

    async def _finish(self, awaited: Awaitable[Any]) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        await awaited

    def cancel(self) -> bool:
        """Cancel it and wake its loop; says whether there is one."""
        if self._loop is None or self._task is None:
            return False
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._task.cancel)
        return True


class Runs(Protocol):
    """A way of running an agent."""

    def __call__(self, work: Callable[[], None], coroutine: Coroutine, over: threading.Event, clear: Callable[[], None]) -> Stopped:
        """Run `work` until it ends, or until `over` is set; then `clear` is called (it ends what the harness does for the agent, and the
        agent's processes) and the work is interrupted. `coroutine` is what it may run in."""
        ...


def in_a_thread(work: Callable[[], None], coroutine: Coroutine, over: threading.Event, clear: Callable[[], None]) -> Stopped:
    """Run `work` in a thread of its own; a KeyboardInterrupt of the caller's stops it, too, and is raised again."""
    thread = _Thread(work)
    try:
        # In here, for a Ctrl-C may come while it is being started.
        thread.start()
        while not thread.done.wait(LOOKS_UP_SECONDS) and not over.is_set():
            pass
    except BaseException:
        over.set()
        if thread.started:
            _stop(thread, coroutine, clear)
        raise
    if thread.done.is_set():
        return Stopped(thread.error)
    return Stopped(in_time=False, stuck=not _stop(thread, coroutine, clear))


def _stop(thread: _Thread, coroutine: Coroutine, clear: Callable[[], None]) -> bool:
    clear()
    begun = time.monotonic()
    while (passed := time.monotonic() - begun) < GRACE_SECONDS:
        if not coroutine.cancel() or passed > CANCEL_SECONDS:
            thread.interrupt()
        if thread.done.wait(AGAIN_SECONDS):
            break
    else:
        threading.Thread(target=_pursue, args=(thread, coroutine), name="fde-pursuer", daemon=True).start()
    clear()
    return thread.done.is_set()


def _pursue(thread: _Thread, coroutine: Coroutine) -> None:
    """Nobody waits for the thread any more; should it come back from where it hangs, it is to end there."""
    while not thread.done.wait(PURSUED_SECONDS):
        coroutine.cancel()
        thread.interrupt()


class _Thread:
    """A daemon thread, for nobody waits for an agent that hangs when Python ends. It has the caller's context variables."""

    def __init__(self, work: Callable[[], None]) -> None:
        self.done = threading.Event()
        self.error: BaseException | None = None
        self._work = work
        self._lock = threading.Lock()
        self._open = True
        self._thread = threading.Thread(target=contextvars.copy_context().run, args=(self._run,), name="fde-agent", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def started(self) -> bool:
        """Whether it has begun to run."""
        return self._thread.ident is not None

    def interrupt(self) -> None:
        """Raise Interrupted in the thread as soon as it runs Python code; nothing once the work is done."""
        with self._lock:
            if self._open and self._thread.ident is not None:
                _raise_in(self._thread.ident, Interrupted)

    def _run(self) -> None:
        try:
            try:
                self._work()
            except BaseException as error:
                self.error = error
        except Interrupted as error:
            self.error = error
        while self._open:
            # An interruption may be on its way still: from here on none is to arrive.
            with contextlib.suppress(Interrupted), self._lock:
                self._open = False
                _raise_in(threading.get_ident(), None)
        self.done.set()


def _raise_in(ident: int, kind: type[BaseException] | None) -> None:
    what = ctypes.py_object(kind) if kind is not None else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), what)


def in_the_main_thread(work: Callable[[], None], coroutine: Coroutine, over: threading.Event, clear: Callable[[], None]) -> Stopped:
    """Run `work` here, interrupted by a signal. Raises UsageError where this is not the main thread.

    What ignores that holds up the caller: there is no way to go on without the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        raise UsageError("the agent has to run in the main thread (fde_main_thread), and pytest itself does not run there")
    done = threading.Event()
    main = threading.get_ident()

    def watch() -> None:
        while not over.wait(LOOKS_UP_SECONDS):
            if done.is_set():
                return
        clear()
        begun = time.monotonic()
        while not done.is_set():
            if not coroutine.cancel() or time.monotonic() - begun > CANCEL_SECONDS:
                signal.pthread_kill(main, signal.SIGUSR2)
            done.wait(AGAIN_SECONDS)

    watcher = threading.Thread(target=watch, name="fde-watcher", daemon=True)
    error: BaseException | None = None
    with _on_signal(done):
        watcher.start()
        try:
            try:
                work()
            except BaseException as raised:
                error = raised
            done.set()
        except Interrupted:
            done.set()
        watcher.join()
    if isinstance(error, KeyboardInterrupt):
        over.set()
    if over.is_set():
        clear()
    return Stopped(error, in_time=not over.is_set())


@contextlib.contextmanager
def _on_signal(done: threading.Event) -> Iterator[None]:
    def interrupt(number: int, frame: FrameType | None) -> None:
        del number, frame
        if not done.is_set():
            raise Interrupted

    before = signal.signal(signal.SIGUSR2, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR2, before)
