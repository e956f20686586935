"""Trial runs: the workspace's system as it stands, deployed on shadow traffic while the agent works."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_fdegym.channel.protocol import TrialCard
from pytest_fdegym.deployment.freeze import freeze
from pytest_fdegym.deployment.host import Deployment
from pytest_fdegym.gateway.models import Model
from pytest_fdegym.people.conversation import BadRequest, Conversation
from pytest_fdegym.sandbox.base import Sandbox
from pytest_fdegym.sandbox.ending import EndingSandbox
from pytest_fdegym.scratch import scratch_folder
from pytest_fdegym.workspace.prepare import PreparedTask


class Trials:
    """The trial runs that a customer allows in one engagement."""

    def __init__(
        self, prepared: PreparedTask, workspace: Path, sandbox: Sandbox, conversation: Conversation, gateway_model: Model | None
    ) -> None:
        self._prepared, self._workspace, self._sandbox = prepared, workspace, EndingSandbox(sandbox)
        self._conversation, self._gateway_model = conversation, gateway_model

    def end(self) -> None:
        """End the one that is being made, which then counts for nothing; no other can be made."""
        self._sandbox.end()

    def run(self) -> tuple[TrialCard, dict[str, Any]]:
        """Make the next one, with its charge; returns what the agent is shown, and what only the event log gets.

        Raises BadRequest (nothing is charged) when there is none, ScenarioError for the author's mistakes, and InfrastructureFault.
        """
        prepared, spec = self._prepared, self._prepared.file.trial
        if spec is None:
            raise BadRequest("trial runs are not possible here")
        number = self._conversation.ledger.trials + 1
        if number > spec.runs:
            raise BadRequest("no further trial run can be arranged")
        gateway = prepared.gateway("trial", self._gateway_model)
        with scratch_folder("fdetrial") as root:
            frozen = freeze(self._workspace, prepared.file.deployed, root / "frozen")
            with Deployment(frozen.root, prepared.file, prepared.databases, self._sandbox, gateway=gateway) as system:
                report = prepared.worlds.trial(system, number, prepared.world)
                system.close(look=False)
        if self._sandbox.ended:
            raise BadRequest("the engagement is over")
        notes = (*frozen.notes, *system.notes)
        charge = spec.charges[min(number, len(spec.charges)) - 1]
        self._conversation.record_trial(report.id, "\n".join([report.feedback, *notes]), charge, spec.minutes)
        calls = len(gateway.calls) if gateway is not None else 0
        card = TrialCard(id=report.id, feedback=report.feedback, notes=notes, finished_at=self._conversation.now)
        return card, {"values": dict(report.values), "gateway_calls": calls}
