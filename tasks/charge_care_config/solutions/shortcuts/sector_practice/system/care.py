"""Answers care tickets, or hands them to a person.

    handle_ticket(ticket, db, llm) -> {"payments": [usd, ...], "route": "auto" | "human" | "billing_lead", "reply_code"}

All tickets go to the care floor, with what the record says is owed as a proposal.
"""

from system.billing import bill_session


def owed_on_record(sid, db):
    """What the driver was billed beyond our rules, and the price of the session if it ended in a fault."""
    session = db.execute("SELECT * FROM sessions WHERE sid = ?", (sid,)).fetchone()
    bill = db.execute("SELECT energy_usd, idle_usd, fault FROM bills WHERE sid = ?", (sid,)).fetchone()
    right = bill_session(dict(session), db)
    return round(max(0.0, bill["idle_usd"] - right["idle_usd"]) + (bill["energy_usd"] if right["fault"] else 0.0), 2)


def handle_ticket(ticket, db, llm):
    owed = owed_on_record(ticket["sid"], db)
    return {"payments": [owed] if owed else [], "route": "human", "reply_code": "FORWARDED"}
