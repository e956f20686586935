"""Loading the agent that --fde-agent names: real files, real modules."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from pytest_fdegym.agents.loading import load
from pytest_fdegym.agents.resolve import ENTRY_POINT_GROUP, Agent, parse
from pytest_fdegym.errors import AgentNotFound, UsageError


@pytest.fixture(autouse=True)
def _imports_restored() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def write(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(dedent(text))


def resolve(text: str, folder: Path, **options: str) -> Agent:
    return load(parse(text, {}), folder, options, {})


def failure(text: str, folder: Path, **options: str) -> str:
    with pytest.raises(UsageError) as caught:
        resolve(text, folder, **options)
    return str(caught.value)


# --- which callable of a file ---


def test_file_with_a_named_callable(tmp_path: Path) -> None:
    write(tmp_path, "sub/mine.py", "def first(e): return 1\ndef second(e): return 2\n")
    assert resolve("sub/mine.py:second", tmp_path)(None) == 2


def test_file_whose_callable_is_called_agent(tmp_path: Path) -> None:
    write(tmp_path, "mine.py", "def helper(e): return 1\ndef agent(e): return 2\n")
    assert resolve("mine.py", tmp_path)(None) == 2


def test_file_with_one_public_callable(tmp_path: Path) -> None:
    write(tmp_path, "mine.py", "from pathlib import Path\nfrom textwrap import dedent\ndef _private(e): ...\ndef work(e): return 3\n")
    assert resolve("mine.py", tmp_path)(None) == 3


def test_file_finds_its_neighbours(tmp_path: Path) -> None:
    write(tmp_path, "agents/fde_test_neighbour.py", "ANSWER = 42\n")
    write(tmp_path, "agents/mine.py", "from fde_test_neighbour import ANSWER\ndef agent(e): return ANSWER\n")
    assert resolve("agents/mine.py", tmp_path)(None) == 42


def test_file_may_hold_dataclasses(tmp_path: Path) -> None:
    write(
        tmp_path,
        "mine.py",
        """\
        from __future__ import annotations
        from dataclasses import dataclass
        @dataclass
        class _Notes:
            text: str = "kept"
        def agent(e): return _Notes().text
        """,
    )
    assert resolve("mine.py", tmp_path)(None) == "kept"


def test_several_callables(tmp_path: Path) -> None:
    write(tmp_path, "mine.py", "def first(e): ...\ndef second(e): ...\n")
    assert failure("mine.py", tmp_path) == (
        f"--fde-agent=mine.py: {tmp_path}/mine.py defines several callables and none is called 'agent'. "
        "Say which: mine.py:first, mine.py:second."
    )


def test_no_callable(tmp_path: Path) -> None:
    write(tmp_path, "mine.py", "X = 1\n")
    assert failure("mine.py", tmp_path) == (
        f"--fde-agent=mine.py: {tmp_path}/mine.py defines no callable; one that takes an Engagement is expected."
    )


def test_no_such_callable(tmp_path: Path) -> None:
    write(tmp_path, "mine.py", "def work(e): ...\n")
    assert failure("mine.py:wrok", tmp_path) == (
        f"--fde-agent=mine.py:wrok: {tmp_path}/mine.py has no 'wrok'. Did you mean 'work'? Callables there: work."
    )


def test_no_such_file(tmp_path: Path) -> None:
    write(tmp_path, "mine.py", "def work(e): ...\n")
    assert failure("mien.py", tmp_path) == f"--fde-agent=mien.py: there is no file {tmp_path}/mien.py. Did you mean 'mine.py'?"


@pytest.mark.parametrize(("value", "what"), [("'gpt'", "a str ('gpt')"), ("3", "an int (3)"), ("None", "None")])
def test_not_callable(tmp_path: Path, value: str, what: str) -> None:
    write(tmp_path, "mine.py", f"agent = {value}\n")
    assert failure("mine.py", tmp_path) == f"--fde-agent=mine.py is {what}; an agent is a callable that takes an Engagement."


@pytest.mark.parametrize(
    ("agent", "options", "parameters"),
    [
        ("def agent(): ...", {}, "()"),
        ("def agent(): ...", {"size": "1"}, "()"),
        ("agent = lambda: None", {}, "()"),
        ("def agent(e, other, /): ...", {}, "(e, other, /)"),
        ("def agent(**options): ...", {"size": "1"}, "(**options)"),
        ("class agent:\n    def __call__(self): ...", {}, "()"),
    ],
)
def test_takes_no_engagement(tmp_path: Path, agent: str, options: dict[str, str], parameters: str) -> None:
    write(tmp_path, "mine.py", f"{agent}\n")
    assert failure("mine.py", tmp_path, **options) == (
        f"--fde-agent=mine.py does not take an Engagement: it would be called with that alone, and its parameters are {parameters}."
    )


# --- code that fails to import ---


def test_error_at_import_is_shown_with_the_agents_own_traceback(tmp_path: Path) -> None:
    write(tmp_path, "mine.py", "def boom():\n    raise RuntimeError('no key')\nboom()\n")
    assert failure("mine.py", tmp_path) == dedent(f"""\
        --fde-agent=mine.py: importing {tmp_path}/mine.py failed
        Traceback (most recent call last):
          File "{tmp_path}/mine.py", line 3, in <module>
            boom()
          File "{tmp_path}/mine.py", line 2, in boom
            raise RuntimeError('no key')
        RuntimeError: no key""")


def test_syntax_error(tmp_path: Path) -> None:
    write(tmp_path, "mine.py", "def agent(:\n")
    text = failure("mine.py", tmp_path)
    assert text.splitlines()[:2] == [
        f"--fde-agent=mine.py: importing {tmp_path}/mine.py failed",
        f'  File "{tmp_path}/mine.py", line 1',
    ]
    assert "pytest_fdegym" not in text


def test_exit_at_import(tmp_path: Path) -> None:
    write(tmp_path, "mine.py", "import sys\nsys.exit('set MY_KEY')\n")
    assert failure("mine.py", tmp_path).splitlines()[-1] == "SystemExit: set MY_KEY"


# --- modules ---


def test_module_of_the_directory(tmp_path: Path) -> None:
    write(tmp_path, "fde_test_pkg/mine.py", "class Holder:\n    @staticmethod\n    def run(e): return 5\n")
    assert resolve("fde_test_pkg.mine:Holder.run", tmp_path)(None) == 5


def test_no_such_module(tmp_path: Path) -> None:
    assert failure("solutions:literal", tmp_path) == (
        "--fde-agent=solutions:literal: No module named 'solutions'. Did you mean 'solution'?"
    )


def test_module_that_lacks_a_dependency_shows_where(tmp_path: Path) -> None:
    write(tmp_path, "fde_test_mine.py", "import fde_test_not_there\n")
    assert failure("fde_test_mine:agent", tmp_path) == dedent(f"""\
        --fde-agent=fde_test_mine:agent: importing fde_test_mine failed
        Traceback (most recent call last):
          File "{tmp_path}/fde_test_mine.py", line 1, in <module>
            import fde_test_not_there
        ModuleNotFoundError: No module named 'fde_test_not_there'""")


def test_entry_point_whose_package_is_broken(tmp_path: Path) -> None:
    write(tmp_path, "fde_test_broken.py", "raise ValueError('bad build')\n")
    sys.path.append(str(tmp_path))
    installed = {"house": [EntryPoint("house", "fde_test_broken:agent", ENTRY_POINT_GROUP)]}
    with pytest.raises(AgentNotFound) as caught:
        load(parse("house", installed), tmp_path, {}, installed)
    assert str(caught.value) == dedent(f"""\
        --fde-agent=house: importing fde_test_broken:agent failed
        Traceback (most recent call last):
          File "{tmp_path}/fde_test_broken.py", line 1, in <module>
            raise ValueError('bad build')
        ValueError: bad build""")


# --- options, classes ---

WITH_OPTIONS = "def agent(e, model='small', *, depth='1'): return model, depth\n"


def test_options_become_keyword_arguments(tmp_path: Path) -> None:
    write(tmp_path, "mine.py", WITH_OPTIONS)
    assert resolve("mine.py", tmp_path, depth="3")(None) == ("small", "3")


def test_unknown_option(tmp_path: Path) -> None:
    write(tmp_path, "mine.py", WITH_OPTIONS)
    assert failure("mine.py", tmp_path, modle="big") == (
        "--fde-agent-opt modle=big: the agent mine.py has no such option. Did you mean 'model'? It takes: model, depth."
    )


def test_the_engagement_is_no_option(tmp_path: Path) -> None:
    write(tmp_path, "mine.py", "def agent(engagement): ...\n")
    assert failure("mine.py", tmp_path, engagement="x") == (
        "--fde-agent-opt engagement=x: the agent mine.py has no such option. It takes none."
    )


def test_missing_option(tmp_path: Path) -> None:
    write(tmp_path, "mine.py", "def agent(e, model, *, key): ...\n")
    assert failure("mine.py", tmp_path) == "--fde-agent=mine.py needs --fde-agent-opt model=... --fde-agent-opt key=..."


def test_any_option(tmp_path: Path) -> None:
    write(tmp_path, "mine.py", "def agent(e, **options): return options\n")
    assert resolve("mine.py", tmp_path, anything="1")(None) == {"anything": "1"}


CLASS = """\
class Agent:
    def __init__(self, model='small'): self.model = model
    def __call__(self, engagement): return self.model
"""


@pytest.mark.parametrize(("options", "model"), [({}, "small"), ({"model": "big"}, "big")])
def test_class_is_instantiated_with_the_options(tmp_path: Path, options: dict[str, Any], model: str) -> None:
    write(tmp_path, "mine.py", CLASS)
    assert resolve("mine.py:Agent", tmp_path, **options)(None) == model


def test_class_without_call(tmp_path: Path) -> None:
    write(tmp_path, "mine.py", "class Agent: ...\n")
    assert failure("mine.py", tmp_path) == (
        "--fde-agent=mine.py is the class Agent, which has no __call__; an agent is a callable that takes an Engagement."
    )


def test_class_that_cannot_be_made(tmp_path: Path) -> None:
    write(tmp_path, "mine.py", "class Agent:\n    def __init__(self):\n        raise OSError('no model')\n    def __call__(self, e): ...\n")
    assert failure("mine.py", tmp_path) == dedent(f"""\
        --fde-agent=mine.py: making an instance of Agent failed
        Traceback (most recent call last):
          File "{tmp_path}/mine.py", line 3, in __init__
            raise OSError('no model')
        OSError: no model""")
