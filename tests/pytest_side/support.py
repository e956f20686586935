"""Reading what a pytest run printed."""

from __future__ import annotations

import pytest


def collected(result: pytest.RunResult) -> list[str]:
    """The ids that ``--collect-only -q`` printed."""
    return [line for line in result.outlines if "::" in line and not line.startswith(("ERROR", "FAILED"))]


def usage_error(result: pytest.RunResult) -> str:
    """The message of a refused command line."""
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = "\n".join(result.errlines).strip()
    assert text.startswith("ERROR: ")
    return text.removeprefix("ERROR: ")
