"""What ``--fde-agent`` means: reads the value; `pytest_fdegym.agents.loading` loads what it names. Knows nothing of pytest."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from pytest_fdegym.errors import AgentNotFound, UsageError, nearest

ENTRY_POINT_GROUP = "pytest_fdegym.agents"
FIVE_TOOLS = "five-tools"
BUILT_IN = ("do-nothing", "literal", "reference", "expert", FIVE_TOOLS)
LONGEST_COMMAND = 60
"""Characters that an agent's name keeps of its shell command."""
PREFIXES = ("builtin", "solution", "entrypoint", "fixture", "cmd")

Kind = Literal["builtin", "entrypoint", "module", "file", "command", "fixture"]
Agent = Callable[[Any], Any]
Installed = Mapping[str, Sequence[EntryPoint]]

_FILE = re.compile(r"(?P<path>.+\.py)(?::(?P<callable>[^:/]+))?")
_MODULE = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<callable>[^\W\d]\w*(?:\.[^\W\d]\w*)*)")


@dataclass(frozen=True)
class Reference:
    """What a value of --fde-agent refers to.

    `target` is the name of the built-in (or ``solution:NAME``), of the entry point or of the fixture, the module's or the file's path,
    or the shell command; `callable` is what is wanted of the module or file, None for the default.
    """

    text: str
    kind: Kind
    target: str
    callable: str | None = None

    @property
    def name(self) -> str:
        """How the agent is called in records; of a command its first line that is no comment, at most LONGEST_COMMAND characters."""
        if self.kind == "command":
            return f"cmd:{_short(self.target)}"
        return self.target if self.kind in ("builtin", "entrypoint", "fixture") else self.text

    @property
    def may_be_a_fixture_too(self) -> bool:
        """Whether a fixture could have the same name; only pytest can find out."""
        return self.kind in ("builtin", "entrypoint") and self.text == self.target and self.text.isidentifier()


def installed_agents() -> Installed:
    """The entry points of the group ``pytest_fdegym.agents``, by name."""
    found: dict[str, list[EntryPoint]] = defaultdict(list)
    for entry_point in entry_points(group=ENTRY_POINT_GROUP):
        found[entry_point.name].append(entry_point)
    return found


def parse(text: str, installed: Installed) -> Reference:
    """Say what `text` refers to, without loading it.

    An unprefixed name that is nothing else is taken for a fixture's. Raises AgentNotFound for what can be no agent, naming what there
    is and the nearest match, and UsageError for a name that could be two things.
    """
    prefix, colon, rest = text.partition(":")
    if colon and prefix in PREFIXES:
        return _prefixed(text, prefix, rest, installed)
    if match := _FILE.fullmatch(text):
        return Reference(text, "file", match["path"], match["callable"])
    if match := _MODULE.fullmatch(text):
        return Reference(text, "module", match["module"], match["callable"])
    if text in BUILT_IN and text in installed:
        raise UsageError(
            f"--fde-agent={text} could be two things: the built-in {text!r}, and the agent of that name that "
            f"{_origins(installed[text])} installed. Say builtin:{text} or entrypoint:{text}."
        )
    if text in BUILT_IN:
        return Reference(text, "builtin", text)
    if text in installed:
        return _entry_point(text, text, installed)
    if text.isidentifier():
        return Reference(text, "fixture", text)
    raise AgentNotFound(f"--fde-agent={text} is no agent.{nearest(text, (*BUILT_IN, *installed))} {accepted_forms(installed)}")


def accepted_forms(installed: Installed) -> str:
    """What there is to name, and in which forms."""
    return (
        f"Built in: {', '.join(BUILT_IN)}. Installed: {', '.join(sorted(installed)) or 'none'}. A name of these is accepted, "
        "or solution:NAME, package.module:callable, path/to/agent.py[:callable], 'cmd:SHELL COMMAND', or a fixture's name."
    )


def _short(command: str) -> str:
    lines = command.strip().splitlines()
    # Of a script that was given as text, the first line that does something.
    first = next((line.strip() for line in lines if line.strip() and not line.strip().startswith("#")), lines[0])[:LONGEST_COMMAND]
    return first if first == command.strip() else f"{first.rstrip()}..."


def _prefixed(text: str, prefix: str, rest: str, installed: Installed) -> Reference:
    if not rest.strip():
        raise AgentNotFound(f"something is expected after {prefix}: (--fde-agent={text})")
    if prefix == "cmd":
        return Reference(text, "command", rest)
    if prefix == "solution":
        return Reference(text, "builtin", text)
    if prefix == "fixture":
        if not rest.isidentifier():
            raise AgentNotFound(f"--fde-agent={text}: {rest!r} cannot be the name of a fixture.")
        return Reference(text, "fixture", rest)
    if prefix == "builtin":
        if rest not in BUILT_IN:
            raise AgentNotFound(f"--fde-agent={text}: there is no such built-in.{nearest(rest, BUILT_IN)} Built in: {', '.join(BUILT_IN)}.")
        return Reference(text, "builtin", rest)
    return _entry_point(text, rest, installed)


def _entry_point(text: str, name: str, installed: Installed) -> Reference:
    if name not in installed:
        known = ", ".join(sorted(installed)) or "none"
        raise AgentNotFound(f"--fde-agent={text}: no such agent is installed.{nearest(name, installed)} Installed: {known}.")
    if len(installed[name]) > 1:
        raise UsageError(f"--fde-agent={text} could be two things: {_origins(installed[name])} both installed an agent of that name.")
    return Reference(text, "entrypoint", name)


def _origins(found: Sequence[EntryPoint]) -> str:
    return " and ".join(sorted(point.dist.name if point.dist else point.value for point in found))
