"""Judges the runs in results folders against a baseline, without running anything again.

The folders of a CI matrix are judged together: `fdegym gate --baseline main.json shard1 shard2`. The exit code is 1 for a regression.
With --update the baseline is written from the folders instead.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_fdegym.errors import UsageError
from pytest_fdegym.results.baseline import named, read_baseline, write_baseline
from pytest_fdegym.results.files import write_whole
from pytest_fdegym.results.scores import join_scores
from pytest_fdegym.results.verdict import MARGIN, judge
from pytest_fdegym.results.verdict_text import verdict_lines


def margin(text: str) -> float:
    """Uplift units, above 0."""
    value = float(text)
    if not 0 < value < 1000:
        raise ValueError
    return value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--baseline", required=True, type=Path, metavar="FILE", help="what pytest --fde-update-baseline wrote")
    parser.add_argument("stores", nargs="+", type=Path, metavar="STORE", help="a results folder, or one agent's folder in it")
    parser.add_argument("--margin", type=margin, default=MARGIN, metavar="X", help="the drop that 'no regression' excludes (default: 0.1)")
    parser.add_argument("--inconclusive", choices=("pass", "fail"), default="pass", help="the exit code then (default: pass)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the verdict is written, for programs")
    parser.add_argument("--update", action="store_true", help="write the baseline from the folders, and compare with nothing")


def run(options: argparse.Namespace) -> int:
    """Print the verdict, or write the baseline; returns 0, or 1 for a regression (and, if told so, for an inconclusive verdict)."""
    current = join_scores(options.stores)
    if options.update:
        void = [key for key, scores in current.tasks.items() if scores.void]
        if void:
            raise UsageError(
                f"the baseline {options.baseline} was not written: there are void runs of {named(void)}; run them again first."
            )
        write_baseline(options.baseline, current)
        print(f"baseline: {options.baseline} written ({current.content})")
        return 0
    baseline = read_baseline(options.baseline)
    verdict = judge(baseline, current, margin=options.margin)
    if options.json is not None:
        try:
            write_whole(options.json, verdict.model_dump_json(indent=2) + "\n", shared=True)
        except OSError as error:
            raise UsageError(f"--json: {options.json} cannot be written: {error.strerror or error}") from None
    print("\n".join(verdict_lines(verdict, f"the baseline {options.baseline} ({baseline.content})")))
    return int(verdict.verdict == "regression" or (verdict.verdict == "inconclusive" and options.inconclusive == "fail"))
