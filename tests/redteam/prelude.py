"""Goes with every hostile delivery as ``redteam_attack.py``, the attack's own code below it. Standard library only.

`GIVEN` says where everything worth having lies, for a wall that holds only as long as nobody knows the way is none.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable
from typing import Any

GIVEN: dict[str, Any] = {}
LOOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "redteam_loot.txt")
MOST = 300
PID = os.getpid()
_OPEN, _TEXT = open, json.dumps
"""As they were before an attack replaced them."""


def got(what: object) -> None:
    """Tell that something was had which should be out of reach."""
    _tell("got", what)


def stopped(by: object) -> None:
    """Tell what stopped an attempt."""
    _tell("stopped", by)


def _tell(kind: str, what: object) -> None:
    with _OPEN(LOOT, "a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(_TEXT([kind, str(what)[:MOST]]) + "\n")


def around(name: str, own: Callable[..., Any], args: tuple[Any, ...], given: dict[str, Any]) -> Any:
    """Make a call of production's; an attack may define its own."""
    return own(*args, **given)


def wrapped(name: str, own: Callable[..., Any]) -> Callable[..., Any]:
    """The entry point `own`, behind `around`."""

    @functools.wraps(own)
    def call(*args: Any, **given: Any) -> Any:
        return globals()["around"](name, own, args, given)

    return call
