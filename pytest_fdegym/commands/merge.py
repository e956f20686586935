"""Joins results folders into one, such as those of a CI matrix: `fdegym merge results shard1 shard2`.

A run that two of them hold differently is refused, unless --newest is given, and so are runs of one agent that cannot stand in one table:
another version of it, another router or scoring version, a scenario that was changed in between. Reports, the gate and --fde-resume then
work on the joined folder as on any other.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_fdegym.results.merge import merge, plan_merge


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("out", type=Path, metavar="OUT", help="the folder that is made; what it holds already is kept")
    parser.add_argument("stores", nargs="+", type=Path, metavar="STORE", help="a results folder, or one agent's folder in it")
    parser.add_argument("--newest", action="store_true", help="of two different records of one run take the one that was begun later")


def run(options: argparse.Namespace) -> int:
    """Join, and say what there is now; returns 0. Raises UsageError, and has changed nothing then unless OUT could not be written."""
    plan = plan_merge(options.out, options.stores, newest=options.newest)
    merge(plan, options.out)
    records = [found.record for found in plan.chosen.values()]
    void = sum(record.status == "void" for record in records)
    tasks, agents = {record.task for record in records}, {record.agent.name for record in records}
    for line in plan.cautions:
        print(line)
    if plan.replaced:
        print(f"of {plan.replaced} run{'s' * (plan.replaced != 1)} the newer record was taken")
    for path in plan.unfinished:
        print(f"not ended, and not merged: {path}")
    print(
        f"{options.out}: {len(records)} run{'s' * (len(records) != 1)} of {len(tasks)} task{'s' * (len(tasks) != 1)} "
        f"by {len(agents)} agent{'s' * (len(agents) != 1)}, {void} void"
    )
    return 0
