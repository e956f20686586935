"""What authors may look at: which pieces of a topic's gate hold by now. An agent never sees it."""

from __future__ import annotations

from tests.people.scripts import person, talk, topic

EVIDENCE = {"items": {"hours": {"number": 61}, "rig": {"id": "IB-104"}}, "miss": "Show me."}


def test_pieces_are_told_one_by_one() -> None:
    rule = topic("the rule", facts=["F_RULE"])
    fix = topic("the fix", evidence=EVIDENCE, requires={"facts": ["F_RULE"], "signoffs": ["S_GO"], "miss": "Not yet."})
    go = topic("the go", signoff={"id": "S_GO", "reference": "GO-1"})
    conversation = talk({"ann": person("Ann", {"rule": rule, "fix": fix, "go": go})}, facts="F_RULE")
    nothing = {"fact F_RULE": False, "sign-off S_GO": False, "hours": False, "rig": False}
    assert conversation.gate("ann", "fix") == nothing
    assert conversation.gate("ann", "rule") == {}
    conversation.ask("ann", "rule")
    conversation.ask("ann", "fix: 61 hours")
    assert conversation.gate("ann", "fix") == {**nothing, "fact F_RULE": True, "hours": True}
    conversation.ask("ann", "go: on IB-104")
    assert set(conversation.gate("ann", "fix").values()) == {True}
