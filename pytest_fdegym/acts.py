"""Whether an agent has acted: from then on its run is the one that counts, and is not begun again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pytest_fdegym.limits import LimitTracker
from pytest_fdegym.observer import Event

_ACTS = frozenset({"message", "wait", "trial", "gateway"})
Files = Mapping[str, tuple[int, int, int]]


class Acts:
    """An Observer that notices what an agent does at a customer's. Reading (mail, the directory, files) is no act."""

    def __init__(self) -> None:
        self._seen = False
        self._workspace: Path | None = None
        self._found: Files = {}

    def begin(self, workspace: Path) -> None:
        """The agent gets the workspace as it is now."""
        self._workspace, self._found = workspace, _files(workspace)

    def notify(self, event: Event) -> None:
        # The event of a command that is the agent itself has its output; that of a command which an agent gave has none.
        if event.kind in _ACTS or (event.kind == "command" and "output" not in event.data):
            self._seen = True

    def seen(self, tracker: LimitTracker) -> bool:
        """Whether there was a contact, a command, a model call that succeeded, or a changed file."""
        used = tracker.usage
        if self._seen or used.turns or used.input_tokens or used.output_tokens or used.usd:
            return True
        return self._workspace is not None and _files(self._workspace) != self._found


def _files(root: Path) -> Files:
    """Time, size and number of each file; what cannot be looked at is as good as changed."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            try:
                state = os.lstat(path)
            except OSError:
                return {path: (-1, -1, -1)}
            found[path] = (state.st_mtime_ns, 0 if name in folders else state.st_size, state.st_ino)
    return found
