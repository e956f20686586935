"""Serve the people of a running engagement to an MCP client, over standard input and output.

An agent that has tools but no shell starts this as an MCP server. It offers people, ask, inbox, wait, trial, log and status, and with
--files also list_files, read_file, write_file and edit_file in the workspace. A refusal is a tool error with the reason as its text.

Agents in Python get the whole command line from engagement.mcp_command(). Inside the sandbox, where no package is installed, bin/mcp in
the workspace offers the same tools for people. Needs: pip install "pytest-fdegym[mcp]"
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from pytest_fdegym.errors import UsageError

VARIABLE = "FDEGYM_SOCKET"
_NAMED = Path("bin", ".socket")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The socket, and whether files are served."""
    parser.add_argument(
        "--socket",
        type=Path,
        metavar="PATH",
        help=f"the engagement's socket (default: ${VARIABLE}, else what {_NAMED} in the current folder names)",
    )
    parser.add_argument(
        "--files", type=Path, metavar="WORKSPACE", help="offer the files of this folder, the engagement's workspace, as well"
    )


def run(options: argparse.Namespace) -> int:
    """Serve until the client closes standard input. Raises UsageError."""
    socket = options.socket or _found()
    if not socket.is_socket():
        raise UsageError(f"{socket} is no socket: an engagement that is running is expected.")
    if options.files is not None and not options.files.is_dir():
        raise UsageError(f"--files: {options.files} is no folder.")
    try:
        from pytest_fdegym.channel.mcp_server import serve  # noqa: PLC0415  (the SDK is an extra, and slow to load)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("mcp", "anyio"):
            raise
        raise UsageError('the MCP SDK is not installed: pip install "pytest-fdegym[mcp]"') from None
    serve(socket, options.files)
    return 0


def _found() -> Path:
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    try:
        return Path(_NAMED.read_text(encoding="utf-8").strip())
    except OSError:
        raise UsageError(
            f"no engagement is named: --socket PATH or {VARIABLE} is expected, or {_NAMED} in the current folder, as in a workspace."
        ) from None
