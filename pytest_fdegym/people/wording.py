"""How the parts of a reply become the words of one person."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fdegym.people.topics import Part
from pytest_fdegym.scenario.model import Person

TOO_MUCH = "That's a lot at once; ask me the rest separately."


def joined(parts: Sequence[Part], left_over: bool) -> str:
    """The texts of `parts` as paragraphs, a repeated one once; with a closing line when more was asked than one reply takes."""
    texts = [part.text.strip() for part in parts]
    return "\n\n".join(dict.fromkeys([*texts, TOO_MUCH] if left_over else texts))


def question_back(person: Person, names: Sequence[str]) -> str:
    """The person's question back, with the candidates as `call_it` names them: "the allowance, the approver or the extract"."""
    called = [person.topics[name].call_it for name in names]
    text = called[0] if len(called) == 1 else f"{', '.join(called[:-1])} or {called[-1]}"
    return (person.asks_back_one if len(called) == 1 else person.asks_back).replace("{topics}", text)
