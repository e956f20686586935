"""The check `canaries`: markers in every piece of truth of a planted copy, and a look through all that an agent and its delivery see.

What is covered, and what cannot be, is told in docs/authoring.md.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_fdegym.admission import canary_probe
from pytest_fdegym.admission.contents import contents
from pytest_fdegym.admission.planting import Markers, Planted, plant
from pytest_fdegym.admission.verdict import Verdict
from pytest_fdegym.admission.withheld import Unanswered, rows_in, rows_of, told_early, traffic
from pytest_fdegym.agents.command import CommandAgent
from pytest_fdegym.agents.metering import Meter, upstreams
from pytest_fdegym.agents.session import Ending, Session
from pytest_fdegym.channel.client import ChannelClient, RequestRefused
from pytest_fdegym.channel.protocol import AskRequest, LogCard, MailCard, PersonCard, ReplyCard, TrialCard, TrialRequest
from pytest_fdegym.deployment.host import Deployment
from pytest_fdegym.engage import Engagements
from pytest_fdegym.errors import InfrastructureFault
from pytest_fdegym.limits import Limits
from pytest_fdegym.observer import Observers
from pytest_fdegym.people.router import default_router
from pytest_fdegym.results.record import AgentIdentity
from pytest_fdegym.runner import Case, Settings
from pytest_fdegym.scenario.model import Level
from pytest_fdegym.scenario.scenario import Scenario
from pytest_fdegym.scenario.world import GatewayRequest, Returned
from pytest_fdegym.scratch import scratch_folder
from pytest_fdegym.stopwatch import Stopwatch
from pytest_fdegym.workspace.prepare import PreparedTask, PreparedTasks

LEVEL: Level = "L3"
"""At which rules and scoring are not stated."""
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "FDEGYM_CANARY")
"""Variables of the harness's environment that hold a marker while the check looks."""
UNCONFINED = "no sandbox: what commands and deliveries see was not looked at"
_PROBE = ".canary_probe.py"
_IN_HOST_VIEW = f'p=/run/python/bin/python3; [ -x "$p" ] || p=python3; "$p" -I {_PROBE} {{}} > .canary_seen'


@dataclass(frozen=True)
class Canaries:
    """One admission item of one variant; looks at one seed, for markers do not depend on what is drawn."""

    scenario: Scenario
    variant: str
    name: str = "canaries"

    def run(self, settings: Settings, seeds: Sequence[int]) -> Verdict:
        """Plant and look. Raises ScenarioError for the author's mistakes and InfrastructureFault for the harness's."""
        prepared = settings.prepared.get(self.scenario, self.variant, seeds[0])
        problems = [*_withheld(prepared)]
        markers = Markers()
        with scratch_folder("fdeplant") as root, PreparedTasks() as tasks, _environment(markers) as keys:
            planted = plant(self.scenario, self.variant, LEVEL, root / "scenario", markers)
            # The id is the folder's name in reports only; streams of chance go by scenario.yaml's.
            twin = tasks.get(planted.scenario, self.variant, seeds[0])
            with Meter(upstreams(keys)) as meter:
                used = replace(
                    settings, router=default_router(), limits=Limits(), prepared=tasks, gateway_model=None, meter=meter, retries=0
                )
                problems += _Look(planted, twin, prepared, used, root).problems(seeds[0])
        warnings = (UNCONFINED,) if settings.sandbox.name == "none" else ()
        return Verdict(self.name, not problems, tuple(dict.fromkeys(problems)), warnings, ())


def _withheld(prepared: PreparedTask) -> Iterator[str]:
    rows = traffic(prepared)
    yield from rows_in(rows, list(contents(prepared.site)))
    if prepared.file.trial is not None:
        shadow = Unanswered()
        prepared.worlds.trial(shadow, 1, prepared.world)
        production = {(row.what, row.values) for row in rows}
        for row in (each for each in rows_of(shadow) if (each.what, each.values) in production):
            yield f"trial: the shadow traffic holds {row.what} in the evaluation, {row.own!r}"
            break
    yield from told_early(prepared)


@contextmanager
def _environment(markers: Markers) -> Iterator[dict[str, str]]:
    """The harness's environment with markers for keys; yields those."""
    keys = {name: markers.text("key", f"the harness's {name}") for name in KEYS}
    before = {name: os.environ.get(name) for name in KEYS}
    os.environ.update(keys)
    try:
        yield keys
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class _Look:
    """Works through one engagement of the planted copy, and looks at everything on the way."""

    identity = AgentIdentity(name="canaries")

    def __init__(self, planted: Planted, twin: PreparedTask, prepared: PreparedTask, settings: Settings, root: Path) -> None:
        self._planted, self._twin, self._prepared, self._settings, self._root = planted, twin, prepared, settings, root
        self._problems: list[str] = []

    def problems(self, seed: int) -> list[str]:
        """What was seen that should not be, as sentences."""
        case = Case(self._planted.scenario, self._twin.variant, LEVEL, seed=seed)
        engaged = self._root / "run"
        engaged.mkdir(mode=0o711)
        Engagements(case, self, self._settings, self._twin, engaged, Observers([]), Stopwatch()).run()
        if self._confined:
            self._in_production()
        return self._problems

    @property
    def _confined(self) -> bool:
        return self._settings.sandbox.name != "none"

    def deliver(self, session: Session) -> Ending:
        """See session.Deliverer."""
        self._workspace(session)
        if self._confined:
            self._commands(session)
        self._talk(session)
        self._gateway()
        return Ending()

    def _told(self, where: str, data: bytes | str, known: frozenset[str] = frozenset()) -> None:
        text = data.encode("utf-8", "replace") if isinstance(data, str) else data
        for marker in known:
            text = text.replace(marker.encode(), b"")
        self._problems += [f"{where}: holds {what}" for what in self._planted.markers.seen_in(text)]

    def _workspace(self, session: Session) -> None:
        for file in contents(session.workspace):
            self._told(f"{file.name} (workspace)", file.everything)
            copied = self._planted.markers.copied_in(file.name, file.data)
            self._problems += [f"{file.name} (workspace): is a copy of {original}" for original in copied]

    # --- what processes see ---

    def _places(self) -> list[str]:
        """Where truth lies in this moment, and where anything could lie about."""
        known = [self._planted.scenario.folder, self._twin.directory, self._settings.cache]
        known += [self._settings.store.directory if self._settings.store is not None else None, Path.home() / ".ssh", Path("/dev/shm")]
        return [str(place) for place in known if place is not None]

    def _commands(self, session: Session) -> None:
        probe = session.workspace / _PROBE
        probe.write_bytes(Path(canary_probe.__file__).read_bytes())
        session.sandbox.give(session.workspace)
        strict = session.commands.run(["python3", "-I", _PROBE, *self._places()], 30)
        self._probed("a command of the agent's", strict.stdout, strict.stderr)
        command = _IN_HOST_VIEW.replace("{}", " ".join(f"'{place}'" for place in self._places()))
        ending = CommandAgent(self.identity, command).deliver(session)
        seen = session.workspace / ".canary_seen"
        self._probed("an agent that is a command", seen.read_text("utf-8") if seen.is_file() else "", ending.error or "")
        probe.unlink()

    def _probed(self, who: str, output: str, error: str) -> None:
        try:
            found: list[tuple[str, str]] = json.loads(output)
        except ValueError:
            raise InfrastructureFault(f"{self._twin.id}: the probe of the check canaries did not run as {who}: {error[-500:]}") from None
        # One place for each, its environment before /proc's word for it.
        first = {marker: place for place, marker in sorted(found, key=lambda pair: pair[0].startswith("/"), reverse=True)}
        for marker, place in first.items():
            what = self._planted.markers.texts.get(marker, "something that was planted")
            self._problems.append(f"{who}: sees {what} in {place}")

    def _in_production(self) -> None:
        """Deploy the probe in place of the system, on the database and with the gateway that deliveries get."""
        file = self._twin.file
        delivered = self._root / "delivered"
        source = Path(canary_probe.__file__).read_text(encoding="utf-8")
        for entry in file.entry_points.values():
            place = delivered / entry.file
            place.parent.mkdir(parents=True, exist_ok=True)
            old = place.read_text(encoding="utf-8") if place.exists() else source
            place.write_text(f"{old}\n\ndef {entry.function}(*given, **injected):\n    return seen({self._places()!r})\n", encoding="utf-8")
        gateway = self._twin.gateway("production", None, heldout=self._prepared.heldout)
        with Deployment(delivered, file, self._twin.databases, self._settings.sandbox, gateway=gateway) as system:
            outcome = system.call(next(iter(file.entry_points)))
        said = json.dumps(outcome.value) if isinstance(outcome, Returned) else ""
        self._probed("a delivered system", said, repr(outcome))

    # --- what people say ---

    def _talk(self, session: Session) -> None:
        client = ChannelClient(session.socket)
        for person in client.request("GET", "/people", list[PersonCard]):
            self._told(f"the directory's line of {person.id}", person.model_dump_json())
        for mail in client.request("GET", "/inbox", list[MailCard]):
            self._told(f"the mail {mail.subject!r}", mail.model_dump_json())
        for person_id, who in self._twin.people.people.items():
            for topic, spec in who.topics.items():
                reply = client.request("POST", "/ask", ReplyCard, AskRequest(person=person_id, message=spec.examples[0]))
                self._told(f"{person_id}, asked as in the examples of {topic}", reply.text, self._due(session, person_id))
        every = frozenset(self._planted.answers.values())  # Each was looked at when it was said.
        for entry in client.request("GET", "/log", list[LogCard]):
            self._told("bin/ask --log", entry.model_dump_json(), every)
        if self._twin.file.trial is not None:
            try:
                card = client.request("POST", "/trial", TrialCard, TrialRequest())
            except RequestRefused as refused:
                raise InfrastructureFault(f"{self._twin.id}: the check canaries could make no trial run: {refused}") from None
            self._told("the report of a trial run", card.model_dump_json())

    def _due(self, session: Session, person: str) -> frozenset[str]:
        """Markers of the answers that the last reply may give: of topics that it answers, and whose conditions hold."""
        parts = session.conversation.ledger.entries[-1].routing.get("parts", ())
        answered = [part["topic"] for part in parts if part["outcome"] == "answer"]
        return frozenset(
            self._planted.answers[person, topic] for topic in answered if all(session.conversation.gate(person, topic).values())
        )

    def _gateway(self) -> None:
        """What the simulated model says to an engineer at work."""
        spec = self._twin.file.gateway
        if spec is None:
            return
        asked = "\n".join(person.topics[topic].examples[0] for person in self._twin.people.people.values() for topic in person.topics)
        for text in ("hello", asked):
            request = GatewayRequest("work", spec.models[0], ({"role": "user", "content": text},))
            self._told("the gateway's model at work", self._twin.worlds.answer(request, self._twin.world, None))
