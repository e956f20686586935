"""The tiny scenario with a gateway and trial runs, and a third person who knows a lot of small things and wants to see an identifier."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.support.tiny_gateway import write_tiny_gateway

SMALL_THINGS = {
    "canteen": "at what time lunch is served in the canteen",
    "parking": "where visitors of the shop may park their cars",
    "keys": "who has the keys of the warehouse gate",
    "heating": "which firm services the boiler in the basement",
    "seedlings": "in which greenhouse the tomato seedlings stand",
    "catalogue": "when the printed spring catalogue goes to press",
}
"""Topics of a person, more than one reply takes up."""
BATCH = "LOT-417"


def write_tiny_desk(folder: Path) -> Path:
    """Write the scenario into `folder` (made where missing) and return it."""
    write_tiny_gateway(folder)
    people = yaml.safe_load((folder / "people.yaml").read_text(encoding="utf-8"))
    topics: dict[str, object] = {
        name: {
            "about": about,
            "call_it": f"the {name}",
            "examples": [f"Can you tell me {about}?", f"Do you know {about}?", f"I need to know {about}."],
            "answer": f"Of the {name} I know all that there is.",
        }
        for name, about in SMALL_THINGS.items()
    }
    topics["batch"] = {
        "about": "a bad batch of seed and what was done about it",
        "call_it": "the bad batch",
        "examples": ["Which batch of seed was bad?", "What was done about the bad batch?", "What happened to the bad seed?"],
        "answer": "That one we threw away.",
        "evidence": {"items": {"lot": {"id": BATCH}}, "miss": "Which lot do you mean?"},
    }
    people["people"]["finch"] = {
        "name": "Tom Finch",
        "role": "Caretaker",
        "directory": "Looks after the house and the batches of seed",
        "rate": 0.02,
        "patience": 3,
        "fallback": "I only look after the house.",
        "topics": topics,
    }
    (folder / "people.yaml").write_text(yaml.safe_dump(people, sort_keys=False, allow_unicode=True), encoding="utf-8")
    scenario = folder / "scenario.yaml"
    scenario.write_text(scenario.read_text(encoding="utf-8").replace("id: tiny_post\n", "id: tiny_desk\n"), encoding="utf-8")
    return folder
