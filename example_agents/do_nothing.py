"""The smallest agent: it reads the task and hands the system over as it found it.

Its score is 0 by definition, so it is what every other agent has to beat, and the quickest way to see a whole run:

    pytest --fde-agent=do_nothing.py
"""

from __future__ import annotations

from pytest_fdegym.agents.engagement import Engagement


def agent(engagement: Engagement) -> None:
    """Hand over at once."""
    print(engagement.brief.splitlines()[0])
