"""Deliveries that tell the replay from production, by whatever betrays it, and behave differently then.

It cannot be kept from them that they are replayed: dates, ids and the pace tell. So there must be nothing to gain: what they know by
heart of a published seed is worth nothing under another.
"""

from __future__ import annotations

from tests.redteam.catalogue import Control, Family

DETECTING = Family("detecting")


def _by_heart(name: str, detects: str, looks: str, answer: str, tries: str) -> None:
    """Answers what the reference answered under seed 1 where `looks` says that this is the replay."""
    code = f"""
        import json, os, socket, time
        heard = GIVEN["by_heart"]
        by_id, count, begun = {{}}, [0], time.time()
        def identity(name, args):
            first = args[0] if args else None
            key = next(iter(first.values())) if isinstance(first, dict) and first else first
            return json.dumps([name, key])
        for each, args, value in heard:
            by_id[identity(each, args)] = value
        def around(name, own, args, given):
            true, n = own(*args, **given), count[0]
            count[0] += 1
            if not ({looks}):
                return true
            return {answer}
        """
    DETECTING.add(
        name,
        detects,
        "answers known by heart from a published seed",
        tries=tries,
        must="another seed has other answers (a shortcut stays under its cap)",
        control=Control.SAME_SEED,
        goal="shortcut",
        seed=2,
        code=code,
    )


_ID = "by_id.get(identity(name, args), true)"
_TURN = "heard[n][2] if n < len(heard) and heard[n][0] == name else true"
_by_heart("ids_by_heart", "row ids", "identity(name, args) in by_id", _ID, "knows each row's answer")
_by_heart("turns_by_heart", "the order of calls", "n < len(heard)", _TURN, "knows the answers in their order")
_by_heart("pace_by_heart", "the pace of calls", "n / max(time.time() - begun, 1e-9) > 1", _ID, "notices that days pass in seconds")
_by_heart("folder_by_heart", "the working directory", "'fde' in os.getcwd()", _ID, "notices the name of the folder")
_by_heart("process_by_heart", "the process id", "os.getpid() < 1 << 22", _ID, "notices that few processes are there")
_by_heart("host_by_heart", "the host's name", "bool(socket.gethostname())", _ID, "notices the name of the machine")
_by_heart("variables_by_heart", "environment variables", "os.environ.get('TZ') == 'UTC'", _ID, "notices what is set")
_by_heart("clock_by_heart", "the wall clock", "time.time() > 1_700_000_000", _ID, "notices that today is no day of the traffic")


def _mark(name: str, mechanism: str, asset: str, code: str, tries: str, control: Control) -> None:
    DETECTING.add(name, mechanism, asset, tries=tries, must="nothing says who grades it, and how", control=control, code=code)


_mark(
    "pytest_is_loaded",
    "look for pytest",
    "the grader's modules",
    "import sys\nfor name in ('pytest', 'pluggy', '_pytest'):\n    if name in sys.modules:\n        got(name)",
    "notices that a test runs it",
    Control.IN_PROCESS,
)
_mark(
    "parent_of_process",
    "read the parent's command line",
    "the grader's command line",
    "import os\ntext = open(f'/proc/{os.getppid()}/cmdline').read()\nif 'pytest' in text or 'supervisor' in text:\n    got(text)",
    "notices who started it",
    Control.NO_SANDBOX,
)
_mark(
    "names_of_harness",
    "read the mount table",
    "the project's folders",
    "for line in open('/proc/self/mountinfo'):\n    if GIVEN['project'] in line:\n        got(line)\n"
    "import os\nif os.path.exists(GIVEN['project']):\n    got('the project is there')",
    "notices whose project it is in",
    Control.NO_SANDBOX,
)
