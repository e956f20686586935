"""Deliveries that use up time, memory, processes, disk and output; each only a little more than its bound."""

from __future__ import annotations

from tests.redteam.catalogue import Control, Family

EXHAUSTION = Family("exhaustion")

_ONCE = """
import os
def around(name, own, args, given):
    mark = os.path.join(os.path.dirname(LOOT), "begun")
    if not os.path.exists(mark):
        open(mark, "w").close()
        attack()
    return own(*args, **given)
"""


def _takes(name: str, mechanism: str, asset: str, body: str, tries: str, must: str, control: Control = Control.NO_BOUNDS) -> None:
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    EXHAUSTION.add(name, mechanism, asset, tries=tries, must=must, control=control, code=f"{_ONCE}\ndef attack():\n{lines}\n")


_takes(
    "memory_bomb",
    "map memory",
    "the machine's memory",
    "import mmap\nmmap.mmap(-1, (1 << 30) + (1 << 28), flags=mmap.MAP_PRIVATE)\ngot('mapped more than it may')",
    "takes more than a gigabyte",
    "the allocation fails in its own process",
)
_takes(
    "fork_bomb",
    "fork",
    "the machine's processes",
    "import signal, time\nchildren = []\ntry:\n    for _ in range(100):\n        child = os.fork()\n        if child == 0:\n"
    "            time.sleep(5)\n            os._exit(0)\n        children.append(child)\nfinally:\n"
    "    for child in children:\n        os.kill(child, signal.SIGKILL)\n        os.waitpid(child, 0)\n"
    "got(f'{len(children)} children')",
    "starts a hundred processes",
    "fork fails in its own tree",
)
_takes(
    "thread_bomb",
    "threads",
    "the machine's processes",
    "import threading\nend = threading.Event()\nthreads = [threading.Thread(target=end.wait, args=(5,)) for _ in range(100)]\ntry:\n"
    "    for thread in threads:\n        thread.start()\n    got('a hundred threads')\nfinally:\n    end.set()",
    "starts a hundred threads",
    "starting fails in its own process",
)
_takes(
    "output_flood",
    "write to standard error past Python",
    "the harness's memory",
    "for _ in range(40):\n    os.write(2, b'x' * 65536)\nimport time\ntime.sleep(0.5)\ngot('wrote 2.6 MB and goes on')",
    "prints more than anybody keeps",
    "its process is ended",
)
_takes(
    "open_files",
    "open files",
    "descriptors",
    "held = [open(os.devnull) for _ in range(400)]\ngot(f'{len(held)} open files')",
    "opens hundreds of files",
    "opening fails in its own process",
)
_takes(
    "giant_file",
    "allocate a file",
    "the disk",
    "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nwith open('giant', 'wb') as file:\n"
    "    os.posix_fallocate(file.fileno(), 0, (64 << 20) + 4096)\ngot('a file larger than it may be')",
    "makes a file of more than 64 MB",
    "the system refuses it",
)
_takes(
    "many_files_of_size",
    "allocate many files",
    "the disk",
    "import time\nfor n in range(10):\n    with open(f'giant{n}', 'wb') as file:\n        os.posix_fallocate(file.fileno(), 0, 60 << 20)\n"
    "time.sleep(0.5)\ngot('600 MB of files')",
    "takes more of the disk than it may, file by file",
    "its process is ended",
)
_takes(
    "time_bomb",
    "sleep",
    "the time of a call",
    "import time\ntime.sleep(GIVEN['longer'])\ngot('came back after its time')",
    "keeps production waiting",
    "its process is ended when the call's time is over",
)
_takes(
    "busy_loop",
    "compute without end",
    "the time of a call",
    "import time\nend = time.monotonic() + GIVEN['longer']\nwhile time.monotonic() < end:\n    pass\ngot('came back after its time')",
    "keeps a processor busy",
    "its process is ended when the call's time is over",
)
_takes(
    "stopped_process",
    "stop itself",
    "the time of a call",
    "import signal, time\nif os.fork() == 0:\n    time.sleep(GIVEN['longer'])\n    os.kill(PID, signal.SIGCONT)\n    os._exit(0)\n"
    "os.kill(PID, signal.SIGSTOP)\ngot('came back after its time')",
    "does not run, and so uses no time",
    "its process is ended when the call's time is over",
)
EXHAUSTION.add(
    "endless_restarts",
    "end its own process each time",
    "the harness's restarts",
    tries="has itself started again without end",
    must="it is started a bounded number of times",
    control=Control.NO_BOUNDS,
    code="""
        import os
        mark = os.path.join(os.path.dirname(LOOT), "starts")
        with open(mark, "a") as file:
            file.write("x")
        if os.path.getsize(mark) > 8:
            got(f"start {os.path.getsize(mark)}")
        def around(name, own, args, given):
            if os.path.getsize(mark) < 12:
                os._exit(1)
            return own(*args, **given)
        """,
)
for _name, _mechanism, _body in (
    ("plain_end", "os._exit", "os._exit(0)"),
    ("abort", "os.abort", "os.abort()"),
    ("segmentation_fault", "read address 0", "import ctypes\nctypes.string_at(0)"),
    ("kill_itself", "kill its own process", "os.kill(os.getpid(), 9)"),
    (
        "stack_overflow",
        "recursion without limit",
        "import sys\nsys.setrecursionlimit(1 << 30)\ndef down(n):\n    return repr([down(n + 1)])\ndown(0)",
    ),
    ("close_everything", "close every descriptor", "os.closerange(3, 256)"),
):
    _takes(
        _name,
        _mechanism,
        "the harness's process",
        _body,
        "takes the harness with it",
        "its own process is all that ends",
        Control.IN_PROCESS,
    )
