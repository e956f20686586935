"""What is measured of a message for each topic of the addressed person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass

from pytest_fdegym.people.router.base import RoutablePerson
from pytest_fdegym.people.router.fishing import is_broad
from pytest_fdegym.people.router.lexical import LexicalModel, Similarity
from pytest_fdegym.people.router.sentences import Sentence, normalise
from pytest_fdegym.people.router.smalltalk import LINES
from pytest_fdegym.people.router.spelling import Spelling
from pytest_fdegym.people.router.triggers import Triggers, compile_triggers, literal_words
from pytest_fdegym.people.router.words import STOP_WORDS, content_stems, is_known_idea, raw_words
from pytest_fdegym.scenario.model import Topic

SHARP = 0.2
_NOBODY = "nobody"
"""Key of small talk among the topics, which have a slash in theirs."""


@dataclass(frozen=True)
class Features:
    """The evidence that a message asks for one topic; numbers that a logistic weighs. Booleans are 0 or 1."""

    triggered: float
    """A trigger matches the sentence that speaks most for the topic."""
    triggered_again: float
    """Further triggers that match it (at most 2)."""
    not_triggered: float
    """The topic has triggers, and none matches a sentence that asks."""
    triggered_in_context: float
    """Only sentences of context are matched by a trigger."""
    triggered_throughout: float
    """Sentences of context are matched as well as one that asks."""
    triggers_in_message: float
    """Further triggers that match any sentence of the message (at most 3)."""
    refused: float
    """A `never` pattern matches the sentence."""
    similarity: float
    similarity_of_centre: float
    similarity_of_letters: float
    similarity_of_message: float
    """Of the message as a whole to the topic's texts together."""
    ahead_of_own: float
    """Similarity less that of the person's nearest other topic."""
    ahead_of_others: float
    """Similarity less that of the nearest topic of somebody else."""
    message_ahead_of_others: float
    own_rival_triggered: float
    """A trigger of another topic of this person matches the sentence, none of this topic."""
    behind_own: float
    """By how many triggers the person's other topic that has most matches leads in the sentence (at most 3)."""
    others_triggered: float
    """A trigger of somebody else's topic matches the sentence, none of this topic."""
    behind_others: float
    """By how many triggers somebody else's topic that has most matches leads in the sentence (at most 3)."""
    small_talk: float
    """Similarity of the sentence to what is nobody's topic at work."""
    strange: float
    """Share of the sentence's words that the company's texts do not have."""
    strange_message: float
    broad: float
    """The sentence is a broad request."""
    broad_message: float
    only_topic: float
    """The person has no other topic."""
    brief: float
    """The sentence has fewer than three words that carry meaning."""
    statement: float
    """The sentence holds no question mark."""

    def values(self) -> tuple[float, ...]:
        """Return the numbers in the order of the fields."""
        return tuple(float(value) for value in astuple(self))


@dataclass(frozen=True)
class _Reading:
    """One sentence, measured against every topic of the company."""

    sentence: Sentence
    matched: Mapping[str, frozenset[int]]
    hits: Mapping[str, float]
    refused: Mapping[str, bool]
    similarity: Mapping[str, Similarity]
    strange: float
    broad: bool
    brief: bool

    def strength(self, topic: str) -> float:
        """A first guess, to choose the sentence that speaks most for `topic`."""
        return min(self.hits[topic], 3.0) * 0.5 + self.similarity[topic].best + self.similarity[topic].centre - self.refused[topic]


def _lines(topic: Topic) -> list[str]:
    return [topic.about, topic.call_it, *topic.examples]


class PersonModel:
    """A person's topics and those of everybody else, compiled for measuring messages."""

    def __init__(self, person: RoutablePerson) -> None:
        """Raise ScenarioError when a trigger is not a regular expression."""
        self.topics = tuple(person.topics)
        self._others = tuple(person.others)
        everything = {**{f"/{key}": topic for key, topic in person.topics.items()}, **person.others}
        self._own_keys = {key: f"/{key}" for key in self.topics}
        self._triggers = {
            key: compile_triggers(topic, f"{person.id}.topics.{key[1:]}" if key.startswith("/") else key.replace("/", ".topics."))
            for key, topic in everything.items()
        }
        texts = {key: _lines(topic) for key, topic in everything.items()}
        self._lexical = LexicalModel({**texts, _NOBODY: LINES})
        known = {word for lines in texts.values() for line in lines for word in raw_words(line)}
        for topic in everything.values():
            known |= literal_words(topic)
        self._sharpness = {key: self._sharp(key, triggers, {**texts, _NOBODY: LINES}) for key, triggers in self._triggers.items()}
        self._own_vocabulary = frozenset(stem for lines in texts.values() for line in lines for stem in content_stems(line))
        self._spelling = Spelling(known | STOP_WORDS)

    def _sharp(self, key: str, triggers: Triggers, texts: Mapping[str, Sequence[str]]) -> tuple[float, ...]:
        """How much each trigger of a topic tells: less when it matches what was written about other topics."""
        foreign = [line for topic, lines in texts.items() if topic != key for line in lines]
        return tuple(1 / (1 + SHARP * sum(pattern.search(line) is not None for line in foreign)) for pattern in triggers.speak_for)

    def _strangeness(self, text: str) -> float:
        stems = [word for word in content_stems(text) if word.isalpha()]
        strange = [word for word in stems if word not in self._own_vocabulary and not is_known_idea(word)]
        return len(strange) / len(stems) if stems else 0.0

    def _read(self, sentence: Sentence) -> _Reading:
        repaired = self._spelling.repair(sentence.text)
        spellings = (sentence.text,) if repaired == sentence.text else (sentence.text, repaired)
        matched = {key: triggers.matches(*spellings) for key, triggers in self._triggers.items()}
        return _Reading(
            sentence,
            matched=matched,
            hits={key: sum(self._sharpness[key][number] for number in numbers) for key, numbers in matched.items()},
            refused={key: triggers.refused(*spellings) for key, triggers in self._triggers.items()},
            similarity=self._lexical.compare(repaired),
            strange=self._strangeness(repaired),
            broad=is_broad(sentence.text),
            brief=len(content_stems(repaired)) < 3,
        )

    def measure(self, sentences: Sequence[Sentence]) -> dict[str, Features]:
        """Return the evidence for each topic of the person; empty when there is no sentence."""
        readings = [self._read(sentence) for sentence in sentences]
        asks = [reading for reading in readings if reading.sentence.role == "ask"]
        if not asks:
            return {}
        whole = self._spelling.repair(normalise(" ".join(sentence.text for sentence in sentences)))
        message = self._lexical.compare(whole)
        strange_message = self._strangeness(whole)
        return {topic: self._features(topic, readings, asks, message, strange_message) for topic in self.topics}

    def _features(
        self, topic: str, readings: Sequence[_Reading], asks: Sequence[_Reading], message: Mapping[str, Similarity], strange_message: float
    ) -> Features:
        key = self._own_keys[topic]
        rivals = [own for own in self._own_keys.values() if own != key]
        chosen = max(asks, key=lambda reading: reading.strength(key))
        here = chosen.similarity
        level = here[key].best + here[key].centre
        hit = chosen.hits[key] > 0
        in_context = any(reading.hits[key] for reading in readings if reading.sentence.role == "context")
        own_rival = max((chosen.hits[rival] for rival in rivals), default=0)
        other = max((chosen.hits[rival] for rival in self._others), default=0)
        anywhere = frozenset[int]().union(*(reading.matched[key] for reading in readings))
        return Features(
            triggered=max((self._sharpness[key][number] for number in chosen.matched[key]), default=0.0),
            triggered_again=min(chosen.hits[key] - max((self._sharpness[key][number] for number in chosen.matched[key]), default=0.0), 2),
            not_triggered=bool(self._triggers[key].speak_for) and not hit,
            triggered_in_context=in_context and not hit,
            triggered_throughout=in_context and hit,
            triggers_in_message=min(max(sum(self._sharpness[key][n] for n in anywhere) - chosen.hits[key], 0), 3),
            refused=chosen.refused[key],
            similarity=here[key].best,
            similarity_of_centre=here[key].centre,
            similarity_of_letters=here[key].letters,
            similarity_of_message=message[key].centre,
            ahead_of_own=level - max((here[rival].best + here[rival].centre for rival in rivals), default=0.0),
            ahead_of_others=level - max((here[rival].best + here[rival].centre for rival in self._others), default=0.0),
            message_ahead_of_others=message[key].centre - max((message[rival].centre for rival in self._others), default=0.0),
            own_rival_triggered=own_rival > 0 and not hit,
            behind_own=min(max(own_rival - chosen.hits[key], 0), 3),
            others_triggered=other > 0 and not hit,
            behind_others=min(max(other - chosen.hits[key], 0), 3),
            small_talk=here[_NOBODY].best,
            strange=chosen.strange,
            strange_message=strange_message,
            broad=chosen.broad,
            broad_message=any(reading.broad for reading in asks),
            only_topic=not rivals,
            brief=chosen.brief,
            statement="?" not in chosen.sentence.text,
        )
