"""A stand-in for the harness of an ordinary user who lends the home to a command, on the network; prints what came of it as JSON."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from pytest_fdegym.sandbox import Bounds, Layout, choose

SCRIPT = """
cat .ssh/id .agent/login code/app/tasks/truth 2>&1
echo new > .agent/login
echo new > code/app/test_it.py; echo new > made
rm -r code/app 2>/dev/null
ls -A code/app
python3 -c 'import os, sys
for name in ("code", "code/app", "code/app/tasks"):
    try:
        os.rename(name, name + "2")
    except OSError as error:
        print(name, error.strerror)'
python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5); print("reached")' "$1"
"""


def main() -> None:
    root = Path(tempfile.mkdtemp(prefix="fdegym-lent-"))
    home, work = root / "home", root / "work"
    work.mkdir()
    for name in (".ssh/id", ".agent/login", "code/app/tasks/truth", "code/app/test_it.py"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(f"{name}\n")
    os.environ["HOME"] = str(home)
    app = home / "code" / "app"
    sandbox = choose(sys.argv[1])
    layout = Layout(
        workdir=home,
        writable=(work, home),
        readable=(app,),
        system="host",
        network="host",
        hidden=(app / "tasks",),
        environment={"HOME": str(home)},
    )
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            result = sandbox.run(["sh", "-c", SCRIPT, "sh", str(server.getsockname()[1])], layout, Bounds())
        found: dict[str, Any] = {"said": result.stdout.splitlines(), "errors": result.stderr.splitlines()}
        files = subprocess.run(["find", ".", "-type", "f"], cwd=home, capture_output=True, text=True, check=True)
        found["left"] = {name.removeprefix("./"): (home / name).read_text().strip() for name in sorted(files.stdout.split())}
        print(json.dumps(found))
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
