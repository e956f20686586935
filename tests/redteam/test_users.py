"""Attacks as an ordinary user, and sessions where there are no user namespaces, as in most containers.

``pytest tests/redteam/test_users.py -m slow`` is what to run as root before a release: everything as somebody ordinary, too.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.redteam.families import attacks
from tests.redteam.project import place
from tests.sandbox.people import USERS, skip_if_lacking
from tests.support.ordinary import checkout_for_everybody, run_python
from tests.support.tiny_scenario import write_tiny_scenario

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="user namespaces, Landlock and the filter of a container are Linux's")
ATTACKS = attacks()
CHUNKS = 20
SAMPLE = slice(5, None, 100)
PLUGIN = ("-m", "pytest", "-p", "pytest_fdegym.plugin", "-p", "no:cacheprovider")
WHO_TRIES = (
    "import sys\nfrom pytest_fdegym.sandbox import choose\ntry: print(choose(sys.argv[1]).name)\nexcept Exception as error: print(error)"
)


@pytest.fixture
def folder() -> Iterator[Path]:
    """For somebody ordinary, who may not enter pytest's own."""
    with place() as root:
        root.chmod(0o755)
        yield root


@pytest.mark.parametrize("user", USERS)
def test_without_user_namespaces_landlock_is_chosen(user: str, folder: Path) -> None:
    refused = run_python(user, folder, "-c", WHO_TRIES, "bubblewrap", in_container=True).stdout
    assert refused.startswith("the sandbox 'bubblewrap' does not work on this machine; tried were\n"), refused
    chosen = run_python(user, folder, "-c", WHO_TRIES, "landlock", in_container=True).stdout.strip()
    if chosen != "landlock":
        skip_if_lacking(chosen)
    write_tiny_scenario(folder / "tasks" / "tiny_post")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --fde-tasks=tasks\n")
    session = ("--fde-agent=expert", "--fde-levels=L3", "--fde-results=results", "-k", "v1")
    done = run_python(user, folder, *PLUGIN, *session, in_container=True)
    header = [line for line in done.stdout.splitlines() if line.startswith("fdegym: sandbox ")]
    assert [line.partition(",")[0] for line in header] == ["fdegym: sandbox landlock"], done.stdout + done.stderr
    assert done.returncode == 0, done.stdout
    (record,) = [json.loads(path.read_text()) for path in (folder / "results").rglob("tiny_post.v1.L3.*.json")]
    assert (record["status"], record["isolation"]) == ("graded", "landlock")
    assert record["scores"]["score"] > 0.8


def _chunks() -> Sequence[object]:
    marks = pytest.mark.slow
    return [pytest.param("auto", "sample", id="auto-sample"), pytest.param("landlock", "sample", id="landlock-sample", marks=marks)] + [
        pytest.param(sandbox, number, id=f"{sandbox}-{number}", marks=marks) for sandbox in ("auto", "landlock") for number in range(CHUNKS)
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason="this process is no root, so test_attacks.py is what an ordinary user can do")
@pytest.mark.parametrize(("sandbox", "chunk"), _chunks())
def test_attacks_as_an_ordinary_user(sandbox: str, chunk: int | str, folder: Path) -> None:
    names = list(ATTACKS)[SAMPLE if isinstance(chunk, str) else slice(chunk, None, CHUNKS)]
    tests = checkout_for_everybody() / "tests" / "redteam"
    ids = [f"{tests}/test_attacks.py::test_nothing_comes_of_it[{sandbox}-{name}-{ATTACKS[name].where}]" for name in names]
    if sandbox == "auto":
        ids += [f"{tests}/test_controls.py::test_it_succeeds_where_its_layer_is_off[{name}]" for name in names]
    done = run_python("ordinary", folder, *PLUGIN, "-q", "-rs", *ids)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]
    assert f"{len(names)} distinct (mechanism, asset)" in done.stdout, done.stdout
