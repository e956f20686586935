"""Each bound ends what exceeds it, says which it was, and lets what is within it go on."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fdegym.sandbox import Bounds, CommandResult, Layout, Sandbox, choose

BOUNDS = Bounds(memory_bytes=256 << 20)
EIGHT_BLOCKS = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        block = bytearray(os.urandom(1)) * (120 << 20)
        time.sleep(600)
time.sleep(600)
"""
ONE_BLOCK_SHARED_BY_SIX = """
import os, time
block = bytearray(os.urandom(1)) * (150 << 20)
children = []
for _ in range(5):
    child = os.fork()
    if child == 0:
        time.sleep(1)
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
print("done")
"""
FORKS = """
import os, signal
count = 0
try:
    while count < 500:
        if os.fork() == 0:
            signal.pause()
        count += 1
except BlockingIOError:
    pass
print(count)
"""


def python(sandbox: Sandbox, layout: Layout, script: str, bounds: Bounds = BOUNDS) -> CommandResult:
    return sandbox.run(["python3", "-c", script], layout, bounds)


def test_wall_time(sandbox: Sandbox, layout: Layout) -> None:
    result = sandbox.run(["sh", "-c", "echo before; sleep 600"], layout, replace(BOUNDS, wall_seconds=1))
    assert result == CommandResult(137, "before\n", "", "wall")


def test_wall_time_of_a_command_that_closed_its_output(sandbox: Sandbox, layout: Layout) -> None:
    result = sandbox.run(["sh", "-c", "exec >&- 2>&-; sleep 600"], layout, replace(BOUNDS, wall_seconds=1))
    assert result == CommandResult(137, "", "", "wall")


def test_processor_time(sandbox: Sandbox, layout: Layout) -> None:
    result = python(sandbox, layout, "while True: pass", replace(BOUNDS, cpu_seconds=1))
    assert result.exit_code in {128 + 24, 128 + 9}  # SIGXCPU, or SIGKILL at the hard limit
    assert result.stopped_by is None


def test_output_is_cut_and_ends_the_command(sandbox: Sandbox, layout: Layout) -> None:
    result = sandbox.run(["sh", "-c", "echo error >&2; yes"], layout, replace(BOUNDS, output_bytes=100_000))
    assert (result.exit_code, result.stopped_by) == (137, "output")
    assert len(result.stdout) + len(result.stderr) == 100_000
    assert result.stdout.startswith("y\ny\n")


def test_output_of_exactly_the_bound_is_whole(sandbox: Sandbox, layout: Layout) -> None:
    result = python(sandbox, layout, "print('x' * 99_999)", replace(BOUNDS, output_bytes=100_000))
    assert result == CommandResult(0, "x" * 99_999 + "\n", "", None)


def test_memory_of_one_process(sandbox: Sandbox, layout: Layout) -> None:
    result = python(sandbox, layout, "try: bytearray(400 << 20)\nexcept MemoryError: print('refused')")
    assert result == CommandResult(0, "refused\n", "", None)


def test_memory_of_the_tree(sandbox: Sandbox, layout: Layout) -> None:
    result = python(sandbox, layout, EIGHT_BLOCKS)
    assert (result.exit_code, result.stopped_by) == (137, "memory")


def test_memory_that_processes_share_counts_once(sandbox: Sandbox, layout: Layout) -> None:
    assert python(sandbox, layout, ONE_BLOCK_SHARED_BY_SIX) == CommandResult(0, "done\n", "", None)


def test_number_of_processes(sandbox: Sandbox, layout: Layout) -> None:
    if sandbox.name == "none" and os.geteuid() == 0:
        pytest.skip("no limit on processes binds root")
    count = int(python(sandbox, layout, FORKS, replace(BOUNDS, processes=20)).stdout)
    assert 10 <= count <= 20


def test_size_of_a_file(sandbox: Sandbox, layout: Layout, workdir: Path) -> None:
    result = sandbox.run(["dd", "if=/dev/zero", "of=big", "bs=1M", "count=20"], layout, replace(BOUNDS, file_bytes=5 << 20))
    assert result.exit_code != 0
    assert (workdir / "big").stat().st_size == 5 << 20


def test_open_files(sandbox: Sandbox, layout: Layout) -> None:
    script = "files = []\ntry:\n  while True: files.append(open('/dev/null'))\nexcept OSError: print(len(files) + 3)"
    assert python(sandbox, layout, script, replace(BOUNDS, open_files=64)).stdout == "64\n"


def test_a_fork_bomb_ends_with_its_time(sandbox: Sandbox, layout: Layout) -> None:
    if sandbox.name == "none":
        pytest.skip("it is not let loose on a machine without limits")
    bomb = "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass"
    assert python(sandbox, layout, bomb, replace(BOUNDS, wall_seconds=2, processes=30)).stopped_by == "wall"


def test_memory_is_bounded_for_a_process_with_pipes_too(sandbox: Sandbox, layout: Layout) -> None:
    process = sandbox.start(["python3", "-c", EIGHT_BLOCKS], layout, BOUNDS)
    assert process.stdout.read() == b""
    assert process.close() == 137


def test_temporary_space_in_memory_is_bounded(workdir: Path) -> None:
    sandbox = choose("bubblewrap")
    sandbox.give(workdir)
    script = "for i in 1 2 3 4 5 6; do head -c 20M /dev/zero > $TMPDIR/$i || exit 9; done"
    assert sandbox.run(["sh", "-c", script], Layout(workdir=workdir), BOUNDS).exit_code == 9
