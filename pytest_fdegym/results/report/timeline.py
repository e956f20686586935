"""An event log as the moments of a timeline: bounded, and forgiving, since a log may be of another version, cut, or hostile."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import pydantic_core

LONGEST_LOG = 16 << 20
"""Bytes of an event log that are read."""
_USAGE = b'{"kind": "usage"'
"""What the lines about a model's usage begin with: the most of a log, of which only the faulty ones are told."""


class Moment(TypedDict):
    """A moment of a timeline, without what is not known. The page shows it."""

    kind: str
    minute: NotRequired[float]
    """Since the start of the run, on the wall clock."""
    at: NotRequired[str]
    """In the customer's calendar, ISO 8601."""
    who: NotRequired[str]
    text: NotRequired[str]
    reply: NotRequired[str]
    how: NotRequired[str]
    """The kind of a reply; how a command or a call ended."""
    charge: NotRequired[float]
    """In uplift units."""
    facts: NotRequired[list[str]]
    signoffs: NotRequired[list[str]]


def events_of(log: Path) -> Iterator[Mapping[str, Any]]:
    """The events of a log, as far as they can be read; none where there is no log."""
    try:
        with log.open("rb") as file:
            lines = file.read(LONGEST_LOG).splitlines()
    except OSError:
        return
    for line in lines:
        if line.startswith(_USAGE) and b'"fault"' not in line:
            continue
        event = _parsed(line)
        if isinstance(event, dict) and isinstance(event.get("kind"), str):
            yield event


def _parsed(line: bytes) -> object:
    try:
        return pydantic_core.from_json(line)
    except ValueError:  # also a lone surrogate, which is none to the standard library
        try:
            found = json.loads(line.decode("utf-8", "replace"))
            return json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return None


def moments(log: Path) -> tuple[list[Moment], bool]:
    """The moments of a log, and whether there were any events at all."""
    found: list[Moment] = []
    start: datetime | None = None
    heard = False
    for event in events_of(log):
        heard = True
        time = _time(event.get("time"))
        start = start or time
        moment = _moment(event)
        if moment is None:
            continue
        if time is not None and start is not None:
            moment["minute"] = round((time - start).total_seconds() / 60, 2)
        if at := _text(event.get("at")):
            moment["at"] = at
        found.append(moment)
    return found, heard


def _moment(event: Mapping[str, Any]) -> Moment | None:
    kind = event["kind"]
    entry = event.get("entry")
    if isinstance(entry, dict):
        return _contact(kind, entry, event)
    moment = Moment(kind=kind)
    match kind:
        case "command":
            moment["text"] = _text(event.get("command"))
            if output := event.get("output"):
                moment["reply"] = _text(output)
            stopped, code = event.get("stopped_by"), event.get("exit_code")
            moment["how"] = f"stopped by {_text(stopped)}" if stopped else f"exit code {_text(code)}"
        case "inbox":
            new = event.get("new")
            moment["text"] = "; ".join(map(_text, new)) if isinstance(new, list) and new else "nothing new"
        case "gateway":
            moment["text"], moment["reply"] = _text(event.get("text")), _text(event.get("answer"))
            moment["how"] = f"USD {_text(event.get('usd'))}"
        case "usage":
            fault = event.get("fault")
            if not isinstance(fault, dict):
                return None
            moment["text"], moment["how"] = _text(fault.get("text")), _text(fault.get("kind"))
        case "replay":
            notes = event.get("notes")
            moment["text"] = "\n".join(map(_text, notes)) if isinstance(notes, list) else ""
            moment["how"] = f"KPI {_number(event.get('kpi'))}, {_text(event.get('incidents'))} incidents"
        case "grade":
            moment["how"] = f"score {_number(event.get('score'), 3)}, uplift {_number(event.get('uplift'), 3)}"
        case "start":
            pass
        case _:  # limit, retry, agent_error, handover, void, and kinds of other versions
            shown = {key: value for key, value in event.items() if key not in ("kind", "time", "at", "digest") and value is not None}
            moment["text"] = "\n".join(f"{key}: {_text(value)}" for key, value in shown.items())
    return _without_nothing(moment)


def _contact(kind: str, entry: Mapping[str, Any], event: Mapping[str, Any]) -> Moment:
    moment = Moment(kind=kind, who=_text(entry.get("person")), text=_text(entry.get("sent")), reply=_text(entry.get("reply")))
    moment["how"] = _text(entry.get("reply_kind"))
    if kind == "wait":
        moment["text"] = f"{_text(entry.get('days'))} working days"
    elif kind == "trial" and event.get("values"):
        moment["text"] = f"{moment['text']}\n{json.dumps(event['values'], default=str)}"
    if isinstance(charge := entry.get("charge"), int | float):
        moment["charge"] = charge
    for key in ("facts", "signoffs"):
        if isinstance(named := entry.get(key), list):
            moment[key] = [_text(each) for each in named]
    return _without_nothing(moment)


def _without_nothing(moment: Moment) -> Moment:
    return {key: value for key, value in moment.items() if value not in ("", [], None)}  # type: ignore[return-value]  # kind stays


def _text(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else str(value)


def _number(value: object, decimals: int = 1) -> str:
    """For people: the record has all digits."""
    return f"{value:.{decimals}f}" if isinstance(value, int | float) else _text(value)


def _time(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
