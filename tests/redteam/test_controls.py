"""Every attack succeeds where its layer of defence is off; an attack that succeeds nowhere would prove nothing."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from pytest_fdegym.deployment.replies import one_line
from tests.redteam.catalogue import Control, Seen
from tests.redteam.families import attacks
from tests.redteam.intact import is_whole_root
from tests.redteam.kernel import KERNEL

ATTACKS = attacks()
ONE_OF = 16
REFUSALS = ("Operation not permitted", "Permission denied", "Function not implemented", "not supported")
"""What a kernel without a feature, or the filter of a container, says of a system call."""
CHECKOUT = Path(__file__).parents[2]


def _throwaway(*names: str) -> dict[str, Seen]:
    """What comes of attacks in processes of their own, with their controls."""
    command = [sys.executable, "-m", "tests.redteam.throwaway", *names]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    found = {}
    for line in done.stdout.splitlines():
        name, fields = json.loads(line)
        found[name] = TypeAdapter(Seen).validate_python(fields)
    assert set(found) == set(names), done.stderr
    return found


_together = functools.cache(_throwaway)


def _sample(request: pytest.FixtureRequest) -> list[str]:
    """Those of the sample that are selected in this session: they share a process, which takes long to start."""
    here = (item for item in request.session.items if item.path == request.node.path and hasattr(item, "callspec"))
    selected = {item.callspec.params.get("name") for item in here}
    return [name for name in list(ATTACKS)[::ONE_OF] if name in selected]


def _cases() -> Sequence[object]:
    return [pytest.param(name, marks=() if number % ONE_OF == 0 else pytest.mark.slow) for number, name in enumerate(ATTACKS)]


@pytest.mark.parametrize("name", _cases())
def test_it_succeeds_where_its_layer_is_off(
    name: str, request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> None:
    attack = ATTACKS[name]
    if attack.needs_root and not is_whole_root():
        pytest.skip("only root can do that without a sandbox")
    sample = _sample(request)
    seen = (_together(*sample) if name in sample else _throwaway(name))[name]
    if name in KERNEL.attacks and not attack.succeeds(seen) and any(each in str(seen.stopped) for each in REFUSALS):
        pytest.skip(f"this machine refuses it without a sandbox too: {seen.stopped[0]}")
    what = attack.gets_too_far(seen)[:1] or ["as it wanted"]
    record_property(f"redteam.{name}.control", f"{attack.control.value}: {one_line(what[0], 80)}")
    assert attack.succeeds(seen), seen


@pytest.mark.slow
@pytest.mark.parametrize("control", list(Control), ids=lambda control: control.name)
def test_a_delivery_that_does_nothing_succeeds_nowhere(control: Control) -> None:
    """What a control shows must be the attack's doing."""
    name = f"idle@{control.name}"
    seen = _throwaway(name)[name]
    assert (seen.loot, seen.broken, seen.odd, seen.fell_over) == ((), (), (), ""), seen
    assert abs(seen.added) <= 1e-9
