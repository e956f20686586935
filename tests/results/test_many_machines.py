"""A session spread over machines by engines that exist: a CI matrix with pytest-split, and pytest-xdist over ssh."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.support.tiny_scenario import write_tiny_scenario

OWN = ("wall_seconds", "harness_cpu_seconds", "started_at")
"""Columns in which no two sessions are the same."""


class Machine:
    """A folder with the project in it."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        self.cache = cache
        write_tiny_scenario(folder / "tasks/tiny_post")
        (folder / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\nfde_tasks = tasks\nfde_levels = all\nfde_runs = 2\n")

    def run(self, *command: str, code: int = 0) -> str:
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.cache)}
        found = subprocess.run(
            [sys.executable, "-m", *command], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert found.returncode == code, found.stdout + found.stderr
        return found.stdout

    def table(self, *options: str) -> list[str]:
        """What a session prints of its results."""
        lines = self.run("pytest", "--fde-agent=expert", *options).splitlines()
        start = next(number for number, line in enumerate(lines) if line.startswith("task  "))
        return [line for line in lines[start:-1] if not line.startswith(("resume: ", "results: "))]

    def fdegym(self, *arguments: str) -> str:
        return self.run("pytest_fdegym.cli", *arguments)

    def report(self, store: str) -> list[dict[str, str]]:
        """Its rows, without what differs between any two sessions."""
        rows = csv.DictReader(io.StringIO(self.fdegym("report", store, "--csv", "-")))
        return [{name: value for name, value in row.items() if name not in OWN} for row in rows]


@pytest.fixture
def single(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "single", tmp_path / "cache")


def joined_is_the_same(single: Machine, table: list[str], stores: list[Path]) -> None:
    out = single.fdegym("merge", "joined", *map(str, stores))
    assert out == "joined: 10 runs of 2 tasks by 1 agent, 0 void\n"
    assert single.report("joined") == single.report(".fdegym/results")
    assert single.table("--fde-resume", "--fde-results=joined") == table, "nothing runs again, and all of it counts"


@pytest.mark.slow
def test_a_matrix_of_two_jobs(single: Machine, tmp_path: Path) -> None:
    pytest.importorskip("pytest_split")
    table = single.table()
    stores = []
    for group in ("1", "2"):
        job = Machine(tmp_path / f"job{group}", tmp_path / "cache")
        assert job.table("--splits=2", f"--group={group}")[-1].endswith("graded 5 of 5 planned")
        stores.append(job.folder / ".fdegym/results")
    joined_is_the_same(single, table, stores)


@contextmanager
def host(folder: Path, number: int, key: Path, environment: dict[str, str]) -> Iterator[str]:
    """An sshd, in a network namespace of its own where this is root on Linux; gives the lines of a client's configuration."""
    name, port = f"fdegym{os.getpid()}x{number}", 42200 + os.getpid() % 500 * 2 + number
    address = f"10.{77 + number}.{os.getpid() % 250}.2"
    inside: list[str] = []
    with ExitStack() as stack:
        if os.geteuid() == 0 and shutil.which("ip") and _done("ip", "netns", "add", name):
            stack.callback(_done, "ip", "netns", "delete", name)
            inside = ["ip", "netns", "exec", name]
            near = address.removesuffix("2") + "1/24"
            for command in (
                ["link", "add", f"v{number}x{os.getpid()}", "type", "veth", "peer", "name", "eth0", "netns", name],
                ["addr", "add", near, "dev", f"v{number}x{os.getpid()}"],
                ["link", "set", f"v{number}x{os.getpid()}", "up"],
                ["-n", name, "addr", "add", f"{address}/24", "dev", "eth0"],
                ["-n", name, "link", "set", "eth0", "up"],
                ["-n", name, "link", "set", "lo", "up"],
            ):
                assert _done("ip", *command), command
        else:
            address = "127.0.0.1"
        config = folder / "sshd_config"
        config.write_text(
            f"Port {port}\nListenAddress {address}\nHostKey {key}\nAuthorizedKeysFile {key}.pub\nStrictModes no\nUsePAM no\n"
            f"PidFile none\nPermitRootLogin yes\nSetEnv {' '.join(f'{name}={value}' for name, value in environment.items())}\n"
        )
        sshd = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
        assert sshd is not None
        with subprocess.Popen([*inside, sshd, "-D", "-e", "-f", str(config)], stderr=subprocess.PIPE, text=True) as server:
            try:
                assert server.stderr is not None
                assert any("listening" in line for line in server.stderr), "it ended at once"
                yield (
                    f"Host host{number}\n  HostName {address}\n  Port {port}\n  IdentityFile {key}\n  IdentitiesOnly yes\n"
                    "  BatchMode yes\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n"
                )
            finally:
                server.terminate()


def _done(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("ssh") or not shutil.which("sshd", path="/usr/sbin:/usr/bin"), reason="needs OpenSSH, both sides")
def test_two_hosts_over_ssh(single: Machine, tmp_path: Path) -> None:
    table = single.table()
    key = tmp_path / "key"
    assert _done("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))
    Path("/run/sshd").mkdir(exist_ok=True) if os.geteuid() == 0 else None
    machines = [Machine(tmp_path / f"host{number}", tmp_path / "cache") for number in (1, 2)]
    controller = Machine(tmp_path / "controller", tmp_path / "cache")
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    with ExitStack() as stack:
        clients = [stack.enter_context(host(each.folder, number, key, environment)) for number, each in enumerate(machines, 1)]
        (tmp_path / "ssh_config").write_text("".join(clients))
        workers = [
            f"--tx=ssh=host{number}//ssh_config={tmp_path}/ssh_config//python={sys.executable}//chdir={each.folder}"
            for number, each in enumerate(machines, 1)
        ]
        # pytest-rerunfailures connects its workers to this machine's loopback address.
        assert controller.table("-p", "no:rerunfailures", "--dist=load", *workers) == table
    stores = [each.folder / ".fdegym/results" for each in machines]
    assert all(len([*store.glob("*/*.json")]) for store in stores), "both had their share"
    assert not [*(controller.folder / ".fdegym/results").glob("*/*.json")]
    joined_is_the_same(single, table, stores)
