"""Similarity of a sentence to what an author wrote about each topic: TF-IDF over stems and ideas, and over letter trigrams."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_fdegym.people.router.words import content_stems, ideas

_IDEA_WEIGHT = 0.6
_Vector = Mapping[str, float]


@dataclass(frozen=True)
class Similarity:
    """Cosines (0..1) of one sentence to one topic."""

    best: float
    """To the nearest example, about or call_it line."""
    centre: float
    """To the sum of them all."""
    letters: float
    """To the nearest of them by letter trigrams."""


def terms(text: str) -> Counter[str]:
    """Return the terms of `text`: stems, and ideas at a lower weight."""
    stems = content_stems(text)
    return Counter(stems + ideas(stems))


def _trigrams(text: str) -> Counter[str]:
    grams: Counter[str] = Counter()
    for word in content_stems(text):
        padded = f"^{word}$"
        grams.update(padded[i : i + 3] for i in range(len(padded) - 2))
    return grams


class _Index:
    """Cosines of a query to many documents at once, through posting lists."""

    def __init__(self, documents: Sequence[Mapping[str, int]]) -> None:
        count = len(documents)
        frequency: Counter[str] = Counter()
        for document in documents:
            frequency.update(document.keys())
        self._idf = {term: math.log((count + 1) / (n + 0.5)) for term, n in frequency.items()}
        self._unknown = math.log((count + 1) / 0.5)
        self._postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        self._size = count
        for number, document in enumerate(documents):
            vector = self._weigh(document)
            length = _length(vector.values())
            for term, weight in vector.items():
                self._postings[term].append((number, weight / length))

    def _weigh(self, counts: Mapping[str, int]) -> dict[str, float]:
        return {
            term: (1 + math.log(n)) * self._idf.get(term, self._unknown) * (_IDEA_WEIGHT if term.startswith("=") else 1.0)
            for term, n in sorted(counts.items())
        }

    def cosines(self, query: Mapping[str, int]) -> list[float]:
        vector = self._weigh(query)
        length = _length(vector.values())
        result = [0.0] * self._size
        for term, weight in vector.items():
            for number, document_weight in self._postings.get(term, ()):
                result[number] += weight * document_weight / length
        return result


def _length(weights: Iterable[float]) -> float:
    return math.sqrt(sum(weight * weight for weight in weights)) or 1.0


class LexicalModel:
    """The texts of a company's topics, made ready for comparing."""

    def __init__(self, texts: Mapping[str, Sequence[str]]) -> None:
        """`texts` are the lines that describe each topic, by the topic's key."""
        self._topics = list(texts)
        self._owner = [topic for topic, lines in texts.items() for _ in lines]
        lines = [line for topic in texts.values() for line in topic]
        documents = [terms(line) for line in lines]
        self._words = _Index(documents)
        self._letters = _Index([_trigrams(line) for line in lines])
        centres: dict[str, Counter[str]] = {topic: Counter() for topic in texts}
        for owner, document in zip(self._owner, documents, strict=True):
            centres[owner].update(document)
        self._centres = _Index([centres[topic] for topic in self._topics])

    def compare(self, sentence: str) -> dict[str, Similarity]:
        """Return the similarity of `sentence` to every topic."""
        query = terms(sentence)
        best = dict.fromkeys(self._topics, 0.0)
        letters = dict.fromkeys(self._topics, 0.0)
        for owner, word_cosine, letter_cosine in zip(
            self._owner, self._words.cosines(query), self._letters.cosines(_trigrams(sentence)), strict=True
        ):
            best[owner] = max(best[owner], word_cosine)
            letters[owner] = max(letters[owner], letter_cosine)
        centre = dict(zip(self._topics, self._centres.cosines(query), strict=True))
        return {topic: Similarity(best[topic], centre[topic], letters[topic]) for topic in self._topics}
