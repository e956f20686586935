"""Real coding agents work through a task against a fake endpoint, by the metering proxy: what is recorded is what the fake served.

Everything is real but the model: the programs from the npm registry (package.json pins them), the sandbox, the relay, the proxy, pytest.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest

from pytest_fdegym.errors import SandboxUnavailable
from pytest_fdegym.results.record import Record
from pytest_fdegym.sandbox import choose
from tests.support.providers import Answer, Call, Provider, Reply, Tokens, ToolCall
from tests.support.tiny_scenario import write_tiny_scenario

pytestmark = [pytest.mark.cli, pytest.mark.slow]

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "example_agents"
REQUIRED = "FDEGYM_CLI_REQUIRED"
"""Set where the machine is expected to have npm and its registry: what is missing then is a failure."""
V1 = ("-k", "v1 and L3")
USED = (Tokens(4000, 50), Tokens(4200, 120, cached=4000), Tokens(4500, 80, cached=4096), Tokens(4700, 40, cached=4480), Tokens(4800, 30))


@dataclass(frozen=True)
class Program:
    """A coding agent: its example, the tool by which its model runs commands, and the model that the example names."""

    example: str
    tool: str
    argument: str
    model: str
    provider: str

    def shell(self, command: str) -> list[ToolCall]:
        return [ToolCall(self.tool, {self.argument: command})]


PROGRAMS = {
    "codex": Program("codex.sh", "exec_command", "cmd", "gpt-5.1-codex", "openai"),
    "claude": Program("claude_code.sh", "Bash", "command", "claude-sonnet-4-5", "anthropic"),
}


@pytest.fixture(params=sorted(PROGRAMS))
def program(request: pytest.FixtureRequest) -> Program:
    return PROGRAMS[request.param]


def cannot(reason: str) -> None:
    if os.environ.get(REQUIRED):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def installed() -> Iterator[Path]:
    """The folder in which the programs are."""
    try:
        choose("bubblewrap")
    except SandboxUnavailable as error:
        cannot(str(error).splitlines()[1].strip())
    if shutil.which("npm") is None:
        cannot("there is no npm, with which the programs are installed")
    with tempfile.TemporaryDirectory(prefix="fdegym-cli-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        for file in ("package.json", "package-lock.json"):
            shutil.copy(HERE / file, folder)
        # The second puts the program where its launcher looks; newer versions of npm do not run what a package brings for that.
        for command in (["npm", "ci", "--no-audit", "--no-fund"], ["node", "node_modules/@anthropic-ai/claude-code/install.cjs"]):
            done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                cannot(f"{command[0]} cannot install the programs: {(done.stderr or done.stdout).strip()[-300:]}")
        yield folder / "node_modules" / ".bin"


def outputs(call: Call) -> list[str]:
    """What came of the commands so far, in either API's form."""
    if call.api == "responses":
        return [str(item["output"]) for item in call.body["input"] if item["type"] == "function_call_output"]
    contents = [message["content"] for message in call.body["messages"] if isinstance(message["content"], list)]
    return [_text(block["content"]) for content in contents for block in content if block["type"] == "tool_result"]


def _text(content: str | list[dict[str, str]]) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def worker(program: Program, call: Call) -> Answer:
    """A model that asks, counts, asks for approval and changes the system: with what it was told, in order of what it sees done."""
    seen = outputs(call)
    used = USED[len(seen)]
    if not seen:
        ask = 'bin/ask pike "How heavy may a letter be before it has to be a parcel?"'
        return Reply("I ask first.", program.shell(ask), used)
    told = re.search(r"Up to (\d+) g goes as a letter", seen[0])
    assert told is not None, seen[0]
    if len(seen) == 1:
        query = f"SELECT count(*) FROM orders WHERE grams > 100 AND grams <= {told[1]}"
        count = f"""python3 -c 'import sqlite3; print(sqlite3.connect("data/orders.db").execute("{query}").fetchone()[0])'"""
        return Reply(tools=program.shell(count), usage=used)
    if len(seen) == 2:
        number = re.findall(r"^\d+$", seen[1], re.MULTILINE)[-1]
        text = f"{number} orders went as parcels for nothing. Do you approve a new shipping rule?"
        return Reply(tools=program.shell(f"echo '{text}' | bin/ask moss"), usage=used)
    if len(seen) == 3:
        change = f"sed -i 's/LETTER_LIMIT_GRAMS = 100/LETTER_LIMIT_GRAMS = {told[1]}/' system/shipping.py"
        return Reply(tools=program.shell(change), usage=used)
    return Reply("The limit is changed, as approved.", usage=used)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_tiny_scenario(tmp_path / "tasks" / "tiny_post")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def graded(program: Program, installed: Path, project: Path, provider: Provider, *arguments: str) -> tuple[Record, str]:
    """The record of a run of pytest as a user starts it, and what pytest printed."""
    environment = {"PATH": f"{installed}:{os.environ['PATH']}", "HOME": str(project), "TZ": "UTC", **provider.environment}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--fde-tasks={project / 'tasks'}", "--fde-results=results", *V1]
    command += [f"--fde-agent=cmd:{(EXAMPLES / program.example).read_text()}", "--fde-max-minutes=5", *arguments]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    found = list((project / "results").rglob("*.run1.json"))
    assert len(found) == 1, done.stdout + done.stderr
    return Record.model_validate_json(found[0].read_text()), done.stdout


def test_it_asks_delivers_and_is_metered(program: Program, installed: Path, project: Path) -> None:
    prices = pytest.importorskip("genai_prices")
    with Provider(lambda call: worker(program, call)) as provider:
        record, printed = graded(program, installed, project, provider)
    assert (record.status, record.end_reason, record.agent_error) == ("graded", "handover", None), printed
    assert record.isolation == "bubblewrap"
    assert record.scores is not None
    assert (record.scores.resolved, record.engaged.messages, record.engaged.facts) == (True, 2, ("F_LIMIT",)), printed
    served = provider.served
    assert (served.turns, len(provider.model_calls)) == (len(USED), len(USED))
    assert (record.usage.turns, record.usage.input_tokens, record.usage.output_tokens) == (served.turns, served.input, served.output)
    usages = [prices.Usage(input_tokens=used.input, cache_read_tokens=used.cached, output_tokens=used.output) for used in USED]
    usd = sum((prices.calc_price(usage, program.model, provider_id=program.provider).total_price for usage in usages), Decimal(0))
    assert record.usage.usd == pytest.approx(float(usd), abs=1e-12)
    assert usd > 0
    # Only the harness has the real key, and what it wrote holds none.
    kept = "".join(path.read_text(errors="replace") for path in (project / "results").rglob("*") if path.is_file())
    assert provider.key not in kept


def test_at_the_limit_of_turns_it_is_stopped_and_graded(program: Program, installed: Path, project: Path) -> None:
    """With a model that never stops."""
    with Provider(lambda call: Reply(tools=program.shell("echo again"))) as provider:
        record, printed = graded(program, installed, project, provider, "--fde-max-turns=3")
    assert (record.status, record.end_reason, record.usage.turns) == ("graded", "limit_turns", 3), printed
    assert provider.served.turns == 3
