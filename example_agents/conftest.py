"""A fixture that gives the agent: ``pytest --fde-agent=myagent`` finds it by its name.

Copy this file and scripted.py into an empty folder and run pytest there. (pytest puts the folder of a conftest.py on the import path,
so that ``scripted`` is found.) Everything that a fixture of a test can do works here too: scopes, params, other fixtures, teardown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import scripted

from pytest_fdegym.agents.engagement import Engagement


@pytest.fixture
def myagent(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[Engagement], None]]:
    """The scripted agent, with its conversation kept in a file."""
    # Before the run: start here what the agent needs (a model client, a container). `request.node` is the item, one task at one level.
    transcript = tmp_path / f"{request.node.name}.txt"

    def agent(engagement: Engagement) -> None:
        scripted.agent(engagement)
        lines = (f"to {line.person}: {line.message}\n{line.reply}\n" for line in engagement.log())
        transcript.write_text("\n".join(lines), encoding="utf-8")

    yield agent
    # After the verdict: stop what was started.
    print(f"the conversation of {request.node.name} is in {transcript}")
