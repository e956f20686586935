"""The view of an agent that is a command: the machine as its user sees it, without what is hidden, secrets, and ways to write and talk."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from pathlib import Path

import pytest

from pytest_fdegym.errors import SandboxFault
from pytest_fdegym.sandbox import Bounds, Layout, Sandbox, choose
from pytest_fdegym.sandbox.host_view import Place, places, user_path
from tests.sandbox.people import USERS, run_as, skip_if_lacking
from tests.sandbox.probes import CONTROLS, PROBES
from tests.sandbox.test_escape import HARNESS

MEANT_TO_BE_SEEN = {
    *("read_system_accounts", "read_other_settings", "read_var_log", "read_home_of_harness"),
    *("read_harness_package", "import_harness_package", "read_installed_packages"),
}
"""Of the machine; ``read_home_of_harness`` finds its project, and `list_home_of_harness_without_its_project` must not find more."""
ITS_OWN = {"connect_tcp6", "listen_tcp", "open_netlink", "watch_truth_folder"}
"""What reaches a loopback, or an empty folder, that nobody else has."""
OF_ANOTHER_PYTHON = {"packages_are_not_found", "same_python_as_harness"}
"""Here ``python3`` is the user's."""
TRUTH = {"read_truth", "read_truth_through_symlink", "read_truth_by_dotdot", "map_truth", "execute_truth", "open_truth_folder_as_path"}


@functools.cache
def _harness(user: str, *hidden: str) -> subprocess.CompletedProcess[str]:
    return run_as(user, HARNESS, "bubblewrap", "fdegym-harness-marker", "host", *hidden)


def findings(user: str, *hidden: str) -> dict[str, dict[str, object]]:
    """What came of each attempt in one run, which all tests of these share."""
    done = _harness(user, *hidden)
    if "SandboxUnavailable" in done.stderr:
        skip_if_lacking(done.stderr)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, object]] = json.loads(done.stdout)
    return found


@pytest.fixture
def bubblewrap(sandbox: Sandbox) -> Sandbox:
    if sandbox.name != "bubblewrap":
        pytest.skip("one view is enough")
    return sandbox


@pytest.mark.parametrize("probe", sorted(set(PROBES) - MEANT_TO_BE_SEEN - ITS_OWN))
@pytest.mark.parametrize("user", USERS)
def test_attempt_is_stopped(user: str, probe: str) -> None:
    found = findings(user)[probe]
    assert not found["through"], found["detail"]


@pytest.mark.parametrize("control", sorted(set(CONTROLS) - OF_ANOTHER_PYTHON))
@pytest.mark.parametrize("user", USERS)
def test_ordinary_work_is_possible(user: str, control: str) -> None:
    found = findings(user)[control]
    assert found["through"], found["detail"]


@pytest.mark.parametrize("user", USERS)
def test_truth_is_as_it_was(user: str) -> None:
    assert findings(user)["truth_is_as_it_was"]["through"]


@pytest.mark.parametrize("user", USERS)
def test_it_is_the_hiding_that_keeps_the_truth(user: str) -> None:
    """The same attempts with nothing hidden: they can succeed."""
    found = findings(user, "nothing-hidden")
    assert {name for name in TRUTH if not found[name]["through"]} == set()


def test_a_lent_home_can_be_written_but_not_its_secrets_nor_what_is_kept() -> None:
    """With the network of the machine, as a user who is not root."""
    done = run_as("ordinary", Path(__file__).with_name("lent_home.py"), "bubblewrap")
    if "SandboxUnavailable" in done.stderr:
        skip_if_lacking(done.stderr)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["said"] == [
        "cat: .ssh/id: No such file or directory",
        ".agent/login",
        "cat: code/app/tasks/truth: No such file or directory",
        "tasks",
        "test_it.py",
        "code Device or resource busy",
        "code/app Device or resource busy",
        "code/app/tasks Read-only file system",
        "reached",
    ]
    assert found["errors"] == ["sh: 4: cannot create code/app/test_it.py: Read-only file system"]
    assert found["left"] == {
        ".agent/login": "new",
        ".ssh/id": ".ssh/id",
        "code/app/tasks/truth": "code/app/tasks/truth",
        "code/app/test_it.py": "code/app/test_it.py",
        "made": "new",
    }


def test_landlock_refuses_a_view_that_it_cannot_have(workdir: Path) -> None:
    from pytest_fdegym.sandbox.landlock import Landlock, kernel_abi  # noqa: PLC0415

    if kernel_abi() < 3:
        pytest.skip("this kernel has no Landlock")
    with pytest.raises(SandboxFault) as caught:
        Landlock(None).run(["true"], Layout(workdir=workdir, system="host"), Bounds())
    assert str(caught.value) == ("the landlock sandbox can only show what it names, and so has no view of the machine that hides anything")


def test_what_is_hidden_in_a_writable_folder_is_not_there(bubblewrap: Sandbox, workdir: Path) -> None:
    (workdir / "project" / "tasks").mkdir(parents=True)
    (workdir / "project" / "tasks" / "truth").write_text("x")
    (workdir / "project" / "records.xml").write_text("x")
    bubblewrap.give(workdir)
    hidden = (workdir / "project" / "tasks", workdir / "project" / "records.xml")
    layout = Layout(workdir=workdir, writable=(workdir,), system="host", hidden=hidden)
    result = bubblewrap.run(
        ["sh", "-c", "ls project project/tasks; cat project/records.xml; mv project other; touch made"], layout, Bounds()
    )
    assert result.stdout.split() == ["project:", "records.xml", "tasks", "project/tasks:"]
    assert result.stderr.splitlines() == [
        "cat: project/records.xml: Permission denied",
        "mv: cannot move 'project' to 'other': Device or resource busy",
    ]
    assert (workdir / "made").exists()
    assert (workdir / "project" / "tasks" / "truth").read_text() == "x"


def test_a_workspace_inside_of_what_is_hidden_is_there(bubblewrap: Sandbox, place: Path) -> None:
    workdir = place / "runs" / "mine"
    workdir.mkdir(parents=True)
    (place / "runs" / "another").mkdir()
    bubblewrap.give(workdir)
    layout = Layout(workdir=workdir, writable=(workdir,), system="host", hidden=(place / "runs",))
    result = bubblewrap.run(["sh", "-c", "touch made; ls ..; touch ../other"], layout, Bounds())
    assert result.stdout.split() == ["mine"]
    assert (workdir / "made").exists()
    assert sorted(path.name for path in (place / "runs").iterdir()) == ["another", "mine"]


def test_programs_on_path_are_seen_wherever_they_are(
    bubblewrap: Sandbox, place: Path, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a temporary folder, too; the folder that a ``bin`` is in goes with it."""
    installed = place / "installed"
    (installed / "bin").mkdir(parents=True)
    (installed / "lib").write_text("of the program\n")
    (installed / "bin" / "myagent").write_text('#!/bin/sh\ncat "$(dirname "$0")/../lib"\n')
    (installed / "bin" / "myagent").chmod(0o755)
    (place / "unrelated").write_text("x")
    monkeypatch.setenv("PATH", f"{installed}/bin:{os.environ['PATH']}")
    bubblewrap.give(workdir)
    layout = Layout(workdir=workdir, writable=(workdir,), system="host", programs=user_path(os.environ))
    result = bubblewrap.run(["sh", "-c", f"myagent; ls {place}"], layout, Bounds())
    assert result.stdout.splitlines() == ["of the program", "installed", "workdir"]


def test_output_without_end_keeps_its_end(sandbox: Sandbox, layout: Layout) -> None:
    bounds = Bounds(output_bytes=1000, keep_end_of_output=True)
    result = sandbox.run(["sh", "-c", r"head -c 5000000 /dev/zero | tr '\0' x; printf '\377\0end'"], layout, bounds)
    assert (result.exit_code, result.stopped_by) == (0, None)
    assert result.stdout == "x" * 995 + "\ufffd\0end"


def test_resident_memory_is_bounded_where_address_space_is_not(bubblewrap: Sandbox, workdir: Path) -> None:
    bubblewrap.give(workdir)
    bounds = Bounds(memory_bytes=1 << 46, resident_bytes=256 << 20)
    layout = Layout(workdir=workdir, writable=(workdir,), system="host")
    reserved = "import mmap; m = mmap.mmap(-1, 64 << 30, flags=mmap.MAP_PRIVATE | 0x4000); print('reserved', flush=True)"
    used = f"{reserved}; held = bytearray(b'x') * (2 << 30); import time; time.sleep(60)"
    assert bubblewrap.run(["python3", "-c", reserved], layout, bounds).stdout == "reserved\n"
    result = bubblewrap.run(["python3", "-c", used], layout, bounds)
    assert (result.stdout, result.stopped_by) == ("reserved\n", "memory")


# --- which places, without a sandbox ------------------------------------------------------------------------------------


def view(layout: Layout, home: Path, **more: object) -> dict[Path, str]:
    given: dict[str, object] = {"path": (), "interpreter": (), **more}
    return {each.path: each.kind for each in places(layout, home=home, **given)}  # type: ignore[arg-type]  # what the tests add


@pytest.fixture
def home() -> Path:
    """The name of a home outside of all temporary folders; nothing of it exists."""
    return Path("/srv/nobodys-home")


def test_a_hidden_folder_is_hidden_by_its_other_names(tmp_path: Path, workdir: Path, home: Path) -> None:
    for name in ("a/repo/tasks", "b/tasks", "c"):
        (tmp_path / name).mkdir(parents=True)
    mounts = (
        "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        f"21 20 8:2 /volume {tmp_path}/a rw - ext4 /dev/sdb1 rw\n"
        f"22 20 8:2 /volume/repo {tmp_path}/b rw - ext4 /dev/sdb1 rw\n"
        f"23 20 8:3 /volume/repo {tmp_path}/c rw - ext4 /dev/sdc1 rw\n"
    )
    # pytest's folders are temporary ones, which are emptied anyway: granted here, so that what is hidden in them has to be named.
    layout = Layout(workdir=workdir, readable=(tmp_path,), hidden=(tmp_path / "a/repo/tasks",), system="host")
    found = view(layout, home, mounts=mounts)
    assert {path for path, kind in found.items() if kind == "empty" and tmp_path in path.parents} == {
        tmp_path / "a/repo/tasks",
        tmp_path / "b/tasks",
    }


def test_a_mount_point_with_a_blank_in_its_name(tmp_path: Path, workdir: Path, home: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "my disk").mkdir()
    mounts = f"1 0 8:2 / {tmp_path}/a rw - x x rw\n2 0 8:2 / {tmp_path}/my\\040disk rw - x x rw\n"
    layout = Layout(workdir=workdir, readable=(tmp_path,), hidden=(tmp_path / "a",), system="host")
    assert view(layout, home, mounts=mounts)[tmp_path / "my disk"] == "empty"


def test_of_a_homes_hidden_names_only_those_with_programs_are_shown(place: Path, workdir: Path) -> None:
    for name in (".ssh", ".config", ".cache", ".local/bin", ".tool/v1/bin", "work"):
        (place / name).mkdir(parents=True)
    (place / ".netrc").write_text("x")
    (place / "link").symlink_to("work")
    found = view(Layout(workdir=workdir, system="host"), place, path=[place / ".tool/v1/bin"])
    shown = {path.name: kind for path, kind in found.items() if path.parent == place}
    assert shown == {".local": "show", ".tool": "show", "work": "show", "workdir": "show", "link": "link"}


def test_in_a_home_to_be_written_secrets_are_hidden(place: Path, workdir: Path) -> None:
    for name in (".ssh", ".aws", ".config/gcloud", ".config/agent", ".agent"):
        (place / name).mkdir(parents=True)
    (place / ".netrc").write_text("x")
    found = view(Layout(workdir=workdir, writable=(place,), system="host", network="host"), place)
    inside = {path.relative_to(place).as_posix(): kind for path, kind in found.items() if place in path.parents}
    # .config is mounted for itself, so that it cannot be renamed under what is hidden in it.
    assert inside == {".ssh": "empty", ".aws": "empty", ".config": "write", ".config/gcloud": "empty", ".netrc": "cover"}


def test_what_nothing_runs_without_is_never_hidden(workdir: Path, home: Path) -> None:
    found = places(
        Layout(workdir=workdir, hidden=(Path("/"), Path("/usr"), Path("/etc")), system="host"), home=home, path=(), interpreter=()
    )
    assert not {Place(Path(path), "empty") for path in ("/", "/usr", "/etc")} & set(found)


def test_a_socket_is_covered_unless_it_is_the_runs_own(tmp_path: Path, workdir: Path, home: Path) -> None:
    other, own = Path("/srv/other.sock"), workdir / "s"
    found = view(Layout(workdir=workdir, sockets=workdir, system="host"), home, sockets=[other, own])
    assert found[other] == "cover"
    assert own not in found
    assert choose("none").way_out == "open"


def test_relative_folders_of_path_are_left_out(tmp_path: Path) -> None:
    assert user_path({"PATH": f"bin:{tmp_path}::.:{tmp_path}/gone:{tmp_path}"}) == [tmp_path]
