"""What production gets from a delivery that does as it should, or fails as software does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_fdegym.deployment.host import Deployment, ReplayBounds
from pytest_fdegym.errors import InfrastructureFault, ScenarioError
from pytest_fdegym.sandbox.base import Bounds, Layout, Sandbox, SandboxedProcess
from pytest_fdegym.scenario.model import EntryPoint
from pytest_fdegym.scenario.world import Died, Outcome, Raised, Returned, TimedOut

from .conftest import Production, scenario


def test_values_go_there_and_back(production: Production) -> None:
    value: dict[str, object] = {"text": "Größe \u2028 🍏", "list": [1, -2.5, True, None, []], "deep": {"er": {}}}
    with production.of("def f(x, *more): return [x, len(more)]") as system:
        assert system.call("f", value, 1, 2) == Returned([value, 2])
        assert system.notes == []


def test_calls_are_made_in_order_on_one_process(production: Production) -> None:
    with production.of("seen = []\ndef f(x):\n    seen.append(x)\n    return list(seen)") as system:
        assert system.calls("f", [[1], [2]]) == [Returned([1]), Returned([1, 2])]
        assert system.call("f", 3) == Returned([1, 2, 3])


def test_large_arguments_and_answers_pass(production: Production) -> None:
    with production.of("def f(x): return x") as system:
        assert system.call("f", "x" * 3_000_000) == Returned("x" * 3_000_000)


def test_imports_work_as_when_run_by_hand(production: Production) -> None:
    files = {"system/npt/rules.py": "LIMIT = 7", "system/npt/tools.py": "from . import rules", "system/shared.py": "NAME = 'shared'"}
    code = "import rules\nfrom system import shared\nfrom . import tools\ndef f(): return [rules.LIMIT, tools.rules.LIMIT, shared.NAME]"
    with production.of(code, entry_file="system/npt/coder.py", files=files) as system:
        assert system.call("f") == Returned([7, 7, "shared"])


@pytest.mark.parametrize("file", ["system/code.py", "system/v1.2/coder.py", "system/class/coder.py", "system/json/packing.py"])
def test_any_file_name_can_be_an_entry_point(production: Production, file: str) -> None:
    with production.of("def f(): return __file__.rsplit('/work/')[1]", entry_file=file) as system:
        assert system.call("f") == Returned(file)


def test_a_folder_may_be_called_like_a_standard_module(production: Production, tmp_path: Path, sandbox: Sandbox) -> None:
    (tmp_path / "frozen/code").mkdir(parents=True)
    (tmp_path / "frozen/code/packing.py").write_text("def f(): return 'packed'")
    entry = EntryPoint(file="code/packing.py", function="f", seconds=60)
    with Deployment(tmp_path / "frozen", scenario({"f": entry}, {}, ("code",)), {}, sandbox) as system:
        assert system.call("f") == Returned("packed")


def test_code_may_read_its_own_files_and_write_beside_them(production: Production) -> None:
    code = """
        from pathlib import Path
        def f():
            (Path(__file__).parent / "state.json").write_text("kept")
            return [Path("system/rules.csv").read_text(), Path("system/state.json").read_text()]
        """
    with production.of(code, files={"system/rules.csv": "a,b"}) as system:
        assert system.call("f") == Returned(["a,b", "kept"])


def test_nothing_of_the_harness_is_in_the_environment(production: Production, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    code = """
        import os, sys
        def f(): return [sorted(os.environ), [path for path in sys.path if "packages" in path], sys.argv, bool(sys.dont_write_bytecode)]
        """
    with production.of(code) as system:
        outcome = system.call("f")
    assert isinstance(outcome, Returned)
    names, packages, argv, no_bytecode = outcome.value
    assert not {name for name in names if "TOKEN" in name or "PYTEST" in name or name == "VIRTUAL_ENV"}
    assert (packages, argv, no_bytecode) == ([], [""], True)


def test_exception_is_an_outcome_with_its_place(production: Production) -> None:
    with production.of("\ndef f(event):\n    return event['owner']", functions={"f": 60, "g": 60}) as system:
        outcomes = system.calls("f", [[{}], [{"owner": 1}], [{}]])
        assert outcomes[0] == Raised("KeyError", "'owner'", "  system/packing.py, line 3, in f\nKeyError: 'owner'")
        assert outcomes[1:] == [Returned(1), outcomes[0]]
        assert isinstance(system.call("g"), Raised)
        assert system.notes == [
            "f raised KeyError: 'owner' in system/packing.py line 3 on 2 of 3 calls",
            "g raised AttributeError: module 'system.packing' has no attribute 'g' on 1 of 1 call",
        ]


def test_import_error_is_told_once_and_only_where_it_matters(production: Production, tmp_path: Path, sandbox: Sandbox) -> None:
    system_folder = tmp_path / "frozen/system"
    system_folder.mkdir(parents=True)
    (system_folder / "good.py").write_text("def f(): return 1")
    (system_folder / "bad.py").write_text("import csv\n\nimport numpy\ndef f(): return 1")
    (system_folder / "worse.py").write_text("def f(:\n")
    entries = {name: EntryPoint(file=f"system/{name}.py", function="f", seconds=60) for name in ("good", "bad", "worse", "absent")}
    with Deployment(tmp_path / "frozen", scenario(entries, {}), {}, sandbox) as system:
        assert system.call("good") == Returned(1)
        assert (
            system.calls("bad", [[]] * 3)
            == [
                Raised(
                    "ModuleNotFoundError",
                    "No module named 'numpy' (system/bad.py line 3)",
                    "  system/bad.py, line 3, in <module>\nModuleNotFoundError: No module named 'numpy'",
                )
            ]
            * 3
        )
        worse = system.call("worse")
        assert isinstance(worse, Raised)
        assert (worse.error, worse.message[-22:]) == ("SyntaxError", "(system/worse.py line 1)"[-22:])
        assert system.call("absent") == Raised(
            "FileNotFoundError", "system/absent.py is missing", "FileNotFoundError: system/absent.py is missing"
        )
        assert system.call("good") == Returned(1)
        assert system.notes[0] == "bad raised ModuleNotFoundError: No module named 'numpy' (system/bad.py line 3) on 3 of 3 calls"


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("raise SystemExit(3)", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("f()", "RecursionError"),
        ("return bytearray(1 << 40)", "MemoryError"),
        ("raise ExceptionGroup('several', [ValueError('x')])", "ExceptionGroup"),
        ("import sys; sys.exit('bye')", "SystemExit"),
        ("input()", "EOFError"),
    ],
)
def test_every_exception_is_raised_and_the_process_goes_on(production: Production, statement: str, error: str) -> None:
    with production.of(
        f"count = 0\ndef f():\n    {statement}\ndef g():\n    global count; count += 1; return count", functions={"f": 60, "g": 60}
    ) as system:
        system.call("g")
        outcome = system.call("f")
        assert isinstance(outcome, Raised)
        assert outcome.error == error
        assert system.call("g") == Returned(2)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("float('nan')", "the number nan"),
        ("[float('-inf')]", "the number -inf"),
        ("{1: 2}", "a key of type int"),
        ("{None: 2}", "a key of type NoneType"),
        ("{'a': {1, 2}}", "a value of type set"),
        ("b'bytes'", "a value of type bytes"),
        ("object()", "a value of type object"),
        ("1 << 64", "an integer of more than 64 bits"),
        ("10 ** 5000", "an integer of more than 64 bits"),
        ("'\\ud800'", "text with half a surrogate pair"),
        ("{'\\udfff': 1}", "text with half a surrogate pair"),
        ("eval('[' * 65 + ']' * 65)", "a value nested deeper than 64 levels"),
        ("(lambda a: a.append(a) or a)([])", "a value nested deeper than 64 levels"),
        ("'x' * 1001", "1,003 bytes of JSON, at most 1,000"),
    ],
)
def test_what_json_cannot_carry(production: Production, expression: str, message: str) -> None:
    with production.of(f"def f(): return {expression}", bounds=ReplayBounds(reply_bytes=1000)) as system:
        assert system.call("f") == Raised("NotJSON", message)
        assert system.notes == [f"f returned what JSON cannot carry ({message}) on 1 of 1 call"]


def test_64_levels_and_64_bits_are_carried(production: Production) -> None:
    deep: object = -(1 << 63)
    for _ in range(64):
        deep = [deep]
    with production.of("def f(): \n  x = -(1 << 63)\n  for _ in range(64): x = [x]\n  return x") as system:
        assert system.call("f") == Returned(deep)


def test_subclasses_of_plain_types_are_plain(production: Production) -> None:
    code = """
        from collections import OrderedDict, Counter, namedtuple
        from enum import IntEnum
        class Colour(IntEnum):
            RED = 1
        def f(): return [OrderedDict(a=1), Counter("aa"), namedtuple("P", "x y")(1, 2), Colour.RED]
        """
    with production.of(code) as system:
        assert system.call("f") == Returned([{"a": 1}, {"a": 2}, [1, 2], 1])


def test_a_call_that_does_not_come_back_is_late_and_the_next_one_gets_a_fresh_process(production: Production) -> None:
    code = "count = 0\ndef f(stuck):\n    global count\n    count += 1\n    while stuck: pass\n    return count"
    with production.of(code, functions={"f": 3}) as system:
        assert system.calls("f", [[False], [False], [True], [False]]) == [Returned(1), Returned(2), TimedOut(3), Returned(1)]
        assert system.notes == ["f gave no answer within 3 s on 1 of 4 calls"]


def test_restarts_are_bounded(production: Production) -> None:
    with production.of("import os\ndef f(): os._exit(3)", bounds=ReplayBounds(restarts=2)) as system:
        ended = Died("the process ended with exit code 3")
        refused = Died("the system had been restarted 2 times and was not started again")
        assert system.calls("f", [[]] * 5) == [ended, ended, ended, refused, refused]
        assert system.notes == [
            "f was not answered (the process ended with exit code 3) on 3 of 5 calls",
            "f was not answered (the system had been restarted 2 times and was not started again) on 2 of 5 calls",
        ]


def test_time_of_all_calls_is_bounded(production: Production) -> None:
    with production.of("def f():\n    while True: pass", bounds=ReplayBounds(total_seconds=1)) as system:
        assert system.calls("f", [[], []]) == [Died("the 1 s that the system had for all calls are used up")] * 2


def test_memory_of_all_answers_is_bounded(production: Production) -> None:
    with production.of("def f(): return [[]] * 1000", bounds=ReplayBounds(replies_bytes=300_000)) as system:
        outcomes = system.calls("f", [[]] * 4)
        refused = Raised("NotJSON", "all answers together take more than 300,000 bytes of memory")
        assert outcomes == [Returned([[]] * 1000), Returned([[]] * 1000), refused, refused]


def test_notes_of_a_delivery_that_fails_in_ever_new_ways_are_few(production: Production) -> None:
    code = "def f(n): raise type(f'Error{n}', (Exception,), {})('x\\n' * 1000)"
    with production.of(code) as system:
        system.calls("f", [[n] for n in range(100)])
        assert len(system.notes) == 9
        assert system.notes[0] == f"f raised Error0: {('x ' * 1000)[:157]}... in system/packing.py line 1 on 1 of 100 calls"
        assert system.notes[-1] == "f failed in further ways on 92 of 100 calls"


def test_read_gives_what_was_delivered(production: Production) -> None:
    files = {"system/release.json": "{}", "system/big.bin": "x" * 2000, "system/folder/x": ""}
    with production.of("def f(): open('system/release.json', 'w').write('changed')", files=files) as system:
        system.call("f")
        assert system.read("system/release.json") == b"{}"
        assert system.read("system/big.bin", max_bytes=1999) is None
        for path in (
            "system",
            "system/folder",
            "system/none",
            "../orchard.db",
            "/etc/passwd",
            "system/../system/release.json",
            "",
            "system/\0",
        ):
            assert system.read(path) is None, path


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("g",), "operate: call('g', ...): scenario.yaml has no such entry point."),
        (("pakc",), "operate: call('pakc', ...): scenario.yaml has no such entry point. Did you mean 'pack'?"),
        (
            ("pack", {1, 2}),
            "operate: call('pack', ...): the arguments are not JSON: Object of type set is not JSON serializable",
        ),
    ],
)
def test_mistakes_of_the_author_are_told(production: Production, args: tuple[str, object], message: str) -> None:
    with production.of("def pack(): pass", functions={"pack": 60}) as system, pytest.raises(ScenarioError) as caught:
        system.call(*args)
    assert str(caught.value) == message


def test_injecting_what_there_is_not_is_told(tmp_path: Path, sandbox: Sandbox) -> None:
    entry = EntryPoint(file="system/a.py", function="f", seconds=60, inject={"db": "orchard"})
    with pytest.raises(ScenarioError) as caught:
        Deployment(tmp_path, scenario({"f": entry}, {}), {}, sandbox)
    assert str(caught.value) == "scenario.yaml: entry_points.f.inject.db: there is no database 'orchard'."


class WithoutPython:
    """The real sandbox on a machine whose Python does not start."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self.name, self.way_out, self.run, self.give = sandbox.name, sandbox.way_out, sandbox.run, sandbox.give

    def start(self, command: Sequence[str], layout: Layout, bounds: Bounds) -> SandboxedProcess:
        return self._sandbox.start(["sh", "-c", "echo no libpython >&2; exit 127"], layout, bounds)


def test_a_machine_that_cannot_start_the_host_is_nobodys_score(production: Production, sandbox: Sandbox) -> None:
    production.sandbox = WithoutPython(sandbox)
    with production.of("def f(): pass") as system, pytest.raises(InfrastructureFault) as caught:
        system.call("f")
    assert str(caught.value) == (
        "the process that holds the delivered system could not be started: the process ended with exit code 127: no libpython"
    )


def test_the_same_delivery_and_calls_give_the_same_outcomes(production: Production) -> None:
    code = """
        import random, time
        class Thing: pass
        def f(n):
            if n % 3 == 0:
                raise ValueError(f"{Thing()} in {__file__}")
            return [list({"elstar", "gala", "boskoop", str(n)}), random.random(), hash("x"), time.tzname]
        """

    def outcomes() -> list[Outcome]:
        with production.of(code) as system:
            return system.calls("f", [[n] for n in range(10)])

    first = outcomes()
    assert first == outcomes()
    assert isinstance(first[0], Raised)
    assert first[0].message == "<system.packing.Thing object at 0x...> in system/packing.py"
