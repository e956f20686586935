"""What ``--fde-agent=five-tools`` takes, and what it says to options, models and environments that are not right."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent
from typing import get_args

import pytest
from pydantic_ai.models import KnownModelName
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel

from pytest_fdegym.agents.five_tools.built_in import five_tools
from pytest_fdegym.agents.five_tools.model import named_model
from pytest_fdegym.agents.five_tools.options import FiveToolOptions, read_options
from pytest_fdegym.errors import AgentNotFound, UsageError

LISTED = next(name for name in get_args(KnownModelName.__value__) if name.startswith("openai:"))
"""Some model that pydantic-ai lists today."""


def refusal(directory: Path, **options: str) -> str:
    with pytest.raises(UsageError) as caught:
        five_tools(options, "five-tools", directory)
    return str(caught.value)


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))


def test_options_are_read_from_text() -> None:
    assert read_options(
        {"model": "openai:gpt-5", "temperature": "0.2", "max_output_tokens": "900", "context_tokens": "50000"}, "five-tools"
    ) == (FiveToolOptions(model="openai:gpt-5", temperature=0.2, max_output_tokens=900, context_tokens=50_000))


def test_only_the_model_has_to_be_given() -> None:
    assert read_options({"model": "openai:gpt-5"}, "five-tools") == FiveToolOptions(
        model="openai:gpt-5", temperature=None, max_output_tokens=None, context_tokens=120_000
    )


def test_without_a_model(tmp_path: Path) -> None:
    assert refusal(tmp_path) == "--fde-agent=five-tools needs --fde-agent-opt model=PROVIDER:NAME, for example model=openai:gpt-6.1-sol."


def test_unknown_option(tmp_path: Path) -> None:
    assert refusal(tmp_path, modle="openai:gpt-5") == (
        "--fde-agent-opt modle=openai:gpt-5: the agent five-tools has no such option. Did you mean 'model'? "
        "It takes: model, temperature, max_output_tokens, context_tokens."
    )


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        ("temperature", "hot", "a number from 0 to 2"),
        ("temperature", "-0.1", "a number from 0 to 2"),
        ("temperature", "nan", "a number from 0 to 2"),
        ("max_output_tokens", "0", "a whole number from 1"),
        ("max_output_tokens", "1.5", "a whole number from 1"),
        ("context_tokens", "many", "a whole number from 4000"),
        ("context_tokens", "3999", "a whole number from 4000"),
    ],
)
def test_wrong_values(tmp_path: Path, name: str, value: str, accepted: str) -> None:
    assert refusal(tmp_path, model="openai:gpt-5", **{name: value}) == f"--fde-agent-opt {name}={value}: {accepted} is expected."


def test_an_empty_model(tmp_path: Path) -> None:
    assert (
        refusal(tmp_path, model="") == "--fde-agent-opt model=: PROVIDER:NAME as pydantic-ai takes it, or package.module:NAME, is expected."
    )


# --- which model ---


@pytest.mark.parametrize("name", ["openai:gpt-5", "openai-chat:gpt-4o", "openai:one-that-came-out-today", "test"])
def test_models_of_pydantic_ai_are_made_in_the_run(tmp_path: Path, name: str) -> None:
    assert named_model(name, tmp_path) == name


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        (LISTED.removeprefix("openai:"), f" Did you mean {LISTED!r}?"),
        ("opnai:gpt-5", " Did you mean 'openai:gpt-5'?"),
        ("antropic:claude-of-tomorrow", " Did you mean 'anthropic:claude-of-tomorrow'?"),
        ("something", ""),
        ("no.such.module:model", ""),
    ],
)
def test_unknown_model(tmp_path: Path, name: str, hint: str) -> None:
    assert refusal(tmp_path, model=name) == (
        f"--fde-agent-opt model={name}: pydantic-ai knows no such model.{hint} PROVIDER:NAME is expected, or package.module:NAME."
    )


def test_a_key_that_is_not_set(tmp_path: Path) -> None:
    assert refusal(tmp_path, model="anthropic:claude-sonnet-4-5") == (
        "--fde-agent-opt model=anthropic:claude-sonnet-4-5: Set the `ANTHROPIC_API_KEY` environment variable or pass it via "
        "`AnthropicProvider(api_key=...)` to use the Anthropic provider."
    )


def test_a_provider_whose_package_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "groq", None)
    assert refusal(tmp_path, model="groq:llama").startswith("--fde-agent-opt model=groq:llama: Please install the `groq` package")


MODULE = """\
from pydantic_ai.models.test import TestModel

MODEL = TestModel()
NUMBER = 3

def answer(messages, info):
    ...
"""


def test_a_model_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "fde_test_models.py").write_text(MODULE)
    assert isinstance(named_model("fde_test_models:MODEL", tmp_path), TestModel)
    assert isinstance(named_model("fde_test_models:answer", tmp_path), FunctionModel)
    assert refusal(tmp_path, model="fde_test_models:anser") == (
        "--fde-agent-opt model=fde_test_models:anser: fde_test_models has no 'anser'. Did you mean 'answer'?"
    )
    assert refusal(tmp_path, model="fde_test_models:NUMBER") == (
        "--fde-agent-opt model=fde_test_models:NUMBER is an int (3); a model of pydantic-ai is expected, "
        "or a function as its FunctionModel takes it."
    )


def test_a_module_that_fails_is_shown_with_its_own_traceback(tmp_path: Path) -> None:
    (tmp_path / "fde_test_broken_models.py").write_text("raise RuntimeError('no weights')\n")
    with pytest.raises(AgentNotFound) as caught:
        named_model("fde_test_broken_models:answer", tmp_path)
    assert str(caught.value) == dedent(f"""\
        --fde-agent-opt model=fde_test_broken_models:answer: importing fde_test_broken_models failed
        Traceback (most recent call last):
          File "{tmp_path}/fde_test_broken_models.py", line 1, in <module>
            raise RuntimeError('no weights')
        RuntimeError: no weights""")
