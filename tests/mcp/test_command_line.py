"""``fdegym mcp``: how it finds the engagement, and what it says where there is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_fdegym.agents.engagement import Engagement
from pytest_fdegym.cli import main
from pytest_fdegym.runner import Case, Settings, run
from tests.support.settings import python_agent

PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["mcp", *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == "", "standard output is the protocol's"
    return output.err.strip()


def test_without_an_engagement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FDEGYM_SOCKET", raising=False)
    assert refused(capsys) == (
        "fdegym mcp: no engagement is named: --socket PATH or FDEGYM_SOCKET is expected, or bin/.socket in the current folder, "
        "as in a workspace."
    )
    assert refused(capsys, "--socket", "gone.sock") == "fdegym mcp: gone.sock is no socket: an engagement that is running is expected."


def test_without_the_sdk(case: Case, settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    told: list[str] = []

    def agent(engagement: Engagement) -> None:
        with pytest.MonkeyPatch.context() as patch:
            for name in [name for name in sys.modules if name.partition(".")[0] == "mcp" or name == "pytest_fdegym.channel.mcp_server"]:
                patch.delitem(sys.modules, name)
            patch.setitem(sys.modules, "mcp", None)
            command = engagement.mcp_command()
            told.append(refused(capsys, *command[command.index("mcp") + 1 :]))

    record = run(case, python_agent(agent), settings)
    assert record.agent_error is None, record.agent_error
    assert told == ['fdegym mcp: the MCP SDK is not installed: pip install "pytest-fdegym[mcp]"']


def test_files_of_a_folder_that_is_not_there(case: Case, settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    told: list[str] = []

    def agent(engagement: Engagement) -> None:
        command = engagement.mcp_command()
        told.append(refused(capsys, *command[command.index("mcp") + 1 :], "--files", "gone"))

    record = run(case, python_agent(agent), settings)
    assert record.agent_error is None, record.agent_error
    assert told == ["fdegym mcp: --files: gone is no folder."]


@pytest.mark.parametrize("named", ["by the variable", "by the workspace"])
def test_the_engagement_is_found(case: Case, settings: Settings, named: str) -> None:
    pytest.importorskip("mcp", reason='pip install "pytest-fdegym[mcp]"')
    answers: list[bytes] = []

    def agent(engagement: Engagement) -> None:
        socket = engagement.read_text("bin/.socket").strip()
        result = subprocess.run(
            [sys.executable, "-P", "-m", "pytest_fdegym.cli", "mcp"],
            cwd=engagement.workspace if named == "by the workspace" else None,
            env={**os.environ, **({"FDEGYM_SOCKET": socket} if named == "by the variable" else {})},
            input=PING,
            capture_output=True,
            check=True,
        )
        answers.append(result.stdout)

    record = run(case, python_agent(agent), settings)
    assert record.agent_error is None, record.agent_error
    assert json.loads(answers[0]) == {"jsonrpc": "2.0", "id": 1, "result": {}}
