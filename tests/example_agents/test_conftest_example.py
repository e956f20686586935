"""The fixture ``myagent``, in a project that holds nothing but the two files that newcomers copy."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.example_agents.conftest import EXAMPLES


def test_an_empty_project_with_the_two_files(pytester: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("conftest.py", "scripted.py"):
        shutil.copy(EXAMPLES / name, pytester.path / name)
    result = pytester.runpytest_subprocess("--fde-agent=myagent", "-k", "oil_npt and v1 and L3", "-rP")
    result.assert_outcomes(passed=1)
    (line,) = [line for line in result.outlines if line.startswith("the conversation of L3 is in ")]
    conversation = Path(line.removeprefix("the conversation of L3 is in ")).read_text()
    assert conversation.startswith("to castillo: Is the repair allowance")


def test_the_folder_of_the_repository_itself(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    result = pytester.runpytest_subprocess("--fde-agent=myagent", "--fixtures", "-p", "no:cacheprovider", str(EXAMPLES))
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["myagent*"])
