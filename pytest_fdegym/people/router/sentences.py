"""Splitting a message into sentences, and telling what asks from what only gives context."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Literal

Role = Literal["ask", "context"]


@dataclass(frozen=True)
class Sentence:
    """A sentence, a bullet or a heading of a message, and what it is there for."""

    text: str
    role: Role


_QUOTES = str.maketrans({"‘": "'", "’": "'", "ʼ": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "…": "...", "\u00a0": " "})
_ABBREVIATION = re.compile(
    r"\b(?:mr|mrs|ms|dr|prof|st|inc|ltd|corp|co|vs|approx|resp|incl|excl|etc|e\.g|i\.e|a\.m|p\.m|no|nos|art|sec|fig|par|ref|dept|est|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|[a-z])\.$",
    re.I,
)
_BULLET = re.compile(r"^\s*(?:[-*•·‣+]|\(?\d{1,2}[.):]|\(?[a-h][.)]|\d{1,2}(?=\s+[a-z]))\s*(?=\S)", re.I)
_INLINE_NUMBER = re.compile(r"(?<=[\s:;,.?!])(?=\(?(?:[1-9]|[a-e])\)\s)")
_GREETING = re.compile(
    r"^(?:(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day)|greetings|morning|afternoon)\b[\w\s.'&-]{0,40}[,!.:]?|"
    r"(?:[A-Z][\w']{1,20} ?){1,2}[,:-]+)$",
    re.I,
)
_ASKING_WORD = re.compile(
    r"\b(?:what|who|whom|whose|which|how|when|where|why|can|could|may|is|are|do|does|any|please|tell|need|send)\b", re.I
)
_OPENING = re.compile(
    r"^(?:(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day))\b(?:[ ,]+(?:there|all|team|mr|mrs|ms|dr|"
    r"[A-Z][\w']+)\.?){0,3}\s*[,!:.-]+\s*)(?=\S)",
    re.I,
)
_CLOSING = re.compile(
    r"^(?:(?:many |with |kind |best |warm |warmest )*(?:thanks|thank you|thx|cheers|regards|wishes|sincerely|best|respectfully|yours\b.*|"
    r"kindly)"
    r"(?: (?:in advance|so much|again|a lot|for your (?:help|time)))*[,.! ]*)$",
    re.I,
)
_QUOTED = re.compile(r"^\s*>|^\s*On .{6,80} wrote:\s*$|^-{2,}\s*(?:original|forwarded) message", re.I)
_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=\S)")

_NAME = r"(?:[a-z][\w'.]{1,14}(?: [a-z][\w'.]{1,14})?\s*[,:-]+\s*)?"
_FILLER = (
    r"(?:(?:and|so|but|also|or|then|now|btw|p\.?s\.?|please|pls|ok|okay|well|separately|finally|lastly|first|second|third|question|"
    r"q)\b[\s,:.-]*)*"
)
_INVERTED = (
    r"(?:(?:may|can|could|would|will|should|shall|must|do|does|did|dose|is|are|was|were|has|have|had|am|isn't|aren't|don't|doesn't|"
    r"didn't|can't|"
    r"couldn't|won't|wouldn't|shouldn't|hasn't|haven't)\s+(?:i|we|you|u|he|she|it|they|there|this|that|these|those|any\w*|some\w*|the|"
    r"your|our|my|"
    r"his|her|their|its|[\w'-]+)\b)"
)
_WH = r"(?:what(?:'?s)?|wh?ich|who(?:'?s|m|se)?|when(?:'?s)?|where(?:'?s)?|were do|why(?:'?s|'?d)?|how(?:'?s|'?d)?|any)\b"
_QUESTION_START = re.compile(rf"^[\"'(*#\s]*{_NAME}{_FILLER}(?:{_WH}|{_INVERTED})", re.I)
_REQUEST = re.compile(
    r"\b(?:please|pls|plz|kindly)\b|"
    r"\b(?:tell|send|give|show|remind|inform|point|walk|brief|advise|enlighten|teach|help) (?:me|us)\b|\blet (?:me|us) (?:know|have|"
    r"hear)\b|"
    r"^[\"'(*#\s]*(?:confirm|explain|describe|list|advise|clarify|share|send|name|specify|state|approve|sign|outline|spell out)\b|"
    r"\b(?:i|we)(?:'d| would| should)?(?: also| really| just| still| very much)? (?:like|love|prefer|rather|want|wish|hope|need|"
    r"appreciate|be (?:glad|grateful|happy|"
    r"obliged|interested|thankful))\b|"
    r"\b(?:i|we)(?:'m| am|'re| are)(?: also| just| still| now)? (?:wondering|curious|asking|after|looking for|hoping|requesting|seeking|"
    r"unsure|not sure|uncertain|interested|puzzled)\b|"
    r"\bi (?:wonder|request|ask|was wondering|hereby)\b|\bmy (?:question|request|ask)\b|\b(?:you'd|you would|you might|you may|you'll) "
    r"(?:be|have|remember|know)\b|"
    r"\b(?:don't|do not|doesn't|cannot|can't|couldn't) (?:know|see|tell|work out|make out|understand|find|figure)\b|\bno idea\b",
    re.I,
)
_SET_ASIDE = re.compile(
    r"\b(?:(?:i'm|i am|we're|we are) not asking|not asking (?:about|for|you)|no need to (?:go into|explain|answer|tell)|"
    r"(?:i|we) already (?:know|have|got)|don't need (?:to know )?anything (?:on|about))\b",
    re.I,
)
_INSTEAD = re.compile(r"\bnot asking\b[^.?!;]*?(?:,| - |;|\bbut\b)\s*", re.I)


def normalise(message: str) -> str:
    """Return `message` in NFKC with plain quotes and dashes."""
    return unicodedata.normalize("NFKC", message).translate(_QUOTES).replace("\r\n", "\n").replace("\r", "\n")


def _blocks(message: str) -> list[tuple[str, bool]]:
    """Lines joined to paragraphs; the flag says that a block is an item of a list."""
    blocks: list[tuple[str, bool]] = []
    open_paragraph = False
    for raw in message.split("\n"):
        if _QUOTED.search(raw):
            open_paragraph = False
            continue
        line = raw.strip().strip("*#_ ").strip()
        if not line:
            open_paragraph = False
            continue
        bullet = _BULLET.match(raw.strip())
        if bullet:
            item = raw.strip()[bullet.end() :].strip("* ")
            if item:
                blocks.append((item, True))
            open_paragraph = False
        elif open_paragraph and len(blocks[-1][0]) >= 60 and not re.search(r"[.?!:]$", blocks[-1][0]):
            blocks[-1] = (f"{blocks[-1][0]} {line}", blocks[-1][1])
        else:
            blocks.append((line, False))
            open_paragraph = True
    return blocks


def _sentences(block: str) -> list[str]:
    pieces: list[str] = []
    for numbered in _INLINE_NUMBER.split(block):
        start = 0
        for match in _END.finditer(numbered):
            candidate = numbered[start : match.start()]
            if _ABBREVIATION.search(candidate[-20:]):  # the end only: a whole candidate is looked at again and again
                continue
            pieces.append(numbered[start : match.end()].strip())
            start = match.end()
        pieces.append(numbered[start:].strip())
    return [re.sub(r"^\(?(?:[1-9]|[a-e])\)\s+", "", piece) for piece in pieces if re.search(r"\w", piece)]


def _is_greeting(text: str) -> bool:
    return _GREETING.match(text) is not None and not _ASKING_WORD.search(text)


def _is_signature(blocks: list[tuple[str, bool]], position: int) -> bool:
    """A short line after a closing formula."""
    before = [block for block, _ in blocks[:position][-2:]]
    return any(_CLOSING.match(line) for line in before) and len(blocks[position][0].split()) <= 8 and "?" not in blocks[position][0]


def _role(sentence: str) -> Role:
    if "?" in sentence or _QUESTION_START.search(sentence) or _REQUEST.search(sentence):
        return "ask"
    return "context"


def _listed(sentences: list[tuple[str, bool, Role]]) -> list[Sentence]:
    """Give the items of a list the role of their neighbours: one question among them, or a request that introduces them, makes all ask."""
    result: list[Sentence] = []
    position = 0
    while position < len(sentences):
        text, listed, role = sentences[position]
        if not listed:
            result.append(Sentence(text, role))
            position += 1
            continue
        end = position
        while end < len(sentences) and sentences[end][1]:
            end += 1
        introduction = sentences[position - 1] if position else None
        asked = (introduction is not None and introduction[2] == "ask" and introduction[0].endswith(":")) or any(
            "?" in item for item, _, _ in sentences[position:end]
        )
        result += [Sentence(item, "ask" if asked else own) for item, _, own in sentences[position:end]]
        position = end
    return result


def split(message: str) -> tuple[Sentence, ...]:
    """Return the sentences of `message` without greeting, signature and quoted text.

    A message in which nothing asks is taken to be asking as a whole: a wish put as a statement.
    """
    blocks = _blocks(normalise(message))
    found: list[tuple[str, bool, Role]] = []
    for position, (block, listed) in enumerate(blocks):
        if _CLOSING.match(block) or (position == 0 and _is_greeting(block)) or _is_signature(blocks, position):
            continue
        for sentence in _sentences(_OPENING.sub("", block)):
            if _CLOSING.match(sentence) or (not found and _is_greeting(sentence)):
                continue
            if _SET_ASIDE.search(sentence):
                rest = _INSTEAD.split(sentence, maxsplit=1)
                if len(rest) == 2 and rest[1]:
                    found.append((rest[1], listed, "ask"))
                continue
            found.append((sentence, listed, _role(sentence)))
    sentences = _listed(found)
    if not any(sentence.role == "ask" for sentence in sentences):
        sentences = [replace(sentence, role="ask") for sentence in sentences]
    return tuple(sentences)
