"""All families of attacks, in the order of the table."""

from __future__ import annotations

from tests.redteam.asking import ASKING
from tests.redteam.calling_out import CALLING_OUT
from tests.redteam.catalogue import Attack, Family
from tests.redteam.databases import DATABASES
from tests.redteam.detecting import DETECTING
from tests.redteam.exhaustion import EXHAUSTION
from tests.redteam.files import FILES
from tests.redteam.flooding import FLOODING
from tests.redteam.forging import FORGING
from tests.redteam.handing_over import HANDING_OVER
from tests.redteam.kernel import KERNEL
from tests.redteam.lingering import LINGERING
from tests.redteam.outputs import OUTPUTS
from tests.redteam.reading import READING
from tests.redteam.replacing import REPLACING
from tests.redteam.spending import SPENDING
from tests.redteam.stuffing import STUFFING
from tests.redteam.viewing import VIEWING

FAMILIES: tuple[Family, ...] = (
    READING,
    REPLACING,
    LINGERING,
    DETECTING,
    OUTPUTS,
    DATABASES,
    EXHAUSTION,
    KERNEL,
    FILES,
    FORGING,
    ASKING,
    STUFFING,
    FLOODING,
    HANDING_OVER,
    VIEWING,
    CALLING_OUT,
    SPENDING,
)


def attacks() -> dict[str, Attack]:
    """Every attack by its name. No name and no (mechanism, asset) occurs twice."""
    found: dict[str, Attack] = {}
    for family in FAMILIES:
        assert not found.keys() & family.attacks.keys(), found.keys() & family.attacks.keys()
        found |= family.attacks
    pairs = [(attack.mechanism, attack.asset) for attack in found.values()]
    assert len(set(pairs)) == len(pairs), sorted(pair for pair in pairs if pairs.count(pair) > 1)
    return found
