"""What code in a sandbox can get at: every attempt of probes.py, under each backend, with a harness that is root or an ordinary user.

SECURITY.md names what Landlock leaves open; everything else must be stopped, and what must work must work, so that a sandbox in
which nothing runs does not pass.
"""

from __future__ import annotations

import functools
import json
import subprocess
from pathlib import Path

import pytest

from tests.sandbox.people import USERS, run_as, skip_if_lacking
from tests.sandbox.probes import CONTROLS, PROBES

HARNESS = Path(__file__).with_name("harness.py")
BACKENDS = ("bubblewrap", "landlock")
METADATA_OF_ALL = {"stat_truth"}
METADATA_OF_OWN_FILES = {"chmod_truth", "utime_truth", "setxattr_truth"}
PATHNAME_SOCKETS = {"connect_other_path_socket"}
LEFT_OPEN = {
    ("bubblewrap", "root"): set[str](),
    ("bubblewrap", "ordinary"): set[str](),
    ("landlock", "root"): METADATA_OF_ALL | PATHNAME_SOCKETS,
    ("landlock", "ordinary"): METADATA_OF_ALL | METADATA_OF_OWN_FILES | PATHNAME_SOCKETS,
}
CASES = [(backend, user) for backend in BACKENDS for user in USERS]


@functools.cache
def _harness(backend: str, user: str) -> subprocess.CompletedProcess[str]:
    return run_as(user, HARNESS, backend, "fdegym-harness-marker")


def findings(backend: str, user: str) -> dict[str, dict[str, object]]:
    """What came of each attempt in one sandboxed run, which all tests of these two share."""
    done = _harness(backend, user)
    if "SandboxUnavailable" in done.stderr:
        skip_if_lacking(done.stderr)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, object]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("probe", sorted(PROBES))
@pytest.mark.parametrize(("backend", "user"), CASES)
def test_attempt_is_stopped(backend: str, user: str, probe: str) -> None:
    found = findings(backend, user)[probe]
    if probe in LEFT_OPEN[backend, user]:
        assert found["detail"], "left open, and SECURITY.md says so"
        return
    assert not found["through"], found["detail"]


@pytest.mark.parametrize("control", sorted(CONTROLS))
@pytest.mark.parametrize(("backend", "user"), CASES)
def test_ordinary_work_is_possible(backend: str, user: str, control: str) -> None:
    found = findings(backend, user)[control]
    assert found["through"], found["detail"]


@pytest.mark.parametrize(("backend", "user"), CASES)
def test_truth_is_as_it_was(backend: str, user: str) -> None:
    assert findings(backend, user)["truth_is_as_it_was"]["through"]


def test_probes_succeed_without_a_sandbox() -> None:
    """Attempts that never succeed anywhere would prove nothing. As an ordinary user only: root's would do harm."""
    through = {name for name, found in findings("none", "ordinary").items() if found["through"]}
    expected = {
        *(
            "read_truth",
            "list_truth_folder",
            "write_truth",
            "create_beside_truth",
            "unlink_sacrifice",
            "execute_truth",
            "chmod_truth",
            "map_truth",
        ),
        *(
            "read_truth_through_symlink",
            "read_truth_by_dotdot",
            "open_truth_folder_as_path",
            "hardlink_truth_into_workdir",
            "read_home_of_harness",
        ),
        *(
            "write_readable_folder",
            "write_var_tmp",
            "write_other_tmp",
            "watch_truth_folder",
            "read_harness_package",
            "import_harness_package",
        ),
        *(
            "read_system_accounts",
            "read_var_log",
            "read_sys",
            "see_harness",
            "see_supervisor",
            "read_harness_environment",
            "signal_harness",
            "trace_harness",
        ),
        *("reopen_files_of_others", "read_truth_through_root_of_harness", "signal_through_pidfd", "signal_marker_process", "limit_harness"),
        *(
            "slow_harness_down",
            "bind_harness_to_one_processor",
            "connect_tcp",
            "send_udp",
            "listen_tcp",
            "connect_abstract_socket",
            "open_netlink",
        ),
        *(
            "connect_other_path_socket",
            "replace_allowed_socket",
            "gain_rights_by_setuid_program",
            "hide_memory_in_files",
            "share_memory_by_key",
        ),
        *("fill_shared_memory", "connect_tcp6"),
    }
    assert expected - through == set()


@pytest.mark.parametrize("backend", ["bubblewrap", "landlock", "none"])
def test_nothing_is_inherited_and_bounds_hold_even_without_a_sandbox(backend: str) -> None:
    found = findings(backend, "ordinary")
    always = (
        "inherit_environment",
        "inherit_descriptors",
        "take_much_memory",
        "write_big_file",
        "open_many_files",
        "dump_core",
        "stay_as_daemon",
    )
    assert {name: found[name]["detail"] for name in always if found[name]["through"]} == {}


def test_what_landlock_leaves_open_is_said_in_the_security_policy() -> None:
    policy = (Path(__file__).parents[2] / "SECURITY.md").read_text(encoding="utf-8")
    for probe in sorted(LEFT_OPEN["landlock", "ordinary"]):
        assert f"`{probe}`" in policy
