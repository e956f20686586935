"""Agents that are shell commands, and the programs in bin/ that they talk to people with."""

from __future__ import annotations

import dataclasses
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from pytest_fdegym.agents.command import CommandAgent
from pytest_fdegym.agents.engagement import Engagement
from pytest_fdegym.agents.metering import Meter, upstreams
from pytest_fdegym.errors import SandboxUnavailable
from pytest_fdegym.limits import Limits
from pytest_fdegym.results.record import AgentIdentity, Record
from pytest_fdegym.results.store import Store
from pytest_fdegym.runner import Case, Settings, run
from pytest_fdegym.sandbox import choose
from pytest_fdegym.scenario.loader import load
from tests.support.providers import Provider, Reply, Tokens
from tests.support.settings import python_agent, session
from tests.support.tiny_scenario import write_tiny_scenario


def command(case: Case, settings: Settings, text: str) -> Record:
    return run(case, CommandAgent(AgentIdentity(name="cmd"), text), settings)


def answers(case: Case, settings: Settings, text: str) -> tuple[list[str], Record]:
    """The lines that a command printed, read back from the delivery, and the record."""
    record = command(case, settings, f"({text}) > system/answer.txt 2>&1; echo exit $? >> system/answer.txt")
    assert settings.store is not None
    patch = settings.store.paths(record).patch.read_text()
    return [line[1:] for line in patch.splitlines() if line.startswith("+") and not line.startswith("+++")], record


def test_a_command_asks_and_delivers(case: Case, settings: Settings) -> None:
    script = """
    bin/ask pike "How heavy may a letter be before it has to be a parcel?"
    n=$(python3 -c 'import sqlite3; print(sqlite3.connect("data/orders.db").execute(
        "SELECT count(*) FROM orders WHERE grams > 100 AND grams <= 500").fetchone()[0])')
    echo "$n orders went as parcels for nothing. Do you approve a new shipping rule?" | bin/ask moss
    sed -i 's/LETTER_LIMIT_GRAMS = 100/LETTER_LIMIT_GRAMS = 500/' system/shipping.py
    """
    record = command(case, settings, script)
    assert record.scores is not None
    assert (record.scores.score, record.scores.resolved, record.end_reason) == (0.95, True, "handover"), record.agent_error


def test_the_task_is_on_standard_input(case: Case, settings: Settings) -> None:
    lines, _ = answers(case, settings, "cmp - TASK.md")
    assert lines == ["exit 0"]


def test_who_lists_the_people_and_nothing_they_cost(case: Case, settings: Settings) -> None:
    lines, record = answers(case, settings, "bin/ask --who")
    assert lines == [
        "moss         Ada Moss, Owner. Owns the shop; approves changes to shipping.",
        "pike         Jonas Pike, Post room. Weighs and franks what leaves the shop.",
        "exit 0",
    ]
    assert record.engaged.messages == 0


def test_an_answer_and_the_log_of_the_conversation(case: Case, settings: Settings) -> None:
    lines, _ = answers(case, settings, 'bin/ask pike "How heavy may a letter be?"; bin/ask --log')
    assert lines == [
        "[Tue 04 Mar 2025 10:00] pike: Up to 500 g goes as a letter these days.",
        "[Tue 04 Mar 2025 08:00] to pike: How heavy may a letter be?",
        "[Tue 04 Mar 2025 10:00] pike: Up to 500 g goes as a letter these days.",
        "",
        "exit 0",
    ]


def test_waiting_and_mail(case: Case, settings: Settings) -> None:
    lines, _ = answers(case, settings, 'bin/inbox; bin/wait 1; bin/inbox; bin/wait until "2025-03-07 08:00"')
    assert lines == [
        "no mail",
        "it is now Wed 05 Mar 2025 08:00; new mail: 1",
        "[Tue 04 Mar 2025 09:00] from Ada Moss: Welcome",
        "Jonas in the post room knows the tariffs. Ask him about our heaviest order, 990 g!",
        "",
        "it is now Fri 07 Mar 2025 08:00",
        "exit 0",
    ]


UNKNOWN = "nobody here is called 'pika'. Did you mean 'pike'? People: moss, pike"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bin/ask pika hello", None),
        ("bin/ask pike < /dev/null", 'there is no message; say: ask PERSON "MESSAGE"'),
        ("bin/ask pike '  '", 'there is no message; say: ask PERSON "MESSAGE"'),
        (
            "head -c 1000000 /dev/zero | tr '\\0' x | bin/ask pike",
            "the message is too long: at most 16,000 characters are read; nothing was sent",
        ),
        ("printf '\\377\\376' | bin/ask pike", "the message is not text (UTF-8 is expected); nothing was sent"),
        ("bin/ask pike \"$(printf '\\377')\"", "the message is not text (UTF-8 is expected); nothing was sent"),
        ("bin/wait soon", "usage: wait DAYS                 let working days pass (1 to 60)"),
        ("bin/wait 0", None),
        ("bin/wait until yesterday", "usage: wait DAYS                 let working days pass (1 to 60)"),
        ("bin/ask", "usage: ask --who                 the people, and what they do"),
        ("bin/inbox all", "usage: inbox                     the mail that has arrived"),
    ],
)
def test_a_bad_request_gets_a_clear_line_and_exit_code_2_and_is_free(case: Case, settings: Settings, text: str, said: str | None) -> None:
    lines, record = answers(case, settings, text)
    assert lines[-1] == "exit 2"
    assert said is None or lines[0] == said
    assert not any("Traceback" in line for line in lines)
    assert record.scores is not None
    assert record.scores.contact_cost == 0.0


def test_a_failing_command_is_graded_with_its_last_output(case: Case, settings: Settings) -> None:
    record = command(case, settings, "echo no idea >&2; exit 7")
    assert (record.end_reason, record.agent_error) == ("agent_exit", "the agent's command ended with exit code 7\nno idea")
    assert record.scores is not None
    assert record.scores.score == 0.0


def test_the_minutes_end_a_command_and_the_delivery_is_graded_as_it_stands(case: Case, settings: Settings) -> None:
    limited = dataclasses.replace(settings, limits=Limits(turns=None, minutes=0.02, usd=None))
    record = command(case, limited, "echo 'LINE = 1' > system/labels.py; exec tail -f /dev/null")
    assert (record.end_reason, record.status) == ("limit_minutes", "graded")


def test_a_daemon_does_not_outlive_the_handover(case: Case, settings: Settings) -> None:
    late = "(setsid sh -c 'while :; do echo \"LETTER_LIMIT_GRAMS = 500\" >> system/late.py; done' >/dev/null 2>&1 &) ; exit 0"
    record = command(case, settings, late)
    again = command(case, settings, "true")
    assert record.status == again.status == "graded"
    assert record.scores is not None
    assert record.scores.score == 0.0


# --- the command's surroundings ---------------------------------------------------------------------------------------


@pytest.fixture
def machine() -> Iterator[Path]:
    """A folder of this machine outside of temporary ones, where a user's projects and programs could be."""
    folder = Path(tempfile.mkdtemp(prefix="fdegym-test-", dir=Path.home()))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def seeing(settings: Settings) -> Settings:
    """Settings whose sandbox shows the machine to commands."""
    if settings.sandbox.way_out != "socket":
        pytest.skip(f"{settings.sandbox.name} is another thing")
    return settings


def test_the_workspaces_programs_come_first_on_path(case: Case, settings: Settings) -> None:
    lines, _ = answers(
        case, settings, 'test "$(command -v ask)" = {workspace}/bin/ask && test $PWD = {workspace} && cmp TASK.md {task_file}'
    )
    assert lines == ["exit 0"]


def test_the_task_as_an_argument(case: Case, settings: Settings) -> None:
    lines, _ = answers(case, settings, "printf %s {task} | cmp - TASK.md")
    assert lines == ["exit 0"]


def test_the_machine_is_seen_as_the_user_sees_it_and_nothing_of_it_can_be_written(
    case: Case, seeing: Settings, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "bin").mkdir()
    (machine / "bin" / "myagent").write_text("#!/bin/sh\necho installed in a home\n")
    (machine / "bin" / "myagent").chmod(0o755)
    monkeypatch.setenv("PATH", f"{machine}/bin:{os.environ['PATH']}")
    lines, _ = answers(
        case, seeing, f"myagent; touch {machine}/x /x /usr/x 2>/dev/null; touch $HOME/x /tmp/x; grep -c root /etc/passwd >/dev/null"
    )
    assert lines == ["installed in a home", "exit 0"]
    assert sorted(path.name for path in machine.iterdir()) == ["bin"]


def test_truth_is_out_of_sight_where_the_rest_is_seen(seeing: Settings, machine: Path) -> None:
    """Scenarios, records and what else the settings hide, in a folder of this machine's."""
    case = Case(load(write_tiny_scenario(machine / "tiny_post")), "v1", "L3")
    for name in ("truth", "records", "notes"):
        (machine / name).mkdir()
        (machine / name / "file").write_text("x")
    here = dataclasses.replace(seeing, hidden=(machine / "truth",), store=Store(machine / "records"))
    lines, record = answers(case, here, f"cd {machine} && find . -type f")
    assert lines == ["./notes/file", "exit 0"]
    assert record.status == "graded"


def test_other_runs_and_temporary_files_are_not_there(case: Case, seeing: Settings) -> None:
    with tempfile.TemporaryDirectory(prefix="fde"):
        lines, _ = answers(case, seeing, 'ls -d /tmp/* | grep -vx "$(dirname {workspace})"')
    assert lines == ["exit 1"]


def test_a_home_of_its_own_goes_away_with_the_run(case: Case, seeing: Settings) -> None:
    lines, _ = answers(case, seeing, "echo $HOME; ls -A $HOME; mkdir $HOME/.config; ls -A ~")
    home = Path(lines[0])
    assert home.name == "home"
    assert lines[1:] == [".config", "exit 0"]
    assert not home.parent.exists()


CONNECT = (
    'python3 -c \'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5); print("reached")\' {} 2>&1 | tail -n 1'
)


def test_no_network_but_a_loopback_of_its_own(case: Case, seeing: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        lines, record = answers(case, seeing, CONNECT.replace("{}", str(server.getsockname()[1])))
    assert lines == ["ConnectionRefusedError: [Errno 111] Connection refused", "exit 0"]
    assert record.isolation == seeing.sandbox.name


def test_let_out_to_the_network_it_is_recorded_and_truth_is_still_hidden(case: Case, seeing: Settings, machine: Path) -> None:
    (machine / "truth").write_text("x")
    let_out = dataclasses.replace(seeing, agent_network="host", hidden=(machine / "truth",))
    with socket.create_server(("127.0.0.1", 0)) as server:
        asked = f"{CONNECT.replace('{}', str(server.getsockname()[1]))}; cat {machine}/truth; bin/ask --who | wc -l"
        lines, record = answers(case, let_out, asked)
    assert lines == ["reached", f"cat: {machine}/truth: Permission denied", "2", "exit 0"]
    assert record.isolation == "bubblewrap, agent on the host's network"


def test_what_a_python_agent_runs_is_not_let_out(case: Case, seeing: Settings) -> None:
    let_out = dataclasses.replace(seeing, agent_network="host")
    found: list[str] = []

    def agent(engagement: Engagement) -> None:
        found.append(engagement.run(["python3", "-c", "import socket; socket.socket(socket.AF_INET)"]).stderr.splitlines()[-1])

    record = run(case, python_agent(agent), let_out)
    assert found == ["PermissionError: [Errno 1] Operation not permitted"]
    assert record.isolation == "bubblewrap"


def test_the_environment_is_built_from_nothing(case: Case, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MY_LOGIN", "ANOTHER_SECRET", "PYTEST_ADDOPTS"):
        monkeypatch.setenv(name, "value-of-mine")
    agent = CommandAgent(AgentIdentity(name="cmd"), "env; exit 1", variables=("MY_LOGIN",))
    record = run(case, agent, settings)
    assert record.agent_error is not None
    names = {line.partition("=")[0] for line in record.agent_error.splitlines() if "=" in line}
    assert {"HOME", "PATH", "TERM", "MY_LOGIN"} <= names
    assert not {name for name in names if name.startswith(("ANOTHER", "PYTEST", "FDEGYM"))}
    assert "MY_LOGIN=[MY_LOGIN]" in record.agent_error
    assert "value-of-mine" not in record.agent_error


def test_a_command_may_print_as_much_and_as_oddly_as_it_likes(case: Case, settings: Settings) -> None:
    said = r"head -c 50000000 /dev/zero | tr '\0' '\377'; printf '\033[2J\0last words'"
    record = command(case, settings, f"{said}; exit 3")
    assert record.agent_error is not None
    assert record.agent_error.endswith("\x1b[2J\0last words")
    assert len(record.agent_error) < 5000
    assert command(case, settings, said).end_reason == "handover"


def test_with_landlock_a_command_has_the_strict_view(case: Case, settings: Settings, machine: Path) -> None:
    try:
        landlock = choose("landlock")
    except SandboxUnavailable as error:
        pytest.skip(str(error).splitlines()[1])
    (machine / "notes").write_text("x")
    with session(settings.store.directory if settings.store else machine, sandbox=landlock) as strict:
        lines, record = answers(case, strict, f"command -v ask | grep -c /work/bin/ask; cat {machine}/notes; bin/ask --who | wc -l")
    assert lines == ["1", f"cat: {machine}/notes: Permission denied", "2", "exit 0"]
    assert record.isolation == "landlock"


CALL = """python3 -c '
import json, os, urllib.request
body = json.dumps({"model": "small-1", "messages": [{"role": "user", "content": "hello"}]}).encode()
headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}
request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"])
' 2>&1 | tail -n 1
"""


@pytest.mark.parametrize(("sandbox", "network"), [("bubblewrap", "none"), ("bubblewrap", "host"), ("none", "none")])
def test_a_model_is_reached_by_the_metering_proxy_and_no_other_way(
    case: Case, tmp_path: Path, sandbox: str, network: Literal["none", "host"]
) -> None:
    try:
        chosen = choose(sandbox)
    except SandboxUnavailable as error:
        pytest.skip(str(error).splitlines()[1])
    with Provider([Reply("good day", usage=Tokens(30, 4)), Reply("again", usage=Tokens(50, 5))]) as provider:
        environment: dict[str, str] = {}
        with (
            Meter(upstreams(provider.environment), environment) as meter,
            session(tmp_path, sandbox=chosen, meter=meter, agent_network=network) as settings,
        ):
            lines, record = answers(case, settings, f"{CALL}{CALL}env | grep -c {provider.key}")
    assert lines == ["good day", "again", "0", "exit 1"]
    assert (record.usage.turns, record.usage.input_tokens, record.usage.output_tokens, record.usage.usd) == (2, 80, 9, None)
    assert {call.headers["authorization"] for call in provider.model_calls} == {f"Bearer {provider.key}"}


def test_at_the_last_turn_a_command_that_goes_on_is_ended(case: Case, seeing: Settings) -> None:
    with Provider(lambda call: Reply("on")) as provider, Meter(upstreams(provider.environment), {}) as meter:
        limited = dataclasses.replace(seeing, meter=meter, limits=Limits(turns=2, minutes=None, usd=None))
        record = command(case, limited, f"while :; do {CALL} done")
    assert (record.status, record.end_reason, record.usage.turns) == ("graded", "limit_turns", 2)
    assert provider.served.turns == 2
