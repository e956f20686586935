"""Which runs are of the same agent, and what each agent is called in tables and reports."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from pytest_fdegym.results.record import AgentIdentity, Record
from pytest_fdegym.text import kept

LONGEST = 120
"""Characters of a label: an agent that is a command has the whole command among its options."""


def by_agent(records: Iterable[Record]) -> dict[str, list[Record]]:
    """The records of each agent by its label, sorted; version and options are in it only where the name does not tell agents apart."""
    identities: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        identities[record.agent.model_dump_json()].append(record)
    names = Counter(its[0].agent.name for its in identities.values())
    labelled: dict[str, list[Record]] = {}
    for _, its in sorted(identities.items(), key=lambda each: each[0]):
        agent = its[0].agent
        label = kept(agent.name if names[agent.name] == 1 else in_full(agent), LONGEST)
        again = sum(each == label or each.startswith(f"{label} #") for each in labelled)
        labelled[f"{label} #{again + 1}" if again else label] = its
    return dict(sorted(labelled.items()))


def in_full(agent: AgentIdentity) -> str:
    """Name, version and options."""
    return " ".join([agent.name, *([agent.version] if agent.version else []), *(f"{key}={value}" for key, value in agent.options.items())])
