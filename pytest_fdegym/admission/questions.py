"""An author's test questions (questions.yaml, further sets questions_NAME.yaml): read, and checked against those whom they ask."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pytest_fdegym.errors import ScenarioError
from pytest_fdegym.people.router.base import RoutablePerson
from pytest_fdegym.people.router.evaluate import Labelled, company
from pytest_fdegym.scenario.model import PeopleFile
from pytest_fdegym.scenario.problems import KeyPath, Problem, shown, unknown
from pytest_fdegym.scenario.validation import describe, validate
from pytest_fdegym.scenario.yaml_source import YamlProblems, YamlSource, read_yaml

QUESTIONS_FILE = "questions.yaml"
"""Where a scenario's folder keeps them; it changes no score and is no part of the scenario's digest."""


def question_files(folder: Path) -> list[Path]:
    """The files of test questions in a scenario's folder, questions.yaml first."""
    first = folder / QUESTIONS_FILE
    return [*([first] if first.is_file() else []), *sorted(folder.glob("questions_*.yaml"))]


def routable(people: PeopleFile) -> dict[str, RoutablePerson]:
    """Everybody with all topics, as a router is given them in the first message of a conversation."""
    return company({person: dict(who.topics) for person, who in people.people.items()})


def read_questions(file: Path, people: PeopleFile) -> list[Labelled]:
    """The questions in `file`. Raises ScenarioError with every line that is wrong.

    `people` are those of people.yaml as written, so that a question may be about what some variants have only.
    """
    try:
        source = read_yaml(file)
    except YamlProblems as error:
        raise _refused(file, error.problems) from None
    if not isinstance(source.data, list):
        raise _refused(file, [Problem(file, None, "", f"holds {describe(source.data)}; a list of questions is expected")])
    questions: list[Labelled] = []
    problems: list[Problem] = []
    for entry in _entries(source, len(source.data)):
        validated = validate(Labelled, entry)
        problems += validated.problems
        if validated.model is not None and not validated.problems:
            problems += _unknown(validated.model, entry, people)
            questions.append(validated.model)
    if problems:
        raise _refused(file, problems)
    return questions


def in_variant(questions: Sequence[Labelled], people: Mapping[str, RoutablePerson]) -> list[Labelled]:
    """The questions to somebody who is there, about topics that are there."""
    return [each for each in questions if each.to in people and set(each.topics) <= people[each.to].topics.keys()]


def _refused(file: Path, problems: Sequence[Problem]) -> ScenarioError:
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    return ScenarioError("\n".join([f"{count} in the questions of {shown(file)}:", *map(str, problems)]))


def _entries(source: YamlSource, count: int) -> Iterator[YamlSource]:
    """Each item of the list as a source of its own, with its lines in the file."""
    lines: dict[object, dict[KeyPath, int]] = defaultdict(dict)
    text_lines: dict[object, dict[KeyPath, int]] = defaultdict(dict)
    for mine, theirs in ((lines, source.lines), (text_lines, source.text_lines)):
        for path, line in theirs.items():
            if path:
                mine[path[0]][path[1:]] = line
    for number in range(count):
        yield YamlSource(source.file, source.data[number], lines[number], text_lines[number])


def _unknown(question: Labelled, source: YamlSource, people: PeopleFile) -> Iterator[Problem]:
    if question.to not in people.people:
        yield source.problem(("to",), unknown(question.to, "a person of people.yaml", people.people))
        return
    topics = people.people[question.to].topics
    for number, topic in enumerate(question.topics):
        if topic not in topics:
            yield source.problem(("topics", number), unknown(topic, f"a topic of {question.to}", topics))
