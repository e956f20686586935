"""What authors of a scenario's ``world.py`` share; docs/authoring.md shows how it is used."""

from pytest_fdegym.kit.calls import CallLog
from pytest_fdegym.kit.dates import days_from, month_after
from pytest_fdegym.kit.luck import share_of
from pytest_fdegym.kit.tables import insert_rows, new_database, table_incidents
from pytest_fdegym.kit.values import json_object, plain_number, plain_text, texts_in
from pytest_fdegym.kit.wording import listed
from pytest_fdegym.scenario.world import (
    DeployedSystem,
    Died,
    Evidence,
    GatewayCall,
    GatewayRequest,
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
    "CallLog",
    "DeployedSystem",
    "Died",
    "Evidence",
    "GatewayCall",
    "GatewayRequest",
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
    "days_from",
    "insert_rows",
    "json_object",
    "listed",
    "month_after",
    "new_database",
    "plain_number",
    "plain_text",
    "share_of",
    "table_incidents",
    "texts_in",
]
