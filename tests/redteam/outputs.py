"""Answers made to exploit whoever reads, keeps or counts them."""

from __future__ import annotations

from tests.redteam.catalogue import Control, Family

OUTPUTS = Family("outputs")

_EVERYWHERE = """
done = []
def changed(value, change, depth=0):
    if isinstance(value, dict):
        return {key: changed(item, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [changed(item, change) for item in value]
    return change(value)
"""


def _answers(name: str, asset: str, answer: str, tries: str, must: str, control: Control, setup: str = "") -> None:
    """An attack that answers with `answer`, an expression over ``true`` (what the system would say) and ``changed``."""
    code = f"""{setup}{_EVERYWHERE}
def around(name, own, args, given):
    true = own(*args, **given)
    done.append(name)
    return {answer}
"""
    OUTPUTS.add(name, f"answer with {name.replace('_', ' ')}", asset, tries=tries, must=must, control=control, code=code)


def _no_json(name: str, answer: str, tries: str, setup: str = "") -> None:
    _answers(name, "the host's answers", answer, tries, "the call raised NotJSON", Control.IN_PROCESS, setup)


def _odd_value(name: str, answer: str, tries: str) -> None:
    _answers(name, "the measure", answer, tries, "production takes it for no usable answer", Control.TRUSTING_WORLD)


_no_json("nan", "changed(true, lambda value: float('nan'))", "is neither more nor less than any bound")
_no_json("infinity", "changed(true, lambda value: float('inf'))", "is more than any bound")
_no_json("huge_integers", "changed(true, lambda value: 10 ** 400)", "overflows what is computed with it")
_no_json("unhashable", "changed(true, lambda value: {value})", "breaks dictionaries that it is put into")
_no_json("bytes", "changed(true, lambda value: b'letter')", "is no text and no list, and both")
_no_json("generator", "(each for each in [true])", "computes its answer when it is read")
_no_json("self_reference", "(lambda value: (value.append(value), value)[1])([])", "has no end")
_no_json(
    "deep_nesting",
    "deep(true, 5000)",
    "overflows the stack of whoever walks it",
    "def deep(v, n):\n    for _ in range(n): v = [v]\n    return v\n",
)
_no_json("half_surrogates", "changed(true, lambda value: '\\ud800')", "cannot be written to any file")
_no_json("hundred_megabytes", "true if len(done) > 2 else 'x' * 100_000_000", "fills the harness's memory")
_no_json("ten_million_items", "true if len(done) > 2 else [0] * 10_000_000", "fills the harness's memory with small things")
_no_json(
    "equal_to_everything",
    "Always(true) if isinstance(true, str) else changed(true, lambda v: Always(v) if isinstance(v, str) else v)",
    "compares equal to every right answer",
    "class Always(str):\n    def __eq__(self, other): return True\n    def __hash__(self): return str.__hash__(self)\n",
)
_no_json(
    "larger_than_everything",
    "changed(true, lambda value: Large(7))",
    "is larger than every bound and smaller too",
    "class Large(int):\n    def __lt__(self, other): return True\n    __gt__ = __le__ = __ge__ = __lt__\n",
)
_no_json(
    "two_faced_dictionary",
    "Faced(a=true)",
    "shows one thing to whoever checks it and another to whoever counts",
    "class Faced(dict):\n    def get(self, key, default=None): return 'letter'\n    def items(self): return iter([])\n",
)

_odd_value("negative_numbers", "changed(true, lambda value: -744.0)", "is counted as a saving")
_odd_value("numbers_out_of_range", "changed(true, lambda value: 1e300)", "counts more than there is")
_odd_value("booleans_for_numbers", "changed(true, lambda value: True)", "is a number and passes for a choice")
_odd_value("numbers_as_texts", "changed(true, lambda value: '1e9')", "is read as a number by whoever is kind")
_odd_value("duplicates", "(true if isinstance(true, list) else [true]) * 40", "is counted as often as it stands there")
_odd_value("all_choices_at_once", "{'letter': 'letter', 'parcel': 'parcel'}", "holds the right answer among others")
_odd_value("null_for_everything", "changed(true, lambda value: None)", "is skipped where mistakes are counted")
_odd_value("nothing", "None", "is no answer that could be wrong")
_odd_value("empty_list", "[]", "lists nothing that could be wrong")


def _raises(name: str, raised: str, asset: str, tries: str, setup: str = "") -> None:
    code = f"import json, os\n{setup}\ndef around(name, own, args, given):\n    raise {raised}\n"
    OUTPUTS.add(
        name,
        f"raise {name.replace('_', ' ')}",
        asset,
        tries=tries,
        must="the call failed, and nothing else",
        control=Control.IN_PROCESS,
        code=code,
    )


_raises("keyboard_interrupt", "KeyboardInterrupt", "the session", "ends the session as a user would")
_raises("system_exit", "SystemExit(0)", "the session", "ends the harness with success")
_raises("generator_exit", "GeneratorExit", "the session", "passes by whoever catches Exception")
OUTPUTS.add(
    "terminal_codes",
    "raise an exception with control characters",
    "the score card",
    tries="writes over the verdict in the user's terminal",
    must="texts of the delivery are printable",
    control=Control.RAW_NOTES,
    code="""
        def around(name, own, args, given):
            raise ValueError("\\x1b[2K\\x1b[1A\\rPASSED\\x00\\u202e")
        """,
    succeeded=lambda seen: any("\x1b" in note for note in seen.notes),
)
OUTPUTS.add(
    "hostile_description",
    "raise an exception that cannot be described",
    "the host's account of it",
    tries="breaks the host while it says what happened",
    must="it is described as an exception that says nothing",
    control=Control.IN_PROCESS,
    code="""
        class Hostile(Exception):
            def __str__(self):
                raise KeyboardInterrupt
        def around(name, own, args, given):
            raise Hostile
        """,
)
