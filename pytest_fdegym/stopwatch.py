"""How long a run took, and how much CPU of it was the harness's own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Wall seconds, and CPU seconds of this process apart from what is `excluded` (worlds, replay, sandbox start, agent)."""

    def __init__(self) -> None:
        self._wall = time.monotonic()
        self._cpu = time.process_time()
        self._excluded = 0.0
        self._depth = 0

    @contextmanager
    def excluded(self) -> Iterator[None]:
        """Time spent in here does not count as the harness's own; may be nested."""
        before = time.process_time()
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._excluded += time.process_time() - before

    @property
    def wall_seconds(self) -> float:
        return time.monotonic() - self._wall

    @property
    def harness_cpu_seconds(self) -> float:
        return max(time.process_time() - self._cpu - self._excluded, 0.0)
