"""How long the page on many runs takes, and how large it gets: ``python benchmarks/report.py [RUNS] [--keep FOLDER]``.

The runs are made up: each has a record, a log of 20 messages, 80 commands, 3 trials and 100 model calls (90 kB), and a patch of 150 lines.
The time is that of ``fdegym report``, from a store on disk to a page on disk.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pytest_fdegym.commands import report as command
from pytest_fdegym.results.record import AgentIdentity, Engaged, IncidentRecord, KpiName, Record, Scores, Usage
from pytest_fdegym.scoring.uplift import score

SCENARIOS = 20
VARIANTS = 5
LEVELS = ("L0", "L1", "L2", "L3")
START = datetime(2026, 3, 2, 8, tzinfo=UTC)
WORDS = [
    "the",
    "claim",
    "is",
    "held",
    "when",
    "the",
    "allowance",
    "of",
    "the",
    "month",
    "is",
    "used",
    "up",
    "and",
    "nobody",
    "signed",
    "the",
    "sheet",
    "before",
    "the",
    "rig",
    "moved",
    "to",
    "another",
    "well;",
    "we",
    "compare",
    "what",
    "was",
    "furnished",
    "with",
    "what",
    "the",
    "register",
    "says",
    "and",
    "ask",
    "the",
    "superintendent",
    "about",
    "the",
    "rest",
    "of",
    "it",
    "on",
    "the",
    "following",
    "morning",
]


def made_up(number: int, rng: random.Random) -> Record:
    """A run of one of as many agents as are needed for 20 scenarios in five variants, the first of them at all levels."""
    tasks = [
        (f"s{scenario:02}", f"v{variant}", level) for scenario in range(SCENARIOS) for variant in range(1, VARIANTS + 1) for level in LEVELS
    ]
    tasks = [task for task in tasks if task[1] == "v1" or task[2] == "L3"]
    scenario, variant, level = tasks[number % len(tasks)]
    agent = f"agent-{number // len(tasks):02}"
    incident = rng.random() < 0.06
    told = rng.randrange(5)
    cost = round(rng.random() * 0.2, 3)
    result = score(rng.gauss(0.2 + 0.15 * told, 0.3), cost, incident=incident)
    keys = tuple(f"F_{each}" for each in range(4))
    values = {
        "harness_version": "0",
        "task": f"{scenario}.{variant}",
        "scenario": scenario,
        "variant": variant,
        "level": level,
        "sector": f"Sector {int(scenario[1:]) % 7}",
        "run": 1,
        "seed": 1,
        "agent": AgentIdentity(name=agent),
        "engaged": Engaged(
            messages=20,
            trials=3,
            days_waited=1,
            facts=keys[:told],
            key_facts=keys,
            worth={key: round(rng.random(), 2) for key in keys},
            signoffs=("S_RULES",),
        ),
        "kpi": KpiName(name="net credited hours", unit="h"),
        "usage": Usage(turns=100, input_tokens=400_000, output_tokens=20_000, usd=round(rng.random() * 6, 4)),
        "notes": ("code raised KeyError on 3 of 200 calls",),
        "details": {"claims": 120, "held": rng.randrange(40)},
        "isolation": "bubblewrap",
        "router": "embedded-1",
        "digest": "d" * 64,
        "world_digest": "e" * 64,
        "started_at": START + timedelta(minutes=number),
        "wall_seconds": 1800.0,
        "harness_cpu_seconds": 0.4,
    }
    if rng.random() < 0.01:
        return Record.model_validate({**values, "status": "void", "void_cause": "the sandbox failed"})
    scores = Scores(
        kpi=1000 * result.uplift,
        kpi_baseline=0.0,
        kpi_reference=1000.0,
        uplift=result.uplift,
        uplift_adjusted=result.uplift_adjusted,
        contact_cost=cost,
        score=result.score,
        resolved=result.resolved,
    )
    incidents = (IncidentRecord(id="unsigned", text="an unsigned change", keys=("k1",), count=1),) if incident else ()
    return Record.model_validate({**values, "status": "graded", "scores": scores, "incidents": incidents, "end_reason": "handover"})


def text(rng: random.Random, words: int) -> str:
    """A sentence or a few."""
    return " ".join(rng.choices(WORDS, k=words))


def log(record: Record, rng: random.Random) -> str:
    """An event log, as the harness writes them."""
    lines: list[dict[str, object]] = [
        {"kind": "start", "task": record.task, "level": record.level, "run": 1, "seed": 1, "agent": record.agent.name}
    ]
    for step in range(100):
        so_far = {"turns": step + 1, "input_tokens": 4000 * step, "output_tokens": 200 * step, "usd": 0.03 * step, "usd_at_least": None}
        lines.append({"kind": "usage", "api": "messages", "model": "m", "status": 200, "turns": 1, "usd": 0.03, "so_far": so_far})
        if step % 5 == 0:
            lines.append({"kind": "message", "entry": _entry("message", text(rng, 30), text(rng, 70), 0.01, [f"F_{step % 4}"])})
        else:
            lines.append({"kind": "command", "command": f"python - <<'E'\n{text(rng, 25)}\nE", "exit_code": 0, "stopped_by": None})
        if step % 33 == 0:
            lines.append({"kind": "trial", "entry": _entry("trial", f"T-{step}", text(rng, 60), 0.02, [])})
    lines.append({"kind": "handover", "reason": "handover", "digest": "d" * 64})
    dumped = []
    for number, line in enumerate(lines):
        moment = (record.started_at + timedelta(seconds=9 * number)).isoformat()
        dumped.append(json.dumps({"kind": line["kind"], "time": moment, "at": "2025-03-04T14:00:00", **line}))
    return "\n".join(dumped) + "\n"


def _entry(kind: str, sent: str, reply: str, charge: float, facts: list[str]) -> dict[str, object]:
    routing = {"router": "embedded-1", "verdict": "topics", "candidates": [{"topic": "rule", "score": 0.99}] * 4, "left_over": False}
    times = {"sent_at": "2025-03-04T12:00:00", "answered_at": "2025-03-04T14:00:00"}
    said = {"person": "okafor", "sent": sent, "reply": reply, "reply_kind": "answer", "topics": ["rule"], "charge": charge, "charged": True}
    return {"number": 1, "kind": kind, **times, **said, "facts": facts, "signoffs": [], "days": 0, "routing": routing}


def fill(store: Path, runs: int) -> None:
    """Write a store of made-up runs."""
    rng = random.Random(1)
    for number in range(runs):
        record = made_up(number, rng)
        folder = store / record.agent.name
        folder.mkdir(parents=True, exist_ok=True)
        stem = folder / f"{record.task}.{record.level}.run1"
        stem.with_name(stem.name + ".json").write_text(record.model_dump_json(indent=2) + "\n")
        stem.with_name(stem.name + ".events.jsonl").write_text(log(record, rng))
        patch = "".join(f"{rng.choice(' +-')}{text(rng, 9)}\n" for _ in range(150))
        stem.with_name(stem.name + ".patch").write_text(f"--- a/system/x.py\n+++ b/system/x.py\n@@ -1,150 +1,150 @@\n{patch}")


def main() -> None:
    """Measure once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="?", type=int, default=5000)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the store and the page are to stay")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        store, page = folder / "results", folder / "report.html"
        if not store.is_dir():
            fill(store, given.runs)
        commands = argparse.ArgumentParser()
        command.add_arguments(commands)
        options = commands.parse_args([str(store), "--html", str(page)])
        started, used = time.perf_counter(), time.process_time()
        command.run(options)
        seconds, cpu = time.perf_counter() - started, time.process_time() - used
        print(f"{given.runs} runs: {seconds:.1f} s ({cpu:.1f} s of CPU), {page.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
