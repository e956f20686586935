"""A stand-in for the harness, started as a process of its own so that it can be root or an ordinary user.

It keeps a truth, runs servers, holds descriptors and secrets, then lets `probes.py` loose in one sandbox and prints, as JSON,
what came of it.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import platform
import shutil
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest_fdegym
from pytest_fdegym.sandbox import Bounds, Layout, choose
from pytest_fdegym.sandbox.machine import SYSTEM, interpreter, package_folders

BOUNDS = Bounds(wall_seconds=60, memory_bytes=512 << 20, processes=48, file_bytes=16 << 20, open_files=128)


class _Pong(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        if self.request.recv(100) == b"ping\n":
            self.request.sendall(b"pong\n")


@contextlib.contextmanager
def _listening(address: str) -> Iterator[None]:
    with socketserver.ThreadingUnixStreamServer(address, _Pong) as server:
        if not address.startswith("\0"):
            os.chmod(address, 0o666)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


def _everybody_may_enter(folder: Path) -> Path:
    folder.mkdir()
    folder.chmod(0o755)
    return folder


def _running(text: str) -> list[int]:
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                if text.encode() in Path("/proc", name, "cmdline").read_bytes():
                    found.append(int(name))
    return found


def _measure(backend: str, system: Literal["strict", "host"], hide: bool, root: Path) -> dict[str, Any]:
    sandbox = choose(backend)
    home, readable, sockets, program, workdir = (
        _everybody_may_enter(root / name) for name in ("home", "readable", "socket", "probes", "workdir")
    )
    # With the host's view, truth lies in what is otherwise seen: a project in the user's home.
    project = _everybody_may_enter(home / "project")
    secret = _everybody_may_enter((project if system == "host" else root) / "secret")
    service = project / "service"
    (project / "README").write_text("a project")
    (home / ".ssh").mkdir()
    (home / ".ssh" / "id_ed25519").write_text("x")
    os.environ["HOME"] = str(home)
    truth, sacrifice, truth_program = secret / "truth.json", secret / "sacrifice", secret / "program"
    truth.write_text("SECRET")
    sacrifice.write_text("x")
    truth_program.write_text("#!/bin/sh\necho SECRET\n")
    truth_program.chmod(0o755)
    (home / ".netrc").write_text("x")
    (readable / "note").write_text("readable")
    shutil.copy(Path(__file__).with_name("probes.py"), program / "probes.py")
    held = truth.open()
    os.set_inheritable(held.fileno(), True)
    token = uuid.uuid4().hex[:12]
    marker = subprocess.Popen(["sleep", "600.5"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    key = int(token[:6], 16) | 1
    ctypes.CDLL(None).shmget(key, 4096, 0o1666)
    given: dict[str, Any] = {
        "truth": str(truth), "sacrifice": str(sacrifice), "truth_program": str(truth_program), "home": str(home), "readable": str(readable),
        "workdir": str(workdir), "socket": str(sockets / "s"), "other_socket": str(secret / "s"), "abstract": f"fdegym-test-{token}",
        "harness": os.getpid(), "marker_process": marker.pid, "marker": sys.argv[2], "tmp_marker": f"/tmp/fdegym-probe-{token}",
        "daemon_marker": f"77.{int(token, 16)}", "shared_memory_key": key, "python": platform.python_version(),
        "project": str(project),
        "package": str(Path(pytest_fdegym.__file__).parent), "packages": [str(folder) for folder in package_folders((*SYSTEM,
        *interpreter().folders))], "memory_bytes": BOUNDS.memory_bytes, "processes": BOUNDS.processes, "file_bytes":
        BOUNDS.file_bytes, "open_files": BOUNDS.open_files, }  # fmt: skip
    sandbox.give(workdir)
    arrived = False
    with contextlib.ExitStack() as servers:
        tcp = servers.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = servers.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        given.update(tcp_port=tcp.getsockname()[1], udp_port=udp.getsockname()[1])
        for address in (given["socket"], given["other_socket"], f"\0{given['abstract']}", *([str(service)] if system == "host" else [])):
            servers.enter_context(_listening(str(address)))
        layout = Layout(
            workdir=workdir,
            writable=(workdir,),
            readable=(readable, program),
            sockets=sockets,
            system=system,
            hidden=(secret,) if hide else (),
        )
        result = sandbox.run(["python3", str(program / "probes.py")], layout, BOUNDS, stdin=json.dumps(given).encode())
        udp.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            arrived = udp.recv(10) == b"x"
    try:
        found = json.loads(result.stdout)
    except ValueError:
        raise SystemExit(f"the probes broke down: {result}") from None
    if found["send_udp"]["through"] and not arrived:
        found["send_udp"] = {"through": False, "detail": "sent, and arrived nowhere"}
    left = _running(str(given["daemon_marker"]))
    found["stay_as_daemon"] = {"through": bool(left), "detail": f"still running: {left}"}
    found["write_other_tmp"] = {"through": os.path.exists(given["tmp_marker"]), "detail": given["tmp_marker"]}
    found["signal_marker_process"]["through"] |= marker.poll() is not None
    for name, folder in (("write_home_of_harness", home), ("write_project", project)):
        found[name] = {"through": (folder / "created").exists(), "detail": f"made in {folder}"}
    found["write_var_tmp"] = {"through": os.path.exists("/var/tmp/fdegym-probe"), "detail": "/var/tmp/fdegym-probe"}
    for trace in (Path("/var/tmp/fdegym-probe"), Path(given["tmp_marker"])):
        trace.unlink(missing_ok=True)
    for process in left:
        os.kill(process, 9)
    found["truth_is_as_it_was"] = {"through": truth.read_text() == "SECRET" and sacrifice.exists(), "detail": str(os.listdir(secret))}
    found["sandbox"] = {"through": True, "detail": sandbox.name}
    marker.kill()
    marker.wait()
    held.close()
    return dict(found)


def main() -> None:
    root = Path(tempfile.mkdtemp(prefix="fdegym-escape-"))
    root.chmod(0o711)
    try:
        print(json.dumps(_measure(sys.argv[1], "host" if "host" in sys.argv else "strict", "nothing-hidden" not in sys.argv, root)))
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
