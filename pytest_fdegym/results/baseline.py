"""The baseline: the scores of one agent, small enough to be kept beside the code and read in a diff, and what may be compared with it."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pytest_fdegym._version import __version__
from pytest_fdegym.errors import UsageError
from pytest_fdegym.results.files import write_whole
from pytest_fdegym.results.record import AgentIdentity, Record
from pytest_fdegym.results.statistics import floored_score

SCHEMA_VERSION: Literal[1] = 1
"""Raised when a field of the file changes its meaning or goes away."""
DECIMALS = 6
"""Of a score in the file; both sides of a comparison are rounded alike."""
DIGEST = 16
"""Hexadecimal digits of a world's digest that the file keeps."""
NAMED = 5
"""Tasks that a message names; of the others it says how many there are."""

_TASK = r"(?P<task>[^ ]+\.v[0-9]+) (?P<level>L[0-3])(?: seed (?P<seed>[0-9]+))?"


class TaskKey(NamedTuple):
    """What scores belong to: a task at a level, in the world of a seed."""

    task: str
    level: str
    seed: int = 1

    def __str__(self) -> str:
        """``oil_npt.v1 L3``, and ``oil_npt.v1 L3 seed 7`` for seeds other than 1."""
        return f"{self.task} {self.level}" + (f" seed {self.seed}" if self.seed != 1 else "")

    @classmethod
    def parse(cls, text: str) -> TaskKey:
        """The inverse of ``str``. Raises ValueError."""
        match = re.fullmatch(_TASK, text)
        if match is None:
            raise ValueError(f"a task and a level such as 'oil_npt.v1 L3' are expected, found {text!r}")
        return cls(match["task"], match["level"], int(match["seed"] or 1))

    @property
    def scenario(self) -> str:
        """``oil_npt``"""
        return self.task.rpartition(".")[0]

    @property
    def in_order(self) -> tuple[str, int, str, int]:
        """For sorting: v10 comes after v9."""
        scenario, _, variant = self.task.rpartition(".v")
        return scenario, int(variant), self.level, self.seed


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TaskScores(_Model):
    """The runs of one task at one level."""

    incidents: tuple[str, ...] = Field(default=(), description="Ids of the incidents that occurred in any of the runs.")
    scores: dict[Annotated[int, Field(ge=1)], Annotated[float, Field(allow_inf_nan=False)]] = Field(
        description="By number of the run: max(U_adj, -1) - C. Void runs have none."
    )
    void: tuple[Annotated[int, Field(ge=1)], ...] = Field(default=(), description="Numbers of runs that an infrastructure fault spoiled.")
    world: str = Field(description="Content digest of the scenario in this variant and of the seed.")


class Baseline(_Model):
    """One agent's scores, with all that they depend on. The current side of a comparison has the same form."""

    agent: AgentIdentity
    gateway: str | None = Field(default=None, description="What answered at the customers' LLM gateways; null where no customer had one.")
    harness_version: str
    router: str
    schema_version: Literal[1] = SCHEMA_VERSION
    scoring_version: int
    tasks: dict[str, TaskScores] = Field(description="By task and level: 'oil_npt.v1 L3', with ' seed 7' for seeds other than 1.")

    @model_validator(mode="after")
    def _keys_are_tasks(self) -> Self:
        for text in self.tasks:
            if text != str(TaskKey.parse(text)):
                raise ValueError(f"{str(TaskKey.parse(text))!r} is expected, found {text!r}")
        return self

    @property
    def by_key(self) -> dict[TaskKey, TaskScores]:
        """The tasks in order, by what their keys say."""
        keys = {TaskKey.parse(text): scores for text, scores in self.tasks.items()}
        return dict(sorted(keys.items(), key=lambda each: each[0].in_order))

    @property
    def runs(self) -> int:
        """Graded runs."""
        return sum(len(each.scores) for each in self.tasks.values())

    @property
    def shown_agent(self) -> str:
        """The agent's name, and its version where it has one."""
        return f"{self.agent.name} {self.agent.version}" if self.agent.version else self.agent.name

    @property
    def content(self) -> str:
        """``myagent 1.2, 95 tasks, 285 runs``"""
        return f"{self.shown_agent}, {len(self.tasks)} tasks, {self.runs} runs"


def dumped(baseline: Baseline) -> str:
    """The file's text: JSON with sorted keys, and one line a task."""
    head = baseline.model_dump(mode="json", exclude={"tasks"})
    lines = [f" {json.dumps(name)}: {json.dumps(head[name], sort_keys=True)}," for name in sorted(head)]
    tasks = []
    for key, scores in baseline.by_key.items():
        values = scores.model_dump(mode="json", exclude_defaults=True)
        # Numbers of runs are sorted as numbers; as texts 10 would come before 2.
        values["scores"] = {str(run): scores.scores[run] for run in sorted(scores.scores)}
        tasks.append(f"  {json.dumps(str(key))}: {json.dumps({name: values[name] for name in sorted(values)})}")
    return "\n".join(["{", *lines, ' "tasks": {', ",\n".join(tasks), " }", "}"]) + "\n"


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write the file, whole or not at all. Raises UsageError where it cannot be written."""
    try:
        write_whole(path, dumped(baseline), shared=True)
    except OSError as error:
        raise UsageError(f"the baseline {path} cannot be written: {error.strerror or error}") from None


def read_baseline(path: Path) -> Baseline:
    """Read a baseline file. Raises UsageError, naming the file and what is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"the baseline {path} cannot be read: {reason}. --fde-update-baseline makes one.") from None
    return parse_baseline(text, path)


def parse_baseline(text: str, path: Path) -> Baseline:
    """A baseline from its file's text; `path` is for messages. Raises UsageError."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise UsageError(f"the baseline {path} is not JSON: {error}") from None
    version = found.get("schema_version") if isinstance(found, dict) else None
    if isinstance(version, int) and version != SCHEMA_VERSION:
        raise UsageError(f"the baseline {path} has schema version {version}; this release reads {SCHEMA_VERSION}. Make it again.")
    try:
        return Baseline.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ", ".join(map(str, first["loc"])) or "the whole file"
        raise UsageError(f"the baseline {path} is not one: {where}: {first['msg']}") from None


def of_records(records: Iterable[Record], what: str, advice: str = "those of one are expected") -> Baseline:
    """The records of one agent as a baseline; `what` names them in messages, `advice` says what to do about those of several agents.

    Raises UsageError for none, for those of several agents, routers or scoring versions, and for those that do not say what they were
    measured on.
    """
    records = list(records)
    if not records:
        raise UsageError(f"{what} holds no record of a run.")
    agents = {record.agent.model_dump_json(): record.agent for record in records}
    if len(agents) > 1:
        names = sorted(" ".join(filter(None, (agent.name, agent.version))) for agent in agents.values())
        raise UsageError(f"{what} holds runs of {len(agents)} agents ({', '.join(names)}); {advice}.")
    for name, found in (
        ("routers", {record.router for record in records}),
        ("models behind the customers' LLM gateways", {record.gateway for record in records} - {None}),
        ("scoring versions", {record.scoring_version for record in records}),
    ):
        if len(found) > 1:
            raise UsageError(f"{what} holds runs under {len(found)} {name} ({', '.join(sorted(map(str, found)))}), which are not compared.")
    tasks: dict[TaskKey, list[Record]] = defaultdict(list)
    for record in records:
        tasks[TaskKey(record.task, record.level, record.seed)].append(record)
    return Baseline(
        agent=records[0].agent,
        gateway=next((record.gateway for record in records if record.gateway is not None), None),
        harness_version=__version__,
        router=records[0].router,
        scoring_version=records[0].scoring_version,
        tasks={str(key): _task_scores(key, its, what) for key, its in sorted(tasks.items(), key=lambda each: each[0].in_order)},
    )


def _task_scores(key: TaskKey, records: Sequence[Record], what: str) -> TaskScores:
    worlds = {record.world_digest for record in records}
    if None in worlds:
        raise UsageError(f"{what} holds a record of {key} that does not say which world it was measured on: it is of an older release.")
    if len(worlds) > 1:
        raise UsageError(f"{what} holds runs of {key} from before and after a change of the scenario, which are not compared.")
    by_run: dict[int, Record] = {}
    for record in records:
        if by_run.setdefault(record.run, record) != record:
            raise UsageError(f"{what} holds run {record.run} of {key} twice.")
    graded = [record for record in by_run.values() if record.status == "graded" and record.scores is not None]
    return TaskScores(
        incidents=tuple(sorted({incident.id for record in graded for incident in record.incidents})),
        # Adding 0 makes a negative zero positive.
        scores={record.run: round(floored_score(record), DECIMALS) + 0.0 for record in sorted(graded, key=lambda each: each.run)},
        void=tuple(sorted(run for run, record in by_run.items() if record.status == "void")),
        world=str(records[0].world_digest)[:DIGEST],
    )


def refuse_different(
    baseline: Baseline,
    *,
    router: str,
    scoring_version: int,
    worlds: Mapping[TaskKey, str],
    gateway: str | None = None,
) -> None:
    """Raise UsageError where scores under these conditions cannot be compared with the baseline's; `worlds` are digests in full or cut."""
    for name, then, now in (
        ("the scoring version", baseline.scoring_version, scoring_version),
        ("the router", baseline.router, router),
        ("the model behind the customers' LLM gateways", baseline.gateway or gateway, gateway or baseline.gateway),
    ):
        if then != now:
            raise UsageError(f"not comparable with the baseline: {name} was {then} there and is {now} here. Make the baseline again.")
    there = baseline.by_key
    changed = [key for key, world in worlds.items() if key in there and there[key].world != world[:DIGEST]]
    if changed:
        raise UsageError(
            f"not comparable with the baseline: the world is another one than there in {named(changed)}: the scenario was changed since. "
            "Make the baseline again."
        )
    apart = _apart(there, worlds)
    if apart:
        raise UsageError(f"not comparable with the baseline: {'; '.join(apart)}. Run the same, or make the baseline again.")
    if worlds and there and not any(key in there for key in worlds):
        raise UsageError(f"nothing to compare: the baseline holds none of {named(list(worlds))}.")


def _apart(there: Iterable[TaskKey], here: Iterable[TaskKey]) -> list[str]:
    """What is said of tasks that both sides have, but never at the same level and seed."""
    sides: tuple[dict[str, set[TaskKey]], ...] = (defaultdict(set), defaultdict(set))
    for side, keys in zip(sides, (there, here), strict=True):
        for key in keys:
            side[key.task].add(key)
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for task in sorted(sides[0].keys() & sides[1].keys()):
        if not sides[0][task] & sides[1][task]:
            levels = [sorted({key.level for key in side[task]}) for side in sides]
            seeds = [sorted({key.seed for key in side[task]}) for side in sides]
            then, now = (
                [", ".join(each) for each in levels]
                if not {*levels[0]} & {*levels[1]}
                else [f"seed {', '.join(map(str, each))}" for each in seeds]
            )
            groups[then, now].append(task)
    return [f"{named(tasks)} is at {then} there and at {now} here" for (then, now), tasks in groups.items()]


def named(keys: Sequence[object]) -> str:
    """A few of them by name."""
    shown = ", ".join(map(str, keys[:NAMED]))
    return shown if len(keys) <= NAMED else f"{shown} and {len(keys) - NAMED} more"
