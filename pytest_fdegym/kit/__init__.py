"""What authors of a scenario's ``world.py`` share; documented for them in docs."""

from pytest_fdegym.scenario.world import (
    DeployedSystem,
    Died,
    Evidence,
    Heldout,
    Incident,
    Measurement,
    Operations,
    Outcome,
    Raised,
    Returned,
    SignOff,
    TableChange,
    TimedOut,
    TrialReport,
    World,
)

__all__ = [
    "DeployedSystem",
    "Died",
    "Evidence",
    "Heldout",
    "Incident",
    "Measurement",
    "Operations",
    "Outcome",
    "Raised",
    "Returned",
    "SignOff",
    "TableChange",
    "TimedOut",
    "TrialReport",
    "World",
]
