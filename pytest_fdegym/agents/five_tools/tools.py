"""The five tools over an engagement: text in, text out. What goes wrong is told to the model; only the engagement's end is raised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pytest_fdegym.agents.engagement import Engagement, OutsideWorkspace
from pytest_fdegym.channel.client import RequestRefused
from pytest_fdegym.errors import nearest
from pytest_fdegym.sandbox.base import Bound
from pytest_fdegym.text import kept

LONGEST_OUTPUT = 20_000
"""Characters of one tool's answer."""
MOST_BYTES = 8 << 20
"""Bytes of a file that ``read`` and ``edit`` take."""
MOST_NAMES = 500
"""Names that ``list`` shows."""

_STOPPED: dict[Bound, str] = {
    "wall": "it ran longer than {seconds:g} s",
    "output": "it printed more than is taken",
    "memory": "it used too much memory",
    "end": "the engagement is over",
}


class BadCall(Exception):
    """The model named a tool that there is not, or gave it wrong arguments; the text is for the model."""


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Execute(_Arguments):
    """Run a shell command line in the workspace and read its output and exit code. What it started is ended with it."""

    command: str
    seconds: Annotated[float, Field(gt=0, le=600, allow_inf_nan=False, description="How long it may take.")] = 120


class Read(_Arguments):
    """Read a text file of the workspace."""

    path: str
    first_line: Annotated[int, Field(ge=1)] = 1
    lines: Annotated[int, Field(ge=1, le=10_000)] = 2000


class Write(_Arguments):
    """Write a text file of the workspace, whole; its folders are made."""

    path: str
    content: str


class Edit(_Arguments):
    """Replace a text that stands exactly once in a file of the workspace."""

    path: str
    old: Annotated[str, Field(min_length=1, description="The text as it stands in the file, with enough around it to be unique.")]
    new: str


class List(_Arguments):
    """List what is in a folder of the workspace; folders end with a slash."""

    path: str = "."


@dataclass(frozen=True)
class Tool:
    """A tool, as it is described to a model."""

    name: str
    arguments: type[BaseModel]

    @property
    def description(self) -> str:
        """One or two sentences."""
        return self.arguments.__doc__ or ""

    @property
    def schema(self) -> dict[str, Any]:
        """The arguments' JSON Schema, without what only documents the class."""
        whole = self.arguments.model_json_schema()
        properties = {name: {key: value for key, value in each.items() if key != "title"} for name, each in whole["properties"].items()}
        return {"type": "object", "properties": properties, "required": whole.get("required", []), "additionalProperties": False}


TOOLS = (Tool("execute", Execute), Tool("read", Read), Tool("write", Write), Tool("edit", Edit), Tool("list", List))


class Toolbox:
    """The tools of one engagement."""

    def __init__(self, engagement: Engagement) -> None:
        self._engagement = engagement
        self._run: Mapping[str, Callable[[Any], str]] = {
            "execute": self._execute,
            "read": self._read,
            "write": self._write,
            "edit": self._edit,
            "list": self._list,
        }
        self.worked = False
        """Whether a command was run or a file changed; people are written to by commands."""

    def call(self, name: str, arguments: str | Mapping[str, Any] | None) -> str:
        """Run a tool with the arguments that a model gave (JSON, or already an object); returns the text for the model.

        Raises BadCall for a call that cannot be made, and LimitReached, EngagementOver or InfrastructureFault from the engagement.
        """
        tool = next((tool for tool in TOOLS if tool.name == name), None)
        if tool is None:
            names = [tool.name for tool in TOOLS]
            raise BadCall(f"There is no tool {name!r}.{nearest(name, names)} The tools are: {', '.join(names)}.")
        try:
            if isinstance(arguments, str) and arguments:
                read = tool.arguments.model_validate_json(arguments)
            else:
                read = tool.arguments.model_validate(arguments or {})
        except ValidationError as error:
            raise BadCall(f"The arguments of {name} are wrong: {_wrong(error)}.") from None
        try:
            return kept(self._run[name](read), LONGEST_OUTPUT)
        except OSError as error:
            return f"{getattr(read, 'path', name)}: {error.strerror or error}"
        except (OutsideWorkspace, RequestRefused, ValueError, RuntimeError) as error:
            # A path with a NUL is a ValueError, one of links in a circle a RuntimeError on some versions of Python.
            return str(error)

    def _execute(self, call: Execute) -> str:
        self.worked = True
        result = self._engagement.run(call.command, seconds=call.seconds)
        output = result.stdout + result.stderr
        if result.stopped_by is None:
            ended = f"[exit code {result.exit_code}]"
        else:
            ended = f"[stopped: {_STOPPED[result.stopped_by].format(seconds=call.seconds)}]"
        shown = kept(output, LONGEST_OUTPUT - 200)  # so that how it ended is never cut out
        return f"{shown}{'' if not shown or shown.endswith(chr(10)) else chr(10)}{ended}"

    def _read(self, call: Read) -> str:
        lines = self._engagement.read_text(call.path, most_bytes=MOST_BYTES).splitlines(keepends=True)
        if not lines:
            return f"[{call.path} is empty]"
        if call.first_line > len(lines):
            return f"[{call.path} has {len(lines):,} lines]"
        room = LONGEST_OUTPUT - 200
        shown: list[str] = []
        for line in lines[call.first_line - 1 : call.first_line - 1 + call.lines]:
            if shown and room < len(line):
                break
            shown.append(kept(line, LONGEST_OUTPUT - 400))
            room -= len(line)
        last = call.first_line + len(shown) - 1
        text = "".join(shown)
        if last == len(lines):
            return text
        return f"{text}[lines {call.first_line:,} to {last:,} of {len(lines):,}; read on with first_line {last + 1}]"

    def _write(self, call: Write) -> str:
        self._engagement.write_text(call.path, call.content)
        self.worked = True
        return f"[{call.path} written]"

    def _edit(self, call: Edit) -> str:
        text = self._engagement.read_text(call.path, most_bytes=MOST_BYTES)
        found = text.count(call.old)
        if found != 1:
            places = "nowhere" if not found else f"{found} times"
            return f"{call.path} was not changed: the old text stands there {places}; exactly once is expected"
        self._engagement.write_text(call.path, text.replace(call.old, call.new))
        self.worked = True
        return f"[{call.path} changed]"

    def _list(self, call: List) -> str:
        names = self._engagement.list_folder(call.path)
        if not names:
            return f"[{call.path} is empty]"
        more = len(names) - MOST_NAMES
        return "\n".join(names[:MOST_NAMES]) + (f"\n[and {more:,} more]" if more > 0 else "")


def _wrong(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" if problem["loc"] else problem["msg"] for problem in error.errors()[:5]
    )
