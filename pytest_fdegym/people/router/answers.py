"""From what a model wrote to a verdict: only ids, letters and names that were asked about, and only what the message can bear out."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

from pytest_fdegym.people.mentions import key_of
from pytest_fdegym.people.number_words import UNITS
from pytest_fdegym.people.reading import Reading, read
from pytest_fdegym.people.router.base import RoutablePerson
from pytest_fdegym.people.router.decision import AskedGate, AskedTopics, GateVerdict, Question, TopicsVerdict, TopicVerdict, labels
from pytest_fdegym.scenario.model import Condition

_FIGURE = re.compile(
    rf"[0-9]|\b(?:{'|'.join(UNITS)}|ten|eleven|twelve|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundreds?|thousands?|"
    r"millions?|dozens?|half|halves|thirds?|quarters?|fifths?|tenths?|once|twice|double|triple|none|no)\b",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"%|per ?cent|\bpct\b", re.IGNORECASE)


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
        return bool(message.numbers) or _FIGURE.search(message.text) is not None
    identifiers = (leaf.id,) if leaf.id is not None else tuple(leaf.ids or ())
    return not identifiers or any(_could_name(name, message.text) for name in identifiers)


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
        if names := _borne_out(leaf, said, message):
            verdict[letter] = names
    return GateVerdict(shown=verdict)


def _borne_out(leaf: Condition, said: dict[str, Any], message: Reading) -> tuple[str, ...]:
    """What counts as found for `leaf`: nothing where the quote does not stand in the message, or is not of the kind."""
    quote = read(said["quote"]).text
    places = [found.span() for found in re.finditer(re.escape(quote), message.text, re.IGNORECASE)] if re.search(r"\w", quote) else []
    if not places:
        return ()
    if leaf.number is not None:
        return ("number",) if any(_states(leaf, message, *place, said.get("value")) for place in places) else ()
    if leaf.id is not None:
        return (key_of(leaf.id),) if _could_name(leaf.id, quote) else ()
    if leaf.ids is not None:
        claimed = said.get("named")
        named = {key_of(name) for name in claimed if isinstance(name, str)} if isinstance(claimed, list) else set()
        return tuple(sorted({key_of(name) for name in leaf.ids if _could_name(name, quote)} & named))
    return ("document",) if leaf.document is not None else ("phrase",)


def _states(leaf: Condition, message: Reading, start: int, end: int, value: Any) -> bool:
    """Whether the passage states the figure, within its tolerance: arithmetic is not left to a model.

    The numbers that can be read in the passage decide; where none can ("a third of them") the model's reading of it does.
    """
    assert isinstance(leaf.number, float | int)  # filled in
    expected = leaf.number
    tolerance = max(abs(expected) * leaf.within, leaf.plus_minus, 1e-9 * max(1.0, abs(expected)))
    readings = {reading for number in message.numbers if number.start < end and number.end > start for reading in number.values}
    passage = message.text[start:end]
    if not readings and isinstance(value, float | int) and not isinstance(value, bool) and _FIGURE.search(passage):
        readings = {value, value / 100} if _PERCENT.search(passage) else {value}
    return any(abs(reading - expected) <= tolerance for reading in readings)


def _could_name(name: str, text: str) -> bool:
    """Whether `text` has a word or number of an identifier, and all its longer numbers.

    A model that lists what it was given is not believed.
    """
    words = {word.casefold() for word in re.findall(r"[^\W\d_]+|[0-9]+", text)}
    parts = [part.casefold() for part in re.findall(r"[^\W\d_]{3,}|[0-9]+", name)]
    if not all(part in words for part in parts if part.isdecimal() and len(part) > 1):
        return False
    return not parts or any(part in words if part.isdecimal() else any(word.startswith(part[:5]) for word in words) for part in parts)
