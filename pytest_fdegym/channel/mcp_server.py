"""An MCP server over standard input and output for one engagement, with the official SDK (extra ``mcp``): people, and files if asked for.

It runs outside of the sandbox, as a child of an agent in Python. The tools for people are those of ``bin/mcp``, the same program without
the SDK for the inside of sandboxes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams, TextContent, Tool
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pytest_fdegym._version import __version__
from pytest_fdegym.agents.files import WorkspaceFiles
from pytest_fdegym.channel import bin_client
from pytest_fdegym.errors import FdeGymError
from pytest_fdegym.sandbox.account import Account, give

MOST_BYTES = 8 << 20
"""Of a file that is read."""
LONGEST_TEXT = 100_000
"""Characters of one answer of ``read_file`` and ``list_files``."""


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ListFiles(_Arguments):
    """List the files below a folder of the workspace, one path a line."""

    folder: str = "."


class ReadFile(_Arguments):
    """Read a text file of the workspace, or some lines of it."""

    path: str
    first_line: Annotated[int, Field(ge=1)] = 1
    lines: Annotated[int, Field(ge=1)] = 2000


class WriteFile(_Arguments):
    """Write a text file of the workspace, whole; its folders are made."""

    path: str
    content: str


class EditFile(_Arguments):
    """Replace a text that stands exactly once in a file of the workspace."""

    path: str
    old: Annotated[str, Field(min_length=1)]
    new: str


class FileTools:
    """The workspace's files as tools."""

    def __init__(self, workspace: Path) -> None:
        owner = workspace.stat().st_uid
        # What root writes has to be the sandboxed user's, as everything in the workspace is.
        account = Account(owner) if os.geteuid() == 0 and owner != 0 else None
        self._files = WorkspaceFiles(workspace, lambda path: give(path, account))
        self._run: dict[str, tuple[type[BaseModel], Callable[[Any], str]]] = {
            "list_files": (ListFiles, self._list),
            "read_file": (ReadFile, self._read),
            "write_file": (WriteFile, self._write),
            "edit_file": (EditFile, self._edit),
        }

    @property
    def tools(self) -> list[Tool]:
        """As MCP describes them."""
        return [Tool(name=name, description=model.__doc__, input_schema=_schema(model)) for name, (model, _) in self._run.items()]

    def __contains__(self, name: str) -> bool:
        return name in self._run

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """What a tool answers. Raises Refused with the reason."""
        model, run = self._run[name]
        try:
            return run(model.model_validate(arguments))
        except ValidationError as error:
            first = error.errors()[0]
            raise bin_client.Refused(f"{'.'.join(map(str, first['loc'])) or name}: {first['msg']}") from None
        except OSError as error:
            raise bin_client.Refused(f"{arguments.get('path', name)}: {error.strerror or error}") from None
        except (FdeGymError, ValueError, RuntimeError) as error:
            # A path with a NUL is a ValueError, one of links in a circle a RuntimeError on some versions of Python.
            raise bin_client.Refused(str(error)) from None

    def _list(self, call: ListFiles) -> str:
        return _bounded("\n".join(self._files.list_files(call.folder)), "name a folder")

    def _read(self, call: ReadFile) -> str:
        lines = self._files.read_text(call.path, most_bytes=MOST_BYTES).splitlines(keepends=True)
        return _bounded("".join(lines[call.first_line - 1 : call.first_line - 1 + call.lines]), "ask for fewer lines")

    def _write(self, call: WriteFile) -> str:
        self._files.write_text(call.path, call.content)
        return f"wrote {call.path}"

    def _edit(self, call: EditFile) -> str:
        self._files.edit(call.path, call.old, call.new)
        return f"changed {call.path}"


def serve(socket: Path, workspace: Path | None) -> None:
    """Serve until standard input ends. `workspace` offers the file tools for that folder."""
    anyio.run(_serve, socket, None if workspace is None else FileTools(workspace))


async def _serve(socket: Path, files: FileTools | None) -> None:
    people = [Tool(name=tool["name"], description=tool["description"], input_schema=tool["inputSchema"]) for tool in bin_client.tools()]

    async def list_tools(_: object, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=people + ([] if files is None else files.tools))

    async def call_tool(_: object, call: CallToolRequestParams) -> CallToolResult:
        try:
            text = await anyio.to_thread.run_sync(_answer, call.name, call.arguments or {}, str(socket), files)
        except bin_client.Refused as refusal:
            return CallToolResult(content=[TextContent(text=str(refusal))], is_error=True)
        return CallToolResult(content=[TextContent(text=text)])

    server = Server("company", version=__version__, instructions=bin_client.INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def _answer(name: str, arguments: dict[str, Any], socket: str, files: FileTools | None) -> str:
    if files is None or name not in files:
        return bin_client.call_tool(name, arguments, socket)
    bin_client.request("GET", "/status", socket_path=socket)  # refused when the engagement is over
    return files.call(name, arguments)


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    """The arguments' JSON Schema, without what only documents the class."""
    whole = model.model_json_schema()
    properties = {name: {key: value for key, value in each.items() if key != "title"} for name, each in whole["properties"].items()}
    return {"type": "object", "properties": properties, "required": whole.get("required", []), "additionalProperties": False}


def _bounded(text: str, remedy: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise bin_client.Refused(f"that is {len(text):,} characters, and at most {LONGEST_TEXT:,} are given at a time; {remedy}")
    return text
