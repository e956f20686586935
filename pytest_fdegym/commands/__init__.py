"""The subcommands of ``fdegym``: a module each, with a docstring for its help, `add_arguments` and `run`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Protocol

from pytest_fdegym.commands import admit, compare, gate, mcp, merge, new, regrade, report, routing, talk, watch

__all__ = ["COMMANDS", "Command"]


class Command(Protocol):
    """What a module of this room offers; its docstring is the help, the first line the summary."""

    __doc__: str | None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        ...

    def run(self, options: argparse.Namespace) -> int:
        """Do it; returns the exit code. FdeGymError propagates."""
        ...


COMMANDS: Mapping[str, Command] = {
    "new": new,
    "talk": talk,
    "routing": routing,
    "admit": admit,
    "watch": watch,
    "mcp": mcp,
    "gate": gate,
    "compare": compare,
    "report": report,
    "merge": merge,
    "regrade": regrade,
}
