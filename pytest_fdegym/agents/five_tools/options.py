"""What ``--fde-agent-opt`` may set of the five-tool agent; options come as text."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pytest_fdegym.errors import UsageError, nearest

CONTEXT_TOKENS = 120_000
"""Default of `context_tokens`: what models with a window of 128,000 tokens take, with room for an answer."""


class FiveToolOptions(BaseModel):
    """The options, with the words in which a wrong value is refused as their descriptions."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    model: str = Field(min_length=1, description="PROVIDER:NAME as pydantic-ai takes it, or package.module:NAME,")
    temperature: float | None = Field(default=None, ge=0, le=2, description="a number from 0 to 2")
    max_output_tokens: int | None = Field(default=None, ge=1, description="a whole number from 1")
    context_tokens: int = Field(default=CONTEXT_TOKENS, ge=4000, description="a whole number from 4000")


def read_options(given: Mapping[str, str], text: str) -> FiveToolOptions:
    """Read `given`; `text` is the value of --fde-agent. Raises UsageError for what is unknown, missing or no such value."""
    fields = FiveToolOptions.model_fields
    for name in given:
        if name not in fields:
            raise UsageError(
                f"--fde-agent-opt {name}={given[name]}: the agent {text} has no such option.{nearest(name, fields)} "
                f"It takes: {', '.join(fields)}."
            )
    if "model" not in given:
        raise UsageError(f"--fde-agent={text} needs --fde-agent-opt model=PROVIDER:NAME, for example model=openai:gpt-6.1-sol.")
    try:
        return FiveToolOptions.model_validate(dict(given))
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        raise UsageError(f"--fde-agent-opt {name}={given[name]}: {fields[name].description} is expected.") from None
