"""From what a model wrote to a verdict: only ids, letters and names that were asked about, and only what the message can bear out."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath
from typing import Any, get_args

from pytest_fdegym.people.figures import is_right
from pytest_fdegym.people.mentions import key_of, names_in
from pytest_fdegym.people.offers import in_list
from pytest_fdegym.people.patterns import content_words, identifiers_of, words_of
from pytest_fdegym.people.reading import Reading, read
from pytest_fdegym.people.router.base import GateQuestion, RoutablePerson
from pytest_fdegym.people.router.decision import AskedGate, AskedTopics, GateVerdict, Question, TopicsVerdict, TopicVerdict, labels
from pytest_fdegym.scenario.model import Condition

MAX_QUOTE = 240
"""Characters of a quote; a longer one is no passage that shows something."""
_STEM = 5
MAX_RUN = 3
"""Different numbers in a quote for one identifier; more are a list of guesses."""
_FIGURES_IN_WORDS = {
    "half": (1 / 2,),
    "halves": (1 / 2,),
    "third": (1 / 3,),
    "thirds": (1 / 3, 2 / 3),
    "quarter": (1 / 4,),
    "quarters": (1 / 4, 3 / 4),
    "fifth": (1 / 5,),
    "tenth": (1 / 10,),
    "once": (1.0,),
    "twice": (2.0,),
    "double": (2.0,),
    "triple": (3.0,),
    "none": (0.0,),
}
"""What can be worked out of a word; a share is 0.5 as well as 50 (per cent)."""
_FIGURE = re.compile(rf"\b(?:{'|'.join(_FIGURES_IN_WORDS)})\b", re.IGNORECASE)


class Unusable(Exception):
    """The answer has not the form asked for; the text says why, for the model that is asked again."""


def verdict_of(question: Question, answer: str) -> TopicsVerdict | GateVerdict:
    """Read the answer to `question`. Raises Unusable."""
    found = _object(answer)
    if isinstance(question, AskedTopics):
        return _topics(found, question.who)
    assert isinstance(question, AskedGate)
    return _gate(found, question)


def can_be_borne_out(leaf: Condition, message: Reading) -> bool:
    """Whether any answer could make `message` show `leaf`."""
    if leaf.number is not None:
        return bool(_figures(message, 0, len(message.text)))
    if leaf.id is not None or leaf.ids is not None:
        return any(_could_name(name, message.text) for name in ((leaf.id,) if leaf.id is not None else tuple(leaf.ids or ())))
    return _says(leaf, message.text)


def _object(answer: str) -> dict[str, Any]:
    start, end = answer.find("{"), answer.rfind("}")
    if start < 0 or end < start:
        raise Unusable("it holds no JSON object")
    try:
        found = json.loads(answer[start : end + 1])
    except (ValueError, RecursionError) as error:
        raise Unusable(f"it is not valid JSON ({error})") from None
    assert isinstance(found, dict)  # it starts with a brace
    return found


def _topics(found: dict[str, Any], who: RoutablePerson) -> TopicsVerdict:
    kind, topics = found.get("message"), found.get("topics", {})
    if kind not in ("specific", "fishing", "off_topic"):
        raise Unusable('"message" is not "specific", "fishing" or "off_topic"')
    if not isinstance(topics, dict):
        raise Unusable('"topics" is not an object')
    known: dict[str, TopicVerdict] = {}
    for topic, said in topics.items():
        if topic not in who.topics:
            continue
        if said not in get_args(TopicVerdict):
            raise Unusable(f'the verdict on "{topic}" is not "asked", "unsure" or "no"')
        known[topic] = said
    return TopicsVerdict(message=kind, topics=known)


def _gate(found: dict[str, Any], question: AskedGate) -> GateVerdict:
    shown = found.get("shown")
    if not isinstance(shown, dict):
        raise Unusable('"shown" is not an object')
    message = read(question.message)
    verdict: dict[str, tuple[str, ...]] = {}
    for letter, leaf in zip(labels(len(question.gate.open)), question.gate.open, strict=True):
        said = shown.get(letter)
        if said is None or said is False:
            continue
        if not isinstance(said, dict) or not isinstance(said.get("quote"), str):
            raise Unusable(f'"{letter}" is not an object with a "quote"')
        if names := _borne_out(leaf, said, message, question.gate):
            verdict[letter] = names
    return GateVerdict(shown=verdict)


def _borne_out(leaf: Condition, said: dict[str, Any], message: Reading, gate: GateQuestion) -> tuple[str, ...]:
    """What counts as found for `leaf`: nothing where the quote is no passage of the message that has the thing itself in it.

    A model may obey the message instead of judging it, so that nothing is believed for its word: a figure is read in the quote, an
    identifier must have its numbers and a word there, a phrase or a document words of its own. Neither the person's own words nor what
    the model was shown of the condition count when they are given back, nor does the entry of a list.
    """
    quote = read(said["quote"]).text
    if not re.search(r"\w", quote) or len(quote) > MAX_QUOTE:
        return ()
    places = [found.span() for found in re.finditer(re.escape(quote), message.text, re.IGNORECASE)]
    if leaf.number is not None:
        figures = {figure for place in places for figure in _figures(message, *place)}
        return ("number",) if any(is_right(figure, leaf) for figure in figures) else ()
    if not any(not in_list(message, *place) for place in places):
        return ()
    if leaf.id is not None:
        return (key_of(leaf.id),) if _could_name(leaf.id, quote) else ()
    if leaf.ids is not None:
        claimed = said.get("named")
        named = {key_of(name) for name in claimed if isinstance(name, str)} if isinstance(claimed, list) else set()
        return tuple(sorted({key_of(name) for name in leaf.ids if _could_name(name, quote, most=len(quote))} & named))
    if _is_echo(quote, gate.wanted, gate.about, leaf.phrase or "") or not _says(leaf, quote, gate.wanted):
        return ()
    return ("document",) if leaf.document is not None else ("phrase",)


def _figures(message: Reading, start: int, end: int) -> set[float]:
    """The figures that a passage states; words are worked out where no number can be read."""
    readings = {reading for number in message.numbers if number.start < end and number.end > start for reading in number.values}
    in_words = [value for found in _FIGURE.finditer(message.text, start, end) for value in _FIGURES_IN_WORDS[found[0].lower()]]
    return readings or {reading for value in in_words for reading in ((value, 100 * value) if value < 1 else (value,))}


def _says(leaf: Condition, text: str, asked: str = "") -> bool:
    """Whether `text` has a word of what a phrase looks for that was not `asked` for in so many words, or all those of a document's name."""
    if leaf.document is not None:
        words = content_words(PurePosixPath(read(leaf.document).text).stem)
        return bool(words) and all(_has(word, text) for word in words)
    assert leaf.phrase is not None
    if identifiers := identifiers_of(leaf.phrase):
        return any(_could_name(identifier, text) for identifier in identifiers)
    return any(_has(word, text) for word in words_of(leaf.phrase) if not _has(word, asked))


def _has(word: str, text: str) -> bool:
    """Whether a word of `text` begins as `word` does."""
    return any(said.startswith(word[:_STEM]) for said in content_words(text))


def _is_echo(quote: str, *texts: str) -> bool:
    """Whether a quote is taken from one of these."""
    words = " ".join(re.findall(r"\w+", quote.casefold()))
    return any(words in " ".join(re.findall(r"\w+", text.casefold())) for text in texts)


def _could_name(name: str, text: str, most: int = MAX_RUN) -> bool:
    """Whether `text` has all numbers of an identifier, in digits or words, among no more than `most`, and one of its words.

    A model that lists what it was given is not believed.
    """
    words, numbers = names_in(text)
    parts = [part.casefold() for part in re.findall(r"[^\W\d_]{3,}|[0-9]+", name)]
    digits = [str(int(part)) if len(part) <= 2 else part for part in parts if part.isdecimal()]
    if not all(part in numbers for part in digits) or (digits and len(numbers) > most):
        return False
    spelled = [part for part in parts if not part.isdecimal()]
    if not digits:
        return bool(spelled) and all(any(_stands_for(word, part) for word in words) for part in spelled)
    return not spelled or any(_stands_for(word, part) for part in spelled for word in words)


def _stands_for(word: str, part: str) -> bool:
    """Whether somebody who writes `word` may mean `part`: its beginning, or four letters of it and more (``amdt``)."""
    if word.startswith(part[:_STEM]) or (len(word) >= 3 and part.startswith(word)):
        return True
    letters = iter(part)
    return len(word) >= 4 and word[0] == part[0] and all(letter in letters for letter in word)
