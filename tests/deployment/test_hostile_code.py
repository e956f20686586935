"""Deliveries written to break the harness: each gets what it earned, as plain data, and the next call is served."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from pytest_fdegym.deployment.host import ReplayBounds
from pytest_fdegym.scenario.world import Died, Raised, Returned, TimedOut

from .conftest import Production

FORGED = Died("the process wrote something that is no reply into the reply channel")
EVERY_FD = "range(64)"


def body(text: str) -> str:
    """`text` as the body of ``attack``, beside a well-behaved ``f``."""
    return "import os, sys\ndef f(): return 'fine'\ndef attack():\n" + "\n".join(f"    {line}" for line in text.strip().splitlines())


BOTH = {"f": 60.0, "attack": 60.0}


@pytest.mark.parametrize(
    "attack",
    [
        "import json; json.dumps = json.loads = json.JSONEncoder = None",
        "sys.stdout = sys.stderr = sys.stdin = None",
        "sys.stdout.close(); sys.stderr.close(); sys.stdin.close()",
        "print('{\"forged\": true}'); sys.stderr.write('x')",
        "print('x' * 5_000_000)",
        "[print('x' * 1000) for _ in range(5000)]",
        "import atexit; atexit.register(lambda: os.write(1, b'x'))",
        "import threading; threading.Thread(target=lambda: None).start()",
        "sys.path.clear(); os.chdir('/')",
        "os.getpid = os.write = lambda *a: 1 / 0",
        "os.closerange(0, 3)",
    ],
)
def test_harmless(production: Production, attack: str) -> None:
    with production.of(body(f"{attack}\nreturn 1"), functions=BOTH) as system:
        assert system.call("attack") == Returned(1)
        assert system.call("f") == Returned("fine")
        assert system.call("attack") in (Returned(1), system.call("attack"))


@pytest.mark.parametrize(
    "attack", ["sys.modules.clear()", "import builtins; builtins.__dict__.clear()", "sys.settrace(lambda *a: 1 / 0)", "sys.path = None"]
)
def test_a_delivery_that_wrecks_its_own_interpreter_is_all_that_suffers(production: Production, attack: str) -> None:
    with production.of(body(f"{attack}\nreturn 1"), functions=BOTH) as system:
        for outcome in [*system.calls("attack", [[]] * 3), *system.calls("f", [[]] * 3)]:
            assert isinstance(outcome, Returned | Raised | Died)


@pytest.mark.parametrize(
    ("attack", "outcome"),
    [
        ("os._exit(0)", Died("the process ended with exit code 0")),
        ("os._exit(7)", Died("the process ended with exit code 7")),
        ("os.kill(os.getpid(), 9)", Died("the process was ended by SIGKILL")),
        ("os.abort()", Died("the process was ended by SIGABRT")),
        ("import ctypes; ctypes.string_at(0)", Died("the process was ended by SIGSEGV")),
        (f"for fd in {EVERY_FD}:\n  try: os.write(fd, b'forged\\n')\n  except OSError: pass", FORGED),
        (f"for fd in {EVERY_FD}:\n  try: os.write(fd, b'0123456789abcdef R 1\\n')\n  except OSError: pass", FORGED),
        (f"for fd in {EVERY_FD}:\n  try: os.write(fd, b'torn')\n  except OSError: pass", FORGED),
        (f"for fd in {EVERY_FD}:\n  try: os.write(fd, b'\\n')\n  except OSError: pass", FORGED),
        ("while True: os.write(1, b'x' * 65536)", Died("the process wrote more than 1,048,576 bytes of output past Python's own streams")),
        ("while True: os.write(2, b'x' * 65536)", Died("the process wrote more than 1,048,576 bytes of output past Python's own streams")),
        (f"for fd in {EVERY_FD}:\n  if fd > 2: os.close(fd)", None),
        ("if os.fork() == 0:\n  import time\n  while True: time.sleep(100)\nos._exit(1)", Died("the process ended with exit code 1")),
    ],
)
def test_fatal(production: Production, attack: str, outcome: Died | None) -> None:
    with production.of(body(attack), functions=BOTH) as system:
        got = system.call("attack")
        assert got == outcome if outcome is not None else isinstance(got, Died)
        assert system.call("f") == Returned("fine")


def test_a_reply_without_end_is_cut(production: Production) -> None:
    attack = f"""
import stat
while True:
    for fd in {EVERY_FD}:
        try:
            if fd > 2 and stat.S_ISFIFO(os.fstat(fd).st_mode): os.write(fd, b'[' * 65536)
        except OSError: pass
"""
    with production.of(body(attack), functions=BOTH, bounds=ReplayBounds(reply_bytes=200_000)) as system:
        assert system.call("attack") == Died("the process wrote a reply that is too long")
        assert system.call("f") == Returned("fine")


@pytest.mark.parametrize(
    "text",
    ["NaN", "[1e999]", "9" * 5000, "[" * 100_000, '"\\ud800"', "{", "[" * 65 + "]" * 65, "99999999999999999999", '"\xff', "1 2"],
)
def test_a_forged_reply_with_the_right_nonce_is_still_parsed_within_bounds(production: Production, text: str) -> None:
    attack = f"""
import stat
frame = sys._getframe()
while 'nonce' not in frame.f_locals: frame = frame.f_back
line = frame.f_locals['nonce'].encode() + b' R ' + {text!r}.encode('latin-1') + b'\\n'
os.write(frame.f_locals['replies'], line)
os._exit(0)
"""
    with production.of(body(attack), functions=BOTH) as system:
        assert system.call("attack") == FORGED
        assert system.call("f") == Returned("fine")


def test_a_forged_reply_gains_nothing_over_a_returned_value(production: Production) -> None:
    attack = """
frame = sys._getframe()
while 'nonce' not in frame.f_locals: frame = frame.f_back
os.write(frame.f_locals['replies'], frame.f_locals['nonce'].encode() + b' E ["A", "b\\\\u0007\\\\nc", "x\\\\ny", "t"]\\n')
os._exit(0)
"""
    with production.of(body(attack), functions=BOTH) as system:
        assert system.call("attack") == Raised("A", "b?\nc", "t")
        assert system.notes == ["attack raised A: b? c in x y on 1 of 1 call"]


def test_no_call_can_be_seen_before_its_turn(production: Production) -> None:
    code = f"""
        import os, fcntl
        def f(n):
            seen = b""
            for fd in {EVERY_FD}:
                try:
                    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_NONBLOCK)
                    seen += os.read(fd, 100000)
                except OSError:
                    pass
                finally:
                    try: fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) & ~os.O_NONBLOCK)
                    except OSError: pass
            return seen.decode()
        """
    with production.of(code) as system:
        assert system.calls("f", [[n] for n in range(50)]) == [Returned("")] * 50


@pytest.mark.parametrize(
    "definition",
    [
        """
        class E(dict):
            def __iter__(self): raise BaseException
            items = keys = values = __len__ = __eq__ = __iter__
        value = E(a=1)
        """,
        """
        class S(str):
            def __str__(self): raise BaseException
            encode = __eq__ = __hash__ = __str__
        value = {"a": S("b")}
        """,
        """
        class I(int):
            def __int__(self): raise BaseException
            __le__ = __lt__ = __ge__ = __repr__ = __str__ = __int__
        value = [I(1)]
        """,
        """
        class L(list):
            def __iter__(self): raise BaseException
            __len__ = __getitem__ = __eq__ = __iter__
        value = L([1])
        """,
        """
        class F(float):
            def __float__(self): raise BaseException
            __repr__ = __eq__ = __str__ = __float__
        value = F(2.5)
        """,
    ],
)
def test_hostile_values_become_plain(production: Production, definition: str) -> None:
    with production.of(f"{dedent(definition)}\ndef f(): return value") as system:
        outcome = system.call("f")
        assert isinstance(outcome, Returned)
        assert outcome.value in ({"a": 1}, {"a": "b"}, [1], 2.5)


@pytest.mark.parametrize(
    "definition",
    [
        "class E(Exception):\n    def __str__(self): raise E\n    __repr__ = __str__",
        "class E(Exception):\n    def __str__(self): return 'x' * (1 << 20) + chr(0xd800)",
        "class M(type):\n    __name__ = property(lambda self: 1 / 0)\nclass E(Exception, metaclass=M): pass",
        "class E(Exception):\n    __traceback__ = property(lambda self: self)\n    __class__ = int",
        "class E(SyntaxError):\n    filename = property(lambda self: 1 / 0)",
        "E = type('E' * 100000 + chr(10) + chr(0x202e), (BaseException,), {})",
    ],
)
def test_hostile_exceptions_are_put_into_words(production: Production, definition: str) -> None:
    with production.of(f"{definition}\ndef f(): raise E\ndef g(): return 1", functions={"f": 60, "g": 60}) as system:
        outcome = system.call("f")
        assert isinstance(outcome, Raised)
        assert len(outcome.error) <= 100
        assert len(outcome.message) <= 500
        "".join([outcome.error, outcome.message, outcome.traceback, *system.notes]).encode()
        assert system.call("g") == Returned(1)


def test_a_value_that_would_never_be_written_down_is_late(production: Production) -> None:
    code = "def f():\n    x = []\n    for _ in range(60): x = [x, x]\n    return x\ndef g(): return 1"
    with production.of(code, functions={"f": 1.5, "g": 60}, bounds=ReplayBounds(memory_bytes=300 << 20)) as system:
        assert not isinstance(system.call("f"), Returned)
        assert system.call("g") == Returned(1)


def test_a_copy_of_the_process_that_comes_back_from_the_call_is_silent(production: Production) -> None:
    with production.of("import os\ndef f():\n    os.fork()\n    return 1") as system:
        assert system.calls("f", [[]] * 10) == [Returned(1)] * 10


def test_a_daemon_does_not_outlive_the_replay(production: Production, tmp_path: Path) -> None:
    code = """
        import os, time
        def f():
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    while True:
                        open("system/alive", "w").close()
                        time.sleep(0.01)
                os._exit(0)
            while not os.path.exists("system/alive"): time.sleep(0.01)
            return os.getcwd()
        """
    with production.of(code) as system:
        outcome = system.call("f")
    assert isinstance(outcome, Returned)
    assert not Path(outcome.value).exists()


def test_a_folder_made_hard_to_remove_is_removed(production: Production) -> None:
    code = """
        import os
        def f():
            home = os.getcwd()
            for _ in range(1200):
                os.mkdir("d" * 50)
                os.chdir("d" * 50)
            os.chdir(home)
            os.symlink("/etc", "system/etc")
            os.mkfifo("system/fifo")
            os.chmod("system", 0)
            os.chmod(".", 0)
            return home
        """
    with production.of(code) as system:
        outcome = system.call("f")
    assert isinstance(outcome, Returned)
    assert not Path(outcome.value).parent.exists()


def test_import_that_never_ends_costs_its_own_calls_only(production: Production) -> None:
    files = {"system/good.py": "def g(): return 1"}
    code = "import os\nif os.path.exists('system/stuck'):\n    while True: pass\ndef f(): pass"
    with production.of(code, files={**files, "system/stuck": ""}, bounds=ReplayBounds(load_seconds=1.5)) as system:
        assert system.calls("f", [[]] * 20) == [TimedOut(1.5)] * 20
        assert system.notes == ["f gave no answer within 1.5 s on 20 of 20 calls"]


def test_import_that_ends_the_process_costs_its_own_calls_only(production: Production) -> None:
    code = "import os\nos._exit(5)"
    with production.of(code, functions={"f": 60, "g": 60}) as system:
        assert system.calls("f", [[]] * 9) == [Died("the process ended with exit code 5")] * 9


def test_signal_handler_that_raises_anywhere_ends_the_process_at_most(production: Production) -> None:
    code = """
        import signal
        def f():
            signal.signal(signal.SIGALRM, lambda *a: 1 / 0)
            signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
            return 1
        def g(): return 2
        """
    with production.of(code, functions={"f": 60, "g": 60}) as system:
        system.call("f")
        assert all(isinstance(outcome, Returned | Raised | Died) for outcome in system.calls("g", [[]] * 50))


def test_filling_the_disk_is_stopped(production: Production) -> None:
    code = """
        def f():
            n = 0
            while True:
                n += 1
                with open(f"system/{n}", "wb") as file: file.write(b"x" * (1 << 20))
        def g(): return 1
        """
    bounds = ReplayBounds(disk_bytes=50 << 20)
    with production.of(code, functions={"f": 60, "g": 60}, bounds=bounds) as system:
        outcome = system.call("f")
        assert isinstance(outcome, Died)
        assert outcome.reason.startswith("it wrote more than 5")


def test_a_single_file_is_bounded(production: Production) -> None:
    code = "def f():\n    with open('system/giant', 'wb') as file:\n        while True: file.write(b'x' * (1 << 20))"
    with production.of(code, bounds=ReplayBounds(file_bytes=4 << 20)) as system:
        outcome = system.call("f")
        assert isinstance(outcome, Raised)
        assert (outcome.error, outcome.message) == ("OSError", "[Errno 27] File too large")


def test_no_recursion_limit(production: Production) -> None:
    code = "import sys\ndef f():\n    sys.setrecursionlimit(1 << 30)\n    def g(x): return g([x])\n    return g(1)\ndef h(): return 1"
    with production.of(code, functions={"f": 2, "h": 60}) as system:
        assert isinstance(system.call("f"), Died | Raised | TimedOut)
        assert system.call("h") == Returned(1)
