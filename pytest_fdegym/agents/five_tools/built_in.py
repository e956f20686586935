"""Makes the agent of ``--fde-agent=five-tools`` from its options; the first place that imports what the ``llm`` extra brings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_fdegym.agents.five_tools.options import read_options
from pytest_fdegym.agents.resolve import Agent
from pytest_fdegym.errors import AgentNotFound


def five_tools(options: Mapping[str, str], text: str, directory: Path) -> Agent:
    """The agent. `text` is the value of --fde-agent, `directory` where a model's module is looked for too.

    Raises UsageError (AgentNotFound among them) for options it does not take, a model that nobody knows, and the missing extra.
    """
    read = read_options(options, text)
    try:
        import pydantic_ai  # noqa: F401, PLC0415
    except ModuleNotFoundError as error:
        if error.name != "pydantic_ai":
            raise
        raise AgentNotFound(f"--fde-agent={text} needs pydantic-ai, which is not installed: pip install 'pytest-fdegym[llm]'") from None
    from pytest_fdegym.agents.five_tools.agent import FiveToolAgent  # noqa: PLC0415  (needs the extra)
    from pytest_fdegym.agents.five_tools.model import named_model  # noqa: PLC0415

    return FiveToolAgent(
        named_model(read.model, directory),
        temperature=read.temperature,
        max_output_tokens=read.max_output_tokens,
        context_tokens=read.context_tokens,
    )
