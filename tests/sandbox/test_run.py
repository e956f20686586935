"""Running a command: what comes back, what it finds, and whose fault a failure is."""

from __future__ import annotations

import re
import socket
import subprocess
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fdegym.errors import InfrastructureFault
from pytest_fdegym.sandbox import Bounds, CommandResult, Layout, Sandbox, choose

BOUNDS = Bounds()


def sh(sandbox: Sandbox, layout: Layout, script: str, bounds: Bounds = BOUNDS, stdin: bytes = b"") -> CommandResult:
    return sandbox.run(["sh", "-c", script], layout, bounds, stdin=stdin)


def test_output_and_exit_code(sandbox: Sandbox, layout: Layout) -> None:
    assert sh(sandbox, layout, "echo out; echo err >&2; exit 3") == CommandResult(3, "out\n", "err\n", None)


def test_output_that_is_not_text(sandbox: Sandbox, layout: Layout) -> None:
    assert sh(sandbox, layout, r"printf 'a\377b'").stdout == "a\ufffdb"


def test_input_reaches_the_command(sandbox: Sandbox, layout: Layout) -> None:
    text = b"line\n" * 200_000
    assert sandbox.run(["wc", "-l"], layout, BOUNDS, stdin=text).stdout.strip() == "200000"


def test_input_that_nobody_reads(sandbox: Sandbox, layout: Layout) -> None:
    assert sandbox.run(["true"], layout, BOUNDS, stdin=b"x" * 1_000_000) == CommandResult(0, "", "", None)


def test_much_input_and_output_at_once(sandbox: Sandbox, layout: Layout) -> None:
    text = b"0123456789abcdef" * 50_000
    result = sandbox.run(["cat"], layout, BOUNDS, stdin=text)
    assert result.stdout.encode() == text


def test_death_by_signal_is_said_as_a_shell_would(sandbox: Sandbox, layout: Layout) -> None:
    assert sh(sandbox, layout, "kill -TERM $$").exit_code == 128 + 15


def test_arguments_are_passed_as_they_are(sandbox: Sandbox, layout: Layout) -> None:
    strange = ["{tell}x", "$HOME", "a b", "", "--", "ü'\"\n", "-n"]
    result = sandbox.run(["python3", "-c", "import sys; print(ascii(sys.argv[1:]))", *strange], layout, BOUNDS)
    assert result.stdout == ascii(strange) + "\n"


def test_a_command_that_does_not_exist_is_the_commands_failure(sandbox: Sandbox, layout: Layout) -> None:
    result = sandbox.run(["nonesuch"], layout, BOUNDS)
    assert result.exit_code == 127
    assert re.fullmatch(r"(sh: \d+: exec: )?nonesuch: not found\n", result.stderr)


def test_a_script_without_interpreter_line_runs_as_from_a_shell(sandbox: Sandbox, layout: Layout, workdir: Path) -> None:
    sh(sandbox, layout, "echo 'echo ran $1' > script; chmod +x script")
    assert sandbox.run(["./script", "it"], layout, BOUNDS).stdout == "ran it\n"


def test_the_environment_is_built_from_nothing(sandbox: Sandbox, layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "x")
    script = "import os; print(*sorted(os.environ))"
    result = sandbox.run(["python3", "-c", script], replace(layout, environment={"GATEWAY": "unix:/s"}), BOUNDS)
    allowed = {"GATEWAY", "HOME", "LANG", "PATH", "TMPDIR"}
    assert set(result.stdout.split()) - {"LD_LIBRARY_PATH", "LC_CTYPE"} == allowed


def test_the_environment_is_in_no_process_list(sandbox: Sandbox, layout: Layout) -> None:
    """Arguments can be read by every user of a machine, and the environment may hold a key."""
    secret = uuid.uuid4().hex
    running = sandbox.start(["sh", "-c", 'echo "$KEY"; cat'], replace(layout, environment={"KEY": secret}), BOUNDS)
    assert running.stdout.readline() == f"{secret}\n".encode()
    shown = subprocess.run(["ps", "-axww", "-o", "args"], capture_output=True, text=True, check=True).stdout
    running.close()
    assert "cat" in shown
    assert secret not in shown


def test_the_layouts_environment_wins(sandbox: Sandbox, layout: Layout) -> None:
    result = sh(sandbox, replace(layout, environment={"HOME": "/elsewhere"}), "echo $HOME $LANG")
    assert result.stdout == "/elsewhere C.UTF-8\n"


def test_paths_are_the_same_inside_and_outside(sandbox: Sandbox, layout: Layout, workdir: Path) -> None:
    result = sh(sandbox, layout, f"pwd; echo found > {workdir}/file")
    assert result.stdout.strip() == str(workdir)
    assert (workdir / "file").read_text() == "found\n"


def test_a_working_directory_that_is_not_listed_is_readable_only(confining: Sandbox, workdir: Path) -> None:
    (workdir / "file").write_text("here")
    confining.give(workdir)
    result = sh(confining, Layout(workdir=workdir), "cat file; echo x > other")
    assert (result.stdout, (workdir / "other").exists()) == ("here", False)


def test_a_readable_folder_inside_a_writable_one_stays_as_it_is(workdir: Path) -> None:
    """Bubblewrap only: rules of Landlock add up."""
    sandbox = choose("bubblewrap")
    (workdir / "bin").mkdir()
    (workdir / "bin" / "ask").write_text("original")
    sandbox.give(workdir)
    layout = Layout(workdir=workdir, writable=(workdir,), readable=(workdir / "bin",))
    result = sh(sandbox, layout, "echo new > bin/ask || echo refused; mv bin elsewhere || echo refused; touch beside; ls")
    assert result.stdout == "refused\nrefused\nbeside\nbin\n"
    assert (workdir / "bin" / "ask").read_text() == "original"


def test_temporary_files_are_gone_afterwards(sandbox: Sandbox, layout: Layout) -> None:
    first = sh(sandbox, layout, "mkdir -p $TMPDIR/a/b; touch $TMPDIR/a/b/kept; chmod 0 $TMPDIR/a; echo $TMPDIR; ls $TMPDIR")
    folder, *listed = first.stdout.split()
    assert "a" in listed
    assert "a" not in sh(sandbox, layout, "ls $TMPDIR").stdout.split()
    assert not Path(folder, "a").exists()


def test_only_the_socket_of_the_layout_can_be_reached(confining: Sandbox, workdir: Path, place: Path) -> None:
    folder = place / "s"
    folder.mkdir(mode=0o755)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "s"))
        server.listen()
        confining.give(folder)
        confining.give(workdir)
        connect = f"import socket; s = socket.socket(socket.AF_UNIX); s.connect({str(folder / 's')!r}); print('connected')"
        layout = Layout(workdir=workdir, writable=(workdir,), sockets=folder)
        assert confining.run(["python3", "-c", connect], layout, BOUNDS).stdout == "connected\n"


def test_bubblewrap_that_vanished_is_the_sandboxs_fault(workdir: Path) -> None:
    from pytest_fdegym.sandbox.account import unprivileged  # noqa: PLC0415
    from pytest_fdegym.sandbox.bubblewrap import Bubblewrap  # noqa: PLC0415

    sandbox = Bubblewrap(Path("/nonexistent/bwrap"), unprivileged())
    sandbox.give(workdir)
    with pytest.raises(InfrastructureFault) as caught:
        sandbox.run(["true"], Layout(workdir=workdir), BOUNDS)
    assert str(caught.value) == "the sandbox could not start /nonexistent/bwrap: /nonexistent/bwrap: not found"


def test_bubblewrap_that_fails_is_quoted(workdir: Path, place: Path) -> None:
    from pytest_fdegym.sandbox.account import unprivileged  # noqa: PLC0415
    from pytest_fdegym.sandbox.bubblewrap import Bubblewrap  # noqa: PLC0415

    program = place / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    program.chmod(0o755)
    sandbox = Bubblewrap(program, unprivileged())
    sandbox.give(workdir)
    for attempt in (sandbox.run, sandbox.start):
        with pytest.raises(InfrastructureFault) as caught:
            attempt(["true"], Layout(workdir=workdir), BOUNDS)
        assert str(caught.value) == (
            f"the sandbox could not start {program}: the sandbox ended with exit code 1 before the command ran: "
            "bwrap: setting up uid map: Permission denied"
        )


def test_a_supervisor_that_cannot_be_started_is_the_sandboxs_fault(
    sandbox: Sandbox, layout: Layout, monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    monkeypatch.setattr("sys.executable", str(place / "python"))
    with pytest.raises(InfrastructureFault) as caught:
        sandbox.run(["true"], layout, BOUNDS)
    assert str(caught.value) == f"the sandbox's supervisor could not be started: [Errno 2] No such file or directory: '{place}/python'"


def test_a_path_that_does_not_exist_is_refused(sandbox: Sandbox, layout: Layout, place: Path) -> None:
    with pytest.raises(InfrastructureFault) as caught:
        sandbox.run(["true"], replace(layout, readable=(place / "gone",)), BOUNDS)
    assert str(caught.value) == f"the sandbox was given {place}/gone, which does not exist"


def test_a_relative_path_is_refused(sandbox: Sandbox, layout: Layout) -> None:
    with pytest.raises(InfrastructureFault) as caught:
        sandbox.run(["true"], replace(layout, readable=(Path("x"),)), BOUNDS)
    assert str(caught.value) == "the sandbox was given 'x', which is not an absolute path"


def test_a_link_that_confined_code_left_does_not_open_what_it_points_to(
    sandbox: Sandbox, layout: Layout, workdir: Path, place: Path
) -> None:
    truth = place / "truth"
    truth.mkdir()
    sh(sandbox, layout, f"ln -s {truth} system")
    with pytest.raises(InfrastructureFault) as caught:
        sandbox.run(["ls", "system"], replace(layout, readable=(workdir / "system",)), BOUNDS)
    expected = f"{workdir}/system is a symbolic link inside the writable folder {workdir}; the sandbox does not follow it"
    assert str(caught.value) == expected
