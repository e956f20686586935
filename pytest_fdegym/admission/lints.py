"""Checks of what an author wrote that need neither agent nor replay: do questions reach their topics, do documents give away facts?

`examples` is law, as an anchor is: whoever asks a topic's own example question gets its answer, and no fact that he did not ask for.
`documents` and `evidence` warn: whether a line says what only people should say, and how much of a guess a gate may leave, is for the
author to judge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fdegym.admission.guessing import evidence
from pytest_fdegym.admission.printed import Document, Statement
from pytest_fdegym.admission.questions import routable
from pytest_fdegym.admission.verdict import Verdict
from pytest_fdegym.people.router.base import RoutablePerson, RouterContext, Routing
from pytest_fdegym.runner import Settings
from pytest_fdegym.scenario import templates
from pytest_fdegym.scenario.fill import TEMPLATE_SUFFIX
from pytest_fdegym.scenario.model import Draw
from pytest_fdegym.scenario.problems import shown
from pytest_fdegym.scenario.scenario import Scenario, content_files
from pytest_fdegym.workspace.prepare import PreparedTask

MOST_BYTES = 200_000
"""Longer files are data, not something that states a rule."""
MOST_HITS = 3
"""Lines of one file that are named for one statement."""
MOST_DRAWS = 200
"""Values of one draw that are looked at."""


@dataclass(frozen=True)
class Found:
    """What a look at one seed found."""

    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lint:
    """One admission item that looks at what is there under every seed; what several seeds say is said once."""

    name: str
    scenario: Scenario
    variant: str
    look: Callable[[PreparedTask, Settings], Found]

    def run(self, settings: Settings, seeds: Sequence[int]) -> Verdict:
        """Look and judge. Raises ScenarioError for what keeps the world from being drawn."""
        found = [self.look(settings.prepared.get(self.scenario, self.variant, seed), settings) for seed in seeds]
        problems = tuple(dict.fromkeys(text for each in found for text in each.problems))
        warnings = tuple(dict.fromkeys(text for each in found for text in each.warnings))
        return Verdict(self.name, not problems, problems, warnings, ())


def lints(scenario: Scenario, variant: str) -> list[Lint]:
    """The lints of one variant."""
    return [
        Lint("examples", scenario, variant, Examples()),
        Lint("documents", scenario, variant, documents),
        Lint("evidence", scenario, variant, _gates),
    ]


def _gates(prepared: PreparedTask, settings: Settings) -> Found:
    """Evidence that is nearly guessed, or asked for as something else."""
    del settings
    return Found(warnings=evidence(prepared))


class Examples:
    """Every topic's own example questions, through the router of the session."""

    def __init__(self) -> None:
        self._seen: dict[str, Found] = {}

    def __call__(self, prepared: PreparedTask, settings: Settings) -> Found:
        people = routable(prepared.people)
        key = repr(people)  # most scripts ask the same under every seed
        if key not in self._seen:
            self._seen[key] = self._look(prepared, people, settings)
        return self._seen[key]

    def _look(self, prepared: PreparedTask, people: Mapping[str, RoutablePerson], settings: Settings) -> Found:
        source = prepared.scenario.people_source
        problems: list[str] = []
        warnings: list[str] = []
        for name, person in people.items():
            restricted = prepared.people.people[name].restricted
            if restricted is not None and not restricted.still_answers:
                continue  # nobody ever reads what is written to this person
            for topic, spec in person.topics.items():
                for number, example in enumerate(spec.examples):
                    path = ("people", name, "topics", topic, "examples", number)
                    routing = settings.router.route(person, example, RouterContext())
                    told = [source.problem(path, f"{_short(example)} {text}") for text in _wrong(person, topic, routing)]
                    problems += map(str, told)
                    if routing.verdict == "unsure" and not told:
                        text = f"{_short(example)} makes the person ask back about {', '.join(_named(routing))}"
                        warnings.append(str(source.problem(path, text)))
        return Found(tuple(problems), tuple(warnings))


def _wrong(person: RoutablePerson, topic: str, routing: Routing) -> Iterator[str]:
    named = _named(routing)
    if routing.verdict == "unsure":
        if topic not in named:
            yield f"makes the person ask back about {', '.join(named)}, not about this topic"
        return
    if routing.verdict != "topics":
        yield "reaches no topic; an agent would be charged for the fallback"
        return
    if topic not in named:
        yield f"is answered by {', '.join(named)} instead"
    asked_for = set(person.topics[topic].facts)
    for other in named:
        released = set(person.topics[other].facts) - asked_for
        if other != topic and topic in named and released:
            yield f"also releases {', '.join(sorted(released))} (topic {other})"


def _named(routing: Routing) -> list[str]:
    return [candidate.topic for candidate in routing.topics]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 70 else f"{line[:67]}...")


def documents(prepared: PreparedTask, settings: Settings) -> Found:
    """Lines of the workspace that state a key fact, or what another seed may draw a parameter to be."""
    del settings
    warnings = []
    facts = {name: Statement(fact.text) for name, fact in prepared.facts.items() if fact.key}
    drawn = list(_drawn_statements(prepared))
    for text in _texts(prepared):
        document = Document(text.text)
        for name, statement in facts.items():
            for hit in list(document.find(statement))[:MOST_HITS]:
                warnings.append(f"{text.at(hit.line)}: states {hit.value!r} as the key fact {name} does, which only people should tell")
        told: set[tuple[str, int]] = set()
        for name, statement in drawn:
            for hit in document.find(statement):
                if (name, hit.line) not in told and len(told) < MOST_HITS:
                    told.add((name, hit.line))
                    warnings.append(
                        f"{text.at(hit.line)}: states {hit.value!r}, which the draw of the parameter {name} can give under some seed: "
                        "what is out of date here would then be right"
                    )
    return Found(warnings=tuple(warnings))


@dataclass(frozen=True)
class _Text:
    """What an agent gets without asking. `file` is the author's; `remark` says when lines are not that file's."""

    file: str
    text: str
    remark: str = ""

    def at(self, line: int) -> str:
        return f"{self.file}:{line}{self.remark}"


def _texts(prepared: PreparedTask) -> Iterator[_Text]:
    """The files of the workspace as built, and the briefs that tell no rules."""
    folders = prepared.scenario.site_folders(prepared.variant)
    for file in content_files(prepared.site):
        if file.stat().st_size <= MOST_BYTES and (text := _decoded(file)) is not None:
            yield _of_author(file.relative_to(prepared.site), text, folders)
    for level in prepared.scenario.levels(prepared.variant):
        if level in ("L2", "L3"):
            yield _Text(shown(prepared.scenario.briefs[level, prepared.variant].file), prepared.brief(level))


def _decoded(file: Path) -> str | None:
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return None


def _of_author(name: Path, text: str, folders: Sequence[Path]) -> _Text:
    """`text` with the author's file that it was made of."""
    for folder in reversed(folders):
        for file in (folder / name, folder / f"{name}{TEMPLATE_SUFFIX}"):
            if file.is_file():
                same_lines = (_decoded(file) or "").count("\n") == text.count("\n")
                return _Text(shown(file), text, "" if same_lines else " (line as built)")
    return _Text(name.as_posix(), text, " (written by build)")


def _drawn_statements(prepared: PreparedTask) -> Iterator[tuple[str, Statement]]:
    """For each parameter with a draw, each statement that names it with each value that this seed does not give it."""
    file = prepared.scenario.file
    for name, parameter in file.parameters.items():
        draw = file.variants[prepared.variant].draws.get(name, parameter.draw)
        if draw is None:
            continue
        sentences = [spec.text for key, spec in file.facts.items() if key in prepared.facts and _names(spec.text, name)]
        for sentence in sentences:
            now = Statement(_filled(sentence, prepared, {}))
            for value in _values(draw):
                if value != prepared.params[name]:
                    yield name, Statement(_filled(sentence, prepared, {name: value})).only(now)


def _filled(text: str, prepared: PreparedTask, changed: Mapping[str, Any]) -> str:
    return templates.render(text, {**prepared.params, **changed}, prepared.world.public)


def _names(text: str, parameter: str) -> bool:
    return any(re.search(rf"\b{parameter}\b", inside) for inside in re.findall(r"\{[{%](.*?)[}%]\}", text, re.DOTALL))


def _values(draw: Draw) -> list[Any]:
    if draw.choices is not None:
        return list(draw.choices)[:MOST_DRAWS]
    assert draw.low is not None
    assert draw.high is not None
    count = min(MOST_DRAWS, int((draw.high - draw.low) / draw.step + 1e-9) + 1)
    values = [draw.low + number * draw.step for number in range(count)]
    return [int(value) if float(value).is_integer() else value for value in values]
