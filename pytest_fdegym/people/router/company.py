"""The topics of a whole company, compiled: reads one sentence and measures it against every topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pytest_fdegym.people.router.fishing import is_broad
from pytest_fdegym.people.router.lexical import LexicalModel, Similarity
from pytest_fdegym.people.router.sentences import Sentence
from pytest_fdegym.people.router.smalltalk import LINES
from pytest_fdegym.people.router.spelling import Spelling
from pytest_fdegym.people.router.triggers import compile_triggers, literal_words
from pytest_fdegym.people.router.words import STOP_WORDS, content_stems, is_known_idea, raw_words
from pytest_fdegym.scenario.model import Topic

NOBODY: Final = "nobody"
"""Key of small talk among the topics, whose keys are ``person/topic``."""
_BLUNTED: Final = 0.2
"""What a trigger loses for each line of another topic that it matches too: its sharpness is 1 / (1 + this * lines)."""


@dataclass(frozen=True)
class Reading:
    """One sentence, measured against every topic of the company (by ``person/topic``)."""

    sentence: Sentence
    matched: Mapping[str, Mapping[int, float]]
    """The triggers that match, by position, with their sharpness."""
    refused: Mapping[str, bool]
    """Whether a `never` pattern matches."""
    similarity: Mapping[str, Similarity]
    """`NOBODY` is among the keys."""
    strange: float
    """Share (0..1) of the words that carry meaning and that the company's texts do not have; 1 when there are none."""
    broad: bool
    brief: bool
    """Fewer than three words carry meaning."""

    def hits(self, topic: str) -> float:
        """The sharpness of all triggers of `topic` that match."""
        return sum(self.matched[topic].values())

    def sharpest(self, topic: str) -> float:
        """The sharpness of the best trigger of `topic` that matches, 0 when none does."""
        return max(self.matched[topic].values(), default=0.0)

    def level(self, topic: str) -> float:
        """Lexical similarity to `topic`."""
        return self.similarity[topic].best + self.similarity[topic].centre


def _lines(topic: Topic) -> list[str]:
    return [topic.about, topic.call_it, *topic.examples]


class CompanyModel:
    """Compiled once for a set of topics; reading a sentence changes nothing that can be seen."""

    def __init__(self, topics: Mapping[str, Topic]) -> None:
        """Take the topics by ``person/topic``; raises ScenarioError when a trigger is not a regular expression."""
        self._triggers = {key: compile_triggers(topic, key.replace("/", ".topics.", 1)) for key, topic in topics.items()}
        self._texts = {**{key: _lines(topic) for key, topic in topics.items()}, NOBODY: list(LINES)}
        own = [line for key in topics for line in self._texts[key]]
        self._lexical = LexicalModel(self._texts)
        self._vocabulary = frozenset(stem for line in own for stem in content_stems(line))
        words = {word for line in own for word in raw_words(line)}.union(*(literal_words(topic) for topic in topics.values()))
        self._spelling = Spelling(words | STOP_WORDS)
        self._sharpness: dict[tuple[str, int], float] = {}

    def has_triggers(self, topic: str) -> bool:
        """Whether the author wrote triggers for `topic`."""
        return bool(self._triggers[topic].speak_for)

    def _sharp(self, topic: str, number: int) -> float:
        """How much a trigger tells; worked out when it first matches, since most never do."""
        if (topic, number) not in self._sharpness:
            pattern = self._triggers[topic].speak_for[number]
            foreign = sum(pattern.search(line) is not None for key, lines in self._texts.items() if key != topic for line in lines)
            self._sharpness[topic, number] = 1 / (1 + _BLUNTED * foreign)
        return self._sharpness[topic, number]

    def repair(self, text: str) -> str:
        """Return `text` with slips in the company's own words repaired."""
        return self._spelling.repair(text)

    def compare(self, text: str) -> Mapping[str, Similarity]:
        """Return the lexical similarity of `text` to every topic and to `NOBODY`."""
        return self._lexical.compare(text)

    def strangeness(self, text: str) -> float:
        """Return the share of meaningful words in `text` that neither the company's texts nor the thesaurus have."""
        stems = [word for word in content_stems(text) if word.isalpha()]
        strange = [word for word in stems if word not in self._vocabulary and not is_known_idea(word)]
        return len(strange) / len(stems) if stems else 1.0

    def read(self, sentence: Sentence) -> Reading:
        """Measure `sentence` against every topic."""
        repaired = self.repair(sentence.text)
        spellings = (sentence.text,) if repaired == sentence.text else (sentence.text, repaired)
        return Reading(
            sentence,
            matched={
                key: {number: self._sharp(key, number) for number in triggers.matches(*spellings)}
                for key, triggers in self._triggers.items()
            },
            refused={key: triggers.refused(*spellings) for key, triggers in self._triggers.items()},
            similarity=self.compare(repaired),
            strange=self.strangeness(repaired),
            broad=is_broad(sentence.text),
            brief=len(content_stems(repaired)) < 3,
        )
