"""Lints of admission on the tiny scenario: questions that miss their topic, documents that say what only people should say."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pytest_fdegym.admission.lints import lints
from pytest_fdegym.admission.verdict import Verdict
from pytest_fdegym.runner import Settings
from pytest_fdegym.scenario.loader import load
from tests.support.tiny_scenario import edit


def found(folder: Path, settings: Settings, name: str, variant: str = "v1", seeds: tuple[int, ...] = (1,)) -> Verdict:
    (lint,) = [each for each in lints(load(folder), variant) if each.name == name]
    return lint.run(settings, seeds)


class TestExamples:
    def test_good_examples(self, tiny: Path, settings: Settings) -> None:
        verdict = found(tiny, settings, "examples", seeds=(1, 2))
        assert verdict == Verdict("examples", True, (), (), ())

    def test_an_example_that_reaches_nothing(self, tiny: Path, settings: Settings) -> None:
        line = edit(tiny, "people.yaml", "- What is the weight limit for letters?", "- Is the kettle on?")
        edit(tiny, "people.yaml", "triggers: ['\\b(weigh", "never: [kettle]\n        triggers: ['\\b(weigh")
        assert found(tiny, settings, "examples", seeds=(1, 2, 3)).problems == (
            f"tiny_post/people.yaml:{line}: people.pike.topics.limit.examples: 'Is the kettle on?' reaches no topic; an agent would be "
            "charged for the fallback",
        )

    def test_an_example_that_another_topic_answers(self, tiny: Path, settings: Settings) -> None:
        _add_stamps(tiny)
        (problem,) = found(tiny, settings, "examples").problems
        assert problem.endswith(
            "people.pike.topics.stamps.examples: 'How heavy may a letter be, in grams, at the limit?' is answered by limit instead"
        )

    def test_an_example_that_releases_another_fact(self, tiny: Path, settings: Settings) -> None:
        _add_stamps(tiny, never="[]", example="Which stamps do you use for the weight limit of letters in grams?")
        (problem,) = found(tiny, settings, "examples").problems
        assert problem.endswith("letters in grams?' also releases F_LIMIT (topic limit)")

    @pytest.mark.parametrize(("still_answers", "problems"), [("true", 1), ("false", 0)])
    def test_nobody_reads_what_is_written_to_a_restricted_person(
        self, tiny: Path, settings: Settings, still_answers: str, problems: int
    ) -> None:
        _add_stamps(tiny)
        edit(
            tiny, "people.yaml", "leaves: {at", f"restricted: {{charge: 0.1, reply: No., still_answers: {still_answers}}}\n    leaves: {{at"
        )
        # Nobody else knows the limit, which therefore cannot be a key fact.
        edit(tiny, "scenario.yaml", "key: true", "key: false")
        edit(tiny, "people.yaml", "requires: {facts: [F_LIMIT], miss: Talk to Jonas in the post room first.}", "")
        shutil.rmtree(tiny / "solutions" / "ablations")
        shutil.rmtree(tiny / "solutions" / "shortcuts" / "hard_coded")
        assert len(found(tiny, settings, "examples").problems) == problems


class TestDocuments:
    def test_what_a_document_may_say(self, tiny: Path, settings: Settings) -> None:
        (tiny / "site/docs/other.md").write_text(
            "The shop has 500 sorts of seeds.\nA letter is answered within 500 days.\nWhat letters may weigh: clause 500.\n"
            "A letter may weigh 100 g.\n"
        )
        assert found(tiny, settings, "documents", seeds=(1, 2)) == Verdict("documents", True, (), (), ())

    @pytest.mark.parametrize(
        "line",
        ["A letter may weigh 500 g at most.", "| letters | weigh 500 |", "Letters that weigh up to five hundred grams need one stamp."],
    )
    def test_a_key_fact_in_a_document(self, tiny: Path, settings: Settings, line: str) -> None:
        (tiny / "site/docs/other.md").write_text(f"# Post\n\n{line}\n")
        verdict = found(tiny, settings, "documents", seeds=(1, 2))
        assert verdict.passed
        value = "five hundred" if "five" in line else "500"
        assert verdict.warnings == (
            f"tiny_post/site/docs/other.md:3: states '{value}' as the key fact F_LIMIT does, which only people should tell",
        )
        assert found(tiny, settings, "documents", "v2").warnings == ()

    def test_files_that_are_filled_in_or_written_by_build(self, tiny: Path, settings: Settings) -> None:
        edit(tiny, "site/docs/post.md.j2", "# Post room", "# Post room\nLetters weigh up to {{ limit }} g.")
        edit(
            tiny,
            "world.py",
            '(site / "data").mkdir()',
            '(site / "data").mkdir()\n    (site / "log.txt").write_text("letters weigh 500\\n")',
        )
        edit(tiny, "briefs/L2.md", "Postage is too high.", "Postage is too high, and a letter may weigh {{ limit }} g.")
        said = " as the key fact F_LIMIT does, which only people should tell"
        assert found(tiny, settings, "documents").warnings == (
            f"tiny_post/site/docs/post.md.j2:2: states '500'{said}",
            f"log.txt:1 (written by build): states '500'{said}",
            f"tiny_post/briefs/L2.md:1: states '500'{said}",
        )

    def test_a_template_whose_lines_are_not_those_of_the_file(self, tiny: Path, settings: Settings) -> None:
        (tiny / "site/docs/post.md.j2").write_text("{% for n in range(3) %}\nStamps.\n{% endfor %}\nLetters weigh up to 500 g.\n")
        (warning,) = found(tiny, settings, "documents").warnings
        assert warning.startswith("tiny_post/site/docs/post.md.j2:8 (line as built): states '500'")

    def test_an_identifier_needs_no_words_around_it(self, tiny: Path, settings: Settings) -> None:
        edit(tiny, "scenario.yaml", "{{ limit }} g.", "{{ limit }} g, tariff TP-7.")
        (tiny / "site/docs/other.md").write_text("Stamps: see tp-7, not TP-70 or ATP-7.\n")
        assert found(tiny, settings, "documents").warnings == (
            "tiny_post/site/docs/other.md:1: states 'tp-7' as the key fact F_LIMIT does, which only people should tell",
        )

    def test_a_draw_that_makes_an_outdated_document_right(self, tiny: Path, settings: Settings) -> None:
        edit(tiny, "scenario.yaml", "{value: 500,", "{value: 500, draw: {low: 400, high: 600, step: 50},")
        edit(tiny, "scenario.yaml", "parameters: {limit: 700}", "parameters: {limit: 700}\n    draws: {limit: {choices: [425, 700]}}")
        (tiny / "site/docs/other.md").write_text("Tariff of 2019: a letter may weigh 450 g.\nThe letter of 425 g weighs too much.\n")
        expected = (
            "tiny_post/site/docs/other.md:1: states '450', which the draw of the parameter limit can give under some seed: "
            "what is out of date here would then be right",
        )
        assert found(tiny, settings, "documents").warnings == expected
        (warning,) = found(tiny, settings, "documents", "v2").warnings
        assert warning.startswith("tiny_post/site/docs/other.md:2: states '425'")


def _add_stamps(folder: Path, never: str = "[heavy]", example: str = "How heavy may a letter be, in grams, at the limit?") -> None:
    """Give the post room a second topic; its last example is the one in question."""
    edit(
        folder,
        "people.yaml",
        "        facts: [F_LIMIT]\n",
        "        facts: [F_LIMIT]\n"
        "      stamps:\n"
        "        about: which stamps are used\n"
        "        call_it: the stamps\n"
        f"        examples: [Which stamps do you use?, Which stamps have you got?, '{example}']\n"
        "        triggers: ['\\bstamps\\b']\n"
        f"        never: {never}\n"
        "        answer: The green ones.\n",
    )
