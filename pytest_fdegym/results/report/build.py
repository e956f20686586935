"""Puts the figures of a report together from records: pure. Means and intervals are those of `results.statistics`."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from statistics import fmean

from pytest_fdegym._version import __version__
from pytest_fdegym.results.agents import by_agent
from pytest_fdegym.results.baseline import DECIMALS, TaskKey
from pytest_fdegym.results.record import Record
from pytest_fdegym.results.report.figures import below_do_nothing, figures, floored_uplift
from pytest_fdegym.results.report.model import AgentSummary, Outcome, Report, RunRow, TaskRow
from pytest_fdegym.results.statistics import Summary, floored_score, resolved_rate, summarise, task_means
from pytest_fdegym.results.verdict import Verdict

TITLE = "Deliveries"
OTHER_RUNS = "A verdict.json is of other runs than these, and is not shown; fdegym gate judges again."


def in_order(records: Sequence[Record]) -> list[Record]:
    """As a report lists them: by task (v10 after v9), level, agent, run and seed."""
    labels = {id(record): name for name, its in by_agent(records).items() for record in its}
    return sorted(records, key=lambda record: (*_place(record.task), record.level, labels[id(record)], record.run, record.seed))


def _place(task: str) -> tuple[str, int, str]:
    scenario, _, variant = task.rpartition(".v")
    return scenario, int(variant) if variant.isdecimal() else 0, variant


def make_report(
    records: Sequence[Record],
    *,
    made_at: datetime,
    title: str = TITLE,
    planned: int | None = None,
    verdicts: Sequence[Verdict] = (),
    unknown: Sequence[str] = (),
) -> Report:
    """The report on records of any number of agents.

    `planned` is how many runs were asked for, where that is known and there is one agent; `unknown` are cautions of whoever reads the runs.
    """
    agents = by_agent(records)
    labels = {id(record): name for name, its in agents.items() for record in its}
    summaries = {name: summarise(its, planned if len(agents) == 1 else None) for name, its in agents.items()}
    ordered = in_order(records)
    shown = [verdict for verdict in verdicts if _is_of(verdict, records)]
    return Report(
        harness_version=__version__,
        title=title,
        made_at=made_at.astimezone(UTC).isoformat(timespec="seconds"),
        cautions=(*_cautions(records), *unknown, *([OTHER_RUNS] if len(shown) < len(verdicts) else [])),
        verdicts=tuple(shown),
        agents=tuple(_agent(name, its, summaries[name]) for name, its in agents.items()),
        tasks=tuple(_task_rows(ordered, labels)),
        figures=figures(agents, summaries),
        runs=tuple(_run_row(record, labels[id(record)]) for record in ordered),
    )


def _is_of(verdict: Verdict, records: Sequence[Record]) -> bool:
    """Whether a verdict was given on these runs: a verdict file stays where it is when runs are made again."""
    scores: dict[TaskKey, list[float]] = defaultdict(list)
    for record in records:
        if record.agent == verdict.current_agent and record.scores is not None:
            scores[TaskKey(record.task, record.level, record.seed)].append(floored_score(record))
    keys = {TaskKey(each.task, each.level, each.seed): each for each in verdict.tasks}
    return all(
        len(scores[key]) == each.current_runs and math.isclose(fmean(scores[key]), each.current, abs_tol=10**-DECIMALS)
        for key, each in keys.items()
    )


def _agent(name: str, records: Sequence[Record], summary: Summary) -> AgentSummary:
    rate = resolved_rate(records)
    return AgentSummary(
        agent=name,
        identity=records[0].agent,
        planned=summary.planned,
        graded=summary.graded,
        void=summary.void,
        tasks=rate.tasks,
        resolved=summary.resolved,
        incidents=summary.incidents,
        mean_score=summary.mean_score,
        low_by_task=summary.by_task.low,
        high_by_task=summary.by_task.high,
        low_by_scenario=summary.by_scenario.low,
        high_by_scenario=summary.by_scenario.high,
        mean_uplift=summary.mean_uplift,
        mean_contact_cost=summary.mean_contact_cost,
        mean_usd=summary.mean_usd,
        usd_known=summary.usd_known,
        resolved_share=rate.value,
        resolved_low=rate.interval.low,
        resolved_high=rate.interval.high,
    )


def _task_rows(ordered: Sequence[Record], labels: Mapping[int, str]) -> list[TaskRow]:
    groups: dict[tuple[str, str, str], list[Record]] = defaultdict(list)
    for record in ordered:
        groups[record.task, record.level, labels[id(record)]].append(record)
    return [_task_row(agent, its) for (_, _, agent), its in groups.items()]


def _task_row(agent: str, records: Sequence[Record]) -> TaskRow:
    first = records[0]
    scores = [record.scores for record in records if record.scores is not None]
    known = [record.usage.usd for record in records if record.scores is not None and record.usage.usd is not None]
    with_facts = [record for record in records if record.engaged.key_facts]
    return TaskRow(
        agent=agent,
        task=first.task,
        scenario=first.scenario,
        variant=first.variant,
        level=first.level,
        sector=first.sector,
        runs=len(records),
        void=sum(record.status == "void" for record in records),
        resolved=sum(each.resolved for each in scores),
        score=_mean(records, floored_score),
        uplift=_mean(records, lambda record: record.scores.uplift if record.scores else 0.0),
        uplift_adjusted=_mean(records, floored_uplift),
        contact_cost=_mean(records, lambda record: record.scores.contact_cost if record.scores else 0.0),
        key_facts=_mean(with_facts, lambda record: record.key_facts_obtained / len(set(record.engaged.key_facts))),
        usd=fmean(known) if known else None,
        incidents=tuple(sorted({incident.id for record in records for incident in record.incidents})),
    )


def _mean(records: Sequence[Record], value: Callable[[Record], float]) -> float | None:
    return next(iter(task_means(records, value).values()), None)


def outcome(record: Record) -> Outcome:
    """One word for what became of a run: void first, then an incident, then its score."""
    if record.scores is None:
        return "void"
    if record.incidents:
        return "incident"
    if record.scores.resolved:
        return "resolved"
    return "below do-nothing" if below_do_nothing(record) else "not resolved"


def _run_row(record: Record, agent: str) -> RunRow:
    scores, engaged, usage = record.scores, record.engaged, record.usage
    return RunRow(
        agent=agent,
        task=record.task,
        scenario=record.scenario,
        variant=record.variant,
        level=record.level,
        sector=record.sector,
        run=record.run,
        seed=record.seed,
        outcome=outcome(record),
        score=None if scores is None else scores.score,
        floored_score=None if scores is None else floored_score(record),
        uplift=None if scores is None else scores.uplift,
        uplift_adjusted=None if scores is None else scores.uplift_adjusted,
        contact_cost=None if scores is None else scores.contact_cost,
        kpi_name=None if record.kpi is None else record.kpi.name,
        kpi_unit=None if record.kpi is None else record.kpi.unit,
        kpi=None if scores is None else scores.kpi,
        kpi_baseline=None if scores is None else scores.kpi_baseline,
        kpi_reference=None if scores is None else scores.kpi_reference,
        messages=engaged.messages,
        trials=engaged.trials,
        days_waited=engaged.days_waited,
        key_facts_obtained=record.key_facts_obtained,
        key_facts=len(set(engaged.key_facts)),
        incidents=" ".join(incident.id for incident in record.incidents),
        audit=" ".join(flag.kind for flag in record.audit),
        regraded=0 if record.regraded is None else record.regraded.times,
        end_reason=record.end_reason,
        fault=record.fault,
        turns=usage.turns,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        usd=usage.usd,
        usd_at_least=usage.usd_at_least,
        wall_seconds=record.wall_seconds,
        isolation=record.isolation,
        router=record.router,
        gateway=record.gateway,
        scoring_version=record.scoring_version,
        harness_version=record.harness_version,
        world_digest=record.world_digest,
        digest=record.digest,
        started_at=record.started_at.astimezone(UTC).isoformat(),
    )


def _cautions(records: Sequence[Record]) -> list[str]:
    """What must not be compared with each other, or with others' results."""
    said = []
    for what, found in (
        ("routers", {record.router for record in records}),
        ("scoring versions", {str(record.scoring_version) for record in records}),
        ("seeds", {str(record.seed) for record in records}),
        ("models behind the customers' LLM gateways", {record.gateway for record in records if record.gateway is not None}),
    ):
        if len(found) > 1:
            said.append(f"Runs under {len(found)} {what} are averaged here ({', '.join(sorted(found))}); they are not comparable.")
    worlds: dict[tuple[str, int], set[str]] = defaultdict(set)
    for record in records:
        if record.world_digest is not None:
            worlds[record.task, record.seed].add(record.world_digest)
    changed = sorted({task for (task, _), digests in worlds.items() if len(digests) > 1})
    if changed:
        said.append(f"Runs from before and after a change of the scenario are averaged here: {', '.join(changed)}.")
    real = {record.gateway for record in records} - {None, "simulated"}
    if real:
        said.append(
            f"A real model ({', '.join(sorted(map(str, real)))}) answered at the customers' gateways: comparable with nothing else."
        )
    if any(record.isolation == "none" for record in records):
        said.append("Some runs had no sandbox: what their agents could read is not known.")
    flagged = Counter(flag.kind for record in records for flag in record.audit)
    if flagged:
        kinds = ", ".join(f"{kind} in {count}" for kind, count in flagged.most_common())
        runs = sum(bool(record.audit) for record in records)
        said.append(f"The audit flagged {runs} of {len(records)} runs ({kinds}); scores are as they are.")
    tasks: dict[str, set[tuple[str, str]]] = {
        name: {(record.task, record.level) for record in its if record.status == "graded"} for name, its in by_agent(records).items()
    }
    if len({frozenset(each) for each in tasks.values()}) > 1:
        said.append("The agents were not graded on the same tasks; their means are over their own.")
    return said
