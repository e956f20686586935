"""Measures how test questions reach topics: precision and recall of each topic, what is easily confused, figures by kind of message.

The questions stand in questions.yaml of the scenario's folder (further sets in questions_NAME.yaml), each with whom it asks (to), its
kind, the topics that a sensible reader would say it asks for, and its text. Each is routed as the first message of a conversation.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_fdegym.admission.questions import QUESTIONS_FILE, in_variant, question_files, read_questions, routable
from pytest_fdegym.commands.find import find_scenario
from pytest_fdegym.errors import UsageError
from pytest_fdegym.people.router import RoutablePerson, router_named
from pytest_fdegym.people.router.confusion import by_topic, confusions
from pytest_fdegym.people.router.evaluate import Judged, judge, table
from pytest_fdegym.scenario.loader import load
from pytest_fdegym.scenario.problems import shown
from pytest_fdegym.workspace.prepare import PreparedTasks

SHOWN_CONFUSIONS = 20
EXAMPLE = 60
"""Characters of an example message that are printed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("scenario", metavar="SCENARIO", help="a scenario's folder, or the id of a bundled one")
    parser.add_argument(
        "--questions",
        type=Path,
        action="append",
        metavar="FILE",
        help=f"a file of test questions instead of the scenario's {QUESTIONS_FILE} (repeatable)",
    )
    parser.add_argument("--variant", default="v1", help="the variant whose people are asked (default: v1)")
    parser.add_argument("--router", default="embedded", metavar="NAME", help="as in pytest --fde-router (default: embedded)")


def run(options: argparse.Namespace) -> int:
    """Print the tables; returns 0 however good the figures are."""
    scenario = load(find_scenario(options.scenario))
    scenario.variant(options.variant)
    files = options.questions or question_files(scenario.folder) or [scenario.folder / QUESTIONS_FILE]
    for file in files:
        if not file.is_file():
            raise UsageError(f"there is no file {shown(file)}; write test questions there, or name a file with --questions")
    asked = [question for file in files for question in read_questions(file, scenario.people)]
    router = router_named(options.router, Path.cwd(), os.environ)
    with PreparedTasks() as tasks:
        people = routable(tasks.get(scenario, options.variant, 1).people)
        questions = in_variant(asked, people)
        judged = judge(router, people, questions)
    print(f"{scenario.id}.{options.variant}, {len(questions)} questions, router {router.id}")
    if left_out := len(asked) - len(questions):
        print(f"{left_out} more are about people or topics that {options.variant} does not have")
    print("\n" + "\n".join(_topics(judged, people)))
    if found := _confusions(judged):
        print("\n" + "\n".join(found))
    print("\n" + table(judged))
    return 0


def _topics(judged: Sequence[Judged], people: Mapping[str, RoutablePerson]) -> list[str]:
    figures = by_topic(judged, people)
    width = max([len("topic"), *(len(f"{each.person}/{each.topic}") for each in figures)])
    lines = [f"{'topic':<{width}}{'asked':>7}{'answered':>10}{'right':>7}{'asked back':>12}{'precision':>11}{'recall':>8}"]
    for each in figures:
        precision = "-" if each.precision is None else f"{each.precision:.2f}"
        recall = "-" if each.recall is None else f"{each.recall:.2f}"
        lines.append(
            f"{f'{each.person}/{each.topic}':<{width}}{each.asked:>7}{each.answered:>10}{each.right:>7}{each.asked_back:>12}"
            f"{precision:>11}{recall:>8}"
        )
    if never := [f"{each.person}/{each.topic}" for each in figures if not each.asked]:
        lines.append(f"no question asks for {', '.join(never)}")
    return lines


def _confusions(judged: Sequence[Judged]) -> list[str]:
    found = confusions(judged)
    lines = ["asked for -> what came instead or besides"] if found else []
    for each in found[:SHOWN_CONFUSIONS]:
        text = " ".join(each.example.split())
        example = text if len(text) <= EXAMPLE else text[: EXAMPLE - 3] + "..."
        lines.append(f"{each.count:>4}  {each.person}: {each.wanted} -> {each.happened}   {example!r}")
    if len(found) > SHOWN_CONFUSIONS:
        lines.append(f"      and {len(found) - SHOWN_CONFUSIONS} more")
    return lines
